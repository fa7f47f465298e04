/** Messages that arrive in the smallest pieces. */
import { describe, expect, it } from 'vitest';
import { sendPieces } from './support/pieces.js';

/** As many as one principal may have open. */
const REQUESTS = 64;
const KIB = 48;

/** What the traffic takes; the bytes are few. As lists of pieces they would take more than 700 MiB. */
const MIB_MAX = 120;

describe('in pieces of one byte', () => {
  it(`${REQUESTS} bodies of ${KIB} KiB at once in pieces of one byte take less than ${MIB_MAX} MiB, with a small heap [SRV-15]`, async () => {
    const { mib, answered, errors } = await sendPieces(REQUESTS, KIB * 1024);
    expect([answered, errors]).toEqual([true, []]);
    expect(mib).toBeLessThan(MIB_MAX);
  });
});
