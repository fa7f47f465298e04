/**
 * Verification of long worlds: its memory in the length of the journal, and its time on one core and on several.
 *
 *   npx tsx --conditions=@reprise/source scripts/long/verify.ts [--records 1000000] [--against 100000] [--cells 1000]
 *       [--workers 2] [--rounds 3] [--keep FOLDER]
 *
 * Two worlds on disk, whose frames have an account's move, a ledger's count, an item of a log and a blob of their own.
 * Each verification runs in a process of its own. The memory is the highest resident size of that process, in one piece
 * and in threads, with a heap that is bounded: the engine lets garbage grow to several times of what is alive before it
 * collects it, which a short world ends too soon to show. Without the bound it is printed beside it. The time is that of the long world: on one core (`taskset`, where the machine has it), in one piece with
 * the helper threads of the engine on the other cores, and in threads; the runs take turns, and the best of the rounds
 * counts. The load of the machine stands beside them, since it decides what they are worth.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { openKernelWorld } from '@reprise/kernel';
import { sqlite } from '@reprise/store-sqlite';
import { verifyFile } from 'reprise/verify';
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
      const [few, many] = [short, long].map((world) => measured(world, workers, { flags: bound }).megabytes) as [
        number,
        number,
      ];
      const [fewFree, manyFree] = [short, long].map((world) => measured(world, workers).megabytes);
      const ratio = many / few;
      console.log(
        `memory, ${workers} workers: ${few} MB for ${options.against} records, ${many} MB for ${options.records}; ` +
          `ratio ${ratio.toFixed(2)} (heap without a bound: ${fewFree} and ${manyFree} MB)`,
      );
      assert.ok(ratio <= MEMORY_MAX, `the memory grows with the journal: ${ratio}`);
    }
    times(long);
  } finally {
    if (options.keep === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

function times(world: string): void {
  const best = { pinned: Number.POSITIVE_INFINITY, whole: Number.POSITIVE_INFINITY, threads: Number.POSITIVE_INFINITY };
  for (let round = 0; round < Number(options.rounds); round++) {
    const load = loadavg()[0]?.toFixed(1);
    const pinned = measured(world, 1, { pinned: true }).seconds;
    const whole = measured(world, 1).seconds;
    const threads = measured(world, Number(options.workers)).seconds;
    best.pinned = Math.min(best.pinned, pinned);
    best.whole = Math.min(best.whole, whole);
    best.threads = Math.min(best.threads, threads);
    console.log(`round ${round}: one core ${pinned} s, one piece ${whole} s, threads ${threads} s; load ${load}`);
  }
  console.log(
    `${options.workers} workers: ${(best.pinned / best.threads).toFixed(2)} times as fast as one core, ` +
      `${(best.whole / best.threads).toFixed(2)} times as fast as one piece with the engine's helper threads`,
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

interface Measured {
  readonly seconds: number;
  readonly megabytes: number;
}

/** How a process runs: on one core, or with flags of the engine. */
interface How {
  readonly pinned?: boolean;
  readonly flags?: readonly string[];
}

/** Verifies a world in a process of its own. */
function measured(file: string, workers: number, { pinned = false, flags = [] }: How = {}): Measured {
  const node = [process.execPath, ...flags, ...process.execArgv, fileURLToPath(import.meta.url)];
  const [command, ...args] = [
    ...(pinned && existsSync('/usr/bin/taskset') ? ['/usr/bin/taskset', '--cpu-list', '0'] : []),
    ...node,
    ...['--verify', file, '--workers', String(workers)],
  ];
  const { stdout, status } = spawnSync(command as string, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  assert.equal(status, 0);
  return JSON.parse(stdout.toString());
}

async function verify(file: string, workers: number): Promise<void> {
  const began = performance.now();
  const module = fileURLToPath(new URL('./verify/app.ts', import.meta.url));
  const { unverified } = await verifyFile(file, { app: module, workers });
  assert.equal(unverified, 0);
  const seconds = Math.round((performance.now() - began) / 10) / 100;
  const kilobytes = Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]);
  console.log(JSON.stringify({ seconds, megabytes: Math.round(kilobytes / 1024) }));
}
