/** One world as it is lived: its entities, what is expected of them, and what was found. */
import type { Principal } from 'reprise/kernel';
import type { Entity } from 'reprise/society';
import type { Draws } from '../draws.js';
import type { Caps, Node } from '../oracle.js';
import type { Expected } from './expected.js';
import type { Scene } from './scene.js';

/** What was found in a run. */
export interface FoundContent {
  worlds: number;
  requests: number;
  answers: number;
  /** The words that were shown, and those that a member was not shown because it might not read them. */
  shown: number;
  withheld: number;
  /** How often each act took place, and how often it was one that is refused. */
  readonly acts: Map<string, number>;
  readonly refused: Map<string, number>;
  disagreements: number;
  first?: string;
  /** The seeds of the worlds that disagree, each with what was seen. */
  readonly seeds: Map<number, string>;
}

/** The groups that every world has; those of swarms come beside them. */
export const GROUPS = ['a', 'a1', 'b'] as const;

/** The group in which items are written to be judged. */
export const JUDGED = 'judged';

/** The group that a cell of the app owns. */
export const CLUB = 'club';

/** An entity, and what the oracle knows of it. */
export interface Member {
  readonly node: Node;
  readonly entity: Entity;
}

/** What a world and its forks share. */
interface Shared {
  readonly seed: number;
  readonly d: Draws;
  readonly found: FoundContent;
  readonly history: string[];
  canaries: number;
  done: number;
  disagrees: boolean;
}

/** What is opened. */
interface Opened {
  readonly shared: Shared;
  readonly scene: Scene;
  readonly members: Member[];
  readonly expected: Expected;
}

/** A world, its entities, and what is expected of them. */
export class Life {
  constructor(private readonly at: Opened) {}

  /** The same world from now on, in a fork of it. */
  fork(scene: Scene): Life {
    const expected = this.expected.fork();
    const members = expected.tree.map((node) => ({ node, entity: scene.office.entity(node.id) }));
    return new Life({ shared: this.at.shared, scene, members, expected });
  }

  get seed(): number {
    return this.at.shared.seed;
  }

  get d(): Draws {
    return this.at.shared.d;
  }

  get found(): FoundContent {
    return this.at.shared.found;
  }

  get scene(): Scene {
    return this.at.scene;
  }

  get expected(): Expected {
    return this.at.expected;
  }

  get members(): Member[] {
    return this.at.members;
  }

  get now(): number {
    return this.scene.clock.wall();
  }

  /** Whether a disagreement was found: nothing more is asked of this world. */
  get isOver(): boolean {
    return this.at.shared.disagrees;
  }

  /** The people: two of them. */
  get people(): readonly Member[] {
    return this.members.filter(({ node }) => node.kind === 'person');
  }

  /** The agents that have not ended. */
  get agents(): readonly Member[] {
    return this.members.filter(({ node }) => node.kind !== 'person' && node.status !== 'deactivated');
  }

  /** The entities that may act now. */
  get acting(): readonly Member[] {
    return this.members.filter(({ node }) => this.expected.operates(node));
  }

  member(id: string): Member {
    return this.members.find(({ node }) => node.id === id) as Member;
  }

  /** The person above an agent. */
  person(node: Node): Member {
    return node.kind === 'person' ? this.member(node.id) : this.person(this.expected.parent(node));
  }

  isRunning({ id }: Node): boolean {
    return this.expected.of(id).running;
  }

  isRunningBelow(node: Node): boolean {
    const at = this.expected.tree.indexOf(node);
    return this.expected.tree.some((one) => one.parent === at && (this.isRunning(one) || this.isRunningBelow(one)));
  }

  hasBelow(node: Node): boolean {
    const at = this.expected.tree.indexOf(node);
    return this.expected.tree.some(({ parent, status }) => parent === at && status !== 'deactivated');
  }

  /** Words that stand nowhere else. */
  canary(): string {
    return `canary-${++this.at.shared.canaries}-end`;
  }

  say(what: string): void {
    this.at.shared.history.push(what);
  }

  /** The number of acts that took place. */
  get done(): number {
    return this.at.shared.done;
  }

  /** An act took place. @param isRefused whether it is one that the rules refuse */
  did(what: string, isRefused = false): void {
    const { acts, refused } = this.found;
    this.at.shared.done++;
    acts.set(what, (acts.get(what) ?? 0) + 1);
    if (isRefused) refused.set(what, (refused.get(what) ?? 0) + 1);
  }

  disagree(what: string): void {
    const { found, seed, history } = this.at.shared;
    if (!this.isOver) {
      found.disagreements++;
      found.seeds.set(seed, what.split('\n')[0] as string);
      found.first ??= `seed ${seed}: ${what}\n${history.join('\n')}\n${JSON.stringify(this.expected.tree)}`;
    }
    this.at.shared.disagrees = true;
  }

  /** Compares words, or a denial. */
  same(what: string, seen: ReadonlySet<string> | undefined, wanted: ReadonlySet<string> | undefined): void {
    const [a, b] = [seen, wanted].map((one) => (one === undefined ? 'denied' : [...one].sort().join()));
    this.is(what, a, b);
  }

  /** Compares one thing. */
  is(what: string, seen: unknown, wanted: unknown): void {
    this.found.answers++;
    if (seen !== wanted) this.disagree(`${what}: ${seen}, expected ${wanted}`);
  }
}

/** How an entity is named in a history. */
export function short({ id }: Pick<Node, 'id'>): string {
  return id.slice(0, 6);
}

/** As whom an entity asks. */
export function principalOf({ id, kind }: Node): Principal {
  return kind === 'person' ? `human:${id}` : `cell:society/Entity@1/${id}`;
}

/** What an agent may read: some groups, or none. */
export function readingOf(d: Draws): Required<Pick<Caps, 'memory_read'>> {
  const groups = d.once(4) ? [] : d.some([...GROUPS, 'a*', '*', JUDGED, CLUB]);
  const visibility = d.once(5) ? d.some(['private', 'group', 'public']) : ['private', 'group', 'public'];
  return { memory_read: { layers: ['l1', 'l2'], groups, visibility } };
}

/** What an entity is answered, with its words: a client reads what links name as well. */
export async function worded(
  entity: Entity,
  tool: Parameters<Entity['use']>[0],
  args: object,
): Promise<{ readonly text: string; readonly refused?: unknown }> {
  try {
    return { text: JSON.stringify(await entity.use(tool, args as never)) };
  } catch (error) {
    const { details } = error as { readonly details?: { readonly reason?: unknown } };
    if (details?.reason === undefined) throw error;
    return { text: String(error), refused: details.reason };
  }
}
