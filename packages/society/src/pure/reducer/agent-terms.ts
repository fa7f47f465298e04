/** What registration and changes of capabilities share: the end of an agent's time, who asks, and the refusal of too much. */
import type { Value } from '@reprise/contracts';
import type { ReducerContext } from '@reprise/kernel/define';
import type { CallOrigin, Capabilities, EntityState } from '../contracts/index.js';
import { openCall } from './answers.js';
import { type Answer, refusal } from './operations.js';
import type { TooMuch } from './register.js';

/** The end of an agent's time: as it is declared, else that of its parent. 0 is no end. */
export function endOf({ ttl_seconds }: Capabilities, draft: EntityState, ctx: ReducerContext): number | null {
  if (ttl_seconds === undefined) return draft.expires_at;
  return ttl_seconds === 0 ? null : ctx.now + ttl_seconds * 1_000;
}

/** The refusal of capabilities above the parent: where, what was asked, what could be had. */
export function exceeds({ dimension, asked, allowed }: TooMuch): Answer {
  return refusal('capability_exceeds_parent', { dimension, asked: asked as Value, allowed: allowed as Value });
}

/** The caller of an operation that an entity above asked for. */
export function askedBy(call: string, ctx: ReducerContext): Extract<CallOrigin, { kind: 'ancestor' }> | undefined {
  const origin = openCall(call, ctx)?.origin;
  return origin?.kind === 'ancestor' ? origin : undefined;
}
