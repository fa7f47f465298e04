/**
 * What a tree of agents must do, as a plain program. It shares no code with the package, keeps no counters and no tables:
 * after each step it looks at all nodes again, and asks of each what the specification of trees says about it.
 */

/** The limits of a tree. */
export interface Terms {
  readonly nodes: number;
  readonly depth: number;
  readonly children: number;
  readonly parallel: number;
  readonly generations: number;
  readonly attempts: number;
  readonly asks: number;
}

/** A need: another node, and whether its failure fails the node that needs it. */
export interface Needed {
  readonly on: number;
  readonly block: boolean;
}

/** The target of a question. */
export type AskedOf = 'human' | 'parent' | 'children' | number;

/** How a run ended. */
export type RunEnd = 'completed' | 'failed' | 'max_cost' | 'timeout' | 'limit' | 'cancelled';

const CODES = {
  failed: 'boom',
  max_cost: 'max_cost',
  timeout: 'timeout',
  limit: 'limit/max_steps',
  cancelled: 'cancelled',
};

/** A question, beside its node. */
interface Question {
  readonly asker: number;
  readonly of: AskedOf;
  readonly deadline: number | null;
  readonly options: readonly string[];
  readonly preset: number | null;
  /** The nodes whose answers are awaited; people when it is empty. */
  route: number[];
  /** The nodes of the route that have read it. */
  readonly told: Set<number>;
  readonly answers: Set<number>;
  /** Whether a call of the asker waits for it. */
  parked: boolean;
  how: 'answered' | 'default' | 'timed_out' | 'cancelled' | null;
}

/** A node, as the oracle sees it. */
export class Node {
  status: 'pending' | 'active' | 'waiting_children' | 'waiting_input' | 'complete' | 'failed' | 'cancelled' = 'pending';
  code: string | null = null;
  run: 'none' | 'composing' | 'live' | 'waiting' | 'checking' | 'draining' = 'none';
  phase: 'work' | 'synthesis' | 'repair' = 'work';
  paused = false;
  answering = false;
  gen = 0;
  attempt = 1;
  wrong = 0;
  launch = 0;
  /** Whether its needs count: it has not begun, or is tried again and they have not ended since. */
  isNew = true;
  /** What its run gave: a checked result, one that nobody has looked at, or nothing but its children. */
  draft: 'checked' | 'unchecked' | 'empty' | null = null;
  /** The children made since it last began to work or to synthesize, without those that it stopped itself. */
  since = 0;
  /** The checks of results that calls of `complete` wait for. */
  readonly checks = new Set<string>();
  question: Question | null = null;
  /** The questions that stand in the prompt which is being composed. */
  reads: readonly number[] = [];
  /** Its sessions so far, and the inputs that the last of them has had. */
  sessions = 0;
  inputs = 0;
  fresh = false;
  /** Of a serial: whether its result is the list of all. */
  list = false;

  constructor(
    readonly n: number,
    readonly type: 'goal' | 'spawn' | 'fork' | 'serial' | 'ask',
    readonly parent: Node | null,
    readonly needs: readonly Needed[],
    public priority: number,
  ) {}

  get depth(): number {
    return this.parent === null ? 1 : this.parent.depth + 1;
  }

  get ended(): boolean {
    return this.status === 'complete' || this.status === 'failed' || this.status === 'cancelled';
  }

  /** Whether it holds a slot. */
  get slot(): boolean {
    return this.run === 'composing' || this.run === 'live' || this.run === 'draining';
  }

  /** Whether it or a node above it is paused. */
  get held(): boolean {
    return this.paused || (this.parent?.held ?? false);
  }
}

/** The verdict on a step: undefined when it is accepted, else the codes of which one refuses it. */
export type Verdict = readonly string[] | undefined;

/** A tree as the specification says it is. */
export class Oracle {
  readonly nodes: Node[] = [];
  /** Each launch: number, launch and phase. */
  readonly launched: string[] = [];
  syntheses = 0;

