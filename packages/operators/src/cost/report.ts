/** The shape of what `reprise cost --json` prints. */
import * as z from '@reprise/contracts/schema';

const count = z.int().min(0);

/** What usage is summed by. */
export const COST_KEYS = ['agent', 'day', 'node', 'task', 'model'] as const;

/** What usage is summed by. */
export type CostKey = (typeof COST_KEYS)[number];

const sums = {
  /** Model calls that ended, well or not. */
  calls: count,
  tokens_in: count,
  tokens_out: count,
  /** The part of `tokens_in` that the provider had in its cache. */
  tokens_cached: count,
  /** In millionths of a unit of currency. */
  micro_money: count,
  /** Model calls that used tokens, or answered, and state no price. */
  unpriced: count,
  /** Attempts of model calls that were interrupted and started again: what they used stands nowhere. */
  repeated: count,
};

/** What was used, in whole units. */
const costSums = z.strictObject(sums);

/** What was used, in whole units. */
export type CostSums = z.infer<typeof costSums>;

/** One row: the values of the keys, in the order of `by`; null where one does not apply. */
const costRow = z.strictObject({ keys: z.array(z.nullable(z.string())), ...sums });

/** One row of a cost report. */
export type CostRow = z.infer<typeof costRow>;

/** The answer of `costOf`: what a world cost, in rows and in total. */
export const costReport = z.strictObject({
  /** The last frame that counts. */
  frame: z.int(),
  by: z.array(z.enum(COST_KEYS)),
  /** The first and the end of the times that count, in journal milliseconds; null for no bound. */
  from: z.nullable(count),
  to: z.nullable(count),
  /** In the order of their keys. The sums of all pages are `total`. */
  rows: z.array(costRow),
  total: costSums,
  /** What the sums leave out, in sentences; empty when nothing is. */
  notes: z.array(z.string()),
  /** The cursor of the next page of `rows`; null on the last one. */
  next: z.nullable(z.string()),
});

/** The answer of `costOf`: what a world cost, in rows and in total. */
export type CostReport = z.infer<typeof costReport>;
