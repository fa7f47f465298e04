import { describe, expect, it } from 'vitest';
import { encode } from '../../../../src/pure/codec/index.js';
import { DecodedCache } from '../../../../src/pure/engine/leaf/leaves.js';

/** Offers leaves of some size; tells which of them are still the offered objects. */
function keptOf(count: number, size: number): number[] {
  const cache = new DecodedCache();
  const leaves = Array.from({ length: count }, (_, n) => ({ n, text: 'x'.repeat(size) }));
  const offered = leaves.map((leaf) => [encode(leaf), leaf] as const);
  for (const [bytes, leaf] of offered) cache.offer(bytes, leaf);
  return offered.flatMap(([bytes, leaf]) => (cache.take(bytes) === leaf ? [leaf.n] : []));
}

describe('the cache of decoded leaves', () => {
  it('the newest 1,024 leaves stay decoded, and older ones are decoded again', () => {
    expect(keptOf(1_030, 1)).toEqual(Array.from({ length: 1_024 }, (_, i) => i + 6));
  });

  it('the cache drops the oldest leaves when all together have more than 8 MiB', () => {
    expect(keptOf(10, 2 * 1024 * 1024)).toEqual([7, 8, 9]);
  });

  it('a leaf is handed out once: its taker may change it', () => {
    const cache = new DecodedCache();
    const [bytes, leaf] = [encode({ n: 1 }), { n: 1 }];
    cache.offer(bytes, leaf);
    expect([cache.take(bytes) === leaf, cache.take(bytes) === leaf]).toEqual([true, false]);
  });
});
