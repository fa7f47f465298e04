/** Random operations on stores, against a plain program. The long form: `conformance/memory-long.ts`. */
import { describe, expect, it } from 'vitest';
import { holdOperations } from '../../../../conformance/memory/hold.js';

const SEED = Number(process.env.REPRISE_SEED ?? 1);

describe(`random operations of an organization on its stores (seed ${SEED})`, () => {
  it('a store does what the reference says, finds the same after its index was built again, and each item leads to a message [MEM-1] [MEM-2] [MEM-4] [MEM-5] [MEM-6] [MEM-7]', async () => {
    const { items, dangling, refused, existed } = await holdOperations(1_000, SEED);
    expect(dangling).toBe(0);
    expect(items).toBeGreaterThan(200);
    expect(refused).toBeGreaterThan(20);
    expect(existed).toBeGreaterThan(2);
  });
});
