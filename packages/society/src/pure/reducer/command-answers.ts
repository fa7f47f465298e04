/** The answers of commands: each is kept for the repetitions of its call. */
import { byteLength } from '@reprise/kernel/codec';
import type { ReducerContext } from '@reprise/kernel/define';
import { COMMAND_BYTES_MAX } from '../contracts/index.js';
import { tableOf } from './entity-context.js';
import type { Answer } from './operations.js';

/** Keeps the answer to a command for its repetitions. One that is too large is not kept. */
export function keepAnswer(key: string, { value, refs = [], is_error = false }: Answer, ctx: ReducerContext): void {
  const commands = tableOf(ctx, 'commands');
  const row = commands.get(key);
  if (row === undefined || byteLength(value) > COMMAND_BYTES_MAX) return;
  commands.set(key, { ...row, answer: { value, refs: [...refs], is_error } });
}
