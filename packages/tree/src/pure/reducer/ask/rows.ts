/** The rows of questions, and the names of their timers. */
import { key } from '@reprise/org/contracts';
import type { AskRow } from '../../contracts/node.js';
import type { Delivery } from '../delivery/delivery.js';

export function askOf(delivery: Delivery, n: number): AskRow {
  return delivery.ctx.table('asks').get(key(n)) ?? delivery.ctx.reject('unknown_node');
}

/** Changes the row of a question, where nobody else learns of it. */
export function changeAsk({ ctx }: Pick<Delivery, 'ctx'>, n: number, row: AskRow): void {
  ctx.table('asks').set(key(n), row);
}

/** Sets a question's row, and states to whom it goes. */
export function setAsk(delivery: Delivery, n: number, row: AskRow): void {
  changeAsk(delivery, n, row);
  const { asker, target, route, question_ref, options, returns, default: given, deadline } = row;
  const stated = { ask: n, asker, target, route, question_ref, options, returns, default: given, deadline };
  delivery.ctx.record('tree/Asked@1', stated);
}

export function deadlineTimer(n: number): string {
  return `ask.${n}`;
}

export function programTimer(n: number): string {
  return `program.${n}`;
}
