/** Worlds with jobs whose process dies at each append, on memory and on SQLite. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { memory, type Store } from '@reprise/kernel';
import { sqlite } from '@reprise/store-sqlite';
import { VirtualClock } from '@reprise/testkit';
import { describe, expect, it } from 'vitest';
import { DyingStore } from '../../../../conformance/dying-store.js';
import { stepOf } from '../../../../conformance/part.js';
import { auditJobs, recordsOf } from './support/audit.js';
import { jobOf, type Office, office, verified } from './support/office.js';

/** The jobs: one is done, one hangs until its time is over, one waits for the desk. */
const JOBS = [jobOf(1, 'count'), jobOf(2, 'hang'), jobOf(3, 'ask wait', { timeout_ms: 600_000 })];

const COMMANDS: readonly (readonly [string, object])[] = [
  ['test/Open@1', { slots: 1 }],
  ...JOBS.map((job) => ['test/Hire@1', { job }] as const),
];

/** Has the jobs done on a store that dies at an append; opens it again as often as needed. */
async function allDone(store: DyingStore): Promise<Office> {
  const clock = new VirtualClock();
  for (;;) {
    const deaths = store.deaths;
    const unlessDead = (error: unknown): undefined => {
      if (store.deaths === deaths) throw error;
    };
    const open = await office({ store, clock, goesOn: true }).catch(unlessDead);
    if (open === undefined) continue;
    const isWhole = await play(open, () => store.deaths > deaths).catch(unlessDead);
    if (isWhole === true) return open;
    await open.close().catch(() => undefined);
  }
}

/** @returns false when the process died meanwhile */
async function play({ tell, clock, heard }: Office, isDead: () => boolean): Promise<boolean> {
  for (const [i, [name, value]] of COMMANDS.entries()) {
    await tell(name, value as never, `command ${i}`);
    await clock.settle();
    if (isDead()) return false;
  }
  for (const id of ['a', 'b', 'c']) {
    await clock.advance(62_000);
    if (isDead()) return false;
    await tell('test/Decide@1', { says: 'go ahead' }, id);
    await clock.settle();
    if (isDead()) return false;
  }
  await heard(1);
  return !isDead();
}

const stores: readonly (readonly [string, () => { readonly store: Store; close(): void }])[] = [
  ['memory', () => ({ store: memory(), close: () => undefined })],
  [
    'SQLite',
    () => {
      const folder = mkdtempSync(path.join(tmpdir(), 'reprise-work-'));
      return { store: sqlite(path.join(folder, 'w.db')), close: () => rmSync(folder, { recursive: true }) };
    },
  ],
];

describe('given three jobs on one slot, of which one hangs', () => {
  it.each(stores)(
    'a process that dies at any append of a world in %s loses no job and frees every slot once [WORK-1, WORK-2, WORK-7]',
    async (name, make) => {
      const clean = make();
      const counting = new DyingStore(clean.store);
      await (await allDone(counting)).close();
      clean.close();
      // Every append on memory at night. On SQLite some: that a file loses nothing at any step is the law of store-sqlite/test/crash.
      const isMemory = name === 'memory';
      const step = isMemory ? stepOf(4) : stepOf(8);
      for (const side of isMemory ? (['before', 'after'] as const) : (['before'] as const)) {
        for (let at = 1; at <= counting.appends; at += step) await dieOnce(make, at, side);
      }
      expect(counting.appends).toBeGreaterThan(12);
    },
  );
});

async function dieOnce(make: (typeof stores)[number][1], at: number, side: 'before' | 'after'): Promise<void> {
  const { store, close } = make();
  const dying = new DyingStore(store);
  dying.dieAt(at, side);
  const last = await allDone(dying);
  try {
    const ends = await Promise.all([1, 2, 3].map(async (n) => (await last.heard(n)).at(-1)));
    expect([at, side, ...ends]).toEqual([at, side, 'ok', 'timeout timeout', 'ok']);
    expect(await last.pool()).toEqual({ running: 0, waiting: 0 });
  } finally {
    await last.close().catch(() => undefined);
  }
  const jobs = auditJobs(await recordsOf(store));
  expect([...jobs.keys()].sort()).toEqual(['d/j1', 'd/j2', 'd/j3']);
  await verified(store);
  close();
}
