/** What the end of a node means for others: its children, those that need it, its parent, and whom it asks or was asked by. */
import { Grove } from './grove.js';
import { type Node, nameOfNode, type Question } from './node.js';

/** The ends of nodes and of questions. */
export class Ends extends Grove {
  syntheses = 0;

  /** The end of a node: what it means for its run, its children, those that need it, and its parent. */
  protected end(node: Node, status: 'complete' | 'failed' | 'cancelled', code: string | null): void {
    for (const one of this.finish(node, status, code)) this.passOn(one);
  }

  /** Ends a node, and what is below one that is not complete. */
  protected finish(node: Node, status: 'complete' | 'failed' | 'cancelled', code: string | null): Node[] {
    if (node.ended) return [];
    node.status = status;
    node.code = code;
    node.draft = null;
    node.answering = false;
    node.paused = false;
    node.checks.clear();
    node.run = node.run === 'live' || node.run === 'waiting' || node.run === 'draining' ? 'draining' : 'none';
    if (node.run === 'none') node.reserved = 0;
    if (status === 'complete') return [node];
    return [node, ...this.openOf(node).flatMap((child) => this.finish(child, 'cancelled', 'parent_ended'))];
  }

  protected passOn(node: Node): void {
    for (const ask of this.nodes)
      if (ask.type === 'ask' && ask.parent === node) this.close(ask, ask.question?.how ?? 'cancelled');
    for (const ask of this.askedOf(node)) this.passUp(ask, node.n);
    for (const other of this.nodes) this.release(other);
    const { parent } = node;
    if (node.type === 'ask') return this.toAsker(node);
    if (parent === null || parent.status !== 'waiting_children') return;
    if (parent.run !== 'none' && parent.type !== 'serial') return;
    if (this.openOf(parent).length === 0) this.synthesize(parent);
  }

  /** A node that needs one that failed has failed, unless the edge says to continue. */
  protected release(node: Node): void {
    if (node.status !== 'pending' || !node.isNew) return;
    if (this.isBlocked(node)) this.end(node, 'failed', 'blocked_failed');
    else if (node.launch > 0 && node.needs.every(({ on }) => this.at(on).ended)) node.isNew = false;
  }

  /** Puts a node before its next launch, in the phase of its generation. */
  protected begin(node: Node): void {
    node.wrong = 0;
    node.phase = node.gen > 0 ? 'synthesis' : 'work';
    node.status = 'pending';
  }

  protected synthesize(node: Node): void {
    if (node.type === 'serial') return this.endSerial(node);
    if (!this.childrenOf(node).some(({ status }) => status === 'complete'))
      return this.end(node, 'failed', 'all_children_failed');
    node.gen++;
    node.since = 0;
    node.attempt = 1;
    node.answering = false;
    this.syntheses++;
    this.begin(node);
  }

  protected endSerial(node: Node): void {
    if (!this.childrenOf(node).every(({ status }) => status === 'complete'))
      return this.end(node, 'failed', 'child_failed');
    if (node.list) {
      node.launch++;
      node.run = 'checking';
    } else this.end(node, 'complete', null);
  }

  /** A node that was to run again, but has not begun, waits again when it gets another child. */
  protected waitAgain(parent: Node): void {
    if (parent.status !== 'pending' || parent.phase !== 'synthesis' || this.openOf(parent).length === 0) return;
    parent.gen--;
    parent.phase = parent.gen > 0 ? 'synthesis' : 'work';
    parent.status = 'waiting_children';
  }

  protected putTo(ask: Node, route: readonly number[]): void {
    if (route.length === 0 && this.people !== 'human' && ask.question !== null)
      this.close(ask, defaultOf(ask.question));
    for (const to of route) this.put(ask, to);
  }

  /** Lets a node know of a question: in its run, by a run of its own, or in its next prompt. */
  protected put(ask: Node, to: number): void {
    const node = this.at(to);
    if (node.ended) this.passUp(ask, to);
    else if (node.run === 'none' && node.status !== 'pending') node.answering = true;
  }

  /** Takes a question from a node that does not answer it: it goes up, at last to people. */
  protected passUp(ask: Node, from: number): void {
    const { question } = ask;
    if (question === null || question.how !== null || this.at(question.asker).ended) return;
    question.route = question.route.filter((to) => to !== from);
    if (question.route.length > 0) return;
    if (question.answers.size > 0) return this.close(ask, 'answered', namesOf(question));
    const up = this.upFrom(this.at(from)).filter((to) => to !== question.asker);
    const isSafe = question.deadline !== null || !up.some((to) => this.waits('act', to, 'act', question.asker));
    question.route = isSafe ? up : [];
    question.told.clear();
    this.putTo(ask, question.route);
  }

  protected close(ask: Node, how: NonNullable<Question['how']>, by: readonly string[] = []): void {
    if (ask.question === null) return;
    ask.question.how = how;
    ask.question.by = by;
    this.end(ask, how === 'timed_out' ? 'failed' : how === 'cancelled' ? 'cancelled' : 'complete', null);
  }

  /** An asker has the outcome: in its call when it has a slot again, or in its next prompt. */
  protected toAsker({ parent: asker, question }: Node): void {
    if (question !== null) question.how ??= 'cancelled';
    if (asker === null || asker.ended) return;
    const questions = this.questionsOf(asker);
    const open = questions.filter(({ how }) => how === null);
    if (asker.run === 'waiting' && open.every(({ parked }) => !parked)) return; // it is in line
    if (asker.run !== 'none') for (const one of questions) if (one.how !== null) one.parked = false;
    this.goOn(asker);
  }

  /** A node that waits for answers only runs again once there are no more to come. */
  protected goOn(node: Node): void {
    const isAsking = this.questionsOf(node).some(({ how }) => how === null);
    if (node.run !== 'none' || node.status !== 'waiting_input' || isAsking) return;
    node.status = 'pending';
    this.waitAgain(node);
  }
}

/** The outcome of a question that is not answered. */
export function defaultOf({ preset }: Question): 'default' | 'timed_out' {
  return preset === null ? 'timed_out' : 'default';
}

/** The nodes that answered a question, by their names. */
export function namesOf({ answers }: Question): string[] {
  return [...answers].map(nameOfNode);
}
