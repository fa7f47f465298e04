/** What a frame states of changed fields: small ones by value, others by the digest of their bytes. */
import type { Value } from '@reprise/contracts';
import { anyValue } from '@reprise/testkit/ports';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../../../../conformance/part.js';
import { decode, encode, portableSha256 } from '../../../../src/pure/codec/index.js';
import { cellKey, planKey } from '../../../../src/pure/engine/leaf/leaf-key.js';
import { stateRecord } from '../../../../src/pure/engine/leaf/state-record.js';
import { packWait, STATE_PREFIX } from '../../../../src/pure/record/index.js';
import { hold, rerun, SEED } from '../../../support/laws/hold.js';

const NEW_CELL = { inc: 0, live: true, n: 1, ord: 0, failed: null, parent: null, plans: [], timers: {}, logs: [] };

const normal = (value: unknown): Value => decode(encode(value));

/** A field as it is stated. @param packed as its bytes are */
const stated = (value: Value, packed = value): unknown => {
  const bytes = encode(packed);
  return bytes.length <= 48 ? [value] : portableSha256(bytes);
};

describe(`the state record of a frame (seed ${SEED})`, () => {
  it('a changed field is stated by value up to 48 bytes, and by the digest of its own bytes beyond [DET-10]', async () => {
    const near = fc.integer({ min: 40, max: 56 }).map((length) => 'x'.repeat(length));
    const field = fc.oneof({ weight: 2, arbitrary: anyValue() }, near, fc.array(near, { maxLength: 2 }));
    const states = fc.array(fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), field), { minLength: 1, maxLength: 3 });
    const law = fc.property(states, (given) => {
      const cells = given.map((state) => ({ ...NEW_CELL, state: normal(state) as Readonly<Record<string, Value>> }));
      const changes = cells.map((after, i) => ({ key: cellKey(['t/R@1', `${i}`]), before: undefined, after }));
      const { leaves } = stateRecord(changes, portableSha256);
      expect(leaves).toHaveLength(cells.length);
      for (const [i, { state }] of cells.entries()) {
        const fields = Object.entries(state).map(([name, value]) => [`${STATE_PREFIX}${name}`, stated(value)]);
        expect(leaves[i]?.[1]).toEqual({ inc: [0], ...Object.fromEntries(fields) });
      }
    });
    await hold(law, { numRuns: 1_000 / stepOf(4), command: rerun('state-record.test.ts') });
  });

  it('what a plan waits for is counted and hashed as frames hold it, and stated as plans do', () => {
    const plan = {
      name: 't/p@1',
      inc: 0,
      input: null,
      started: 0,
      resumptions: [],
      inbox: [],
      emissions: 99,
      open: [],
    };
    for (let many = 1; many < 60; many++) {
      const wait = { for: 'all' as const, emissions: Array.from({ length: many }, (_, i) => i), until: null };
      const change = { key: planKey(['t/R@1', 'x', 0]), before: { ...plan, wait: null }, after: { ...plan, wait } };
      const [leaf] = stateRecord([change], portableSha256).leaves;
      expect(leaf?.[1]?.wait).toEqual(stated(wait, packWait(wait)));
    }
  });
});
