/** `reprise cost`: what model calls used, by agent, day, node, task or model. */
import { present } from '@reprise/contracts';
import { type CostKey, type CostReport, type CostSums, costOf } from '@reprise/operators/cost';
import { shortKey } from '@reprise/operators/names';
import type { Io } from '../../process/io.js';
import { escapeLine } from '../../text/escape.js';
import { toJson } from '../../text/json.js';
import { wrapToColumns } from '../../text/layout.js';
import { type Column, tableLines } from '../../text/table.js';
import { withWorld } from '../../world/open.js';

interface CostArguments {
  readonly by: readonly string[];
  readonly from?: number;
  readonly to?: number;
  readonly at?: number;
  readonly limit?: number;
  readonly after?: string;
  readonly json?: true;
}

/** Prints what was used, summed by the keys that are named. */
export async function cost(io: Io, world: string, { by, json, ...bounds }: CostArguments): Promise<void> {
  const report = await withWorld(world, (store) =>
    costOf(store, {
      by: by as readonly CostKey[], // refused where they are others
      ...present({ from: bounds.from, to: bounds.to, at: bounds.at, limit: bounds.limit, after: bounds.after }),
    }),
  );
  const { from, to, at } = bounds;
  const isPart = from !== undefined || to !== undefined;
  const within = `${isPart ? ' in this time' : ''}${at === undefined ? '' : ` up to frame ${at}`}`;
  const text = () => textOf(report, `${escapeLine(world)}: no model call has ended${within}`, io.out.columns);
  await io.out.write(json === true ? `${toJson(report)}\n` : text());
}

/** Calls, tokens in and out, and money. */
const AMOUNTS: readonly Column[] = ['calls', 'in', 'out', 'cost'].map((head) => ({ head, align: 'right' }));

/** @param none what is said when there is no row */
function textOf({ by, rows, total, notes, next }: CostReport, none: string, columns: number | undefined): string {
  if (rows.length === 0) return `${columns === undefined ? none : wrapToColumns(none, columns, 2)}\n`;
  const again: readonly Column[] = total.repeated === 0 ? [] : [{ head: 'again', align: 'right' }];
  const shape: readonly Column[] = [...by.map((head): Column => ({ head, align: 'left' })), ...AMOUNTS, ...again];
  const amountsOf = (sums: CostSums) => [...sumsText(sums), ...again.map(() => String(sums.repeated))];
  const cells = rows.map(({ keys, ...sums }) => [
    ...keys.map((key) => (key === null ? '–' : escapeLine(shortKey(key)))),
    ...amountsOf(sums),
  ]);
  const all = ['all', ...by.slice(1).map(() => ''), ...amountsOf(total)];
  const more = next === null ? [] : ['There are more rows: --json has the cursor of the rest.'];
  const words = [...notes, ...more].map((note) => (columns === undefined ? note : wrapToColumns(note, columns, 2)));
  return `${[...tableLines(shape, [...cells, all], columns), ...words].join('\n')}\n`;
}

function sumsText({ calls, tokens_in, tokens_out, micro_money, unpriced }: CostSums): readonly string[] {
  return [String(calls), String(tokens_in), String(tokens_out), moneyText(micro_money, unpriced)];
}

/** An amount with four places; a mark says that calls without a price stand behind it. */
function moneyText(micro: number, unpriced: number): string {
  const mark = unpriced > 0 ? '+?' : '';
  return `${(micro / 1_000_000).toFixed(4)}${mark}`;
}
