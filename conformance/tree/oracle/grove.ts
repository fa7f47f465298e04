/** The nodes of a tree, and which of them wait for which. */
import { Node, type Purse, type Question, type Terms } from './node.js';

/** Nodes by their numbers, and what follows from them alone. */
export class Grove {
  readonly nodes: Node[] = [];

  constructor(
    public terms: Terms,
    /** What becomes of a question to people. */
    protected readonly people: 'human' | 'default' | 'fail',
    public purse: Purse,
    agent: string,
  ) {
    const root = new Node(1, 'goal', null, [], 0);
    this.nodes.push(Object.assign(root, { agent, budget: purse.node }));
  }

  /** What all have used. */
  get spent(): number {
    return this.nodes.reduce((sum, { spent }) => sum + spent, 0);
  }

  /** What is set aside for runs. */
  get reserved(): number {
    return this.nodes.reduce((sum, { reserved }) => sum + reserved, 0);
  }

  get root(): Node {
    return this.at(1);
  }

  /** The state of the tree. */
  get status(): string {
    if (this.root.ended) return this.root.status;
    return this.root.paused ? 'paused' : 'running';
  }

  at(n: number): Node {
    const node = this.nodes[n - 1];
    if (node === undefined) throw new Error(`the oracle knows no node ${n}`);
    return node;
  }

  childrenOf(node: Node): Node[] {
    return this.nodes.filter(({ parent, type }) => parent === node && type !== 'ask');
  }

  /**
   * Whether the end of a node, or its acting, can only come after that of another. A node ends after it has acted and
   * its children have ended; it acts when what it needs has ended and its own questions are answered.
   */
  protected waits(
    what: 'end' | 'act',
    n: number,
    forWhat: 'end' | 'act',
    other: number,
    seen = new Set<string>(),
  ): boolean {
    if (this.at(n).ended || this.failsAtOnce(this.at(n)) || seen.has(`${what}${n}`)) return false;
    if (n === other && what === forWhat) return true;
    seen.add(`${what}${n}`);
    return this.awaited(what, n).some(([to, m]) => this.waits(to, m, forWhat, other, seen));
  }

  protected awaited(what: 'end' | 'act', n: number): ['end' | 'act', number][] {
    const node = this.at(n);
    const open = this.questionsOf(node).filter(({ how, deadline }) => how === null && deadline === null);
    if (what === 'end') {
      const answers = node.status === 'waiting_input' ? open.flatMap(({ route }) => route) : [];
      return [
        ['act', n],
        ...this.openOf(node).map((child) => ['end', child.n] as ['end', number]),
        ...answers.map((to) => ['act', to] as ['act', number]),
      ];
    }
    const needs = node.status === 'pending' && node.isNew ? node.needs : [];
    const asked = open.flatMap(({ parked, route }) => (parked ? route : []));
    return [
      ...needs.map(({ on }) => ['end', on] as ['end', number]),
      ...asked.map((to) => ['act', to] as ['act', number]),
    ];
  }

  /** Whether a node waits for itself. */
  get hasCircle(): boolean {
    return this.nodes.some((node) => {
      const { n, ended } = node;
      if (ended || this.failsAtOnce(node)) return false;
      return (['end', 'act'] as const).some((what) =>
        this.awaited(what, n).some(([to, m]) => this.waits(to, m, what, n)),
      );
    });
  }

  protected above(node: Node): Node[] {
    return node.parent === null ? [] : [node.parent, ...this.above(node.parent)];
  }

  protected isBelow(node: Node, n: number): boolean {
    return this.above(node).some((above) => above.n === n);
  }

  protected openOf(node: Node): Node[] {
    return this.childrenOf(node).filter(({ ended }) => !ended);
  }

  protected questionsOf(node: Node): Question[] {
    return this.nodes.flatMap(({ parent, question }) => (parent === node && question !== null ? [question] : []));
  }

  /** The questions that wait for the answer of a node. */
  protected askedOf(node: Node): Node[] {
    return this.nodes.filter(({ question }) => question?.how === null && question.route.includes(node.n));
  }

  protected upFrom(node: Node): number[] {
    const up = this.above(node).find(({ type }) => type !== 'serial');
    return up === undefined || up.ended ? [] : [up.n];
  }

  /** Whether a node that has been opened again ends at once: one of its needs has failed already, so it waits for none. */
  protected failsAtOnce(node: Node): boolean {
    return node.status === 'pending' && node.isNew && this.isBlocked(node);
  }

  protected isBlocked({ needs }: Node): boolean {
    return needs.some(({ on, block }) => block && this.at(on).ended && this.at(on).status !== 'complete');
  }
}
