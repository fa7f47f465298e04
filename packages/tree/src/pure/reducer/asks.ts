/**
 * Questions. Each is a node below its asker, which awaits an answer of people, of the node's parent, or of its children.
 * A question that is not answered where it was asked goes up, and at last to people.
 */
import { actorIn } from '@reprise/work/contracts';
import type { AnswerType, AskRow, CallOf, CallPlace, NodeRow } from '../contracts/index.js';
import { peoplePlan } from '../plans/people.js';
import { questionPlan } from '../plans/question.js';
import { nodeActor, nodesActor, wordsForModel } from './actors.js';
import { answerCall, parkCall, passOn } from './ask-answers.js';
import { type Delivery, tableOf } from './delivery.js';
import { endNode, enterLine, waitAgain } from './end-node.js';
import { key, pair } from './keys.js';
import { newRow } from './make.js';
import { isEnded } from './nodes.js';
import { questionItems, unpassed } from './prompt.js';
import { actsAfterEnd, numbers, pathToAct } from './reach.js';
import { Refused } from './refused.js';
import { steer } from './runs.js';

/** How long a program's call waits for an answer; then it is told to end its turn. */
const PROGRAM_WAITS_MS = 20_000;

/** Begins the ids of a program's calls. */
const PROGRAM_CALL = 'x.';

/** Asks a question for a node. Its call is answered later. */
export function ask(delivery: Delivery, asker: NodeRow, args: CallOf<'ask'>, call: CallPlace): void {
  const { state, ctx } = delivery;
  const options = optionsOf(args);
  if (asker.asks >= state.limits.asks) throw new Refused('limit_asks', { max: state.limits.asks });
  const given = args.default === undefined ? null : options.indexOf(args.default);
  if (given === -1) throw new Refused('not_an_option', { options });
  const route = routeOf(delivery, asker, args.target ?? 'human');
  if (route.length === 0 && state.people === 'fail') throw new Refused('no_people');
  const deadline = args.deadline_seconds === undefined ? null : ctx.now + args.deadline_seconds * 1_000;
  if (deadline === null) refuseCircle(delivery, asker, route);
  const row = newRow(delivery, { type: 'ask', parent: asker, goal: args.goal, returns: 'text' });
  row.status = 'active';
  asker.asks++;
  state.asks++;
  const asked: AskRow = {
    asker: asker.n,
    call,
    target: args.target ?? 'human',
    route,
    told: [],
    question_ref: args.question_ref,
    text_ref: args.text_ref,
    options,
    returns: args.returns ?? 'text',
    default: given,
    deadline,
    plan: null,
    answers: [],
    outcome: null,
    passed: false,
  };
  setAsk(delivery, row.n, asked);
  if (deadline !== null) ctx.timer(deadlineTimer(row.n), deadline);
  if (call.call_id.startsWith(PROGRAM_CALL)) ctx.timer(programTimer(row.n), ctx.now + PROGRAM_WAITS_MS);
  putTo(delivery, row.n, route);
  if (askOf(delivery, row.n).outcome === null) parkCall(delivery, call);
}

/** Sets a question's row, and states to whom it goes. */
function setAsk(delivery: Delivery, n: number, row: AskRow): void {
  tableOf(delivery, 'asks').set(key(n), row);
  const { asker, target, route, question_ref, options, returns, default: given, deadline } = row;
  const stated = { ask: n, asker, target, route, question_ref, options, returns, default: given, deadline };
  delivery.ctx.record('tree/Asked@1', stated);
}

/** The options of a question; those of yes or no, and of an approval, are fixed. */
function optionsOf({
  options,
  returns = 'text',
}: {
  readonly options?: readonly string[];
  readonly returns?: AnswerType;
}): string[] {
  if (returns === 'boolean') return ['yes', 'no'];
  return returns === 'approval' ? ['approved', 'rejected'] : [...(options ?? [])];
}

/** The nodes that are to answer; empty for people. */
function routeOf(delivery: Delivery, asker: NodeRow, target: AskRow['target']): number[] {
  if (target === 'human') return [];
  if (target === 'parent') return upFrom(delivery, asker.n);
  const children = numbers(delivery, 'children', asker.n).filter((n) => {
    const row = delivery.nodes.at(n);
    return row.type !== 'ask' && row.type !== 'serial' && !isEnded(row);
  });
  if (target === 'children') {
    if (children.length === 0) throw new Refused('no_children');
    return children;
  }
  if (!children.includes(target)) throw new Refused('not_your_child', { children });
  return [target];
}

/** The next node above one that can answer: none is above the root, and a serial does not run. */
function upFrom({ nodes }: Delivery, n: number): number[] {
  for (let at = nodes.at(n).parent; at !== null; at = nodes.at(at).parent) {
    const row = nodes.at(at);
    if (row.type !== 'serial') return isEnded(row) ? [] : [at];
  }
  return [];
}

