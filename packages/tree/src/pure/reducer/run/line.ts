/** The line of nodes that may begin: slots, the budget, and the launch of the first. */

import { allRows } from '@reprise/kernel/define';
import {
  beginInLine,
  firstOf,
  key,
  type NoShare,
  type Share,
  secondOf,
  setAside,
  startFor,
} from '@reprise/org/contracts';
import type { NodeRow } from '../../contracts/node.js';
import { launchPlan } from '../../plans/plans.js';
import { answerParked } from '../ask/ask-answers.js';
import { passUp, passUpAll } from '../ask/route.js';
import { numbers } from '../delivery/around.js';
import { type Delivery, isFull } from '../delivery/delivery.js';
import type { ReadNode } from '../delivery/nodes.js';
import { isPaused } from '../delivery/standing.js';
import { endNode, leaveLine } from '../node/end-node.js';
import { moveRun } from '../node/runs.js';
import { promptOf } from './prompt.js';
import { answeringEnded } from './run-end.js';
import { passOnWork } from './work.js';

/**
 * Launches the first of the line, until there is no slot, no budget, or no node. What ends meanwhile is passed on before the
 * next launch: no node begins below one that has just failed.
 *
 * @returns whether the line has to be looked at again, because this delivery is full
 */
export function launchReady(delivery: Delivery): boolean {
  const { state, ctx, nodes } = delivery;
  const hasSlot = (): boolean => state.running < state.limits.parallel;
  let isLeft = false;
  const begin = (place: string, n: number): boolean => {
    if (!hasSlot()) return false;
    delivery.changes++;
    if (!takeFirst(delivery, nodes.change(n), place)) return false;
    isLeft = passOnWork(delivery);
    return !isLeft;
  };
  return beginInLine(ctx.table('ready'), () => hasSlot() && isFull(delivery), begin) || isLeft;
}

/** Takes the first of the line. @returns false when it waits for budget, and all behind it with it */
function takeFirst(delivery: Delivery, row: NodeRow, place: string): boolean {
  const ready = delivery.ctx.table('ready');
  if (isPaused(delivery, row)) {
    ready.delete(place);
    delivery.ctx.table('held').set(key(row.n), null);
  } else if (row.run !== 'none') {
    ready.delete(place);
    goOn(delivery, row);
  } else if (row.answering && numbers(delivery, 'routes', row.n).length === 0) {
    ready.delete(place); // its questions are answered, or not awaited any longer
    answeringEnded(delivery, row);
  } else {
    const share = takeShare(delivery, row);
    if (share === 'wait') return passUpWaiting(delivery);
    if (typeof share === 'string') withoutBudget(delivery, row);
    else launch(delivery, row, share?.amount ?? 0);
  }
  return true;
}

/** Sets aside what is left of the node's budget, or else of the tree's (kit/ledger); null where neither has one. */
function takeShare(delivery: Delivery, row: ReadNode): Share | NoShare | null {
  const { unit, tree } = delivery.state.budget;
  const own = row.budget === null ? null : row.budget - row.spent[unit];
  if (own === null && tree === null) return null;
  if (own !== null && own <= 0) return 'spent'; // nobody gives back what the node itself has used
  const asked = { amount: own ?? Number.POSITIVE_INFINITY, least: 1 };
  return setAside(delivery.state, { unit, amount: tree ?? Number.POSITIVE_INFINITY }, asked);
}

/**
 * The first of the line waits for budget that runs have set aside. When all of them wait for answers themselves, the
 * nodes that were asked and have no run would never get one: their questions go up, at last to people.
 *
 * @returns whether there was such a question
 */
function passUpWaiting(delivery: Delivery): boolean {
  if (delivery.state.running > 0) return false;
  const waiting = [...allRows(delivery.ctx.table('routes'))]
    .map(([route]) => [firstOf(route), secondOf(route)] as const)
    .filter(([to]) => delivery.nodes.at(to).run === 'none');
  for (const [to, ask] of waiting) passUp(delivery, ask, to);
  return waiting.length > 0;
}

/** A run that nothing is left for: a node that was to answer only passes its questions on, any other has failed. */
function withoutBudget(delivery: Delivery, row: NodeRow): void {
  if (!row.answering) return endNode(delivery, row.n, { status: 'failed', code: 'max_cost' });
  leaveLine(delivery, row);
  row.answering = false;
  passUpAll(delivery, row);
}

/** A run that waited for answers has a slot again. */
function goOn(delivery: Delivery, row: NodeRow): void {
  if (row.run === 'waiting') moveRun(delivery, row, 'live');
  if (row.run === 'live') answerParked(delivery, row);
}

function launch(delivery: Delivery, row: NodeRow, reserved: number): void {
  leaveLine(delivery, row);
  row.launch++;
  row.reserved = reserved;
  if (!row.answering) row.status = 'active';
  moveRun(delivery, row, 'composing');
  const { sections, carries } = promptOf(delivery, row);
  const { n, launch } = row;
  const intent = { plan: launchPlan, input: { n, launch, sections, carries } };
  row.plan = startFor(delivery.ctx, delivery.ctx.table('plans'), intent, { of: 'prompt', n, launch });
}
