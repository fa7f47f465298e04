/** Whom a question is put to. One that is not answered where it was asked goes up, and at last to people. */

import type { ComposedItem } from '@reprise/org/contracts';
import { key, pair, startFor, told, toldItem } from '@reprise/org/contracts';
import type { AskRow, NodeRow } from '../../contracts/index.js';
import { peoplePlan, questionPlan } from '../../plans/plans.js';
import { numbers, openAsks } from '../delivery/around.js';
import type { Delivery } from '../delivery/delivery.js';
import { isEnded, type ReadNode } from '../delivery/nodes.js';
import { actsAfterEnd, pathToAct } from '../delivery/reach.js';
import { enterLine } from '../node/end-node.js';
import { steer } from '../node/runs.js';
import { answeredBy, closeAsk, defaultOf } from './outcome.js';
import { askOf, changeAsk, setAsk } from './rows.js';

/** The next node above one that can answer: none is above the root, and a serial does not run. */
export function upFrom({ nodes }: Delivery, n: number): number[] {
  for (const row of nodes.upFrom(nodes.at(n).parent)) {
    if (row.type !== 'serial') return isEnded(row) ? [] : [row.n];
  }
  return [];
}

/** Puts a question to nodes, or to people when the route is empty. */
export function putTo(delivery: Delivery, n: number, route: readonly number[]): void {
  if (route.length === 0) return askPeople(delivery, n);
  for (const to of route) {
    delivery.ctx.table('routes').set(pair(to, n), null);
    tellQuestion(delivery, n, to);
  }
}

function askPeople(delivery: Delivery, n: number): void {
  const { state, ctx } = delivery;
  const row = askOf(delivery, n);
  if (state.people !== 'human') return closeAsk(delivery, n, defaultOf(row));
  const [, tree] = ctx.address;
  const session = { key: `${tree}/${n}`, labels: { ...state.labels, tree, node: String(row.asker) } };
  const intent = { plan: peoplePlan, input: { ask: n, question_ref: row.question_ref, session } };
  const plan = startFor(ctx, ctx.table('plans'), intent, { of: 'people', ask: n });
  changeAsk(delivery, n, { ...row, plan });
}

/** Lets a node know of a question: in its run, in one more run, or in its next prompt. */
function tellQuestion(delivery: Delivery, n: number, to: number): void {
  const row = delivery.nodes.at(to);
  if (isEnded(row)) return passUp(delivery, n, to);
  if (row.run === 'live' || row.run === 'waiting') {
    const sections = [{ title: 'A question to you', items: questionItems(n, askOf(delivery, n)) }];
    const intent = { plan: questionPlan, input: { ask: n, to, sections } };
    startFor(delivery.ctx, delivery.ctx.table('plans'), intent, { of: 'question', ask: n, to });
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
  const asked = delivery.ctx.table('asks').get(key(n));
  if (asked === undefined || asked.outcome !== null || !asked.route.includes(to)) return;
  const row = delivery.nodes.change(to);
  if (text_ref === null) return passUp(delivery, n, to);
  if (row.run !== 'live' && row.run !== 'waiting') return tellQuestion(delivery, n, to);
  steer(delivery, row, `ask.${n}.${row.launch}`, text_ref);
  markTold(delivery, n, to);
}

function markTold(delivery: Delivery, n: number, to: number): void {
  const row = askOf(delivery, n);
  if (!row.told.includes(to)) changeAsk(delivery, n, { ...row, told: [...row.told, to] });
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

/** A node gets no run to answer in: all that it was asked goes up. */
export function passUpAll(delivery: Delivery, { n }: ReadNode): void {
  for (const ask of numbers(delivery, 'routes', n)) passUp(delivery, ask, n);
}

/** A node waits, and has no run: the questions that came in the meantime are answered in a run of their own. */
export function tellWhileWaiting(delivery: Delivery, row: NodeRow): void {
  for (const n of numbers(delivery, 'routes', row.n)) tellQuestion(delivery, n, row.n);
}

/** Whether a node or one above it has ended. */
function isOver({ nodes }: Delivery, n: number): boolean {
  for (const row of nodes.upFrom(n)) if (isEnded(row)) return true;
  return false;
}

/** Takes a question from a node that does not answer it. */
export function passUp(delivery: Delivery, n: number, from: number): void {
  const row = askOf(delivery, n);
  delivery.ctx.table('routes').delete(pair(from, n));
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

/** A question as the one who is to answer it reads it. */
export function questionItems(n: number, { asker, text_ref }: AskRow): ComposedItem[] {
  const { words } = told`question #${n}`;
  return [
    toldItem(told`Node #${asker} asks you. Answer with the tool answer, ask_id ${n}.`),
    { label: words, ref: text_ref, kind: 'text', view: 'full' },
  ];
}
