/**
 * What a removed agent leaves: its key and its hot context (SOC-38). It has no rights any more, so an entity above it
 * clears them: the nearest one that may act. Of a society that person is the last, and goes on until it is done.
 */

import { l1At } from '../../contracts/cell/names.js';
import type { EntityState, entityNews } from '../../contracts/entity/entity.js';
import type { News, Row } from '../../contracts/entity-parts.js';
import { removePlan } from '../../plans/identity.js';
import { planOver, startPlan } from '../call/answers.js';
import { type EntityContext, type EntityHandlers, sendUp } from '../context/entity.js';

const AGAIN = 'clear';

/** The first wait before another attempt in milliseconds; it doubles with each failure, up to a day. */
const WAIT_MS = 60_000;
const WAIT_MS_MAX = 86_400_000;

export const clearingHandlers: EntityHandlers<Pick<typeof entityNews, 'society/Removed@1' | 'society/Cleared@1'>> = {
  'society/Removed@1': clearRemoved,
  // What could not be cleared goes up, and is tried again by the person at the top.
  'society/Cleared@1': (draft, { agent_id, code, content }, ctx) => {
    planOver(ctx);
    if (content !== null) ctx.record('society/HotContextErased@1', { agent_id, ...content });
    if (code === null) ctx.table('clearing').delete(agent_id);
    else notCleared(draft, agent_id, ctx);
  },
};

/** An agent below was removed: this entity clears what it left, or passes it on when it may not act itself. */
export function clearRemoved(
  { maker, status }: EntityState,
  value: News<'society/Removed@1'>,
  ctx: EntityContext,
): void {
  const mayAct = status !== 'deactivated' && status !== 'removed';
  if (maker !== null && !mayAct) return sendUp(maker, { name: 'society/Removed@1', value }, ctx);
  clear(value.agent_id, { key_ref: value.key_ref, failures: 0 }, ctx);
}

/** The timer has fired. @returns whether it was the one of this file */
export function clearAgain(name: string, ctx: EntityContext): boolean {
  if (name !== AGAIN) return false;
  for (const [agent_id, row] of ctx.table('clearing').range({ limit: AT_ONCE })) clear(agent_id, row, ctx);
  return true;
}

/** This entity was revived: the timer may have fired in vain. */
export function clearLater(ctx: EntityContext): void {
  if (ctx.table('clearing').size > 0) ctx.timer(AGAIN, ctx.now + WAIT_MS);
}

/** The agents that one timer clears; the others wait for the next. */
const AT_ONCE = 64;

function clear(agent_id: string, row: Row<'clearing'>, ctx: EntityContext): void {
  ctx.table('clearing').set(agent_id, row);
  const input = { agent_id, key_ref: row.key_ref, cell: l1At(agent_id) };
  startPlan(ctx, { for: 'removal', agent_id }, { plan: removePlan, input });
}

export function notCleared({ maker }: EntityState, agent_id: string, ctx: EntityContext): void {
  const clearing = ctx.table('clearing');
  const row = clearing.get(agent_id);
  if (row === undefined) return;
  if (maker !== null) {
    clearing.delete(agent_id);
    return sendUp(maker, { name: 'society/Removed@1', value: { agent_id, key_ref: row.key_ref } }, ctx);
  }
  clearing.set(agent_id, { ...row, failures: row.failures + 1 });
  ctx.timer(AGAIN, ctx.now + Math.min(WAIT_MS * (1 << Math.min(row.failures, 20)), WAIT_MS_MAX));
}
