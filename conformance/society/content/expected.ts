/**
 * What each entity of a society is to be shown of the items of its stores, told from the history of a world and the rules
 * of the specification alone. It shares no code with the society: rights come from the oracle of rights.
 */
import { may, type Node } from '../oracle.js';

/** How eagerly the members of a group hear of news. */
export type Eagerness = 'chatty' | 'moderate' | 'taciturn';

/** News of a group: who brings it, who hear nothing of it, and an item or a change of its members. */
interface Post {
  readonly by: readonly string[];
  readonly news: string;
}

/** A group as the oracle knows it: how eagerly members hear, its news in order, and whether it still takes items. */
export interface Group {
  readonly eagerness: Eagerness;
  readonly posts: Post[];
  isOpen: boolean;
}

/** An item: its store, its words, and whether it is in use. */
export interface Item {
  readonly author: string;
  readonly store: string;
  readonly canary: string;
  readonly subject?: string | undefined;
  /** An archive: a search shows what it is, and none of its words. */
  readonly isArchive?: true;
  /** Its author was in doubt. A validation makes it live where it was made, and goes with no copy. */
  readonly isDoubted?: boolean;
  state: 'live' | 'quarantined' | 'archived';
}

/** What an agent brought back, until its parent has decided on all of it: its items, and the groups that they are for. */
export interface Staged {
  readonly agent: string;
  readonly parent: string;
  readonly forced: boolean;
  readonly items: readonly { readonly id: string; readonly group: string; readonly isDoubted: boolean }[];
  left: readonly string[];
}

/** A swarm: who made it, who leads it, and whether it goes on. */
export interface Swarm {
  readonly creator: string;
  readonly lead: string;
  readonly workers: readonly string[];
  readonly goal: string;
  /** The words that its agents have said, by the number of the task. */
  readonly said: string[];
  isOver: boolean;
}

/** What an entity has been shown, and what waits. */
interface Shown {
  /** The news in its inbox. */
  readonly inbox: string[];
  /** The items whose words its next run is shown, if it may read them then. */
  waiting: string[];
  /** The words of news in its session, each as often as it was shown, in any order. */
  readonly session: string[];
  /** The words that a tool has shown it: copies, which an erasure of the item does not reach. */
  readonly copied: Set<string>;
  /** The words that wait for the next step of the run under way. */
  next: string[];
  /** How much of each board it has read. */
  readonly read: Map<string, number>;
  /** The first news of each chatty group that it missed while its cell had failed. */
  readonly missed: Map<string, number>;
  /** It has read what several groups published while its cell had failed. */
  hasCaughtUp: boolean;
  running: boolean;
  hasSession: boolean;
}

/** All that changes in a world. */
interface Known {
  readonly tree: Node[];
  readonly groups: Map<string, Group>;
  readonly items: Map<string, Item>;
  readonly erased: Set<string>;
  readonly shown: Map<string, Shown>;
  readonly staged: Map<string, Staged>;
  readonly swarms: Map<string, Swarm>;
  /** When what each agent may do was last changed to its disadvantage, perhaps and for certain; and when its chain moved. */
  readonly changed: Map<string, number>;
  readonly lost: Map<string, number>;
  readonly moved: Map<string, number>;
}

/** The most items whose words one run is shown. */
const AT_ONCE = 8;

/** The most items that a page shows a model. */
const PAGE = 8;

/** The expectations of one world. */
export class Expected {
  constructor(
    private readonly known: Known = {
      ...{ tree: [], groups: new Map(), items: new Map(), erased: new Set(), shown: new Map() },
      ...{ staged: new Map(), swarms: new Map(), changed: new Map(), lost: new Map(), moved: new Map() },
    },
  ) {}

  get tree(): Node[] {
    return this.known.tree;
  }

  get groups(): Map<string, Group> {
    return this.known.groups;
  }

  get items(): Map<string, Item> {
    return this.known.items;
  }

  get erased(): Set<string> {
    return this.known.erased;
  }

  get staged(): Map<string, Staged> {
    return this.known.staged;
  }

  get swarms(): Map<string, Swarm> {
    return this.known.swarms;
  }

