/**
 * Verification of long worlds: its memory in the length of the journal, and its time on one core and on several.
 *
 *   npx tsx --conditions=@reprise/source scripts/long/verify.ts [--records 1000000] [--against 100000] [--cells 1000]
 *       [--workers 2] [--rounds 3] [--keep FOLDER]
 *
 * Two worlds on disk, whose frames have an account's move, a ledger's count, an item of a log and a blob of their own.
 * Each verification runs in a process of its own. The memory is the highest resident size of that process, in one piece
 * and in threads, with a heap that is bounded: the engine lets garbage grow to several times of what is alive before it
 * collects it, which a short world ends too soon to show. Without the bound it is printed beside it.
 *
 * The time is that of the built command `reprise verify` on the long world, as a user waits for it: on one core
 * (`taskset`, where the machine has it), in one piece with the helper threads of the engine on the other cores, and in
 * threads; the runs take turns, and the best of the rounds counts. The ceiling is what the machine itself gives: as many
 * processes at once, each on a core of its own with the whole world to verify, do so many times the work of one. The load
 * of the machine stands beside them, since it decides what they are worth.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { openKernelWorld } from '@reprise/kernel';
import { sqlite } from '@reprise/store-sqlite';
import { build } from 'esbuild';
import { verifyFile } from 'reprise/verify';
import { ROOT } from '../lib/root.mjs';
import { node } from '../lib/run.mjs';
import app from './verify/app.js';

/** The records of a frame of these worlds: request, event, fact, state. */
const RECORDS_PER_FRAME = 4;

/** The most that the memory may grow when the journal becomes ten times as long. */
const MEMORY_MAX = 1.3;

/** The bound of the heap where memory is measured, in megabytes: about twice of what is alive. */
const HEAP_MEGABYTES = 64;

const { values: options } = parseArgs({
  options: {
    records: { type: 'string', default: '1000000' },
    against: { type: 'string', default: '100000' },
    cells: { type: 'string', default: '1000' },
    workers: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '3' },
    keep: { type: 'string' },
    verify: { type: 'string' },
  },
});

if (options.verify === undefined) await compare();
else await verify(options.verify, Number(options.workers));

