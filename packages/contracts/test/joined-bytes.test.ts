import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JoinedBytes } from '../src/index.js';

const SEED = 3;

describe('bytes joined as they arrive', () => {
  it(`joined bytes are the same however they are cut into pieces, also the next ones (seed ${SEED})`, () => {
    const joined = new JoinedBytes();
    void fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 900 }), { maxLength: 30 }), (pieces) => {
        for (const piece of pieces) joined.add(piece);
        const whole = Buffer.concat(pieces);
        expect(joined.length).toBe(whole.length);
        expect(Buffer.from(joined.take())).toEqual(whole);
        expect(joined.length).toBe(0);
      }),
      { seed: SEED },
    );
  });

  it('joined bytes take at most twice their number, and hold no piece', () => {
    const joined = new JoinedBytes();
    const slab = new Uint8Array(1_000_000);
    for (let i = 0; i < 10_000; i++) joined.add(slab.subarray(i, i + 1));
    slab.fill(7); // a piece that was held would change
    const whole = joined.take();
    expect(whole.buffer.byteLength).toBeLessThanOrEqual(20_000);
    expect(whole.some((byte) => byte !== 0)).toBe(false);
  });
});
