import { describe, expect, it } from 'vitest';
import { CPU_MS_MAX, HARMS, HEAP_MIB, inChild, MEMORY_MIB_MAX, meet, WALL_MS } from './hostile.js';
import type { Fuzzed } from './hostile-fuzz.js';

/** Each of these used the most memory or time before there was a bound. */
const SHORT = [
  'one line of 31 MiB',
  'an event that is a list of empty maps',
  'JSON that is a list of empty maps',
  'new marks with each thought',
  'ten thousand blocks and their pieces',
  'an error without an end',
  'little that unpacks to much',
  'a megabyte of headers',
];

describe(`a reader with ${HEAP_MIB} MiB of heap`, () => {
  it.each(HARMS.filter(({ name }) => SHORT.includes(name)))(
    'an answer with $name fails by its bound, in bounded memory and time [MOD-26]',
    async (harm) => {
      const { code, mib, ms } = await meet(harm);
      expect(code).toMatch(harm.code);
      expect(mib).toBeLessThan(MEMORY_MIB_MAX);
      expect(ms).toBeLessThan(CPU_MS_MAX);
    },
  );

  it('answers of random bytes are read in bounded memory and time (seed 41) [MOD-26]', async () => {
    const { inputs, mib, slowestCpuMs } = await inChild<Fuzzed>('hostile-fuzz.ts', ['300', '41'], WALL_MS);
    expect(inputs).toBe(300);
    expect(mib).toBeLessThan(MEMORY_MIB_MAX);
    expect(slowestCpuMs).toBeLessThan(5_000);
  });
});
