/**
 * What each entity of a society is to be shown of the items of its groups, told from the history of a world and the rules
 * of the specification alone. It shares no code with the society: rights come from the oracle of rights.
 */
import { may, type Node } from '../oracle.js';

/** A group as the oracle knows it: how eagerly members hear, and its news in order. */
export interface Group {
  readonly eagerness: 'chatty' | 'moderate' | 'taciturn';
  readonly posts: { readonly by: string; readonly item: string }[];
}

/** An item: its store, its words, and whether it is in use. */
export interface Item {
  readonly author: string;
  readonly store: string;
  readonly canary: string;
  state: 'live' | 'quarantined' | 'archived';
}

/** What an entity has been shown, and what waits. */
interface Shown {
  /** The items whose events stand in its inbox. */
  readonly inbox: string[];
  /** The items whose words its next run is shown, if it may read them then. */
  waiting: string[];
  /** The words in its session, in any order. */
  readonly session: Set<string>;
  /** The words that wait for the next step of the run under way. */
  next: string[];
  /** How much of each board it has read. */
  readonly read: Map<string, number>;
  running: boolean;
}

/** The most items whose words one run is shown. */
const AT_ONCE = 8;

/** The expectations of one world. */
export class Expected {
  readonly groups = new Map<string, Group>();
  readonly items = new Map<string, Item>();
  readonly erased = new Set<string>();
  readonly #shown = new Map<string, Shown>();

  constructor(readonly tree: readonly Node[]) {}

  of(id: string): Shown {
    const known = this.#shown.get(id);
    if (known !== undefined) return known;
    const fresh: Shown = { inbox: [], waiting: [], session: new Set(), next: [], read: new Map(), running: false };
    this.#shown.set(id, fresh);
    return fresh;
  }

  /** Whether an entity may read the store of a group now. */
  reads(node: Node, group: string, now: number): boolean {
    if (node.kind === 'person') return node.members[group] !== undefined;
    return may(this.tree, this.tree.indexOf(node), { ask: 'read', name: `group:${group}`, now });
  }

  /** Whether an entity may act: one that is not autonomous stands still with those above it. */
  operates({ kind, status, parent }: Node): boolean {
    return kind === 'person' || (status === 'active' && this.operates(this.tree[parent] as Node));
  }

  joined(node: Node, group: string): void {
    this.of(node.id).read.set(group, this.groups.get(group)?.posts.length ?? 0);
  }

  left(node: Node, group: string): void {
    this.of(node.id).read.delete(group);
  }

  /** An item was written, or copied, to the store of a group by one of its members. */
  wrote(by: string, group: string, item: string, now: number): void {
    const { eagerness, posts } = this.groups.get(group) as Group;
    posts.push({ by, item });
    if (eagerness !== 'chatty') return;
    for (const node of this.tree) {
      if (node.failed || node.id === by || node.members[group] === undefined || !this.reads(node, group, now)) continue;
      const shown = this.of(node.id);
      shown.inbox.push(item);
      if (shown.running && this.operates(node)) shown.next.push(this.#canary(item));
      else shown.waiting.push(item);
    }
  }

  /** The entities whose clients are told of an item: by the event in the inbox, or by the news on the board. */
  told(by: string, group: string, now: number): ReadonlySet<string> {
    const isChatty = this.groups.get(group)?.eagerness === 'chatty';
    const members = this.tree.filter((node) => node.id !== by && node.members[group] !== undefined);
    const heard = members.filter((node) => this.reads(node, group, now) && !(isChatty && node.failed));
    return new Set(heard.map(({ id }) => id));
  }

  /** An entity reads the boards of its groups. */
  takesBoards(node: Node, now: number): void {
    const shown = this.of(node.id);
    for (const [group, { eagerness, posts }] of this.groups) {
      const read = shown.read.get(group);
      if (eagerness === 'chatty' || read === undefined) continue;
      shown.read.set(group, posts.length);
      if (!this.reads(node, group, now)) continue;
      for (const { by, item } of posts.slice(read)) {
        if (by === node.id) continue;
        shown.inbox.push(item);
        if (eagerness === 'moderate') shown.waiting.push(item);
      }
    }
  }

  /** A run of an entity begins. @returns the words that its first request to the model has */
  runs(node: Node, now: number): ReadonlySet<string> {
    this.takesBoards(node, now);
    const shown = this.of(node.id);
    const order = shown.inbox.filter((item) => shown.waiting.includes(item)).slice(0, AT_ONCE);
    shown.waiting = shown.waiting.filter((item) => !order.includes(item));
    for (const item of order) {
      const { store, state, canary } = this.items.get(item) as Item;
      if (state === 'live' && this.reads(node, store.slice('group:'.length), now)) shown.session.add(canary);
    }
    shown.running = true;
    return this.inSession(node);
  }

  /** The next step of a run. @returns the words of its request; undefined where nothing waits for such a step */
  goesOn(node: Node): ReadonlySet<string> | undefined {
    const shown = this.of(node.id);
    const { next } = shown;
    shown.next = [];
    for (const canary of next) shown.session.add(canary);
    return next.length === 0 ? undefined : this.inSession(node);
  }

  ended(node: Node): void {
    this.of(node.id).running = false;
  }

  /** The words in the session of an entity that were not erased. */
  inSession(node: Node): ReadonlySet<string> {
    return new Set([...this.of(node.id).session].filter((canary) => !this.erased.has(canary)));
  }

  /** The words of the items of a group that an entity may read now. */
  inStore(node: Node, group: string, now: number): ReadonlySet<string> | undefined {
    if (!this.reads(node, group, now)) return undefined;
    const listed = [...this.items.values()].filter(
      ({ store, state, author }) =>
        store === `group:${group}` && (state === 'live' || (state === 'quarantined' && author === node.id)),
    );
    return new Set(listed.map(({ canary }) => canary).filter((canary) => !this.erased.has(canary)));
  }

  #canary(item: string): string {
    return this.items.get(item)?.canary ?? '';
  }
}
