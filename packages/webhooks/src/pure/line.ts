/** The line of waiting deliveries: by when each is due, and by when each is given up. */
import type { ReducerContext } from '@reprise/kernel/define';
import type { Delivery, outboxTables } from './outbox-schemas.js';

/** What a handler of an outbox has besides its draft. */
export type OutboxContext = ReducerContext<typeof outboxTables>;

/** A delivery, and its place in the journal as a key. */
export interface Placed {
  readonly at: string;
  readonly delivery: Delivery;
}

const FRAME_DIGITS = 16;
const RECORD_DIGITS = 6;

/** The place of a record as a key: places sort as the journal does. */
export function placeKey(seq: number, record: number): string {
  return `${String(seq).padStart(FRAME_DIGITS, '0')}.${String(record).padStart(RECORD_DIGITS, '0')}`;
}

function timed(ms: number, at: string): string {
  return `${String(ms).padStart(FRAME_DIGITS, '0')}.${at}`;
}

function timeOf(key: string): number {
  return Number(key.slice(0, FRAME_DIGITS));
}

function placeOf(key: string): string {
  return key.slice(FRAME_DIGITS + 1);
}

/** Adds a delivery to the line. */
export function enqueue(ctx: OutboxContext, { at, delivery }: Placed, due: number): void {
  const key = timed(due, at);
  ctx.table('waiting').set(key, delivery);
  ctx.table('ends').set(timed(delivery.ends, at), key);
}

/** When the first one is due; undefined without one. */
export function nextDue(ctx: OutboxContext): number | undefined {
  const first = ctx.table('waiting').first();
  return first && timeOf(first[0]);
}

/** When the first one is given up; undefined without one. */
export function nextEnd(ctx: OutboxContext): number | undefined {
  const first = ctx.table('ends').first();
  return first && timeOf(first[0]);
}

/** Takes the first one out of the line. */
export function takeFirst(ctx: OutboxContext): Placed | undefined {
  const first = ctx.table('waiting').first();
  return first && take(ctx, first[0], first[1]);
}

/** Takes those out of the line that are given up by a time, at most so many. */
export function takeEnded(ctx: OutboxContext, by: number, max: number): readonly Placed[] {
  const ended = ctx.table('ends').range({ before: timed(by + 1, ''), limit: max });
  return ended.flatMap(([, key]) => {
    const delivery = ctx.table('waiting').get(key);
    return delivery === undefined ? [] : [take(ctx, key, delivery)];
  });
}

function take(ctx: OutboxContext, key: string, delivery: Delivery): Placed {
  const at = placeOf(key);
  ctx.table('waiting').delete(key);
  ctx.table('ends').delete(timed(delivery.ends, at));
  return { at, delivery };
}
