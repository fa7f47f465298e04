/** Packs of frames and blobs give what plain rows give; the law is in `packing-law.ts`. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { everyNth, stepOf } from '../../../conformance/part.js';
import { watchColumns } from './column-names.js';
import { type Bug, histories, run } from './packing-law.js';

const columnsAreWatched = await watchColumns();

const SEED = Number(process.env.REPRISE_SEED ?? 20_26);
const RUNS = Number(process.env.PACKING_RUNS ?? 12 / stepOf(2));
const AGAIN = `REPRISE_SEED=${SEED} PACKING_RUNS=${RUNS} npx vitest run packages/store-sqlite/test/packing.test.ts`;

const BUGS: readonly (readonly [what: string, bug: Bug])[] = [
  ['a pack that begins a frame too late', onFramePack((params) => with_(params, 1, Number(params[1]) + 1))],
  ['a pack that is never stored', onFramePack(() => 'leave out')],
  ['a pack that states another size', onFramePack((params) => with_(params, 6, Number(params[6]) + 1))],
  ['packing that removes a row too many', on('DELETE FROM frame', (params) => with_(params, 1, Number(params[1]) + 1))],
  ['a place beside the blob', on('INSERT OR REPLACE INTO packed', (params) => with_(params, 2, Number(params[2]) + 1))],
  ['a blob that keeps its place when it is erased', on('DELETE FROM packed', () => 'leave out')],
  [
    'an erasure that loses the other blobs of a pack',
    on('INSERT INTO blob (digest, bytes) VALUES (?, ?) ON CONFLICT (digest) DO NOTHING', () => 'leave out'),
  ],
];

type Params = Parameters<Bug>[1];

function on(start: string, change: (params: Params) => ReturnType<Bug>): Bug {
  return (sql, params) => (sql.startsWith(start) ? change(params) : params);
}

/** On a row of frames that is deflated. */
function onFramePack(change: (params: Params) => ReturnType<Bug>): Bug {
  return on('INSERT INTO frame', (params) => {
    const [bytes, size] = params.slice(5);
    return size !== (bytes as Uint8Array).length ? change(params) : params;
  });
}

function with_(params: Params, at: number, value: number): Params {
  return params.map((param, i) => (i === at ? value : param));
}

describe('packing', () => {
  it(`packed and plain rows give the same frames and blobs in every order of appends, erasures, reopenings and reads, over ${RUNS} histories (seed ${SEED}; again: ${AGAIN}) [JRN-8, JRN-36, CON-19]`, async () => {
    const packs = { frames: 0, blobs: 0 };
    const law = fc.asyncProperty(histories, async (history) => {
      const made = await run(history);
      packs.frames += made.frames;
      packs.blobs += made.blobs;
    });
    await fc.assert(law, { seed: SEED, numRuns: RUNS });
    expect(packs.frames).toBeGreaterThan(RUNS);
    expect(packs.blobs).toBeGreaterThan(RUNS);
  });

  it.each(everyNth(3, BUGS))('the law of packing finds a mutant store with %s', async (_, bug) => {
    const law = fc.asyncProperty(histories, async (history) => {
      await run(history, bug);
    });
    const { failed } = await fc.check(law, { seed: SEED, numRuns: RUNS, endOnFailure: true });
    expect(failed).toBe(true);
  });
});

columnsAreWatched();
