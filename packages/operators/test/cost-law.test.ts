/** What a world cost, beside its receipts: sums by every key are equal to each other. */

import type { WorldPart } from '@reprise/agent';
import { type ReadonlyStore, readFrame } from '@reprise/kernel';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../conformance/part.js';
import { compareHistories, type Histories, type Pair, type Place } from '../../cli/test/views/histories.js';
import { SWARMS } from '../../cli/test/views/swarms.js';
import { TEAMS } from '../../cli/test/views/teams.js';
import { COST_KEYS, type CostSums, costOf } from '../src/cost/index.js';

const SEED = Number(process.env.REPRISE_SEED ?? 1);
const PLACES =
  process.env.REPRISE_VIEWS === undefined
    ? { teams: 15 / stepOf(3), swarms: 3 / stepOf(3) }
    : { teams: 1_500, swarms: 150 };

function costsOf<P extends WorldPart>({ part, answer, act }: Histories<P>): Histories<P> {
  // Of every third call the model says nothing of its use.
  const used = (draw: (below: number) => number) =>
    draw(3) === 0 ? {} : { usage: { tokens_in: draw(900), tokens_out: draw(90), micro_money: draw(5_000) } };
  return { part, answer: (draw, request) => ({ ...answer(draw, request), ...used(draw) }), act, look: compareCosts };
}

/** The tokens that were compared: a law of nothing but zeros would say nothing. */
let amounts = 0;

async function compareCosts({ store, draw, at: { head } }: Place<WorldPart>): Promise<readonly Pair[]> {
  const receipts = await receiptsIn(store, { from: 0, to: Number.MAX_SAFE_INTEGER });
  const pairs: Pair[] = [];
  amounts += receipts.tokens_in;
  for (const by of [...COST_KEYS.map((key) => [key]), ['agent', 'day', 'task'] as const]) {
    const { rows, total } = await costOf(store, { by });
    pairs.push([`the total by ${by}`, pick(total), receipts], [`the rows by ${by}`, pick(summed(rows)), receipts]);
  }
  const middle = await timeOf(store, draw(head.seq + 1));
  const before = await costOf(store, { to: middle });
  const since = await costOf(store, { from: middle });
  pairs.push(
    ['before a time and since it', pick(summed([before.total, since.total])), receipts],
    ['since a time', pick(since.total), await receiptsIn(store, { from: middle, to: Number.MAX_SAFE_INTEGER })],
  );
  return pairs;
}

type Amounts = Pick<CostSums, 'tokens_in' | 'tokens_out' | 'micro_money'>;

function pick({ tokens_in, tokens_out, micro_money }: Amounts): Amounts {
  return { tokens_in, tokens_out, micro_money };
}

function summed(all: readonly Amounts[]): Amounts {
  const sum = (name: keyof Amounts) => all.reduce((so_far, one) => so_far + one[name], 0);
  return { tokens_in: sum('tokens_in'), tokens_out: sum('tokens_out'), micro_money: sum('micro_money') };
}

/** What the receipts of a journal state, and nothing else of it. */
async function receiptsIn(
  store: ReadonlyStore,
  time: { readonly from: number; readonly to: number },
): Promise<Amounts> {
  const found: Amounts[] = [];
  for await (const { seq, at, bytes } of store.journal.read(0)) {
    const { ingress } = readFrame(bytes, seq);
    if (ingress.kind !== 'receipt' || at < time.from || at >= time.to) continue;
    const { tokens_in = 0, tokens_out = 0, micro_money = 0 } = ingress.receipt.usage ?? {};
    found.push({ tokens_in, tokens_out, micro_money });
  }
  return summed(found);
}

async function timeOf(store: ReadonlyStore, seq: number): Promise<number> {
  for await (const { at } of store.journal.read(seq, seq)) return at;
  return 0;
}

describe(`the cost of a world, beside its receipts (seed ${SEED})`, () => {
  it('given random teams that act, die and are opened again, when their cost is summed by agent, day, node, task and model, then each sum is that of the receipts', async () => {
    const { differences, places } = await compareHistories(costsOf(TEAMS), { places: PLACES.teams, seed: SEED });
    expect(differences).toEqual([]);
    expect(places).toBe(PLACES.teams);
    expect(amounts).toBeGreaterThan(0);
  });

  it('given random swarms that act, die and are opened again, when their cost is summed by agent, day, node, task and model, then each sum is that of the receipts', async () => {
    const { differences } = await compareHistories(costsOf(SWARMS), { places: PLACES.swarms, seed: SEED });
    expect(differences).toEqual([]);
  });
});
