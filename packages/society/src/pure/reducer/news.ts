/** The first words of items as parts of messages: for the next step of a session, or for its next run. */
import type { InputPart, Value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import type { ReducerContext } from '@reprise/kernel/define';
import { MEMORY_BOUNDS, type NoticeRow } from '../contracts/index.js';
import { countsOf, memberTable, numberKey, setCounts } from './member-context.js';

/** The first words of items that were written since the last run, for the next one; each is shown once. */
export function newsForRun(ctx: ReducerContext, room: number): InputPart[] {
  const { shown, next } = countsOf(ctx);
  const parts: InputPart[] = [];
  for (const [, { payload, head_ref, by }] of memberTable(ctx, 'inbox').range({ after: numberKey(shown) })) {
    if (head_ref !== null && parts.length < Math.min(room, NEWS_PARTS_MAX)) parts.push(newsPart(payload, by, head_ref));
  }
  if (parts.length > 0) setCounts({ shown: next - 1 }, ctx);
  return parts;
}

/** The items of which one run is told. */
const NEWS_PARTS_MAX = 8;

/** The first words of an item as a part of a message, under its name. */
export function newsPart(payload: Value, by: string | null, head_ref: NonNullable<NoticeRow['head_ref']>): InputPart {
  const item = itemPayload.safeParse(payload);
  const { item_id, group_id } = item.success ? item.data : { item_id: '#0', group_id: '-' };
  const name = `${group_id}#${item_id.slice(item_id.lastIndexOf('#') + 1)} by ${by ?? group_id}`.slice(0, 256);
  return { kind: 'blob', blob_ref: head_ref, view: { head: MEMORY_BOUNDS.head }, media_type: 'text/plain', name };
}

const itemPayload = z.strictObject({ item_id: z.string(), type: z.string(), group_id: z.string() });
