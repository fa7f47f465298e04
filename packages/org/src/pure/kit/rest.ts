/**
 * The rest of a delivery: one delivery changes a bounded number of rows, and the cell sends itself this event for the rest,
 * which comes before any other input.
 */
import { requireMethods } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { by, from, type ReducerContext, type Table, type TableRange } from '@reprise/kernel/define';

/** The name of the event. */
export const REST = 'org/Rest@1';

/** The event that a reducer declares for the rest of its deliveries. */
export const restEvent = { [REST]: from(z.strictObject({}), by.self) } as const;

/** Leaves the rest to another delivery. */
export function leaveRest(ctx: Pick<ReducerContext, 'send' | 'address'>): void {
  requireMethods(ctx, ['send'], 'leaveRest(ctx)', 'the ctx of a reducer');
  ctx.send(ctx.address, { name: REST, value: {} });
}

/** The table of a cell whose rounds take several deliveries: by the name of each round, the last key that it has reached. */
export const restTables = { rest: z.string().max(256) } as const;

/** A part of a round: what one delivery does behind a key. @returns the key that it has reached; undefined when it is over */
export type Round = (after: string) => string | undefined;

type RestContext = Pick<ReducerContext<typeof restTables>, 'send' | 'address' | 'table'>;

/** Begins a round, also one that is under way: this delivery does its first part. */
export function beginRound(ctx: RestContext, name: string, round: Round): void {
  const goesOn = ctx.table('rest').size > 0;
  takePart(ctx, [name, ''], round);
  if (!goesOn && ctx.table('rest').size > 0) leaveRest(ctx);
}

/** Leaves a round to the next delivery, also its first part. */
export function leaveRound(ctx: RestContext, name: string): void {
  const rest = ctx.table('rest');
  if (rest.size === 0) leaveRest(ctx);
  rest.set(name, '');
}

/** Goes on with the first round by its name: the handler of {@link REST}. */
export function nextRound(ctx: RestContext, roundOf: (name: string) => Round): void {
  const next = ctx.table('rest').first();
  if (next === undefined) return;
  takePart(ctx, next, roundOf(next[0]));
  if (ctx.table('rest').size > 0) leaveRest(ctx);
}

/** Goes on with the rounds of a cell that was revived: what it had left itself is gone. */
export function resumeRounds(ctx: RestContext): void {
  if (ctx.table('rest').size > 0) leaveRest(ctx);
}

function takePart(ctx: RestContext, [name, after]: readonly [string, string], round: Round): void {
  const last = round(after);
  if (last === undefined) ctx.table('rest').delete(name);
  else ctx.table('rest').set(name, last);
}

/** The rows that one delivery goes through, unless it states another number: the others follow before any other input. */
const ROWS_AT_ONCE = 64;

/** Does something for the next rows of a table, up to a limit. @returns the key of the last one, where others may follow */
export function someRows<V>(
  table: Table<V>,
  { after = '', limit = ROWS_AT_ONCE, ...within }: TableRange,
  each: (key: string, row: V) => void,
): string | undefined {
  const rows = table.range({ ...within, ...(after === '' ? {} : { after }), limit });
  for (const [key, row] of rows) each(key, row);
  return rows.length < limit ? undefined : rows.at(-1)?.[0];
}