function refuseCircle(delivery: Delivery, asker: NodeRow, route: readonly number[]): void {
  for (const to of route) {
    const path = pathToAct(delivery, to, asker.n);
    if (path !== undefined) throw new Refused('would_deadlock', { path: [asker.n, ...path] });
  }
}

/** Puts a question to nodes, or to people when the route is empty. */
function putTo(delivery: Delivery, n: number, route: readonly number[]): void {
  if (route.length === 0) return askPeople(delivery, n);
  for (const to of route) {
    tableOf(delivery, 'routes').set(pair(to, n), null);
    tellQuestion(delivery, n, to);
  }
}

function askPeople(delivery: Delivery, n: number): void {
  const { state, ctx } = delivery;
  const row = askOf(delivery, n);
  if (state.people !== 'human') return closeAsk(delivery, n, defaultOf(row));
  const plan = ctx.emit({
    plan: peoplePlan,
    input: {
      ask: n,
      question_ref: row.question_ref,
      session: {
        key: `${ctx.address[1]}/${n}`,
        labels: { ...state.labels, tree: ctx.address[1], node: String(row.asker) },
      },
    },
  });
  tableOf(delivery, 'asks').set(key(n), { ...row, plan });
}

/** Lets a node know of a question: in its run, in one more run, or in its next prompt. */
function tellQuestion(delivery: Delivery, n: number, to: number): void {
  const row = delivery.nodes.at(to);
  if (isEnded(row)) return passUp(delivery, n, to);
  if (row.run === 'live' || row.run === 'waiting') {
    const items = questionItems(n, askOf(delivery, n));
    delivery.ctx.emit({ plan: questionPlan, input: { ask: n, to, sections: [{ title: 'A question to you', items }] } });
  } else if (row.run === 'none' && row.status !== 'pending') {
    const changed = delivery.nodes.change(to);
    changed.answering = true;
    enterLine(delivery, changed);
  }
}

/** Passes the composed question to the run of the node; when that has ended, the node is told anew. */
export function questionComposed(
  delivery: Delivery,
  { ask: n, to, text_ref }: { readonly ask: number; readonly to: number; readonly text_ref: AskRow['text_ref'] | null },
): void {
  const asked = tableOf(delivery, 'asks').get(key(n));
  if (asked === undefined || asked.outcome !== null || !asked.route.includes(to)) return;
  const row = delivery.nodes.change(to);
  if (text_ref === null) return passUp(delivery, n, to);
  if (row.run !== 'live' && row.run !== 'waiting') return tellQuestion(delivery, n, to);
  steer(delivery, row, `ask.${n}.${row.launch}`, text_ref);
  markTold(delivery, n, to);
}

function markTold(delivery: Delivery, n: number, to: number): void {
  const row = askOf(delivery, n);
  if (!row.told.includes(to)) tableOf(delivery, 'asks').set(key(n), { ...row, told: [...row.told, to] });
}

/** Marks the questions that a prompt contains, and tells those that came while it was composed. */
export function questionsLaunched(delivery: Delivery, row: NodeRow, before: readonly number[]): void {
  for (const n of numbers(delivery, 'routes', row.n)) {
    if (before.includes(n)) markTold(delivery, n, row.n);
    else tellQuestion(delivery, n, row.n);
  }
}

/** A run has ended: the questions that it was told, and did not answer, go up. */
export function returnUnanswered(delivery: Delivery, row: NodeRow): void {
  for (const n of numbers(delivery, 'routes', row.n)) {
    if (askOf(delivery, n).told.includes(row.n)) passUp(delivery, n, row.n);
  }
}

/** A node waits, and has no run: the questions that came in the meantime are answered in a run of their own. */
export function tellWhileWaiting(delivery: Delivery, row: NodeRow): void {
  for (const n of numbers(delivery, 'routes', row.n)) tellQuestion(delivery, n, row.n);
}

/** Whether a node or one above it has ended. */
function isOver({ nodes }: Delivery, n: number): boolean {
  for (let at = nodes.get(n); at !== undefined; at = at.parent === null ? undefined : nodes.get(at.parent)) {
    if (isEnded(at)) return true;
  }
  return false;
}

