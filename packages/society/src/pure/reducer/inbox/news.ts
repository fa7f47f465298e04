/**
 * What an entity is shown unasked: a plan of the entity asks the gate first, and in the same frame the entity goes on with
 * what the gate lets through, in `entity/seen.ts`. The first words of items are parts of messages: for the next step of a
 * session, or for its next run.
 */

import type { InputPart, Value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { ITEM_SUMMARY_BYTES_MAX, key } from '@reprise/org/contracts';
import { SOCIETY_BOUNDS, storeOf } from '../../contracts/cell/names.js';
import type { EntityState } from '../../contracts/entity/entity.js';
import type { Row } from '../../contracts/entity-parts.js';
import type { Look, SeeingFor, Seen } from '../../contracts/group/seeing.js';
import { itemOf } from '../../contracts/memory/tools.js';
import { seePlan } from '../../plans/content-gate.js';
import { startPlan } from '../call/answers.js';
import type { EntityContext } from '../context/entity.js';
import { mayAsk } from '../rights/may-ask.js';

/** The places of the inbox whose items the next run is to be shown, the oldest first. */
export function placesForRun(ctx: EntityContext, room: number): readonly number[] {
  return ctx
    .table('inbox')
    .range({ limit: SOCIETY_BOUNDS.inbox })
    .filter(([, { show }]) => show)
    .slice(0, Math.max(0, Math.min(room, NEWS_PARTS_MAX)))
    .map(([key]) => Number(key));
}

/** The items of which one run is told. */
const NEWS_PARTS_MAX = 8;

export function itemsAt(places: readonly number[], ctx: EntityContext): { store: string; ids: number[] }[] {
  const stores = new Map<string, number[]>();
  for (const place of places) {
    const item = newsItem(ctx.table('inbox').get(key(place))?.payload ?? null);
    if (item === undefined) continue;
    stores.set(item.store, [...(stores.get(item.store) ?? []), item.id]);
  }
  return [...stores].map(([store, ids]) => ({ store, ids: [...new Set(ids)] }));
}

/** The first words of what the entity may see; what it may not, or is gone, no later run is shown either. */
export function wordsForRun(places: readonly number[], seen: readonly Seen[], ctx: EntityContext): InputPart[] {
  const inbox = ctx.table('inbox');
  return places.flatMap((place) => {
    const row = inbox.get(key(place));
    if (row === undefined || isLater(row.payload, seen)) return [];
    inbox.set(key(place), { ...row, show: false });
    return wordsOf(row, seen);
  });
}

/** Whether the item of news can be read, and could not be at this moment. */
export function isLater(payload: Value, seen: readonly Seen[]): boolean {
  const item = newsItem(payload);
  return seen.some(({ store, verdict }) => store === item?.store && verdict === 'later');
}

/** Who brings news: the member that it comes from, and the one that took its item over without a review. */
type Bringing = Pick<Row<'inbox'>, 'by' | 'merged_by'>;

/** Whether an entity brings news itself: it is not told of it. */
export function isOwnNews({ by, merged_by }: Bringing, id: string): boolean {
  return by === id || merged_by === id;
}

/** The first words of the item of news as a part of a message, under its name; none where it was not seen. */
export function wordsOf(
  { payload, by, merged_by }: Bringing & { readonly payload: Value },
  seen: readonly Seen[],
): InputPart[] {
  const item = newsItem(payload);
  const found = seen.find(({ store }) => store === item?.store)?.items.find(({ id }) => id === item?.id);
  if (item === undefined || found === undefined) return [];
  const merger = merged_by === undefined ? '' : `, merged by ${merged_by}`;
  const name = `${item.group}#${item.id} by ${by ?? item.group}${merger}`.slice(0, 256);
  const view = { head: ITEM_SUMMARY_BYTES_MAX };
  return [{ kind: 'blob', blob_ref: found.summary_ref, salted: true, view, media_type: 'text/plain', name }];
}

/** The item that news is about, in the store of its group. */
export function newsItem(
  payload: Value,
): { readonly group: string; readonly store: string; readonly id: number } | undefined {
  const parsed = itemPayload.safeParse(payload);
  if (!parsed.success) return undefined;
  const { item_id, group_id: group } = parsed.data;
  const { store, id } = itemOf(item_id);
  return store === storeOf.group(group) && id > 0 ? { group, store, id } : undefined;
}

const itemPayload = z.strictObject({ item_id: z.string(), type: z.string(), group_id: z.string() });

/** Looks at stores, and goes on with what is seen there. */
export function see(
  draft: EntityState,
  stores: readonly Pick<Look, 'store' | 'ids'>[],
  purpose: SeeingFor,
  ctx: EntityContext,
): void {
  const looks = stores.map((one) => ({ ...one, ask: mayAsk(draft, one.store, ctx) }));
  startPlan(ctx, planFor(purpose), { plan: seePlan, input: { looks, purpose } });
}

/** A call that waits is answered when its plan fails; of an input that waits, a fact says so. */
function planFor(purpose: SeeingFor): Row<'plans'> {
  if (purpose.for === 'input' || purpose.for === 'run') return { for: 'input', command_id: purpose.send.command_id };
  return purpose.for === 'news' || purpose.call === null ? { for: 'news' } : { for: 'call', call: purpose.call };
}
