/** The runs of nodes: which may begin, how each goes on, and what its end decides. */
import { Ends } from './ends.js';
import { CODES, type Node, type RunEnd, type Use } from './node.js';

/** The runs of nodes. */
export class Runs extends Ends {
  /** Each launch: number and launch. */
  readonly launched: string[] = [];

  /** A prompt was composed, or could not be. */
  composed(n: number, launch: number, code: string | null): void {
    const node = this.at(n);
    if (node.run !== 'composing' || node.launch !== launch) return;
    if (code === null && node.held) this.putAside(node);
    else if (code === null) this.goLive(node);
    else {
      node.draft = null;
      // Whom it was to answer is not kept waiting for a run that cannot begin.
      if (node.answering) for (const ask of this.askedOf(node)) ask.question?.told.add(node.n);
      this.runOver(node, () => this.decide(node, 'failed', false, code));
    }
    this.settle();
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
        this.wait(node);
      } else if (this.openOf(node).length > 0) node.status = 'waiting_children';
      else if (found === 'ok') this.end(node, 'complete', null);
      else if (node.type === 'serial') this.end(node, 'failed', found === 'wrong' ? 'validation_error' : 'boom');
      else if (found === 'wrong') this.repair(node);
      else {
        node.draft = null;
        this.failAttempt(node, 'boom');
      }
    } else if (node.checks.delete(call) && (node.run === 'live' || node.run === 'waiting')) {
      if (found === 'ok') node.draft = 'checked';
      else node.wrong++;
    }
    this.settle();
  }

  /** The current run of a node ended. `code` is the run's own. */
  runEnded(n: number, how: RunEnd, hasOutput: boolean, use: Use, code = CODES[how]): void {
    const node = this.at(n);
    node.checks.clear();
    this.count(node, use);
    this.runOver(node, () => this.decide(node, how, hasOutput, code));
    this.settle();
  }

  /** An earlier run of a node tells its end: nothing changes but what was used. */
  lateEnd(n: number, use: Use): void {
    this.count(this.at(n), use);
    this.settle();
  }

  /** The calls of a run all wait for answers, or no longer do. */
  runWaits(n: number): void {
    const node = this.at(n);
    if (node.run !== 'live' || this.questionsOf(node).every(({ parked }) => !parked)) return;
    node.run = 'waiting';
    this.settle();
  }

  /** Whether nothing more will happen by itself, though the tree has not ended. */
  get stuck(): boolean {
    return !this.root.ended && this.nodes.every(({ run }) => run === 'none');
  }

  /** A node that was paused while its prompt was composed is launched anew after the pause. */
  protected putAside(node: Node): void {
    node.run = 'none';
    node.reserved = 0;
    if (!node.answering) node.status = 'pending';
    this.waitAgain(node);
  }

  /** A run has what its prompt says, the questions in it among them. */
  protected goLive(node: Node): void {
    node.run = 'live';
    if (!node.answering) node.draft = null;
    for (const question of this.questionsOf(node)) question.parked = false;
    if (node.fresh || node.sessions === 0) {
      node.sessions++;
      node.inputs = 0;
      node.fresh = false;
    }
    node.inputs++;
    for (const ask of this.askedOf(node)) {
      if (node.reads.includes(ask.n)) ask.question?.told.add(node.n);
      else this.put(ask, node.n);
    }
  }

  protected runOver(node: Node, then: () => void): void {
    node.run = 'none';
    node.reserved = 0;
    for (const question of this.questionsOf(node)) question.parked = false;
    if (node.ended) return;
    for (const ask of this.askedOf(node)) if (ask.question?.told.has(node.n)) this.passUp(ask, node.n);
    then();
  }

  protected decide(node: Node, how: RunEnd, hasOutput: boolean, code: string): void {
    if (node.answering) {
      node.answering = false;
      if (node.status === 'waiting_children' && this.openOf(node).length === 0) this.synthesize(node);
      return this.goOn(node);
    }
    const isAsking = this.questionsOf(node).some((question) => question.how === null);
    if (node.draft === null && how === 'completed' && node.since === 0 && isAsking) {
      node.status = 'waiting_input';
      return this.passUpCircles(node);
    }
    if (node.draft !== null) return this.takeDraft(node);
    if (how !== 'completed') return this.failAttempt(node, node.wrong >= 3 ? 'validation_error' : code);
    if (!hasOutput) return this.failAttempt(node, 'no_result');
    node.draft = 'unchecked';
    this.takeDraft(node);
  }

  /** Questions to nodes that only act after this one has ended go up. */
  private passUpCircles(node: Node): void {
    for (const ask of this.nodes.filter(({ parent }) => parent === node)) {
      const circular = () => {
        const { question } = ask;
        if (question === null || question.how !== null || question.deadline !== null) return undefined;
        return question.route.find((to) => this.waits('act', to, 'end', node.n));
      };
      for (let to = circular(); to !== undefined; to = circular()) this.passUp(ask, to);
    }
  }

  protected takeDraft(node: Node): void {
    if (node.since > 0) return this.wait(node);
    if (node.draft === 'empty') {
      node.draft = null;
      return this.failAttempt(node, 'no_result');
    }
    if (node.draft === 'checked') return this.end(node, 'complete', null);
    node.run = 'checking';
  }

  protected failAttempt(node: Node, code: string): void {
    if (node.since > 0) return this.wait(node);
    if (node.attempt >= this.terms.attempts || code === 'max_cost') return this.end(node, 'failed', code);
    node.attempt++;
    this.begin(node);
  }

  protected repair(node: Node): void {
    node.draft = null;
    if (++node.wrong >= 3) return this.failAttempt(node, 'validation_error');
    node.phase = 'repair';
    node.status = 'pending';
  }

  protected wait(node: Node): void {
    node.status = 'waiting_children';
    if (this.openOf(node).length === 0) this.synthesize(node);
  }

  /** Whether a node may begin. */
  protected isReady(node: Node): boolean {
    if (node.run === 'waiting') {
      const parked = this.questionsOf(node).filter((question) => question.parked);
      return parked.length > 0 && parked.every(({ how }) => how !== null) && !node.held;
    }
    if (node.status !== 'pending' && !node.answering) return false;
    if (node.type === 'serial' || node.type === 'ask' || node.run !== 'none' || node.held) return false;
    if (this.above(node).some(({ ended }) => ended)) return false;
    if (node.phase === 'synthesis' && !node.answering && this.openOf(node).length > 0) return false;
    return !node.isNew || node.needs.every(({ on }) => this.at(on).ended);
  }

  /** Counts what a run used: where something bounds it, use that is not known is all that was set aside. */
  protected count(node: Node, { amount, isKnown }: Use): void {
    const isBound = this.purse.stated || this.purse.tree !== null;
    node.spent += isKnown || !isBound ? amount : Math.max(amount, node.reserved);
  }

  /** What is set aside for a run: what is left of the node's budget, or, when no other run goes on, of the tree's. */
  protected reserveFor(node: Node): number | 'wait' | 'never' {
    const own = node.budget === null ? null : node.budget - node.spent;
    if (own !== null && own <= 0) return 'never';
    if (this.purse.tree === null) return own ?? 0;
    const left = this.purse.tree - this.spent - this.reserved;
    if (own !== null && own <= left) return own;
    if (this.reserved > 0) return 'wait';
    return left > 0 ? left : 'never';
  }

  /** The first that may go on or begin: a run that was under way, then by priority, then by number. */
  protected firstReady(): Node | undefined {
    if (this.nodes.filter(({ slot }) => slot).length >= this.terms.parallel) return undefined;
    const ready = this.nodes.filter((node) => this.isReady(node));
    const isOn = ({ run }: Node): number => (run === 'waiting' ? 1 : 0);
    return ready.sort((a, b) => isOn(b) - isOn(a) || b.priority - a.priority || a.n - b.n)[0];
  }

  /** Fails what can never begin, and launches what may, while there are slots and the budget allows it. */
  protected settle(): void {
    for (const node of this.nodes) this.release(node);
    for (const node of this.nodes) for (const ask of this.askedOf(node)) this.put(ask, node.n);
    for (let node = this.firstReady(); node !== undefined; node = this.firstReady()) {
      if (node.run === 'waiting') {
        for (const question of this.questionsOf(node)) question.parked = false;
        node.run = 'live';
        continue;
      }
      if (node.status === 'pending') node.answering = false;
      if (node.answering && this.askedOf(node).length === 0) {
        this.answered(node);
        return this.settle();
      }
      const reserve = this.reserveFor(node);
      if (reserve === 'wait') {
        if (this.passUpWaiting()) this.settle();
        return;
      }
      if (reserve === 'never') {
        if (node.answering) this.cannotAnswer(node);
        else this.end(node, 'failed', 'max_cost');
        return this.settle();
      }
      this.launch(node, reserve);
    }
  }

  /** All runs wait for answers, and no other can begin before: the questions of those that have none go up. */
  protected passUpWaiting(): boolean {
    if (this.nodes.some(({ slot }) => slot)) return false;
    const idle = this.nodes.filter(({ run }) => run === 'none').map((node) => [node, this.askedOf(node)] as const);
    for (const [node, asks] of idle) for (const ask of asks) this.passUp(ask, node.n);
    return idle.some(([, asks]) => asks.length > 0);
  }

  /** A node that was to answer only has no question left. */
  protected answered(node: Node): void {
    node.answering = false;
    if (node.status === 'waiting_children' && this.openOf(node).length === 0) this.synthesize(node);
    this.goOn(node);
  }

  /** Nothing is left for a run that would answer: its questions go up. */
  protected cannotAnswer(node: Node): void {
    node.answering = false;
    for (const ask of this.askedOf(node)) this.passUp(ask, node.n);
  }

  protected launch(node: Node, reserve: number): void {
    node.launch++;
    node.reserved = reserve;
    node.isNew = false;
    node.run = 'composing';
    node.reads = this.askedOf(node).map(({ n }) => n);
    if (!node.answering) node.status = 'active';
    this.launched.push(`${node.n}.${node.launch}`);
  }
}
