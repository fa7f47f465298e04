/** How large an answer may be: a model reads few bytes at a time, a client outside many. */
import type { ReducerContext } from '@reprise/kernel/define';
import { openCall } from './answers.js';

/** The bytes of the rows of an answer to a model: the owner of a session answers it with 4 KiB at most. */
const MODEL_BYTES = 3_500;

/** The bytes of the rows of an answer to a client or an app: a value has 64 KiB at most, with names and links. */
const CLIENT_BYTES = 60_000;

/** The bytes that the answer to a call may have. What an entity above asks for has the room of its own call. */
export function roomFor(call: string, ctx: ReducerContext): number {
  const origin = openCall(call, ctx)?.origin;
  if (origin?.kind === 'ancestor') return origin.bytes;
  return origin?.kind === 'owner' ? MODEL_BYTES : CLIENT_BYTES;
}

/** Whether the answer is read by a model: it is shown words as texts between marks, and no links. */
export function isForModel(call: string, ctx: ReducerContext): boolean {
  return openCall(call, ctx)?.origin.kind === 'owner';
}
