/**
 * What a turn of a session and an effect of a plan take, counted: passes over values, hashes, promises, statements of SQLite.
 * These numbers do not depend on the machine, so a test holds them against a budget (`budget.json`).
 *
 *   node --conditions=@reprise/source --import tsx scripts/bench/passes/passes.ts [--write]
 *
 * prints them beside the budget; `--write` makes what was counted the budget.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { build, type Plugin } from 'esbuild';
import { nativeDriver, ONE_FILE } from '../../../conformance/bundle.js';
import { columns } from '../../lib/columns.mjs';
import { counting } from './counting.js';

/** Numbers for one turn or one effect, by what is counted. */
export type Passes = Readonly<Record<string, number>>;

/** What is counted, and how often each work is done: a fixed number, since a snapshot is part of the work of many. */
const WORK = { turns: 60, effects: 400 } as const;

/** The numbers of both kinds of work. */
export type Measured = Readonly<Record<keyof typeof WORK, Passes>>;

const BUDGET = fileURLToPath(new URL('budget.json', import.meta.url));

/** The most that a turn and an effect may take. */
export async function budget(): Promise<Measured> {
  return JSON.parse(await readFile(BUDGET, 'utf8')) as Measured;
}

/** Counts. @param planted a mistake in the sources, to see that it is found */
export function measured(planted: readonly Plugin[] = []): Promise<Measured> {
  return working([...planted, counting()], async (of) => {
    const turns = await of('turns', WORK.turns);
    return { turns, effects: await of('effects', WORK.effects) };
  });
}

/** Effects enough that objects which stay for a while are promoted. */
const GARBAGE_EFFECTS = 2_500;

/**
 * The bytes of an effect that lived until old objects were collected, some 4,000: a measure of what a replaced table, a
 * chain of promises or a window of frames holds on to.
 *
 * @param planted a mistake in the sources, to see that it is found
 */
export function oldBytes(planted: readonly Plugin[] = []): Promise<number> {
  return working(planted, async (of) => (await of('garbage', GARBAGE_EFFECTS)).bytes ?? 0);
}

/** Young objects have a fixed room: by default it grows with the load of the machine. */
const YOUNG = ['--min-semi-space-size=4', '--max-semi-space-size=4'];

type Work = (work: string, count: number) => Promise<Passes>;

/** Builds the workload, and runs it as often as it is asked for. */
async function working<T>(planted: readonly Plugin[], body: (of: Work) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(path.join(tmpdir(), 'reprise-passes-'));
  try {
    const program = path.join(folder, 'workload.mjs');
    const entry = fileURLToPath(new URL('workload.ts', import.meta.url));
    const plugins = [nativeDriver, ...planted];
    await build({ ...ONE_FILE, entryPoints: [entry], outfile: program, logLevel: 'error', plugins });
    return await body(async (work, count) => {
      const flags = ['--no-warnings', ...(work === 'garbage' ? YOUNG : [])];
      const { stdout } = await promisify(execFile)(process.execPath, [...flags, program, work, folder, String(count)]);
      return sorted(JSON.parse(stdout) as Passes);
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What is more than its budget allows, in words. A tenth more is within it: snapshots and packs come now and then. */
export function beyond(found: Measured, allowed: Measured): string[] {
  return (Object.keys(WORK) as (keyof typeof WORK)[]).flatMap((work) =>
    Object.entries(found[work])
      .filter(([name, count]) => count > (allowed[work][name] ?? 0) * 1.1 + 0.1)
      .map(([name, count]) => `${name} of ${work}: ${count}, and ${allowed[work][name] ?? 0} are in the budget`),
  );
}

function sorted(passes: Passes): Passes {
  const entries = Object.entries(passes).map(([name, count]) => [name, Math.round(count * 100) / 100] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const found = await measured();
  if (process.argv.includes('--write')) await writeFile(BUDGET, `${JSON.stringify(found, undefined, 2)}\n`);
  const allowed = await budget();
  const names = [...new Set([...Object.keys(found.turns), ...Object.keys(found.effects)])].sort();
  const cell = (all: Passes, name: string): string => String(all[name] ?? 0);
  const rows = names.map((name) => [
    ...[
      name,
      cell(found.turns, name),
      cell(allowed.turns, name),
      cell(found.effects, name),
      cell(allowed.effects, name),
    ],
  ]);
  console.log(columns([['', 'a turn', 'budget', 'an effect', 'budget'], ...rows]));
}
