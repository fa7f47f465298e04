/** The counted size of a plan is the length of its encoding, whichever way it went. */
import assert from 'node:assert/strict';
import type { Value } from '@reprise/contracts';
import fc from 'fast-check';
import { encode } from '../../src/pure/codec/index.js';
import type { PlanLeaf } from '../../src/pure/engine/leaf/leaves.js';
import { planBytes, withResumption } from '../../src/pure/engine/ledger/plan-bytes.js';

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

function holdSize(resumptions: PlanLeaf['resumptions']): void {
  const plan = planOf(resumptions);
  assert.equal(planBytes(plan), encodedBytes(plan));
}

/** Counts random plans after each of their resumptions, and as leaves that are read from bytes. @throws Error */
export function holdGrowingPlans(seed: number): void {
  const property = fc.property(fc.array(resumption, { maxLength: 40 }), (given) => {
    let resumptions: PlanLeaf['resumptions'] = [];
    for (const next of given) {
      resumptions = withResumption(resumptions, next);
      holdSize(resumptions);
    }
    holdSize(structuredClone(resumptions));
  });
  fc.assert(property, { seed, numRuns: 200 });
}

/** Counts plans that go different ways from the same resumptions. @throws Error */
export function holdPartingPlans(): void {
  const [short, long] = ['x', 'x'.repeat(300)].map((payload, at) => ({
    at,
    value: { receipts: [[0, { adapter: 'a', status: 'ok', attempts: 1, payload }]] },
  })) as unknown as [Resumption, Resumption];
  const shared = withResumption([], short);
  for (const next of [short, long]) holdSize(withResumption(shared, next));
  holdSize(shared);
}
