/** What registration and changes of capabilities share: who asks, and the refusal of too much. */
import type { Value } from '@reprise/contracts';
import type { ReducerContext } from '@reprise/kernel/define';
import type { CallOrigin } from '../contracts/index.js';
import { openCall } from './answers.js';
import { type Answer, refusal } from './operations.js';
import type { TooMuch } from './register.js';

/** The refusal of capabilities above the parent: where, what was asked, what could be had. */
export function exceeds({ dimension, asked, allowed }: TooMuch): Answer {
  return refusal('capability_exceeds_parent', { dimension, asked: asked as Value, allowed: allowed as Value });
}

/** The caller of an operation that an entity above asked for. */
export function askedBy(call: string, ctx: ReducerContext): Extract<CallOrigin, { kind: 'ancestor' }> | undefined {
  const origin = openCall(call, ctx)?.origin;
  return origin?.kind === 'ancestor' ? origin : undefined;
}