/** Takes a question from a node that does not answer it. */
export function passUp(delivery: Delivery, n: number, from: number): void {
  const row = askOf(delivery, n);
  tableOf(delivery, 'routes').delete(pair(from, n));
  if (row.outcome !== null || isOver(delivery, row.asker)) return; // the questions of what has ended are cancelled
  const left = row.route.filter((one) => one !== from);
  if (left.length > 0) return setAsk(delivery, n, { ...row, route: left });
  if (row.answers.length > 0) return closeAsk(delivery, n, answeredBy(delivery, row.answers));
  const up = upFrom(delivery, from).filter((one) => one !== row.asker);
  const isSafe = row.deadline !== null || up.every((one) => pathToAct(delivery, one, row.asker) === undefined);
  const route = isSafe ? up : [];
  setAsk(delivery, n, { ...row, route, told: [] });
  putTo(delivery, n, route);
}

/**
 * Takes the questions of a node that waits for answers from nodes that only act after its end: a question of an earlier
 * run may be open still, when it is tried again, and others may have come to wait for it meanwhile (tree-reducer/T9).
 */
export function passUpCircles(delivery: Delivery, asker: number): void {
  for (const [n] of openAsks(delivery, asker)) {
    for (let to = circular(delivery, n, asker); to !== undefined; to = circular(delivery, n, asker))
      passUp(delivery, n, to);
  }
}

function circular(delivery: Delivery, n: number, asker: number): number | undefined {
  const { outcome, deadline, route } = askOf(delivery, n);
  if (outcome !== null || deadline !== null) return undefined;
  return route.find((to) => actsAfterEnd(delivery, to, asker));
}

/** Takes the answer of a node. */
export function answerFrom(delivery: Delivery, by: NodeRow, { ask_id: n, picked, text_ref }: CallOf<'answer'>): void {
  const row = tableOf(delivery, 'asks').get(key(n));
  if (row === undefined || (!row.route.includes(by.n) && row.outcome === null)) throw new Refused('not_asked');
  if (row.outcome !== null) throw tooLate(delivery, by.n, row, row.outcome);
  const chosen = chosenOf(row, picked);
  tableOf(delivery, 'routes').delete(pair(by.n, n));
  if (row.target !== 'children') {
    return closeAsk(delivery, n, { how: 'answered', by: nodeActor(delivery, by.n), picked: chosen, text_ref });
  }
  const route = row.route.filter((one) => one !== by.n);
  const answers = [...row.answers, { by: by.n, text_ref, picked: chosen }];
  const next = { ...row, route, answers };
  tableOf(delivery, 'asks').set(key(n), next);
  if (route.length === 0) closeAsk(delivery, n, answeredBy(delivery, answers));
}

/** The refusal of a second answer: a node that was asked is told who was first. */
function tooLate(
  delivery: Delivery,
  n: number,
  { route }: AskRow,
  { by, how }: NonNullable<AskRow['outcome']>,
): Refused {
  if (!route.includes(n)) return new Refused('not_asked');
  return new Refused('already_answered', { status: how, ...(by === null ? {} : { by: wordsForModel(delivery, by) }) });
}

/** Takes the answer of people, whom every open question may get one from, or of a program that acts for its own. */
export function answerOfPeople(
  delivery: Delivery,
  n: number,
  { picked, text_ref }: { readonly picked: string | boolean | null; readonly text_ref: AskRow['text_ref'] },
): void {
  const row = tableOf(delivery, 'asks').get(key(n));
  if (row === undefined) throw new Refused('unknown_node');
  if (row.outcome !== null) throw new Refused('already_answered');
  closeAsk(delivery, n, { how: 'answered', by: actorIn(delivery.ctx), picked: chosenOf(row, picked), text_ref });
}

/** The outcome of a question that nodes answered: their answers stand in its row, of which only one is the outcome's own. */
function answeredBy(delivery: Delivery, answers: AskRow['answers']): NonNullable<AskRow['outcome']> {
  const [first, ...more] = answers;
  const own = first !== undefined && more.length === 0 ? first : { picked: null, text_ref: null };
  const by = nodesActor(
    delivery,
    answers.map((one) => one.by),
  );
  return { how: 'answered', by, picked: own.picked, text_ref: own.text_ref };
}

/** What was chosen: one of the options, where there are some. */
function chosenOf({ options, returns }: AskRow, picked: string | boolean | null): string | null {
  const words = { boolean: ['yes', 'no'], approval: ['approved', 'rejected'], text: ['yes', 'no'] }[returns];
  const word = typeof picked === 'boolean' ? (words[picked ? 0 : 1] ?? null) : picked;
  if (options.length > 0 && (word === null || !options.includes(word))) throw new Refused('not_an_option', { options });
  return word;
}

/** The outcome of a question that nobody answers: its default, or that the time is over. */
export function defaultOf({ default: given, options }: AskRow): NonNullable<AskRow['outcome']> {
  const picked = given === null ? null : (options[given] ?? null);
  return { how: picked === null ? 'timed_out' : 'default', by: null, picked, text_ref: null };
}

