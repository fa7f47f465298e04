/** Messages that arrive in the smallest pieces. */
import { describe, expect, it } from 'vitest';
import { sendPieces } from './support/pieces.js';

/** As many as one principal may have open, each with as many bytes as a body may have. */
const REQUESTS = 64;
const BYTES = 1024 * 1024 - 1;

/** Twice the bytes of all bodies, and what the traffic itself takes. */
const MIB_MAX = 2 * REQUESTS + 96;

describe('pieces of one byte', () => {
  it(`${REQUESTS} bodies of 1 MiB in pieces of one byte take at most ${MIB_MAX} MiB, with a small heap [SRV-603]`, async () => {
    const { mib, answered, errors } = await sendPieces(REQUESTS, BYTES);
    expect([answered, errors]).toEqual([true, []]);
    expect(mib).toBeLessThan(MIB_MAX);
  }, 120_000);
});