  constructor(
    public terms: Terms,
    /** What becomes of a question to people. */
    private readonly people: 'human' | 'default' | 'fail' = 'human',
  ) {
    this.nodes.push(new Node(1, 'goal', null, [], 0));
    this.#settle();
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

  /** A prompt was composed, or could not be. */
  composed(n: number, launch: number, code: string | null): void {
    const node = this.at(n);
    if (node.run !== 'composing' || node.launch !== launch) return;
    if (code === null && node.held) this.#putAside(node);
    else if (code === null) this.#goLive(node);
    else {
      node.draft = null;
      this.#runOver(node, () => this.#decide(node, 'failed', false));
    }
    this.#settle();
  }

  /** A node, or people, make children. `needs` lists what each of them needs. */
  make(
    parent: number,
    children: readonly { type: 'spawn' | 'fork'; needs: readonly Needed[]; priority: number }[],
  ): Verdict {
    const above = this.at(parent);
    const codes = this.#mayMake(above, children.length, 1);
    for (const { needs } of children) codes.push(...this.#wrongNeeds(above, needs));
    if (codes.length > 0) return codes;
    for (const { type, needs, priority } of children) this.#add(type, above, needs, priority);
    this.#settle();
    return undefined;
  }

  /** A node makes a serial: a node that never runs, and steps of which each needs the one before. */
  serial(parent: number, steps: number, needs: readonly Needed[], list: boolean): Verdict {
    const above = this.at(parent);
    const codes = [...this.#mayMake(above, 1, 2, steps), ...this.#wrongNeeds(above, needs)];
    if (codes.length > 0) return codes;
    const serial = this.#add('serial', above, [], 0);
    serial.status = 'waiting_children';
    serial.list = list;
    for (let i = 0; i < steps; i++) {
      const before = this.nodes.length;
      this.#add('spawn', serial, i === 0 ? needs : [{ on: before, block: true }], 0);
    }
    this.#settle();
    return undefined;
  }

  /** A node gives its result. `call` waits for the check, where there is one. */
  complete(n: number, call: string, hasValue: boolean): Verdict | 'checking' {
    const node = this.at(n);
    if (node.ended) return ['node_ended'];
    if (node.answering) return ['illegal_transition'];
    if (node.since > 0) {
      node.draft = hasValue ? 'unchecked' : 'empty';
      return undefined;
    }
    if (!hasValue) {
      node.wrong++;
      return ['no_result'];
    }
    node.checks.add(call);
    return 'checking';
  }

  /** A result was checked: that of a call, or, without one, what the last run gave. */
  checked(n: number, launch: number, call: string | null, found: 'ok' | 'wrong' | 'failed'): void {
    const node = this.at(n);
    if (node.launch !== launch) return;
    if (call === null) {
      if (node.run !== 'checking') return;
      node.run = 'none';
      if (node.since > 0 && node.type !== 'serial') {
        if (found === 'ok') node.draft = 'checked';
        this.#wait(node);
      } else if (this.#openOf(node).length > 0) node.status = 'waiting_children';
      else if (found === 'ok') this.#end(node, 'complete', null);
      else if (node.type === 'serial') this.#end(node, 'failed', found === 'wrong' ? 'validation_error' : 'boom');
      else if (found === 'wrong') this.#repair(node);
      else {
        node.draft = null;
        this.#failAttempt(node, 'boom');
      }
    } else if (node.checks.delete(call) && (node.run === 'live' || node.run === 'waiting')) {
      if (found === 'ok') node.draft = 'checked';
      else node.wrong++;
    }
    this.#settle();
  }

  /** The current run of a node ended. */
  runEnded(n: number, how: RunEnd, hasOutput: boolean): void {
    const node = this.at(n);
    node.checks.clear();
    this.#runOver(node, () => this.#decide(node, how, hasOutput));
    this.#settle();
  }

  /** The calls of a run all wait for answers, or no longer do. */
  runWaits(n: number): void {
    const node = this.at(n);
    if (node.run !== 'live' || this.#questionsOf(node).every(({ parked }) => !parked)) return;
    node.run = 'waiting';
    this.#settle();
  }

  /** A program has waited long enough for an answer: it comes with its next prompt. */
  programGoesOn(ask: number): void {
    const { question } = this.at(ask);
    if (question !== null && question.how === null) question.parked = false;
  }

  /** A node asks a question. */
  ask(n: number, of: AskedOf, given: Pick<Question, 'deadline' | 'options' | 'preset'>): Verdict {
    const asker = this.at(n);
    if (asker.ended) return ['node_ended'];
    const route = this.#routeOf(asker, of);
    const codes = typeof route === 'string' ? [route] : [];
    if (this.nodes.filter(({ type, parent }) => type === 'ask' && parent === asker).length >= this.terms.asks)
      codes.push('limit_asks');
    if (this.nodes.length >= this.terms.nodes) codes.push('limit_nodes');
    if (typeof route !== 'string' && given.deadline === null && route.some((to) => this.#waits('act', to, 'act', n)))
      codes.push('would_deadlock');
    if (route.length === 0 && this.people === 'fail') codes.push('no_people');
    if (codes.length > 0 || typeof route === 'string') return codes;
    const node = this.#add('ask', asker, [], 0);
    node.status = 'active';
    const none = { told: new Set<number>(), answers: new Set<number>(), parked: true, how: null };
    node.question = { asker: n, of, ...given, route, ...none };
    this.#putTo(node, route);
    this.#settle();
    return undefined;
  }

  /** A question was composed for the run of a node. */
  questioned(ask: number, to: number, isComposed: boolean): void {
    const node = this.at(ask);
    const { question } = node;
    if (question === null || question.how !== null || !question.route.includes(to)) return;
    const { run } = this.at(to);
    if (!isComposed) this.#passUp(node, to);
    else if (run === 'live' || run === 'waiting') question.told.add(to);
    else this.#put(node, to);
    this.#settle();
  }

  /** A node, or people, answer a question. */
  answer(ask: number, by: number | 'people', picked: string | null): Verdict {
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
    if (by === 'people' || question.of !== 'children' || question.route.length === 0) this.#close(node, 'answered');
    this.#settle();
    return undefined;
  }

  /** People did not answer, or the time for an answer is over. */
  unanswered(ask: number, isAnswered = false): void {
    const node = this.at(ask);
    if (node.question === null || node.question.how !== null) return;
    this.#close(node, isAnswered || node.question.answers.size > 0 ? 'answered' : defaultOf(node.question));
    this.#settle();
  }

  /** A node stops another; people stop any. */
  stop(n: number, by: number | 'people'): Verdict {
    const node = this.nodes[n - 1];
    if (node === undefined) return ['unknown_node'];
    if (by !== 'people') {
      if (this.at(by).ended) return ['node_ended'];
      if (!this.#isBelow(node, by)) return ['not_your_subtree'];
    }
    if (node.ended) return ['already_ended'];
    if (by !== 'people' && node.parent?.n === by && node.type !== 'ask' && node.parent.since > 0) node.parent.since--;
    this.#end(node, 'cancelled', 'stopped');
    this.#settle();
    return undefined;
  }

  /** People pause or resume a node. */
  pause(n: number, paused: boolean): Verdict {
    const node = this.nodes[n - 1];
    if (node === undefined) return ['unknown_node'];
    if (node.ended) return ['already_ended', 'node_ended'];
    if (node.paused === paused || node.type === 'ask') return ['illegal_transition'];
    node.paused = paused;
    this.#settle();
    return undefined;
  }

  /** People have a node tried again. */
  retry(n: number, fresh = false): Verdict {
    const node = this.nodes[n - 1];
    if (node === undefined) return ['unknown_node'];
    if (!node.ended) return ['not_ended'];
    const codes = this.#above(node).some(({ ended }) => ended) ? ['ancestor_ended'] : [];
    const steps = node.type === 'serial' ? this.childrenOf(node) : [];
    if (node.type === 'ask' || [node, ...steps].some(({ run }) => run !== 'none')) codes.push('illegal_transition');
    if (codes.length > 0) return codes;
    const before = this.nodes.map((one) => ({ ...one }));
    this.#again(node);
    if (this.hasCircle) {
      for (const [i, one] of before.entries()) Object.assign(this.nodes[i] as Node, one);
      return ['would_deadlock'];
    }
    node.fresh ||= fresh;
    this.#settle();
    return undefined;
  }

  /** A limit of the tree changes. */
  limit(change: Partial<Terms>): void {
    this.terms = { ...this.terms, ...change };
    this.#settle();
  }

  /** Whether nothing more will happen by itself, though the tree has not ended. */
  get stuck(): boolean {
    return !this.root.ended && this.nodes.every(({ run }) => run === 'none');
  }

  #add(type: 'spawn' | 'fork' | 'serial' | 'ask', parent: Node, needs: readonly Needed[], priority: number): Node {
    const node = new Node(this.nodes.length + 1, type, parent, needs, priority);
    this.nodes.push(node);
    if (type !== 'ask') {
      parent.since++;
      this.#waitAgain(parent);
    }
    return node;
  }

  /** A node that was to run again, but has not begun, waits again when it gets another child. */
  #waitAgain(parent: Node): void {
    if (parent.status !== 'pending' || parent.phase !== 'synthesis' || this.#openOf(parent).length === 0) return;
    parent.gen--;
    parent.phase = parent.gen > 0 ? 'synthesis' : 'work';
    parent.status = 'waiting_children';
  }

  #mayMake(above: Node, children: number, levels: number, below = 0): string[] {
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
  #wrongNeeds(above: Node, needs: readonly Needed[]): string[] {
    return needs.flatMap(({ on }) => {
      if ((this.nodes[on - 1]?.type ?? 'ask') === 'ask') return ['unknown_node'];
      return this.#waits('end', on, 'end', above.n) ? ['would_deadlock'] : [];
    });
  }

  /**
   * Whether the end of a node, or its acting, can only come after that of another. A node ends after it has acted and
   * its children have ended; it acts when what it needs has ended and its own questions are answered.
   */
  #waits(what: 'end' | 'act', n: number, forWhat: 'end' | 'act', other: number, seen = new Set<string>()): boolean {
    if (this.at(n).ended || seen.has(`${what}${n}`)) return false;
    if (n === other && what === forWhat) return true;
    seen.add(`${what}${n}`);
    return this.#awaited(what, n).some(([to, m]) => this.#waits(to, m, forWhat, other, seen));
  }

  #awaited(what: 'end' | 'act', n: number): ['end' | 'act', number][] {
    const node = this.at(n);
    if (what === 'end') return [['act', n], ...this.#openOf(node).map((child) => ['end', child.n] as ['end', number])];
    const needs = node.status === 'pending' && node.isNew ? node.needs : [];
    const asked = this.#questionsOf(node).flatMap(({ how, parked, deadline, route }) => {
      return how === null && parked && deadline === null ? route : [];
    });
    return [
      ...needs.map(({ on }) => ['end', on] as ['end', number]),
      ...asked.map((to) => ['act', to] as ['act', number]),
    ];
  }

  /** Whether a node waits for itself. */
  get hasCircle(): boolean {
    return this.nodes.some(({ n, ended }) => {
      if (ended) return false;
      return (['end', 'act'] as const).some((what) =>
        this.#awaited(what, n).some(([to, m]) => this.#waits(to, m, what, n)),
      );
    });
  }

  #above(node: Node): Node[] {
    return node.parent === null ? [] : [node.parent, ...this.#above(node.parent)];
  }

  #isBelow(node: Node, n: number): boolean {
    return this.#above(node).some((above) => above.n === n);
  }

  #openOf(node: Node): Node[] {
    return this.childrenOf(node).filter(({ ended }) => !ended);
  }

  #questionsOf(node: Node): Question[] {
    return this.nodes.flatMap(({ parent, question }) => (parent === node && question !== null ? [question] : []));
  }

