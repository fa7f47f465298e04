import { bytes, keyText, ref, value } from '@reprise/contracts';
import { creates, defineReducer } from '@reprise/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { stepOf } from '../../../../conformance/part.js';
import { checkedValue } from '../../src/given/checked-value.js';
import { anyEventOf, anyFitting } from '../../src/ports/index.js';

const everything = z.strictObject({
  nothing: z.null(),
  flag: z.boolean(),
  blob: bytes(),
  link: ref(),
  anything: value(),
  count: z.int().min(3).max(9),
  share: z.number().gt(0).lt(1),
  name: z.string().min(2).max(4),
  wide: z.string().max(40),
  key: keyText(),
  code: z.string().regex(/^[a-z]{2}-\d+$/),
  side: z.enum(['left', 'right']),
  list: z.array(z.int()).min(1).max(3),
  pair: z.tuple([z.string(), z.int()]),
  byName: z.record(z.string().min(1), z.boolean()),
  maybe: z.exactOptional(z.string()),
  either: z.union([z.string(), z.null()]),
});

const reducer = defineReducer({
  name: 'demo/All@1',
  state: z.strictObject({}),
  events: { 'demo/Made@1': creates(everything), 'demo/Told@1': z.strictObject({ n: z.int() }) },
  init: () => ({}),
  reduce: () => undefined,
});

describe('values made from a schema', () => {
  it('random values pass their schema, whatever it is made of (seed 2026)', () => {
    const node = reducer.events.get('demo/Made@1')?.node;
    if (node === undefined) throw new Error('the event is gone');
    fc.assert(
      fc.property(anyFitting(node), (made) => void checkedValue('a made value', node, made)),
      { seed: 2026, numRuns: 300 / stepOf(4) },
    );
  });

  it('random values are events of the reducer that accepts them, or on request only those that create its cell', () => {
    const named = (which: 'all' | 'creating') =>
      new Set(fc.sample(anyEventOf(reducer, which), { seed: 1, numRuns: 50 }).map(({ name }) => name));
    expect([...named('all')].sort()).toEqual(['demo/Made@1', 'demo/Told@1']);
    expect([...named('creating')]).toEqual(['demo/Made@1']);
  });

  it('a schema that no value passes is refused', () => {
    expect(() => anyFitting({ type: 'never' })).toThrow(TypeError);
  });
});
