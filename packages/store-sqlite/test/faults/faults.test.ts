/**
 * Real processes on the real store: killed, stopped, out of room, their log torn. The long form, at 300 worlds:
 * `scripts/long/faults.ts`. What kills at named moments of an agent's survey: `packages/store-sqlite/test/crash`.
 */

import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { spread } from '../../../../conformance/part.js';
import { type Bench, makeBench } from './bench.js';
import { smallDisk } from './small-disk.js';
import { Trial } from './trial.js';
import { runTrial, type TrialResult } from './trials.js';
import { TEARS } from './wal.js';

const SEED = 20_26;
const TRIALS = 8;
const always = () => 0.5;

let bench: Bench;
beforeAll(async () => {
  bench = await makeBench();
});
afterAll(() => bench.dispose());

describe('a world whose processes are killed and stopped, and whose disk fails', () => {
  it(`a world keeps what it promised, over ${TRIALS} worlds (seed ${SEED}; again: npx tsx --conditions=@reprise/source scripts/long/faults.ts --seed ${SEED} --worlds ${TRIALS}) [JRN-20, REC-1, EFF-13]`, async () => {
    const total = { kills: 0, torn: 0, stops: 0, failed: 0, refused: 0 } satisfies Partial<TrialResult>;
    for (let n = 0; n < TRIALS; n++) {
      const result = await runTrial(bench, SEED, n);
      for (const key of Object.keys(total) as (keyof typeof total)[]) total[key] += result[key];
    }
    const { kills, torn, stops, failed, refused } = total;
    const befell = { kills, torn, stops, 'lack of room': failed + refused };
    for (const [what, times] of Object.entries(befell)) expect(times, `how much of: ${what}`).toBeGreaterThan(0);
  });
});

describe('a write that was never synced', () => {
  it.each(spread(3, TEARS))(
    'a write that was never synced is ignored after a crash, torn in this way: %s',
    async (how) => {
      const trial = new Trial(bench, `torn-${how}`);
      const { how: ended } = await trial.run({ strike: { at: 'append', count: 12, blow: 'SIGKILL' } });
      expect(ended).toBe('killed');
      const acknowledged = trial.heads.size;
      expect(trial.tear(how, always), 'what landed and was told nobody').toBeGreaterThan(0);
      await trial.finish();
      expect(trial.heads.size).toBeGreaterThan(acknowledged);
    },
  );
});

describe('a stopped process that has a world open', () => {
  it('a stopped process keeps its world, and continues when it is woken; nothing is lost [JRN-18]', async () => {
    const trial = new Trial(bench, 'stopped');
    const first = trial.start({ strike: { at: 'ack', count: 7, blow: 'SIGSTOP' } });
    await first.stopped;
    await trial.expectLocked();
    expect((await trial.run()).said).toContain('world_locked');
    first.wake();
    expect((await first.ended).said).toBe('rest 0');
    await trial.finish();
  });

  it('a stopped process releases its world when it is killed', async () => {
    const trial = new Trial(bench, 'stopped-and-killed');
    const first = trial.start({ strike: { at: 'ack', count: 7, blow: 'SIGSTOP' } });
    await first.stopped;
    await trial.expectLocked();
    first.signal('SIGKILL');
    expect((await first.ended).how).toBe('killed');
    await trial.finish();
  });
});

describe('a process without space on its disk', () => {
  it('a process at the limit of its file sizes fails with `store_failed` and loses nothing that it acknowledged [JRN-16]', async () => {
    const trial = new Trial(bench, 'limit');
    const { how, said } = await trial.run({ fileKiB: 300 });
    expect([how, said]).toEqual(['failed', expect.stringContaining('store_failed')]);
    expect(trial.acks.size).toBeGreaterThan(0);
    await trial.finish();
  });

  it('on a full disk a process refuses what does not fit, and continues by itself when there is space', async (context) => {
    const folder = path.join(bench.root, 'disk');
    mkdirSync(folder);
    const disk = smallDisk(folder, 24);
    if (disk === undefined) return context.skip('this machine lets nobody make a small disk');
    try {
      const trial = new Trial(bench, 'full', { folder: path.join(folder, 'world') });
      disk.fill(700_000);
      const child = trial.start();
      let ended = false;
      void child.ended.then(() => {
        ended = true;
      });
      while (trial.refused === 0 && !ended) await sleep(20);
      disk.clear();
      expect((await child.ended).said).toBe('rest 0');
      const before = trial.acks.size;
      expect(before).toBeGreaterThan(0);
      const { refused } = await trial.finish();
      expect(refused).toBeGreaterThan(0);
      expect(trial.acks.size).toBeGreaterThan(before);
    } finally {
      disk.dispose();
    }
  });
});

describe('the checks of the harness', () => {
  it('the harness finds a process that acknowledges before it appends', async () => {
    const trial = new Trial(bench, 'early');
    const strike = { at: 'ack', count: 3, blow: 'SIGKILL' } as const;
    await trial.run({ strike, careless: 'acknowledges before it appends' });
    await expect(trial.finish()).rejects.toThrow(/F1/);
  });

  it('the harness finds a disk that syncs once, and never again', async () => {
    const trial = new Trial(bench, 'unsynced');
    await trial.run({ strike: { at: 'ack', count: 9, blow: 'SIGKILL' }, careless: 'syncs once' });
    expect(trial.tear('gone', always)).toBeGreaterThan(0);
    await expect(trial.finish()).rejects.toThrow(/F1/);
  });

  it('the harness finds a call that happened twice, and a call that happened and is not recorded', async () => {
    const trial = new Trial(bench, 'forged');
    await trial.finish();
    trial.forge(([first = '', ...others]) => [first, first, ...others]);
    await expect(trial.check()).rejects.toThrow(/F3/);
    trial.forge((keys) => [...keys, 'f'.repeat(64)]);
    await expect(trial.check()).rejects.toThrow(/F1/);
    trial.forge((keys) => keys.slice(1));
    await expect(trial.check()).rejects.toThrow(/F4/);
  });

  it('the harness finds a world that does not become idle and a world without an owner', async () => {
    const trial = new Trial(bench, 'unfinished');
    await trial.run({ strike: { at: 'ack', count: 3, blow: 'SIGKILL' } });
    await expect(trial.check()).rejects.toThrow(/F4/);
    await expect(trial.expectLocked()).rejects.toThrow(/F5/);
  });
});
