/** The budget of a tree in money: no launch exceeds it, whatever its nodes use, and a ledger of its own agrees. */
import { microDollars } from '@reprise/agent';
import type { Usage } from '@reprise/contracts';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Answers, calls, complete, forest } from './forest.js';

const PRICE = { in: 3, out: 15 };
const CAP = 1_000_000;
const CHILDREN = 8;

interface Played {
  /** The most that was spent and set aside at once, and the most that was set aside, in micro-dollars. */
  readonly most: number;
  readonly mostReserved: number;
  readonly spent: number;
  readonly ledger: number;
  readonly launched: number;
}

/** A root with eight children, whose model reports these uses; `null` reports none. */
async function play(uses: readonly (Usage | null)[], node: number): Promise<Played> {
  let asked = 0;
  let ledger = 0;
  const use = () => {
    const usage = uses[asked++ % uses.length] ?? null;
    ledger += usage === null ? 0 : (microDollars(PRICE, usage) ?? 0);
    // A step without usage of its own would get the usual one.
    return { usage: usage ?? {} };
  };
  const answers: Answers = ({ n, run, step, last }) => {
    const done = last.includes('"accepted":true');
    if (n !== 1) return { ...(done ? { text: 'Done.' } : complete(`result of ${n}`)), ...use() };
    const made = Array.from({ length: CHILDREN }, (_, i) => ['spawn', { goal: `g${i}`, prompt: 'p' }] as const);
    if (run === 0) return { ...(step === 0 ? calls(...made) : { text: 'x' }), ...use() };
    return { ...(done ? { text: 'Done.' } : complete('all')), ...use() };
  };
  let played: Played | undefined;
  await forest(
    answers,
    async ({ trees, world }) => {
      const tree = await trees.start('survey', {
        goal: 'top',
        limits: { parallel: CHILDREN, attempts: 1 },
        budget: { node: { usd: node / CAP }, tree: { usd: 1 } },
      });
      const { spent } = await tree.result();
      await world.pump();
      let [most, mostReserved, launched] = [0, 0, 0];
      for await (const event of tree.events({ follow: false })) {
        if (event.type === 'launched') launched++;
        if (event.type !== 'budget') continue;
        most = Math.max(most, event.spent.micro_money + event.reserved);
        mostReserved = Math.max(mostReserved, event.reserved);
      }
      played = { most, mostReserved, spent: spent.micro_money, ledger, launched };
    },
    { price: PRICE, endsAccepted: false },
  );
  if (played === undefined) throw new Error('the tree was not played');
  return played;
}

describe('the budget of a tree', () => {
  it('what is spent and set aside never exceeds the budget, and what is spent is what a ledger of its own counts (6 runs, seed 18) [TREE-32]', async () => {
    const usage = fc.record({
      tokens_in: fc.integer({ min: 1, max: 9_000 }),
      tokens_out: fc.integer({ min: 1, max: 900 }),
    });
    const property = fc.asyncProperty(
      fc.array(usage, { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 60_000, max: 600_000 }),
      async (uses, node) => {
        const { most, mostReserved, spent, ledger, launched } = await play(uses, node);
        expect(most).toBeLessThanOrEqual(CAP);
        expect(spent).toBe(ledger);
        expect(mostReserved).toBeGreaterThan(0);
        expect(launched).toBeGreaterThan(1);
      },
    );
    await fc.assert(property, { numRuns: 6, seed: 18 });
  });

  it('use that was not reported counts as all that was set aside, and the budget holds nevertheless [TREE-32]', async () => {
    const { most, spent, launched } = await play([null], 300_000);
    expect(most).toBeLessThanOrEqual(CAP);
    expect(spent).toBe(CAP);
    expect(launched).toBeLessThan(CHILDREN);
  });

  it('a model call that the provider refused has used nothing: the next attempt has the whole budget [TREE-32]', async () => {
    let asked = 0;
    const failing: Answers = ({ last }) => {
      if (asked++ === 0) return { fail: 'provider_error_terminal/refused', usage: {} };
      return { ...(last.includes('"accepted":true') ? { text: 'Done.' } : complete('all')), usage: { tokens_in: 10 } };
    };
    await forest(
      failing,
      async ({ trees }) => {
        const tree = await trees.start('survey', { goal: 'top', budget: { node: { usd: 0.5 }, tree: { usd: 0.5 } } });
        const { status, spent } = await tree.result();
        expect(status).toBe('complete');
        expect(spent.micro_money).toBeLessThan(1_000);
      },
      { price: PRICE, endsAccepted: false },
    );
  });
});
