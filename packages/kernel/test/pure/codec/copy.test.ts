import type { Value } from '@reprise/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../../../conformance/part.js';
import { copyValue, decode, encode, toHex } from '../../../src/pure/codec/index.js';
import { hold, SEED } from '../../support/laws/hold.js';
import { values } from './arbitraries.js';

const command = 'npx vitest run packages/kernel/test/pure/codec/copy.test.ts';

/** What decides whether two values are the same to a program: their types, and the order of their keys. */
function traced(value: Value): unknown {
  if (value instanceof Uint8Array) return `bytes ${toHex(value)}`;
  if (Array.isArray(value)) return value.map(traced);
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? '-0' : value;
  if ('hex' in value && Object.isFrozen(value)) return `link ${value.hex} ${value.kind}`;
  return Object.entries(value).map(([key, item]) => [key, traced(item)]);
}

/** A map whose keys stand in another order, with one that has no value: what a program may build. */
function disordered(value: Value): Value {
  if (value instanceof Uint8Array || typeof value !== 'object' || value === null || Object.isFrozen(value))
    return value;
  if (Array.isArray(value)) return value.map(disordered);
  const entries = Object.entries(value).reverse();
  return Object.fromEntries([...entries.map(([key, item]) => [key, disordered(item)]), ['none', undefined]]) as Value;
}

const sameAsBytes = (copy: (value: Value) => Value) =>
  fc.property(values, (value) => {
    for (const one of [value, disordered(value)])
      if (JSON.stringify(traced(copy(one))) !== JSON.stringify(traced(decode(encode(one)))))
        throw new Error('the copy is not what its bytes decode to');
  });

describe('a copy of a value', () => {
  it(`a copy is what the bytes of the value decode to, with its keys in the same order (seed ${SEED})`, async () => {
    await hold(sameAsBytes(copyValue), { numRuns: 2_000 / stepOf(4), command });
  });

  it('the law of copies detects a mutant that copies keys in the order in which it finds them', async () => {
    await expect(hold(sameAsBytes(structuredClone), { numRuns: 2_000, command })).rejects.toThrow();
  });

  it('a copy shares no map, list or bytes with its value', () => {
    const bytes = Uint8Array.of(1);
    const value = { list: [{ bytes }] };
    const copy = copyValue(value) as typeof value;
    expect([copy === value, copy.list === value.list, copy.list[0] === value.list[0]]).toEqual([false, false, false]);
    expect(copy.list[0]?.bytes).not.toBe(bytes);
  });
});
