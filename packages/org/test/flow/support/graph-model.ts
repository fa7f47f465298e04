/** What a graph comes to, by its definition: no order, no messages, no bounds. */

/** A node, and whether its work fails. */
export interface PlainNode {
  readonly node: string;
  readonly needs: readonly string[];
  readonly priority: number;
  readonly resolve: 'all' | 'any';
  readonly on_failure: 'wait' | 'cascade' | 'ignore';
  readonly fails: boolean;
}

/** The state of each node when nothing can go on. */
export function graphOutcome(nodes: readonly PlainNode[]): Map<string, string> {
  const states = new Map<string, string>();
  const byName = new Map(nodes.map((node) => [node.node, node]));
  const outcome = (name: string): string => {
    const known = states.get(name);
    if (known !== undefined) return known;
    const { needs, resolve, on_failure, fails } = byName.get(name) as PlainNode;
    const ends = needs.map(outcome);
    const good = ends.filter((end) => end === 'done').length;
    const bad = ends.filter((end) => end === 'failed' || end === 'skipped').length;
    const state = stateOf({ good, bad, all: needs.length, resolve, on_failure }, fails ? 'failed' : 'done');
    states.set(name, state);
    return state;
  };
  for (const { node } of nodes) outcome(node);
  return states;
}

interface Needed extends Pick<PlainNode, 'resolve' | 'on_failure'> {
  readonly good: number;
  readonly bad: number;
  readonly all: number;
}

function stateOf({ good, bad, all, resolve, on_failure }: Needed, whenRun: string): string {
  if (resolve === 'any' && good > 0) return whenRun;
  if (resolve === 'all' && bad > 0 && on_failure === 'cascade') return 'skipped';
  if (good + bad < all) return 'pending';
  if (bad === 0 || on_failure === 'ignore') return whenRun;
  return on_failure === 'cascade' ? 'skipped' : 'pending';
}

/** The states of a node that ended badly for those that need it. */
const BAD: readonly string[] = ['failed', 'skipped', 'cancelled'];

/**
 * A graph as a plain program that is driven step by step: it looks at everything again after each step. A node that a
 * command skipped is `passed`.
 */
export class GraphModel {
  /** Nodes in the order in which they were handed out. */
  readonly handed: string[] = [];
  readonly states = new Map<string, string>();
  readonly #nodes = new Map<string, PlainNode>();

  constructor(public limit: number | null) {}

  add(nodes: readonly PlainNode[]): void {
    for (const node of nodes) {
      this.#nodes.set(node.node, node);
      this.states.set(node.node, 'pending');
    }
    this.settle();
  }

  /** Changes a node's state when it is one of these. @returns whether it did */
  change(node: string, from: readonly string[], to: string): boolean {
    if (!from.includes(this.states.get(node) ?? '')) return false;
    this.states.set(node, to);
    this.settle();
    return true;
  }

  /** The dependencies of a node. */
  needsOf(node: string): readonly string[] {
    return this.#nodes.get(node)?.needs ?? [];
  }

  settle(): void {
    for (let changed = true; changed; ) {
      changed = false;
      for (const [name, node] of this.#nodes) {
        if (this.states.get(name) !== 'pending') continue;
        const state = this.#judge(node);
        if (state !== 'pending') changed = true;
        this.states.set(name, state);
      }
    }
    for (let next = this.#first(); next !== undefined; next = this.#first()) {
      this.states.set(next, 'running');
      this.handed.push(next);
    }
  }

  #judge({ needs, resolve, on_failure }: PlainNode): string {
    const ends = needs.map((need) => this.states.get(need) as string);
    const good = ends.filter((end) => end === 'done' || end === 'passed').length;
    const bad = ends.filter((end) => BAD.includes(end)).length;
    return stateOf({ good, bad, all: needs.length, resolve, on_failure }, 'ready');
  }

  #first(): string | undefined {
    const running = [...this.states.values()].filter((state) => state === 'running').length;
    if (this.limit !== null && running >= this.limit) return undefined;
    const ready = [...this.#nodes.values()].filter(({ node }) => this.states.get(node) === 'ready');
    return ready.toSorted((a, b) => b.priority - a.priority)[0]?.node;
  }
}
