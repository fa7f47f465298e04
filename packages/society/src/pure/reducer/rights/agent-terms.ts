/** What registration and changes of capabilities share: who asks, and the refusal of too much. */

import { present, type Value } from '@reprise/contracts';
import type { CallOrigin } from '../../contracts/entity/entity.js';
import { openCall } from '../call/answers.js';
import { refuse } from '../call/operations.js';
import type { EntityContext } from '../context/entity.js';
import type { TooMuch } from './register.js';

/** Refuses capabilities above the parent: where, what was asked, what could be had. @param path in a manifest */
export function requireWithin(excess: TooMuch | undefined, path?: string): void {
  if (excess === undefined) return;
  const { dimension, asked, allowed } = excess;
  const where = { ...present({ path }), dimension };
  refuse('capability_exceeds_parent', { ...where, asked: asked as Value, allowed: allowed as Value });
}

/** The caller of an operation that an entity above asked for. Nobody else may. */
export function requireAsker(call: string, ctx: EntityContext): Extract<CallOrigin, { kind: 'ancestor' }> {
  const origin = openCall(call, ctx)?.origin;
  return origin?.kind === 'ancestor' ? origin : refuse('not_authorized');
}

/**
 * The end of an agent's time: as it is declared, else that of its parent. 0 is no end. Times are compared and seconds are
 * shown, rounded up: what ends less than a second after the parent ends with it. A member of a swarm that is declared to have
 * no end ends with its creator, too: as if it had declared nothing.
 *
 * @param above when the parent ends; undefined for no end
 */
export function endOf(ttl_seconds: number | undefined, above: number | undefined, now: number): number | null {
  if (ttl_seconds === undefined) return above ?? null;
  if (ttl_seconds === 0) return null;
  const end = now + ttl_seconds * 1_000;
  return above !== undefined && end > above && end < above + 1_000 ? above : end;
}

/** The seconds until a time, as they are shown: rounded up. */
export function secondsUntil(end: number, now: number): number {
  return Math.max(0, Math.ceil((end - now) / 1_000));
}
