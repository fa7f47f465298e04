/**
 * What a tree of agents must do, as a plain program. It shares no code with the package, keeps no counters and no tables:
 * after each step it looks at all nodes again, and asks of each what the specification of trees says about it.
 */
import { defaultOf, namesOf } from './ends.js';
import {
  type AskedOf,
  type Child,
  type Needed,
  Node,
  nameOfNode,
  type Purse,
  type Question,
  type Terms,
  type Verdict,
} from './node.js';
import { Runs } from './runs.js';

/** A tree as the specification says it is: what nodes and people do. */
export class Oracle extends Runs {
  constructor(
    terms: Terms,
    people: 'human' | 'default' | 'fail' = 'human',
    purse: Purse = { unit: 'tokens', node: null, tree: null, stated: false },
    agent = 'worker',
  ) {
    super(terms, people, purse, agent);
    this.settle();
  }

  /** A node, or people, make children. `needs` lists what each of them needs. */
  make(parent: number, children: readonly Child[]): Verdict {
    const above = this.at(parent);
    const codes = this.mayMake(above, children.length, 1);
    for (const { needs, budget = 0 } of children) {
      codes.push(...this.wrongNeeds(above, needs));
      if (above.budget !== null && budget > above.budget) codes.push('over_budget');
    }
    if (codes.length > 0) return codes;
    for (const { type, needs, priority, budget } of children) {
      const node = this.add(type, above, needs, priority);
      if (budget !== undefined) node.budget = budget;
    }
    this.settle();
    return undefined;
  }

  /** A node makes a serial: a node that never runs, and steps of which each needs the one before. */
  serial(parent: number, steps: number, needs: readonly Needed[], list: boolean): Verdict {
    const above = this.at(parent);
    const codes = [...this.mayMake(above, 1, 2, steps), ...this.wrongNeeds(above, needs)];
    if (codes.length > 0) return codes;
    const serial = this.add('serial', above, [], 0);
    serial.status = 'waiting_children';
    serial.list = list;
    serial.budget = above.budget;
    for (let i = 0; i < steps; i++) {
      const before = this.nodes.length;
      this.add('spawn', serial, i === 0 ? needs : [{ on: before, block: true }], 0);
    }
    this.settle();
    return undefined;
  }

  /** A node gives its result. `call` waits for the check, where there is one. */
  complete(n: number, call: string, given: 'text' | 'value' | 'nothing'): Verdict | 'checking' {
    const node = this.at(n);
    if (node.ended) return ['node_ended'];
    if (node.answering) return ['illegal_transition'];
    if (node.since > 0) {
      node.draft = given === 'nothing' ? 'empty' : 'unchecked';
      return undefined;
    }
    if (given === 'nothing') {
      node.wrong++;
      return ['no_result'];
    }
    if (given === 'text') {
      node.draft = 'checked'; // of a node whose result is a text: there is nothing to check
      return undefined;
    }
    node.checks.add(call);
    return 'checking';
  }

  /** A node asks a question. */
  ask(n: number, of: AskedOf, given: Pick<Question, 'deadline' | 'options' | 'preset'>): Verdict {
    const asker = this.at(n);
    if (asker.ended) return ['node_ended'];
    const route = this.routeOf(asker, of);
    const codes = typeof route === 'string' ? [route] : [];
    if (this.nodes.filter(({ type, parent }) => type === 'ask' && parent === asker).length >= this.terms.asks)
      codes.push('limit_asks');
    if (this.nodes.length >= this.terms.nodes) codes.push('limit_nodes');
    if (typeof route !== 'string' && given.deadline === null && route.some((to) => this.waits('act', to, 'act', n)))
      codes.push('would_deadlock');
    if (route.length === 0 && this.people === 'fail') codes.push('no_people');
    if (codes.length > 0 || typeof route === 'string') return codes;
    const node = this.add('ask', asker, [], 0);
    node.status = 'active';
    const none = { told: new Set<number>(), answers: new Set<number>(), parked: true, how: null, by: [] };
    node.question = { asker: n, of, ...given, route, ...none };
    this.putTo(node, route);
    this.settle();
    return undefined;
  }

