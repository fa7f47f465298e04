/** Verification in threads: real threads, which open the file and load the app by themselves. */
import { copyFileSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { isRepriseError, type RepriseError } from '@reprise/contracts';
import { openKernelWorld, type VerifyReport } from '@reprise/kernel';
import { pureCode, sandbox } from '@reprise/sandbox';
import { sqlite } from '@reprise/store-sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { everyNth, spread, stepOf } from '../../../conformance/part.js';
import { program } from '../../../scripts/lib/program.js';
import { causesOf } from '../src/process/failure.js';
import { verifyFile } from '../src/verify.js';
import app from './apps/app.js';
import { ODD, app as odd } from './apps/odd-in-threads.js';
import { appAt, inThreads, type Verdict, verdictOn } from './in-threads.js';
import { ended, run, start, startProgram } from './run.js';
import { add, freshFolder, tamper } from './worlds.js';

const OUT_OF_MEMORY = await program(new URL('apps/verifies-in-threads.ts', import.meta.url));
const ENDS_THREADS = await program(new URL('apps/ends-threads.ts', import.meta.url));
const folder = freshFolder();
const small = folder.file('small.db');
const large = folder.file('large.db');

/** Frames of a world that the command verifies in threads without being asked. */
const LARGE = 8_200;

/** Writes a world with these amounts and a snapshot at every tenth frame. */
async function write(path: string, amounts: readonly number[], options: { every?: number; code?: Uint8Array } = {}) {
  const { every: snapshotEvery = 10, code } = options;
  const carried = code === undefined ? {} : { code: pureCode(code) };
  await using world = await openKernelWorld({ store: sqlite(path), app, snapshotEvery, ...carried });
  for (let i = 0; i < amounts.length; i += snapshotEvery) {
    await Promise.all(amounts.slice(i, i + snapshotEvery).map((by) => add(world, by)));
  }
}

const ones = (length: number) => Array.from({ length }, () => 1);

beforeAll(async () => {
  await write(small, ones(100));
  await write(large, ones(LARGE), { every: 500 });
});
afterAll(() => folder.remove());

/** What an error says, without where it was made. */
const said = (verdict: Verdict) =>
  isRepriseError(verdict) ? { ...verdict.details, message: verdict.message } : verdict;

describe('threads', () => {
  it('threads find what one piece finds, of a sound file and of damaged ones [RPL-27]', async () => {
    const damages = [
      '',
      'UPDATE frame SET head = zeroblob(32) WHERE seq = (SELECT min(seq) FROM frame)',
      'UPDATE blob SET bytes = zeroblob(length(bytes)) WHERE digest = (SELECT min(digest) FROM blob)',
      'DELETE FROM request WHERE seq = (SELECT max(seq) FROM request)',
      'DELETE FROM blob WHERE rowid = (SELECT max(rowid) FROM blob)',
      "DELETE FROM landmark WHERE kind = 'snapshot' AND seq > 50",
    ];
    const codes: string[] = [];
    for (const [i, sql] of spread(3, damages).entries()) {
      const path = folder.file(`damaged-${i}.db`);
      copyFileSync(small, path);
      if (sql !== '') tamper(path, sql);
      const alone = await verdictOn(path, { app });
      const { verdict } = await inThreads(path, { module: 'app', app });
      expect(said(verdict)).toEqual(said(alone));
      codes.push(isRepriseError(alone) ? alone.code : 'sound');
    }
    expect(codes[0]).toBe('sound');
    expect(codes.slice(1)).not.toContain('sound');
  });

  it('threads report the divergence of another reducer with its values and its cause [RPL-27]', async () => {
    const path = folder.file('diverging.db');
    await write(path, [...ones(70), 3, ...ones(30)]);
    const { app: changed } = await import('./apps/changed-sum.js');
    const alone = await verdictOn(path, { app: changed });
    expect(alone).toMatchObject({ code: 'replay_divergence' });
    expect(said((await inThreads(path, { module: 'changed-sum', app: changed })).verdict)).toEqual(said(alone));
  });

  it('threads replay the code that a journal carries, from the middle of an era [RPL-22]', async () => {
    const out = folder.file('code.js');
    expect((await run('bundle', appAt('app'), '-o', out, '-C', '@reprise/source')).code).toBe(0);
    const path = folder.file('carrying.db');
    await write(path, ones(40), { code: readFileSync(out) });
    const alone = (await verdictOn(path, { code: sandbox() })) as VerifyReport;
    const { verdict } = await inThreads(path, { module: 'app', app, pureCode: true });
    expect(verdict).toEqual(alone);
    expect(alone.eras).toMatchObject([{ status: 'replayed', code: expect.stringMatching(/^[0-9a-f]{64}$/) }]);
  });

  it('a thread whose reducer ends its process is an error and no hang [RPL-28]', async () => {
    const path = folder.file('exits.db');
    await write(path, [...ones(50), ODD.exits, ...ones(50)]);
    const { verdict } = await inThreads(path, { module: 'odd-in-threads', app: odd });
    expect(verdict).toMatchObject({ code: 'worker_failed' });
    expect((verdict as RepriseError).details.hint).toContain('--workers 1');
  });

  it('a thread whose reducer runs out of memory is an error and no hang [RPL-28]', async () => {
    const path = folder.file('takes-memory.db');
    await write(path, [...ones(50), ODD.takesMemory, ...ones(50)]);
    // Node cannot always end the thread alone; where memory was last asked for decides. An error comes in most runs.
    let last = await ended(startProgram(folder.path, OUT_OF_MEMORY, path));
    for (let tries = 1; last.code !== 0 && tries < 4; tries++) {
      expect(last.err).toMatch(/out of memory/i);
      last = await ended(startProgram(folder.path, OUT_OF_MEMORY, path));
    }
    expect(JSON.parse(last.out)).toEqual({
      code: 'worker_failed',
      hint: expect.stringContaining('--workers 1'),
    });
  });

  it('threads that are ended while they read the database do not take the process with them [RPL-28]', async () => {
    const rounds = String(8 / stepOf(4));
    const { code, out, err } = await ended(startProgram(folder.path, ENDS_THREADS, large, rounds));
    expect([code, out, err]).toEqual([0, `${rounds}\n`, '']);
  });

  it('a file whose app cannot be loaded in threads is verified in one piece, and the reason is at hand', async () => {
    const { app: own } = await import('./apps/not-in-threads.js');
    const { verdict, workers } = await inThreads(small, { module: 'not-in-threads', app: own });
    expect(verdict).toEqual(await verdictOn(small, { app }));
    expect(causesOf(workers.refusal).join()).toContain('this module is for the first thread');
  });
});

describe('reprise verify on a large world', () => {
  it('reprise verify prints the same with any number of workers, and verifyFile gives the same report', async () => {
    const args = ['verify', large, '--app', appAt('app'), '--json'];
    const one = await run(...args, '--workers', '1');
    expect(one).toMatchObject({ code: 0, err: '' });
    expect(JSON.parse(one.out)).toMatchObject({ unverified: 0, replayed: expect.any(Number) });
    for (const more of everyNth(2, [[], ['--workers', '3']])) expect(await run(...args, ...more)).toEqual(one);
    const report = await verifyFile(large, { app: appAt('app'), workers: 2 });
    expect(report.head.digest).toBe(JSON.parse(one.out).head.slice('sha256:'.length));
  });

  it('reprise verify says why no worker could begin, and verifies all the same', async () => {
    const { code, err, out } = await run('verify', large, '--app', appAt('not-in-threads'), '--workers', '2');
    expect(code).toBe(0);
    expect(out).toContain('replayed, identical');
    expect(err).toMatch(/^NOTE: verified in one thread, since no worker could begin: .*first thread/);
  });

  it.each(['0', '-1', '1.5', 'many'])('reprise verify refuses %s workers', async (workers) => {
    expect(await run('verify', large, '--workers', workers)).toMatchObject({ code: 2 });
  });

  it('Ctrl-C ends a verification at once, with threads that never end', async () => {
    const path = folder.file('endless.db');
    await write(path, [...ones(LARGE), ODD.neverEnds, ...ones(10)], { every: 500 });
    const child = start(folder.path, 'verify', path, '--app', appAt('odd-in-threads'), '--workers', '2');
    const over = ended(child);
    await reading(child.pid as number, path);
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    const asked = performance.now();
    child.kill('SIGINT');
    expect((await over).code).toBeNull(); // ended by the signal itself, which a shell reports as 130
    expect(child.signalCode).toBe('SIGINT');
    expect(performance.now() - asked).toBeLessThan(30_000); // a moment on a machine with time to spare
  });
});

/** Waits until a process has a file open. */
async function reading(pid: number, path: string): Promise<void> {
  for (;;) {
    const open = readdirSync(`/proc/${pid}/fd`).map((fd) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`);
      } catch {
        return '';
      }
    });
    if (open.includes(path)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
