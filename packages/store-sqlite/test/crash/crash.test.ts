/** `kill -9` and SIGSTOP against the sample world. The long form, at 200 moments: `scripts/long/crash.ts`. */

import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { sqlite } from '@reprise/store-sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stepOf } from '../../../../conformance/part.js';
import { type Bench, makeBench, Trial } from './harness.js';
import type { Done } from './survey-child.js';
import { runTrial, survey } from './trials.js';

const SEED = 20_26;
const TRIALS = 10 / stepOf(5);

let bench: Bench;
beforeAll(async () => {
  bench = await makeBench();
});
afterAll(() => bench.dispose());

describe('kill -9', () => {
  it(`given kills at ${TRIALS} seeded places, every rerun completes and verifies, and nothing happens twice (seed ${SEED}) [JRN-20, REC-1]`, async () => {
    const clean = await survey(bench);
    for (let n = 0; n < TRIALS; n++) await runTrial(bench, clean, SEED, n);
  });

  it('a call that may happen once is not repeated after a kill inside it, and the model is informed that its outcome is unknown [EFF-7]', async () => {
    const trial = new Trial(bench, 'inside');
    expect(await trial.run({ moment: { step: 'start write_file', side: 'after' } })).toBeUndefined();
    expect(trial.moments).toEqual(['moment after start write_file']);
    expect(await trial.finish()).toMatchObject({ unknown: 1, repeated: 0 });
  });

  it('a call that may be repeated is repeated after a kill inside it, and the model notices nothing [EFF-8]', async () => {
    const trial = new Trial(bench, 'again');
    expect(await trial.run({ moment: { step: 'end grep', side: 'before' } })).toBeUndefined();
    expect((await trial.finish()).unknown).toBe(0);
    expect(trial.told).toEqual(new Set());
  });

  it('an input is folded although a second process dies just after it was noted as suspect', async () => {
    const trial = new Trial(bench, 'suspect');
    expect(await trial.run({ moment: { step: 'end read_file', side: 'before' } })).toBeUndefined();
    expect(await trial.run({ moment: { step: 'mark', side: 'after' } })).toBeUndefined();
    expect((await trial.finish()).unknown).toBe(0);
  });

  it('an input is quarantined and the survey begins anew after two kills right after the note of that input; after one kill it may continue [REC-4]', async () => {
    const trial = new Trial(bench, 'poison');
    expect(await trial.run({ moment: { step: 'start write_file', side: 'after' } })).toBeUndefined();
    expect(await trial.run({ moment: { step: 'mark', side: 'after' } })).toBeUndefined();
    expect(await trial.run({ moment: { step: 'mark', side: 'after' } })).toBeUndefined();
    const done = (await trial.run()) as Done;
    expect(done.resumed).toBe(false);
    await trial.check(done);
    const [first] = trial.openings.splice(-2, 1); // as if only one had died over it
    expect(first?.mark).toMatch(/^1 receipt /);
    await expect(trial.check(done)).rejects.toThrow('C6');
  });

  it('a call that was not armed before a kill happens once, after the crash', async () => {
    const trial = new Trial(bench, 'before');
    expect(await trial.run({ moment: { step: 'open', side: 'after' } })).toBeUndefined();
    expect(await trial.finish()).toMatchObject({ unknown: 0, repeated: 0 });
  });
});

describe('the harness', () => {
  it('the harness finds a call that happened twice, a lost end, and a missing acknowledgement', async () => {
    const trial = new Trial(bench, 'mutant');
    const done = (await trial.run()) as Done;
    await trial.check(done);
    const ledger = readFileSync(trial.ledger, 'utf8');

    appendFileSync(trial.ledger, ledger.match(/^start \S+ at_most_once .*\n/m)?.[0] as string);
    await expect(trial.check(done)).rejects.toThrow('C3');
    writeFileSync(trial.ledger, ledger.replace(/^end \S+ at_most_once .*\n/m, ''));
    await expect(trial.check(done)).rejects.toThrow('C4');
    writeFileSync(trial.ledger, ledger);
    trial.acks.unshift('0'.repeat(64));
    await expect(trial.check(done)).rejects.toThrow('C2');
    trial.acks.push('f'.repeat(64));
    await expect(trial.check(done)).rejects.toMatchObject({ code: 'head_mismatch' });
  });
});

describe('SIGSTOP', () => {
  it('a second process is refused while a stopped one has the world open, and the first finishes when it is woken [JRN-18]', async () => {
    const trial = new Trial(bench, 'stopped');
    const first = trial.start({ moment: { step: 20, side: 'after' }, blow: 'SIGSTOP' });
    await first.moment;
    const acknowledged = trial.acks.length;
    await expect(sqlite(trial.db).open()).rejects.toMatchObject({ code: 'world_locked' });
    await expect(trial.run()).rejects.toThrow('failed world_locked');
    expect(trial.acks.length).toBe(acknowledged);
    first.wake();
    const done = await first.ended;
    expect(done).toMatchObject({ stop: 'Completed', resumed: false });
    await trial.check(done as NonNullable<typeof done>);
    expect(trial.acks.length).toBeGreaterThan(acknowledged);
  });
});