  /** A question was composed for the run of a node. */
  questioned(ask: number, to: number, isComposed: boolean): void {
    const node = this.at(ask);
    const { question } = node;
    if (question === null || question.how !== null || !question.route.includes(to)) return;
    const { run } = this.at(to);
    if (!isComposed) this.passUp(node, to);
    else if (run === 'live' || run === 'waiting') question.told.add(to);
    else this.put(node, to);
    this.settle();
  }

  /** A node, or people, answer a question. */
  answer(ask: number, by: number | 'people', picked: string | null, name = ''): Verdict {
    const node = this.nodes[ask - 1];
    const question = node?.question ?? null;
    if (node === undefined || question === null) return by === 'people' ? ['unknown_node'] : ['not_asked'];
    if (question.how !== null) return ['already_answered', 'not_asked'];
    if (by !== 'people' && !question.route.includes(by)) return ['not_asked'];
    if (question.options.length > 0 && !question.options.includes(picked ?? '')) return ['not_an_option'];
    if (by !== 'people') {
      question.answers.add(by);
      question.route = question.route.filter((one) => one !== by);
    }
    if (by === 'people') this.close(node, 'answered', [name]);
    else if (question.of !== 'children') this.close(node, 'answered', [nameOfNode(by)]);
    else if (question.route.length === 0) this.close(node, 'answered', namesOf(question));
    this.settle();
    return undefined;
  }

  /** People or a program answered, or nobody did, or the time for an answer is over. */
  unanswered(ask: number, name?: string): void {
    const node = this.at(ask);
    if (node.question === null || node.question.how !== null) return;
    if (name !== undefined) this.close(node, 'answered', [name]);
    else if (node.question.answers.size > 0) this.close(node, 'answered', namesOf(node.question));
    else this.close(node, defaultOf(node.question));
    this.settle();
  }

  /** A program has waited long enough for an answer: it comes with its next prompt. */
  programGoesOn(ask: number): void {
    const { question } = this.at(ask);
    if (question !== null && question.how === null) question.parked = false;
  }

  /** A node stops another; people stop any. */
  stop(n: number, by: number | 'people', name = ''): Verdict {
    const node = this.nodes[n - 1];
    if (node === undefined) return ['unknown_node'];
    if (by !== 'people') {
      if (this.at(by).ended) return ['node_ended'];
      if (!this.isBelow(node, by)) return ['not_your_subtree'];
    }
    if (node.ended) return ['already_ended'];
    if (by !== 'people' && node.parent?.n === by && node.type !== 'ask' && node.parent.since > 0) node.parent.since--;
    this.end(node, 'cancelled', 'stopped');
    node.stoppedBy = by === 'people' ? name : nameOfNode(by);
    this.settle();
    return undefined;
  }

  /** People pause or resume a node. */
  pause(n: number, paused: boolean): Verdict {
    const node = this.nodes[n - 1];
    if (node === undefined) return ['unknown_node'];
    if (node.ended) return ['already_ended', 'node_ended'];
    if (node.paused === paused || node.type === 'ask') return ['illegal_transition'];
    node.paused = paused;
    this.settle();
    return undefined;
  }

  /** People have a node tried again. */
  retry(
    n: number,
    { fresh = false, agent, budget }: { fresh?: boolean; agent?: string; budget?: number } = {},
  ): Verdict {
    const node = this.nodes[n - 1];
    if (node === undefined) return ['unknown_node'];
    if (!node.ended) return ['not_ended'];
    const codes = this.above(node).some(({ ended }) => ended) ? ['ancestor_ended'] : [];
    const steps = node.type === 'serial' ? this.childrenOf(node) : [];
    if (node.type === 'ask' || [node, ...steps].some(({ run }) => run !== 'none')) codes.push('illegal_transition');
    if (codes.length > 0) return codes;
    const before = this.nodes.map((one) => ({ ...one }));
    this.again(node);
    if (this.hasCircle) {
      for (const [i, one] of before.entries()) Object.assign(this.nodes[i] as Node, one);
      return ['would_deadlock'];
    }
    node.fresh ||= fresh || agent !== undefined;
    node.agent = agent ?? node.agent;
    const usual = budget ?? this.purse.node;
    if (usual !== null) node.budget = node.spent + usual;
    this.settle();
    return undefined;
  }