  /** What is to be expected of a fork of the world as it is now. */
  fork(): Expected {
    return new Expected(structuredClone(this.known));
  }

  of(id: string): Shown {
    const known = this.known.shown.get(id);
    if (known !== undefined) return known;
    const fresh: Shown = {
      ...{ inbox: [], waiting: [], session: [], copied: new Set(), next: [] },
      ...{ read: new Map(), missed: new Map(), hasCaughtUp: false, running: false, hasSession: false },
    };
    this.known.shown.set(id, fresh);
    return fresh;
  }

  node(id: string): Node {
    return this.tree.find((node) => node.id === id) as Node;
  }

  parent({ parent }: Node): Node {
    return this.tree[parent] as Node;
  }

  /** Whether one entity is another, or stands above it. */
  isAtOrAbove(above: Node, node: Node): boolean {
    return node === above || (node.parent >= 0 && this.isAtOrAbove(above, this.parent(node)));
  }

  /** Whether an entity may read a store now. Above a person nothing narrows: a person reads what is its own. */
  reads(node: Node, store: string, now: number): boolean {
    if (node.kind !== 'person') return this.#may(node, 'read', store, now);
    if (store.startsWith('group:')) return node.members[store.slice('group:'.length)] !== undefined;
    if (store.startsWith('staging:')) return this.staged.get(store)?.parent === node.id;
    return store === 'public' || store === `private:${node.id}`;
  }

  /** Whether an entity may write to a store now. */
  writes(node: Node, store: string, now: number): boolean {
    if (!store.startsWith('group:')) return store === `private:${node.id}` && this.#may(node, 'write', store, now);
    const group = store.slice('group:'.length);
    if (this.groups.get(group)?.isOpen !== true || node.members[group] === undefined) return false;
    return node.members[group] !== 'viewer' && (node.kind === 'person' || this.#may(node, 'write', store, now));
  }

  /** Whether an entity may use a group at all. */
  uses(node: Node, group: string, now: number): boolean {
    return node.kind === 'person' || this.#may(node, 'group', group, now);
  }

  #may(node: Node, ask: string, name: string, now: number): boolean {
    return may(this.tree, this.tree.indexOf(node), { ask, name, now });
  }

  /** Whether an entity may act: one that is not autonomous stands still with those above it. */
  operates(node: Node): boolean {
    if (node.kind === 'person') return true;
    return node.status === 'active' && !node.failed && this.operatesAbove(node);
  }

  /** Whether all above an entity may act. A parent whose cell has failed keeps its status. */
  operatesAbove(node: Node): boolean {
    const parent = this.parent(node);
    return parent.kind === 'person' || (parent.status === 'active' && this.operatesAbove(parent));
  }

  joined(node: Node, group: string): void {
    this.of(node.id).read.set(group, this.groups.get(group)?.posts.length ?? 0);
    this.#publish({ by: [node.id], news: `${node.id} joins ${group}` }, group, 0);
  }

  left(node: Node, group: string): void {
    this.of(node.id).read.delete(group);
    this.of(node.id).missed.delete(group);
    this.#publish({ by: [node.id], news: `${node.id} leaves ${group}` }, group, 0);
  }

  /** An item was written, or copied, to the store of a group by its members: the one that wrote it, and one that merged it. */
  wrote(by: readonly string[], group: string, item: string, now: number): void {
    this.#publish({ by, news: item }, group, now);
  }

