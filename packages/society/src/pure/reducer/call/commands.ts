/**
 * Commands: calls whose caller names them by an id. One id is one act of the entity, whether a program, a client or a
 * model calls, and every repetition has the answer of the first.
 *
 * Invariants
 * C1  An id is taken by the first call under it, for good; what another call under it asks is not done.
 * C2  Links to content with a salt are not compared: the same text has another link each time that it is stored.
 */

import type { Value } from '@reprise/contracts';
import { ANOTHER_CALL, NO_ANSWER_KEPT } from '../../contracts/call/gate.js';
import type { CallOrigin, EntityState } from '../../contracts/entity/entity.js';
import { saltedLinksAs } from '../../contracts/links.js';
import type { EntityContext } from '../context/entity.js';
import { callKey, reply } from './answers.js';
import { type Answer, refusal } from './operations.js';

/** How many repetitions wait for the answer of one call. */
const WAITING_MAX = 8;

/** Takes the id of a command out of the arguments of a call. @returns its key; undefined where the caller named none */
export function namedCall(args: Value, ctx: EntityContext): { readonly args: Value; readonly key: string | undefined } {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return { args, key: undefined };
  const { command_id, ...rest } = args as Readonly<Record<string, Value>>;
  if (typeof command_id !== 'string') return { args, key: undefined };
  return { args: rest, key: callKey(['command', command_id], ctx) };
}

interface Commanded {
  readonly key: string;
  readonly origin: CallOrigin;
  readonly name: string;
  readonly args: Value;
}

/** Whether a call repeats a command; then it is answered, or will be (C1). Otherwise the command is taken. */
export function isRepetition(draft: EntityState, { key, origin, name, args }: Commanded, ctx: EntityContext): boolean {
  const commands = ctx.table('commands');
  const digest = ctx.hash([name, saltedLinksAs(() => null, name, args)]).slice(0, 40); // C2
  const known = commands.get(key);
  if (known === undefined) {
    commands.set(key, { digest, answer: null });
    return false;
  }
  const answer = known.digest === digest ? (known.answer ?? undefined) : refused(ANOTHER_CALL);
  if (answer !== undefined || !waitsToo(key, origin, ctx)) reply(draft, origin, answer ?? refused(NO_ANSWER_KEPT), ctx);
  return true;
}

function refused({ code, ...details }: typeof ANOTHER_CALL | typeof NO_ANSWER_KEPT): Answer {
  return refusal(code, details);
}

/** Has a repetition wait for the answer of the call. @returns whether it waits */
function waitsToo(key: string, origin: CallOrigin, ctx: EntityContext): boolean {
  const calls = ctx.table('calls');
  const row = calls.get(key);
  if (row === undefined || row.also.length === WAITING_MAX) return false;
  calls.set(key, { ...row, also: [...row.also, origin] });
  return true;
}