  /** People change a node that has not begun, or is paused and has no run. */
  modify(n: number, change: { priority?: number; agent?: string; budget?: number }): Verdict {
    const node = this.nodes[n - 1];
    if (node === undefined) return ['unknown_node'];
    if (node.ended) return ['node_ended'];
    if (node.type === 'ask') return ['illegal_transition'];
    if (node.run !== 'none' || (node.status !== 'pending' && !node.paused)) return ['is_active'];
    node.fresh ||= change.agent !== undefined && change.agent !== node.agent;
    node.agent = change.agent ?? node.agent;
    node.priority = change.priority ?? node.priority;
    node.budget = change.budget ?? node.budget;
    this.settle();
    return undefined;
  }

  /** A limit of the tree, or what all may use, changes. */
  limit(change: Partial<Terms>, tree: number | null = this.purse.tree): void {
    this.terms = { ...this.terms, ...change };
    this.purse = { ...this.purse, tree };
    this.settle();
  }

  protected add(
    type: 'spawn' | 'fork' | 'serial' | 'ask',
    parent: Node,
    needs: readonly Needed[],
    priority: number,
  ): Node {
    const node = new Node(this.nodes.length + 1, type, parent, needs, priority);
    this.nodes.push(node);
    if (type !== 'ask') {
      node.agent = parent.agent;
      node.budget = least(this.purse.node, parent.budget);
      parent.since++;
      this.waitAgain(parent);
    }
    return node;
  }

  protected mayMake(above: Node, children: number, levels: number, below = 0): string[] {
    if (above.ended) return ['node_ended', 'tree_ended'];
    if (above.type === 'ask' || above.type === 'serial') return ['illegal_transition'];
    const { terms } = this;
    const codes: string[] = [];
    if (above.depth + levels > terms.depth) codes.push('limit_depth');
    if (above.gen >= terms.generations) codes.push('limit_generations');
    if (this.nodes.length + children + below > terms.nodes) codes.push('limit_nodes');
    if (above.since + children > terms.children) codes.push('limit_children');
    return codes;
  }

  /** A need may not be a node that itself waits for the one above: its end would never come. */
  protected wrongNeeds(above: Node, needs: readonly Needed[]): string[] {
    return needs.flatMap(({ on }) => {
      if ((this.nodes[on - 1]?.type ?? 'ask') === 'ask') return ['unknown_node'];
      return this.waits('end', on, 'end', above.n) ? ['would_deadlock'] : [];
    });
  }

  /** The nodes that are to answer: empty for people; a code when there is no such node. */
  protected routeOf(asker: Node, of: AskedOf): number[] | string {
    if (of === 'human') return [];
    if (of === 'parent') return this.upFrom(asker);
    const children = this.openOf(asker).filter(({ type }) => type !== 'serial');
    if (of === 'children') return children.length === 0 ? 'no_children' : children.map(({ n }) => n);
    return children.some(({ n }) => n === of) ? [of] : 'not_your_child';
  }

  /** Opens an ended node again, and what failed because of it. One that made children goes on with their synthesis. */
  protected again(node: Node, again = new Set<number>()): void {
    if (!node.ended) return;
    again.add(node.n);
    node.stoppedBy = null;
    if (node.parent !== null) node.parent.since++;
    node.code = null;
    node.isNew = true;
    if (node.launch > 0) node.attempt++;
    if (node.since > 0 && node.launch > 0) node.gen++;
    node.since = 0;
    this.begin(node);
    if (node.type === 'serial') {
      Object.assign(node, { status: 'waiting_children', phase: 'work', gen: 0 });
      const steps = this.childrenOf(node);
      const failed = steps.filter(({ status }) => status !== 'complete');
      for (const step of failed.length > 0 ? failed : steps) this.again(step, again);
    }
    if (node.parent !== null) this.waitAgain(node.parent);
    if (node.type !== 'serial' && this.isBlocked(node)) return; // a need of it has failed already
    for (const other of this.nodes) {
      const failedFor = other.code === 'blocked_failed' && other.needs.some(({ on }) => again.has(on));
      if (failedFor && !this.above(other).some(({ ended }) => ended)) this.again(other, again);
    }
  }
}

/** The lesser of two bounds, of which either may be absent. */
function least(a: number | null, b: number | null): number | null {
  if (a === null) return b;
  return b === null ? a : Math.min(a, b);
}
