/** Rows that are joined as they come are what `joinRows` makes of them: a pack of either holds the same frames. */
import { createHash } from 'node:crypto';
import type { StoredFrame } from '@reprise/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deflated, type FrameRow, JoinedRows, joinRows, PACK_BYTES_MAX, packRows, unpackRow } from '../src/index.js';

const SEED = Number(process.env.REPRISE_SEED ?? 44);
const RUNS = Number(process.env.RUNS ?? 60);
const AGAIN = `REPRISE_SEED=${SEED} RUNS=${RUNS} npx vitest run packages/packs/test/joined-rows.test.ts`;

const KINDS = ['receipt', 'request', 'timer', 'ärger'];

/** Appends of frames: how many bytes each of them has. */
const appends = fc.array(
  fc.array(
    fc.oneof(
      { weight: 8, arbitrary: fc.nat(2_000) },
      { weight: 2, arbitrary: fc.nat(40_000) },
      { weight: 1, arbitrary: fc.constantFrom(PACK_BYTES_MAX - 60, PACK_BYTES_MAX, PACK_BYTES_MAX + 1) },
    ),
    { minLength: 1, maxLength: 5 },
  ),
  { maxLength: 40, size: 'max' },
);

function framesOf(sizes: readonly number[], from: number): StoredFrame[] {
  return sizes.map((size, i) => {
    const seq = from + i;
    const head = createHash('sha256').update(`${seq}`).digest('hex');
    const bytes = new Uint8Array(Buffer.alloc(size, `frame ${seq}, `));
    return { seq, at: 1_700_000_000_000 + seq, kind: KINDS[seq % KINDS.length] as string, head, bytes };
  });
}

/** The rows of appends, one after the other. */
function rowsOf(sizes: readonly (readonly number[])[]): FrameRow[] {
  let from = 0;
  return sizes.flatMap((append) => {
    const packed = packRows(framesOf(append, from));
    from += append.length;
    return packed.map(({ row }) => row);
  });
}

/** The frames in some rows, as one text: a comparison item by item would take minutes for large bytes. */
function framesIn(rows: readonly FrameRow[]): string {
  const all = rows.flatMap((row) => unpackRow(row, 0, Number.MAX_SAFE_INTEGER, 'a test'));
  return JSON.stringify(all.map(({ bytes, ...rest }) => [rest, Buffer.from(bytes).toString('base64')]));
}

describe('rows that are joined as they come', () => {
  it(`whatever fits a pack is the row that joinRows makes, and unpacks into the same frames, over ${RUNS} histories (seed ${SEED}; again: ${AGAIN})`, () => {
    const law = fc.property(appends, (sizes) => {
      const joined = new JoinedRows();
      let run: FrameRow[] = [];
      const check = (): void => {
        const made = joined.joined();
        if (run.length === 0) return expect(made).toBeUndefined();
        const expected = joinRows(run, 'a test');
        expect(Buffer.compare(made?.bytes as Uint8Array, expected.bytes)).toBe(0);
        expect({ ...made, bytes: 0, head: 0 }).toEqual({ ...expected, bytes: 0, head: 0 });
        expect(framesIn([made as FrameRow]) === framesIn(run)).toBe(true);
      };
      for (const row of rowsOf(sizes)) {
        if (joined.add(row)) run.push(row);
        else {
          check();
          joined.clear();
          run = joined.add(row) ? [row] : [];
        }
        expect(joined.joined()?.size ?? 0).toBeLessThanOrEqual(PACK_BYTES_MAX);
      }
      check();
    });
    fc.assert(law, { seed: SEED, numRuns: RUNS });
  });

  it('a row that is not the next one, is deflated or does not fit is not taken, and changes nothing', () => {
    const [first, second, third] = rowsOf([[100], [200], [300]]) as [FrameRow, FrameRow, FrameRow];
    const joined = new JoinedRows();
    expect(joined.add(first)).toBe(true);
    const before = joined.joined();
    const whole = rowsOf([[100], [PACK_BYTES_MAX - 50]])[1] as FrameRow;
    const small = deflated(new Uint8Array(5_000));
    for (const odd of [third, first, whole, { ...second, ...small }]) expect(joined.add(odd)).toBe(false);
    expect(joined.joined()).toStrictEqual(before);
    expect(joined.add(second)).toBe(true);
    expect(joined.joined()).toMatchObject({ first: 0, seq: 1 });
  });
});