/** Closes a question, and lets its asker have the outcome. */
export function closeAsk(delivery: Delivery, n: number, outcome: NonNullable<AskRow['outcome']>): void {
  const { how } = outcome;
  tableOf(delivery, 'asks').set(key(n), { ...askOf(delivery, n), outcome });
  const ends = how === 'timed_out' ? { status: 'failed' as const, code: 'timed_out' } : { status: 'complete' as const };
  endNode(delivery, n, how === 'cancelled' ? { status: 'cancelled', code: 'asker_ended' } : ends);
}

/** Ends what a question has under way; called when its node ends, however that comes about. */
export function askEnded(delivery: Delivery, n: number): void {
  const { state, ctx } = delivery;
  const row = askOf(delivery, n);
  const outcome = row.outcome ?? { how: 'cancelled' as const, by: null, picked: null, text_ref: null };
  // A person who answers the item later is told who was first.
  if (row.plan !== null) ctx.cancel(row.plan, outcome.by === null ? {} : { actor: outcome.by });
  ctx.clearTimer(deadlineTimer(n));
  ctx.clearTimer(programTimer(n));
  for (const to of row.route) tableOf(delivery, 'routes').delete(pair(to, n));
  state.asks--;
  tableOf(delivery, 'asks').set(key(n), { ...row, outcome, plan: null });
  ctx.record('tree/Answered@1', { ask: n, asker: row.asker, ...outcome });
  toAsker(delivery, row.asker);
}

/** Lets an asker go on: its calls are answered when it has a slot, or it runs again with the answers. */
function toAsker(delivery: Delivery, n: number): void {
  const asker = delivery.nodes.change(n);
  if (isEnded(asker)) return;
  const closed = unpassed(delivery, n);
  const waiting = openCalls(delivery, n);
  if (asker.run === 'waiting' && waiting === 0 && closed.some(([, { call }]) => call !== null)) {
    return enterLine(delivery, asker);
  }
  for (const [ask, row] of closed) if (row.call !== null && asker.run !== 'none') passOn(delivery, ask, row, row.call);
  if (asker.run === 'none') goOnWithAnswers(delivery, asker);
}

/** Runs a node again that waits for answers only, once there are no more to come. */
export function goOnWithAnswers(delivery: Delivery, asker: NodeRow): void {
  if (asker.status !== 'waiting_input' || openAsks(delivery, asker.n).length > 0) return;
  asker.status = 'pending';
  asker.answering = false; // its own run reads what it is asked, too
  delivery.changes++;
  enterLine(delivery, asker);
  waitAgain(delivery, asker);
}

/** The open questions of a node for which a call waits. */
function openCalls(delivery: Delivery, asker: number): number {
  return openAsks(delivery, asker).filter(([, { call }]) => call !== null).length;
}

function openAsks(delivery: Delivery, asker: number): readonly (readonly [number, AskRow])[] {
  return numbers(delivery, 'children', asker).flatMap((n) => {
    const row = delivery.nodes.get(n)?.type === 'ask' ? tableOf(delivery, 'asks').get(key(n)) : undefined;
    return row === undefined || row.outcome !== null ? [] : [[n, row] as const];
  });
}

/** A run has ended: its calls wait no longer, and outcomes come with the next prompt. */
export function releaseCalls(delivery: Delivery, row: NodeRow): void {
  for (const n of numbers(delivery, 'children', row.n)) {
    const asked = delivery.nodes.get(n)?.type === 'ask' ? tableOf(delivery, 'asks').get(key(n)) : undefined;
    if (asked === undefined || asked.call === null) continue;
    delivery.ctx.clearTimer(programTimer(n));
    tableOf(delivery, 'asks').set(key(n), { ...asked, call: null });
  }
}

/** Takes a timer of a question. @returns whether it was one */
export function askTimer(delivery: Delivery, name: string): boolean {
  const [what, number] = name.split('.');
  const n = Number(number);
  if (what !== 'ask' && what !== 'program') return false;
  const row = tableOf(delivery, 'asks').get(key(n));
  if (row === undefined || row.outcome !== null) return true;
  if (what === 'ask') {
    closeAsk(delivery, n, row.answers.length > 0 ? answeredBy(delivery, row.answers) : defaultOf(row));
  } else if (row.call !== null) {
    answerCall(delivery, row.call, {
      ask_id: n,
      status: 'pending',
      hint: 'End your turn: the answer comes with your next one.',
    });
    tableOf(delivery, 'asks').set(key(n), { ...row, call: null });
  }
  return true;
}

function askOf(delivery: Delivery, n: number): AskRow {
  return tableOf(delivery, 'asks').get(key(n)) ?? delivery.ctx.reject('unknown_node');
}

function deadlineTimer(n: number): string {
  return `ask.${n}`;
}

function programTimer(n: number): string {
  return `program.${n}`;
}