async function compare(): Promise<void> {
  const folder = options.keep ?? mkdtempSync(path.join(tmpdir(), 'reprise-verify-'));
  mkdirSync(folder, { recursive: true });
  try {
    const [short, long] = await Promise.all([options.against, options.records].map((count) => worldOf(folder, count)));
    assert.ok(short !== undefined && long !== undefined);
    for (const workers of [1, Number(options.workers)]) {
      const bound = [`--max-old-space-size=${HEAP_MEGABYTES}`];
      const [few, many] = [await megabytes(short, workers, bound), await megabytes(long, workers, bound)];
      const [fewFree, manyFree] = [await megabytes(short, workers), await megabytes(long, workers)];
      const ratio = many / few;
      console.log(
        `memory, ${workers} workers: ${few} MB for ${options.against} records, ${many} MB for ${options.records}; ` +
          `ratio ${ratio.toFixed(2)} (heap without a bound: ${fewFree} and ${manyFree} MB)`,
      );
      assert.ok(ratio <= MEMORY_MAX, `the memory grows with the journal: ${ratio}`);
    }
    await times(long);
  } finally {
    if (options.keep === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

async function times(world: string): Promise<void> {
  const workers = Number(options.workers);
  const app = await builtApp();
  const timed = (threads: number, core?: number) => command(world, app, threads, core);
  const rounds: { pinned: number; whole: number; threads: number; apart: number }[] = [];
  for (let round = 0; round < Number(options.rounds); round++) {
    const load = loadavg()[0]?.toFixed(1);
    const pinned = await timed(1, 0);
    const whole = await timed(1);
    const threads = await timed(workers);
    const apart = Math.max(...(await Promise.all(Array.from({ length: workers }, (_, core) => timed(1, core)))));
    rounds.push({ pinned, whole, threads, apart });
    console.log(
      `round ${round}: one core ${pinned} s, one piece ${whole} s, threads ${threads} s, ` +
        `${workers} processes at once ${apart} s; load ${load}`,
    );
  }
  const best = (what: keyof (typeof rounds)[0]) => Math.min(...rounds.map((round) => round[what]));
  console.log(
    `${workers} workers: ${(best('pinned') / best('threads')).toFixed(2)} times as fast as one core, ` +
      `${(best('whole') / best('threads')).toFixed(2)} times as fast as one piece with the engine's helper threads; ` +
      `ceiling of this machine: ${((workers * best('pinned')) / best('apart')).toFixed(2)} times as fast as one core`,
  );
}

/** Writes a world, unless it is there. */
async function worldOf(folder: string, records: string): Promise<string> {
  const file = path.join(folder, `${records}.db`);
  if (existsSync(file)) return file;
  const [frames, cells] = [Math.ceil(Number(records) / RECORDS_PER_FRAME), Number(options.cells)];
  await using world = await openKernelWorld({ store: sqlite(file), app });
  for (let i = 0; i < frames; i += 64) {
    const many = Array.from({ length: Math.min(64, frames - i) }, async (_, k) => {
      const note = `note ${i + k} ${((i + k) * 7_919).toString(36).repeat(8)}`;
      const at = await world.content.put(new TextEncoder().encode(note));
      await world.request(
        ['long/Account@1', `a${(i + k) % cells}`],
        { name: 'long/Moved@1', value: { by: 1, note, at } },
        { id: `m${i + k}` },
      );
    });
    await Promise.all(many);
  }
  return file;
}

/** Builds the packages, and the app of the worlds where it finds them. @returns the module of the app */
async function builtApp(): Promise<string> {
  const { code } = await node([path.join(ROOT, 'scripts/build.mjs')]);
  assert.equal(code, 0);
  const outfile = path.join(ROOT, 'node_modules/.cache/reprise-long/app.mjs');
  const entry = fileURLToPath(new URL('./verify/app.ts', import.meta.url));
  await build({ entryPoints: [entry], outfile, bundle: true, format: 'esm', packages: 'external', logLevel: 'error' });
  return outfile;
}

/** Verifies a world by the built command. @returns the seconds of the whole process */
async function command(world: string, app: string, workers: number, core?: number): Promise<number> {
  const bin = path.join(ROOT, 'packages/reprise/dist/bin.js');
  const began = performance.now();
  await output([process.execPath, bin, 'verify', world, '--app', app, '--workers', String(workers)], core);
  return Math.round((performance.now() - began) / 10) / 100;
}

/** Runs a program, on one core where a core is given. @returns its output */
async function output(argv: readonly string[], core?: number): Promise<string> {
  const pin = core !== undefined && existsSync('/usr/bin/taskset') ? ['/usr/bin/taskset', '-c', String(core)] : [];
  const [program, ...args] = [...pin, ...argv];
  const child = spawn(program as string, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  child.stdout.on('data', (piece) => {
    out += String(piece);
  });
  const [status] = await once(child, 'close');
  assert.equal(status, 0);
  return out;
}

/** Verifies a world from the sources, in a process of its own. @returns its highest resident size, in megabytes */
async function megabytes(file: string, workers: number, flags: readonly string[] = []): Promise<number> {
  const script = [...process.execArgv, fileURLToPath(import.meta.url)];
  const told = await output([process.execPath, ...flags, ...script, '--verify', file, '--workers', String(workers)]);
  return Number(told);
}

async function verify(file: string, workers: number): Promise<void> {
  const module = fileURLToPath(new URL('./verify/app.ts', import.meta.url));
  const { unverified } = await verifyFile(file, { app: module, workers });
  assert.equal(unverified, 0);
  const kilobytes = Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]);
  console.log(Math.round(kilobytes / 1024));
}
