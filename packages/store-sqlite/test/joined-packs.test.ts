/** Packs of frames that were joined as they came. Adversaries: a full disk, a disk that fails, a process that begins anew. */
import { join } from 'node:path';
import { EMPTY_HEAD, type OpenStore } from '@reprise/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Driver } from '../src/database/driver.js';
import { MACHINE } from '../src/database/ports.js';
import { sqliteOn } from '../src/store.js';
import { freshDirectory } from './fixtures.js';
import { framesAfter, noise } from './frames.js';
import { type Bug, run, type Step } from './packing-law.js';

const SEED = Number(process.env.REPRISE_SEED ?? 44);
const RUNS = Number(process.env.RUNS ?? 4);
const AGAIN = `REPRISE_SEED=${SEED} RUNS=${RUNS} npx vitest run packages/store-sqlite/test/joined-packs.test.ts`;

/** What becomes of the statement that begins a pack. */
type Fate = 'ok' | 'full' | 'io';

const append = (...sizes: readonly number[]): Step => ({ do: 'append', sizes, blobs: [] });

/** Mostly frames one by one, as an effect after the other writes them. */
const histories = fc.array(
  fc.oneof(
    { weight: 30, arbitrary: fc.integer({ min: 1_000, max: 9_000 }).map((size) => append(size)) },
    { weight: 3, arbitrary: fc.array(fc.nat(9_000), { maxLength: 8 }).map((sizes) => append(...sizes)) },
    { weight: 1, arbitrary: fc.constantFrom(131_000, 131_073, 140_000).map((size) => append(size)) },
    { weight: 1, arbitrary: fc.constant<Step>({ do: 'reopen' }) },
  ),
  { minLength: 120, maxLength: 160, size: 'max' },
);

const fates = fc.array(fc.constantFrom<Fate>('ok', 'ok', 'full', 'io'), { minLength: 4, maxLength: 12 });

/** Lets the statement that begins a pack fail, in turn. */
function failing(turns: readonly Fate[], met: Set<Fate>): Bug {
  let packs = 0;
  return (sql, params) => {
    if (!sql.startsWith('DELETE FROM frame')) return params;
    const fate = turns[packs++ % turns.length] as Fate;
    met.add(fate);
    if (fate === 'ok') return params;
    throw Object.assign(new Error(`a test: ${fate}`), { code: fate === 'full' ? 'ENOSPC' : 'SQLITE_IOERR' });
  };
}

/** A driver that counts how often frames are read for a pack. */
function counting(driver: Driver, read: { times: number }): Driver {
  return {
    ...driver,
    open: (path, mode) => {
      const db = driver.open(path, mode);
      const prepare: typeof db.prepare = (sql) => {
        const statement = db.prepare(sql);
        if (!sql.includes('FROM frame WHERE seq >= ? AND seq <= ?') || !sql.startsWith('SELECT')) return statement;
        const all: typeof statement.all = (...params) => {
          read.times++;
          return statement.all(...params);
        };
        return { ...statement, all };
      };
      return { ...db, prepare };
    },
  };
}

describe('frames that are joined as they come', () => {
  it(`whatever packs fail for a full or a failing disk, the writer goes on frame by frame, and every frame is read back, over ${RUNS} histories (seed ${SEED}; again: ${AGAIN}) [JRN-8, JRN-36]`, async () => {
    const met = new Set<Fate>();
    let packs = 0;
    const law = fc.asyncProperty(histories, fates, async (history, turns) => {
      packs += (await run(history, failing(turns, met))).frames;
    });
    await fc.assert(law, { seed: SEED, numRuns: RUNS });
    expect(packs).toBeGreaterThan(RUNS);
    expect([...met].sort()).toEqual(['full', 'io', 'ok']);
  });

  it('a pack reads back no frame that its writer has stored, and of those it found only for the first pack', async () => {
    const { dir, remove } = freshDirectory();
    const read = { times: 0 };
    const store = sqliteOn(
      { ...MACHINE, driver: async () => counting(await MACHINE.driver(), read) },
      join(dir, 'w.db'),
    );
    const grow = async ({ journal }: OpenStore, count: number): Promise<void> => {
      for (let n = 0; n < count; n++) {
        const head = await journal.head();
        await journal.append(
          framesAfter(head, 1, (seq) => noise(seq, 9_000)),
          head,
        );
      }
    };
    const first = await store.open();
    expect(await first.journal.head()).toEqual(EMPTY_HEAD);
    await grow(first, 20); // a pack holds 14 of them: the first pack reads, since what a file holds is not known
    const once = read.times;
    expect(once).toBeGreaterThan(0);
    await grow(first, 60);
    expect(read.times).toBe(once);
    await first.close();
    const second = await store.open();
    read.times = 0;
    await grow(second, 20);
    const again = read.times;
    expect(again).toBeGreaterThan(0);
    await grow(second, 60);
    expect(read.times).toBe(again);
    await second.close();
    remove();
  });
});