  #publish(post: Post, group: string, now: number): void {
    const { eagerness, posts } = this.groups.get(group) as Group;
    posts.push(post);
    if (eagerness !== 'chatty') return;
    for (const node of this.tree) {
      if (node.members[group] === undefined) continue;
      const { missed } = this.of(node.id);
      if (!node.failed && !post.by.includes(node.id)) this.#hears(node, group, post, now);
      else if (node.failed && !missed.has(group)) missed.set(group, posts.length - 1);
    }
  }

  #hears(node: Node, group: string, { news }: Post, now: number): void {
    const item = this.items.get(news);
    const shown = this.of(node.id);
    if (item === undefined) {
      shown.inbox.push(news);
      return;
    }
    if (!this.reads(node, `group:${group}`, now)) return;
    shown.inbox.push(news);
    if (shown.running && this.operates(node)) shown.next.push(item.canary);
    else shown.waiting.push(news);
  }

  /** The entities whose clients are told of an item: by the event in the inbox, or by the news on the board. */
  told(by: string, group: string, now: number): ReadonlySet<string> {
    const isChatty = this.groups.get(group)?.eagerness === 'chatty';
    const members = this.tree.filter((node) => node.id !== by && node.members[group] !== undefined);
    const heard = members.filter((node) => this.reads(node, `group:${group}`, now) && !(isChatty && node.failed));
    return new Set(heard.map(({ id }) => id));
  }

  /** An entity reads the boards of its groups. */
  takesBoards(node: Node, now: number): void {
    const shown = this.of(node.id);
    for (const [group, { eagerness, posts }] of [...this.groups].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const read = shown.read.get(group);
      if (eagerness === 'chatty' || read === undefined) continue;
      shown.read.set(group, posts.length);
      this.#takes(node, group, posts.slice(read), now);
    }
  }

  /** A revived entity reads what its groups published while its cell had failed. */
  catchesUp(node: Node, now: number): void {
    const shown = this.of(node.id);
    for (const [group, { eagerness, posts }] of [...this.groups].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const read = (eagerness === 'chatty' ? shown.missed : shown.read).get(group);
      if (read === undefined || node.members[group] === undefined) continue;
      if (eagerness !== 'chatty') shown.read.set(group, posts.length);
      this.#takes(node, group, posts.slice(read), now);
    }
    shown.missed.clear();
    shown.hasCaughtUp = true;
  }

  /**
   * What a revived entity missed stands in its inbox group by group, each in its own order; which group comes first follows
   * from the answers of the groups, and no clause states it. So an inbox as it was seen is taken where only that differs.
   */
  takesOrder(node: Node, seen: readonly string[]): void {
    const { inbox, hasCaughtUp } = this.of(node.id);
    if (hasCaughtUp && byGroup(seen) === byGroup(inbox)) inbox.splice(0, inbox.length, ...seen);
  }

  #takes(node: Node, group: string, posts: readonly Post[], now: number): void {
    const shown = this.of(node.id);
    for (const { by, news } of posts) {
      const isItem = this.items.has(news);
      if (by.includes(node.id) || (isItem && !this.reads(node, `group:${group}`, now))) continue;
      shown.inbox.push(news);
      if (isItem && this.groups.get(group)?.eagerness !== 'taciturn') shown.waiting.push(news);
    }
  }

  /** A run of an entity begins. @returns the words that its first request to the model has */
  runs(node: Node, now: number): ReadonlySet<string> {
    this.takesBoards(node, now);
    const shown = this.of(node.id);
    if (!shown.hasSession) this.known.moved.set(node.id, now); // its first session moves its chain
    shown.hasSession = true;
    const order = shown.inbox.filter((item) => shown.waiting.includes(item)).slice(0, AT_ONCE);
    shown.waiting = shown.waiting.filter((item) => !order.includes(item));
    for (const item of order) {
      const { store, state, canary } = this.items.get(item) as Item;
      if (state === 'live' && this.reads(node, store, now)) shown.session.push(canary);
    }
    shown.running = true;
    return this.inSession(node);
  }

  /** The next step of a run. @returns the words of its request; undefined where nothing waits for such a step */
  goesOn(node: Node): ReadonlySet<string> | undefined {
    const shown = this.of(node.id);
    const { next } = shown;
    shown.next = [];
    shown.session.push(...next);
    return next.length === 0 ? undefined : this.inSession(node);
  }

  ended(node: Node): void {
    this.of(node.id).running = false;
  }

  /** A tool of a run has shown words. @returns the words of the request that follows */
  shows(node: Node, words: Iterable<string>): ReadonlySet<string> {
    for (const canary of words) this.of(node.id).copied.add(canary);
    return this.inSession(node);
  }

  /** The words in the session of an entity: those of news that were not erased, and those that it asked for. */
  inSession(node: Node): ReadonlySet<string> {
    const { session, copied } = this.of(node.id);
    return new Set([...this.unerased(session), ...copied]);
  }

  /** How often words of news stand in the session of an entity, without those that a tool has shown it, too. */
  timesInSession({ id }: Node): ReadonlyMap<string, number> {
    const { session, copied } = this.of(id);
    const times = new Map<string, number>();
    for (const canary of session)
      if (!copied.has(canary) && !this.erased.has(canary)) times.set(canary, (times.get(canary) ?? 0) + 1);
    return times;
  }

  unerased(words: Iterable<string>): ReadonlySet<string> {
    return new Set([...words].filter((canary) => !this.erased.has(canary)));
  }

  /** The words of the items of a store that an entity may read now; undefined where it may not. */
  inStore(node: Node, store: string, now: number): ReadonlySet<string> | undefined {
    if (!this.reads(node, store, now)) return undefined;
    return this.unerased(this.#listed(node, store).map(({ canary }) => canary));
  }

  /** The words that a page of a store shows a model; undefined where the entity may not read it. */
  onPage(node: Node, store: string, now: number): ReadonlySet<string> | undefined {
    if (!this.reads(node, store, now)) return undefined;
    const page = this.#listed(node, store).slice(0, PAGE);
    return this.unerased(page.filter(({ state }) => state === 'live').map(({ canary }) => canary));
  }

  #listed(node: Node, store: string): readonly Item[] {
    return [...this.items.values()].filter(
      (item) =>
        item.store === store && (item.state === 'live' || (item.state === 'quarantined' && item.author === node.id)),
    );
  }

  /** The items that a search of some stores finds: those in use whose words are there, in the stores that may be read. */
  found(node: Node, stores: readonly string[], now: number): ReadonlySet<string> {
    const open = stores.filter((store) => this.reads(node, store, now));
    const found = [...this.items].filter(
      ([, { store, state, canary }]) => open.includes(store) && state === 'live' && !this.erased.has(canary),
    );
    return new Set(found.map(([id]) => id));
  }

  /** The items in use of a store about a subject that say something. */
  about(store: string, subject: string): readonly string[] {
    const found = [...this.items].filter(
      ([, item]) =>
        item.store === store && item.subject === subject && item.state === 'live' && !this.erased.has(item.canary),
    );
    return found.map(([id]) => id);
  }

  /** An agent begins: the first link of its chain stands. */
  begins({ id }: Node, now: number): void {
    this.known.moved.set(id, now);
  }

  /** What an agent may do was changed, and it has perhaps less by it. `isSure`: it has. */
  narrowed({ id }: Node, isSure: boolean, now: number): void {
    this.known.changed.set(id, now);
    if (isSure) this.known.lost.set(id, now);
  }

  /** Whether an agent was narrowed since its sessions last moved its chain; undefined where that is not certain. */
  wasNarrowed({ id }: Node): boolean | undefined {
    const moved = this.known.moved.get(id) ?? 0;
    const since = (at: number | undefined) => at !== undefined && at >= moved;
    if (since(this.known.lost.get(id))) return true;
    return since(this.known.changed.get(id)) ? undefined : false;
  }

  /** What waits for the decision of an entity, and is to be read until then. */
  stage(store: string, staged: Staged): void {
    this.staged.set(store, staged);
    this.#reviews(this.node(staged.parent));
  }

  /** All of a return is decided on: its store has nothing in use any more. */
  unstage(store: string): void {
    const { parent, items } = this.staged.get(store) as Staged;
    this.staged.delete(store);
    this.#reviews(this.node(parent));
    for (const { id } of items) (this.items.get(id) as Item).state = 'archived';
  }

  #reviews(parent: Node): void {
    const waiting = [...this.staged.values()].filter((one) => one.parent === parent.id);
    parent.reviews = [...new Set(waiting.map(({ agent }) => agent))];
  }
}

/** The news of each group in its own order. */
function byGroup(inbox: readonly string[]): string {
  const groups = new Map<string, string[]>();
  for (const news of inbox) {
    const group = /^group:([^#]+)#/.exec(news)?.[1] ?? news.split(' ').at(-1) ?? '';
    groups.set(group, [...(groups.get(group) ?? []), news]);
  }
  return [...groups]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, news]) => news)
    .join();
}
