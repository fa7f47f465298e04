/** Pages of answers: as many rows as fit. */

import type { Value } from '@reprise/contracts';
import { encode } from '@reprise/kernel/codec';
import type { EntityContext } from '../context/entity.js';
import { openCall } from './answers.js';

/** The first rows that fit into one page; at least one, where there is one. */
export function fitting<T extends Value>(rows: readonly T[], bytesMax: number): T[] {
  let bytes = 0;
  const page: T[] = [];
  for (const row of rows) {
    bytes += encode(row).length;
    if (bytes > bytesMax && page.length > 0) break;
    page.push(row);
  }
  return page;
}

/** As many entries of a list as fit, and how many were left off, where some were. */
export function listed<T extends Value>(
  name: string,
  rows: readonly T[],
  bytesMax: number,
): Readonly<Record<string, Value>> {
  const shown = fitting(rows, bytesMax);
  const left_off = rows.length - shown.length;
  return { [name]: shown as unknown as Value, ...(left_off === 0 ? {} : { left_off }) };
}

/** The bytes of the rows of an answer to a model: the owner of a session answers it with 4 KiB at most. */
const MODEL_BYTES = 3_500;

/** The bytes of the rows of an answer to a client or an app: a value has 64 KiB at most, with names and links. */
const CLIENT_BYTES = 60_000;

/** The bytes that the answer to a call may have. What an entity above asks for has the room of its own call. */
export function roomFor(call: string, ctx: EntityContext): number {
  const origin = openCall(call, ctx)?.origin;
  if (origin?.kind === 'ancestor') return origin.bytes;
  return origin?.kind === 'owner' ? MODEL_BYTES : CLIENT_BYTES;
}

/** Whether the answer is read by a model: it is shown words as texts between marks, and no links. */
export function isForModel(call: string, ctx: EntityContext): boolean {
  return openCall(call, ctx)?.origin.kind === 'owner';
}
