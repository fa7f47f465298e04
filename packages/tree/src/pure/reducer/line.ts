/** The line of nodes that may begin: slots, the budget, and the launch of the first. */
import type { NodeRow } from '../contracts/node.js';
import { launchPlan } from '../plans/launch.js';
import { answerParked } from './ask-answers.js';
import { passUp } from './asks.js';
import { type Delivery, isFull, tableOf } from './delivery.js';
import { endNode, leaveLine } from './end-node.js';
import { key } from './keys.js';
import type { ReadNode } from './nodes.js';
import { promptOf } from './prompt.js';
import { numbers } from './reach.js';
import { answeringEnded } from './run-end.js';
import { moveRun } from './runs.js';
import { unitOf } from './spending.js';
import { isPaused } from './standing.js';

/**
 * Launches the first of the line, until there is no slot, no budget, or no node.
 *
 * @returns whether the line has to be looked at again, because this delivery is full
 */
export function launchReady(delivery: Delivery): boolean {
  const { state, nodes } = delivery;
  const ready = tableOf(delivery, 'ready');
  while (state.running < state.limits.parallel) {
    const first = ready.first();
    if (first === undefined) return false;
    if (isFull(delivery)) return true;
    delivery.changes++;
    const row = nodes.change(first[1]);
    if (isPaused(delivery, row)) {
      ready.delete(first[0]);
      tableOf(delivery, 'held').set(key(row.n), null);
    } else if (row.run !== 'none') {
      ready.delete(first[0]);
      goOn(delivery, row);
    } else if (row.answering && numbers(delivery, 'routes', row.n).length === 0) {
      ready.delete(first[0]); // its questions are answered, or not awaited any longer
      answeringEnded(delivery, row);
    } else {
      const reserve = reserveFor(delivery, row);
      if (reserve === 'wait') return false;
      if (reserve === 'never') withoutBudget(delivery, row);
      else launch(delivery, row, reserve);
    }
  }
  return false;
}

/**
 * The amount to set aside for a run: what is left of the node's budget, and when nothing else is under way, what is left
 * of the tree's.
 */
function reserveFor(delivery: Delivery, row: ReadNode): number | 'wait' | 'never' {
  const { budget, spent, reserved } = delivery.state;
  const unit = unitOf(delivery);
  const own = row.budget === null ? null : row.budget - row.spent[unit];
  if (own !== null && own <= 0) return 'never';
  if (budget.tree === null) return own ?? 0;
  const left = budget.tree - spent[unit] - reserved;
  if (own !== null && own <= left) return own;
  if (reserved > 0) return 'wait';
  return left > 0 ? left : 'never';
}

/** A run that nothing is left for: a node that was to answer only passes its questions on, any other has failed. */
function withoutBudget(delivery: Delivery, row: NodeRow): void {
  if (!row.answering) return endNode(delivery, row.n, { status: 'failed', code: 'max_cost' });
  leaveLine(delivery, row);
  row.answering = false;
  for (const ask of numbers(delivery, 'routes', row.n)) passUp(delivery, ask, row.n);
}

/** A run that waited for answers has a slot again. */
function goOn(delivery: Delivery, row: NodeRow): void {
  if (row.run === 'waiting') moveRun(delivery, row, 'live');
  if (row.run === 'live') answerParked(delivery, row);
}

function launch(delivery: Delivery, row: NodeRow, reserve: number): void {
  leaveLine(delivery, row);
  row.launch++;
  row.reserved = reserve;
  delivery.state.reserved += reserve;
  if (!row.answering) row.status = 'active';
  moveRun(delivery, row, 'composing');
  const { sections, carries } = promptOf(delivery, row);
  row.plan = delivery.ctx.emit({ plan: launchPlan, input: { n: row.n, launch: row.launch, sections, carries } });
}
