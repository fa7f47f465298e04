import type { Value } from '@reprise/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encode } from '../../../../src/pure/codec/index.js';
import type { PlanLeaf } from '../../../../src/pure/engine/leaf/leaves.js';
import { planBytes, withResumption } from '../../../../src/pure/engine/ledger/plan-bytes.js';

const SEED = 2026;
type Resumption = PlanLeaf['resumptions'][number];

const payload = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.maxSafeInteger(),
    fc.boolean(),
    fc.constant(null),
    fc.string({ unit: 'binary' }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.string({ maxLength: 8 }), tie('value'), { maxKeys: 4 }),
  ),
})).value as fc.Arbitrary<Value>;
const resumption: fc.Arbitrary<Resumption> = fc.record({
  at: fc.nat(),
  value: fc.record({
    receipts: fc.array(
      fc.tuple(
        fc.nat(),
        fc.record({ adapter: fc.string(), status: fc.constant('ok' as const), attempts: fc.nat(), payload }),
      ),
      { maxLength: 3 },
    ),
  }),
});

function planOf(resumptions: PlanLeaf['resumptions']): PlanLeaf {
  return {
    ...{ name: 'a/plan@1', inc: 1, input: { n: 1 }, started: 5, wait: null, inbox: [], emissions: resumptions.length },
    ...{ open: [], resumptions },
  };
}

const encodedBytes = (plan: PlanLeaf): number => encode(plan as unknown as Value).length;

describe('the counted size of a plan', () => {
  it(`the size of a plan is the length of its encoding after each of its resumptions (seed ${SEED})`, () => {
    fc.assert(
      fc.property(fc.array(resumption, { maxLength: 40 }), (given) => {
        let resumptions: PlanLeaf['resumptions'] = [];
        for (const next of given) {
          resumptions = withResumption(resumptions, next);
          expect(planBytes(planOf(resumptions))).toBe(encodedBytes(planOf(resumptions)));
        }
        const decoded = structuredClone(resumptions); // as a leaf that is read from its bytes
        expect(planBytes(planOf(decoded))).toBe(encodedBytes(planOf(resumptions)));
      }),
      { seed: SEED, numRuns: 200 },
    );
  });

  it('two plans that go different ways from the same resumptions are each counted with their own', () => {
    const [short, long] = ['x', 'x'.repeat(300)].map((payload, at) => ({
      at,
      value: { receipts: [[0, { adapter: 'a', status: 'ok', attempts: 1, payload }]] },
    })) as unknown as [Resumption, Resumption];
    const shared = withResumption([], short);
    const ways = [short, long].map((next) => planOf(withResumption(shared, next)));
    for (const plan of [...ways, planOf(shared)]) expect(planBytes(plan)).toBe(encodedBytes(plan));
  });
});