  /** The questions that wait for the answer of a node. */
  #askedOf(node: Node): Node[] {
    return this.nodes.filter(({ question }) => question?.how === null && question.route.includes(node.n));
  }

  /** The nodes that are to answer: empty for people; a code when there is no such node. */
  #routeOf(asker: Node, of: AskedOf): number[] | string {
    if (of === 'human') return [];
    if (of === 'parent') return this.#upFrom(asker);
    const children = this.#openOf(asker).filter(({ type }) => type !== 'serial');
    if (of === 'children') return children.length === 0 ? 'no_children' : children.map(({ n }) => n);
    return children.some(({ n }) => n === of) ? [of] : 'not_your_child';
  }

  #upFrom(node: Node): number[] {
    const up = this.#above(node).find(({ type }) => type !== 'serial');
    return up === undefined || up.ended ? [] : [up.n];
  }

  #putTo(ask: Node, route: readonly number[]): void {
    if (route.length === 0 && this.people !== 'human' && ask.question !== null)
      this.#close(ask, defaultOf(ask.question));
    for (const to of route) this.#put(ask, to);
  }

  /** Lets a node know of a question: in its run, by a run of its own, or in its next prompt. */
  #put(ask: Node, to: number): void {
    const node = this.at(to);
    if (node.ended) this.#passUp(ask, to);
    else if (node.run === 'none' && node.status !== 'pending') node.answering = true;
  }

  /** Takes a question from a node that does not answer it: it goes up, at last to people. */
  #passUp(ask: Node, from: number): void {
    const { question } = ask;
    if (question === null || question.how !== null || this.at(question.asker).ended) return;
    question.route = question.route.filter((to) => to !== from);
    if (question.route.length > 0) return;
    if (question.answers.size > 0) return this.#close(ask, 'answered');
    const up = this.#upFrom(this.at(from)).filter((to) => to !== question.asker);
    const isSafe = question.deadline !== null || !up.some((to) => this.#waits('act', to, 'act', question.asker));
    question.route = isSafe ? up : [];
    question.told.clear();
    this.#putTo(ask, question.route);
  }

  #close(ask: Node, how: NonNullable<Question['how']>): void {
    if (ask.question === null) return;
    ask.question.how = how;
    this.#end(ask, how === 'timed_out' ? 'failed' : how === 'cancelled' ? 'cancelled' : 'complete', null);
  }

  /** A node that was paused while its prompt was composed is launched anew after the pause. */
  #putAside(node: Node): void {
    node.run = 'none';
    if (!node.answering) node.status = 'pending';
    this.#waitAgain(node);
  }

  /** A run has what its prompt says, the questions in it among them. */
  #goLive(node: Node): void {
    node.run = 'live';
    if (!node.answering) node.draft = null;
    for (const question of this.#questionsOf(node)) question.parked = false;
    if (node.fresh || node.sessions === 0) {
      node.sessions++;
      node.inputs = 0;
      node.fresh = false;
    }
    node.inputs++;
    for (const ask of this.#askedOf(node)) {
      if (node.reads.includes(ask.n)) ask.question?.told.add(node.n);
      else this.#put(ask, node.n);
    }
  }

  #runOver(node: Node, then: () => void): void {
    node.run = 'none';
    for (const question of this.#questionsOf(node)) question.parked = false;
    if (node.ended) return;
    for (const ask of this.#askedOf(node)) if (ask.question?.told.has(node.n)) this.#passUp(ask, node.n);
    then();
  }

  #decide(node: Node, how: RunEnd, hasOutput: boolean): void {
    if (node.answering) {
      node.answering = false;
      if (node.status === 'waiting_children' && this.#openOf(node).length === 0) this.#synthesize(node);
      return this.#goOn(node);
    }
    const isAsking = this.#questionsOf(node).some((question) => question.how === null);
    if (node.draft === null && how === 'completed' && node.since === 0 && isAsking) {
      node.status = 'waiting_input';
      return;
    }
    if (node.draft !== null) return this.#takeDraft(node);
    if (how !== 'completed') return this.#failAttempt(node, node.wrong >= 3 ? 'validation_error' : CODES[how]);
    if (!hasOutput) return this.#failAttempt(node, 'no_result');
    node.draft = 'unchecked';
    this.#takeDraft(node);
  }

  #takeDraft(node: Node): void {
    if (node.since > 0) return this.#wait(node);
    if (node.draft === 'empty') {
      node.draft = null;
      return this.#failAttempt(node, 'no_result');
    }
    if (node.draft === 'checked') return this.#end(node, 'complete', null);
    node.run = 'checking';
  }

  #failAttempt(node: Node, code: string): void {
    if (node.since > 0) return this.#wait(node);
    if (node.attempt >= this.terms.attempts || code === 'max_cost') return this.#end(node, 'failed', code);
    node.attempt++;
    this.#begin(node);
  }

  /** Puts a node before its next launch, in the phase of its generation. */
  #begin(node: Node): void {
    node.wrong = 0;
    node.phase = node.gen > 0 ? 'synthesis' : 'work';
    node.status = 'pending';
  }

  #repair(node: Node): void {
    node.draft = null;
    if (++node.wrong >= 3) return this.#failAttempt(node, 'validation_error');
    node.phase = 'repair';
    node.status = 'pending';
  }

  #wait(node: Node): void {
    node.status = 'waiting_children';
    if (this.#openOf(node).length === 0) this.#synthesize(node);
  }

  #synthesize(node: Node): void {
    if (node.type === 'serial') return this.#endSerial(node);
    if (!this.childrenOf(node).some(({ status }) => status === 'complete'))
      return this.#end(node, 'failed', 'all_children_failed');
    node.gen++;
    node.since = 0;
    node.attempt = 1;
    node.answering = false;
    this.syntheses++;
    this.#begin(node);
  }

  #endSerial(node: Node): void {
    if (!this.childrenOf(node).every(({ status }) => status === 'complete'))
      return this.#end(node, 'failed', 'child_failed');
    if (node.list) {
      node.launch++;
      node.run = 'checking';
    } else this.#end(node, 'complete', null);
  }

  /** The end of a node: what it means for its run, its children, those that need it, and its parent. */
  #end(node: Node, status: 'complete' | 'failed' | 'cancelled', code: string | null): void {
    for (const one of this.#finish(node, status, code)) this.#passOn(one);
  }

  /** Ends a node, and what is below one that is not complete. */
  #finish(node: Node, status: 'complete' | 'failed' | 'cancelled', code: string | null): Node[] {
    if (node.ended) return [];
    node.status = status;
    node.code = code;
    node.draft = null;
    node.answering = false;
    node.paused = false;
    node.checks.clear();
    node.run = node.run === 'live' || node.run === 'waiting' || node.run === 'draining' ? 'draining' : 'none';
    if (status === 'complete') return [node];
    return [node, ...this.#openOf(node).flatMap((child) => this.#finish(child, 'cancelled', 'parent_ended'))];
  }

  #passOn(node: Node): void {
    for (const ask of this.nodes)
      if (ask.type === 'ask' && ask.parent === node) this.#close(ask, ask.question?.how ?? 'cancelled');
    for (const ask of this.#askedOf(node)) this.#passUp(ask, node.n);
    for (const other of this.nodes) this.#release(other);
    const { parent } = node;
    if (node.type === 'ask') return this.#toAsker(node);
    if (parent === null || parent.status !== 'waiting_children') return;
    if (parent.run !== 'none' && parent.type !== 'serial') return;
    if (this.#openOf(parent).length === 0) this.#synthesize(parent);
  }

  /** An asker has the outcome: in its call when it has a slot again, or in its next prompt. */
  #toAsker({ parent: asker, question }: Node): void {
    if (question !== null) question.how ??= 'cancelled';
    if (asker === null || asker.ended) return;
    const questions = this.#questionsOf(asker);
    const open = questions.filter(({ how }) => how === null);
    if (asker.run === 'waiting' && open.every(({ parked }) => !parked)) return; // it is in line
    if (asker.run !== 'none') for (const one of questions) if (one.how !== null) one.parked = false;
    this.#goOn(asker);
  }

  /** A node that waits for answers only runs again once there are no more to come. */
  #goOn(node: Node): void {
    const isAsking = this.#questionsOf(node).some(({ how }) => how === null);
    if (node.run !== 'none' || node.status !== 'waiting_input' || isAsking) return;
    node.status = 'pending';
    this.#waitAgain(node);
  }

  #isBlocked({ needs }: Node): boolean {
    return needs.some(({ on, block }) => block && this.at(on).ended && this.at(on).status !== 'complete');
  }

  /** A node that needs one that failed has failed, unless the edge says to continue. */
  #release(node: Node): void {
    if (node.status !== 'pending' || !node.isNew) return;
    if (this.#isBlocked(node)) this.#end(node, 'failed', 'blocked_failed');
    else if (node.launch > 0 && node.needs.every(({ on }) => this.at(on).ended)) node.isNew = false;
  }

  /** Opens an ended node again, and what failed because of it. One that made children goes on with their synthesis. */
  #again(node: Node, again = new Set<number>()): void {
    if (!node.ended) return;
    again.add(node.n);
    if (node.parent !== null) node.parent.since++;
    node.code = null;
    node.isNew = true;
    if (node.launch > 0) node.attempt++;
    if (node.since > 0 && node.launch > 0) node.gen++;
    node.since = 0;
    this.#begin(node);
    if (node.type === 'serial') {
      Object.assign(node, { status: 'waiting_children', phase: 'work', gen: 0 });
      const steps = this.childrenOf(node);
      const failed = steps.filter(({ status }) => status !== 'complete');
      for (const step of failed.length > 0 ? failed : steps) this.#again(step, again);
    }
    if (node.parent !== null) this.#waitAgain(node.parent);
    if (node.type !== 'serial' && this.#isBlocked(node)) return; // a need of it has failed already
    for (const other of this.nodes) {
      const failedFor = other.code === 'blocked_failed' && other.needs.some(({ on }) => again.has(on));
      if (failedFor && !this.#above(other).some(({ ended }) => ended)) this.#again(other, again);
    }
  }

  /** Whether a node may begin. */
  #isReady(node: Node): boolean {
    if (node.run === 'waiting') {
      const parked = this.#questionsOf(node).filter((question) => question.parked);
      return parked.length > 0 && parked.every(({ how }) => how !== null) && !node.held;
    }
    if (node.status !== 'pending' && !node.answering) return false;
    if (node.type === 'serial' || node.type === 'ask' || node.run !== 'none' || node.held) return false;
    if (this.#above(node).some(({ ended }) => ended)) return false;
    if (node.phase === 'synthesis' && !node.answering && this.#openOf(node).length > 0) return false;
    return !node.isNew || node.needs.every(({ on }) => this.at(on).ended);
  }

  /** Fails what can never begin, and launches what may: by priority, then by number, while there are slots. */
  #settle(): void {
    for (const node of this.nodes) this.#release(node);
    for (const node of this.nodes) for (const ask of this.#askedOf(node)) this.#put(ask, node.n);
    const line = this.nodes.filter((node) => this.#isReady(node)).sort((a, b) => b.priority - a.priority || a.n - b.n);
    for (const node of line) {
      if (this.nodes.filter(({ slot }) => slot).length >= this.terms.parallel) return;
      if (node.run === 'waiting') {
        for (const question of this.#questionsOf(node)) question.parked = false;
        node.run = 'live';
        continue;
      }
      if (node.status === 'pending') node.answering = false;
      if (node.answering && this.#askedOf(node).length === 0) {
        node.answering = false;
        if (node.status === 'waiting_children' && this.#openOf(node).length === 0) this.#synthesize(node);
        this.#goOn(node);
        return this.#settle();
      }
      node.launch++;
      node.isNew = false;
      node.run = 'composing';
      node.reads = this.#askedOf(node).map(({ n }) => n);
      if (!node.answering) node.status = 'active';
      this.launched.push(`${node.n}.${node.launch}`);
    }
  }
}

function defaultOf({ preset }: Question): 'default' | 'timed_out' {
  return preset === null ? 'timed_out' : 'default';
}
