/**
 * Mutation testing of the session reducer and the kernel:
 *
 *   npx tsx --conditions=@reprise/source scripts/long/mutation.ts
 *     [--only agent/reducer --only kernel/codec …] [--minutes 10] [--seconds 8] [--seed 1]
 *     [--out FOLDER] [--again FILE] [--since COMMIT]
 *
 * The mutants are Stryker's; its instrumenter comes from the package registry into a folder of the system's temporary
 * ones. They are tried in an order that the seed gives, for `--minutes` for each target: the tried mutants are a
 * random sample of all, and the score is printed with its error. A mutant meets tests for `--seconds` at most, those
 * that are most likely to find it first. Every survivor is listed; `--out` stores all verdicts, `--again` tries only
 * the survivors of such a file, `--since` only mutants that begin on a line that changed since a commit. The tests for
 * each source are in `mutation/targets.ts`, figures and survivors in `mutation/README.md`.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { build } from 'esbuild';
import { bundleTests, type Instrumented, instrument, type Mutant, ROOT, withoutCounting } from '../mutation/bundle.js';
import { changedSince } from '../mutation/changed-lines.js';
import { type Outcome, rowOf, TABLE_HEAD, totalOf, whereOf } from '../mutation/report.js';
import { TARGETS, type Target } from '../mutation/targets.js';
import { Trial } from '../mutation/trial.js';

const run = promisify(execFile);
const INSTRUMENTER = '@stryker-mutator/instrumenter@10.1.1';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    minutes: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '8' },
    again: { type: 'string' },
    seed: { type: 'string', default: '1' },
    out: { type: 'string' },
    since: { type: 'string' },
  },
});
const [minutes, seed] = [Number(options.minutes), Number(options.seed)];
const again = options.again === undefined ? undefined : await survivorsIn(options.again);
const changed = options.since === undefined ? undefined : await changedSince(options.since);
const folder = await mkdtemp(path.join(os.tmpdir(), 'reprise-mutation-'));
const outcomes = new Map<string, Outcome>();
try {
  await install();
  for (const target of TARGETS) {
    if (options.only?.includes(target.name) ?? true) outcomes.set(target.name, await tryTarget(target));
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
const rows = [...outcomes].map(([name, outcome]) => rowOf(name, outcome));
console.log(`\nmutation, seed ${seed}, at most ${minutes} minutes for each:\n\n${TABLE_HEAD}\n${rows.join('\n')}`);
const kernel = [...outcomes].flatMap(([name, outcome]) => (name.startsWith('kernel/') ? [outcome] : []));
if (kernel.length > 1) console.log(`\nkernel, by the number of mutants: ${totalOf(kernel)}`);

/** The instrumenter, and the worker as a program that any Node runs at once. */
async function install(): Promise<void> {
  const flags = ['--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts'];
  await run('npm', ['install', '--prefix', folder, INSTRUMENTER, ...flags], { shell: process.platform === 'win32' });
  const entryPoints = [path.join(ROOT, 'scripts/mutation/worker.ts')];
  await build({
    entryPoints,
    outfile: path.join(folder, 'worker.cjs'),
    platform: 'node',
    bundle: true,
    external: ['fast-check'],
  });
}

async function tryTarget(target: Target): Promise<Outcome> {
  const sources = (await filesBelow(target.sources)).filter((file) => !file.endsWith('index.ts'));
  const instrumented = await instrument(
    folder,
    sources.map((file) => path.join(ROOT, file)),
  );
  const trial = await trialOf(target, instrumented);
  const mutants = instrumented.mutants.filter(
    (mutant) => (again?.has(whereOf(mutant)) ?? true) && (changed?.(mutant) ?? true),
  );
  const outcome = { mutants: mutants.length, judged: 0, killed: 0, timeout: 0, survived: 0, 'no coverage': 0 };
  console.log(`\n${target.name}: ${outcome.mutants} mutants, ${trial.tests.length} tests`);
  for (const { name, why } of trial.left) console.log(`  judges nothing: ${name}: ${why}`);
  const began = performance.now();
  for (const mutant of inOrder(mutants)) {
    if (performance.now() - began > minutes * 60_000) break;
    const started = performance.now();
    const judged = await trial.judge(mutant.id, mutant.fileName);
    const ms = Math.round(performance.now() - started);
    outcome.judged++;
    outcome[judged.verdict]++;
    if (judged.verdict !== 'killed') console.log(`  ${judged.verdict}: ${whereOf(mutant)}`);
    await keep(target, mutant, { ...judged, ms });
  }
  trial.stop();
  console.log(`${target.name}: ${Math.round((performance.now() - began) / 1000)} s`);
  return outcome;
}

async function trialOf(target: Target, instrumented: Instrumented): Promise<Trial> {
  const home = path.join(folder, target.name);
  await mkdir(home, { recursive: true });
  const files = (await Promise.all(target.tests.map(filesStarting))).flat().filter((file) => file.endsWith('.test.ts'));
  const tests = [...new Set(files)].map((file) => path.join(ROOT, file));
  const [counting, plain] = [path.join(home, 'counting.cjs'), path.join(home, 'plain.cjs')];
  await bundleTests(instrumented, tests, counting);
  await bundleTests(withoutCounting(instrumented), tests, plain);
  const trial = new Trial(
    { worker: path.join(folder, 'worker.cjs'), counting, plain },
    { budgetMs: Number(options.seconds) * 1_000, last: target.last ?? [], elsewhere: target.elsewhere ?? false },
  );
  await trial.prepare();
  return trial;
}

/** All mutants, in an order that has nothing to do with where they are. */
function inOrder(mutants: readonly Mutant[]): readonly Mutant[] {
  const rank = (mutant: Mutant) =>
    createHash('sha256')
      .update(`${seed} ${whereOf(mutant)}`)
      .digest('hex');
  return [...mutants].sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
}

async function keep(target: Target, mutant: Mutant, judged: object): Promise<void> {
  if (options.out === undefined) return;
  await mkdir(options.out, { recursive: true });
  const file = path.join(options.out, `${target.name.replace('/', '-')}.jsonl`);
  await appendFile(file, `${JSON.stringify({ ...judged, where: whereOf(mutant), location: mutant.location })}\n`);
}

async function survivorsIn(file: string): Promise<ReadonlySet<string>> {
  const lines = (await readFile(file, 'utf8')).trim().split('\n');
  const kept = lines.map((line) => JSON.parse(line) as { readonly verdict: string; readonly where: string });
  return new Set(
    kept.filter(({ verdict }) => verdict === 'survived' || verdict === 'no coverage').map(({ where }) => where),
  );
}

function filesStarting(start: string): Promise<string[]> {
  const below = start.slice(0, start.lastIndexOf('/') + 1);
  return filesBelow(below).then((files) => files.filter((file) => file.startsWith(start)));
}

async function filesBelow(below: string): Promise<string[]> {
  const files = await readdir(path.join(ROOT, below), { recursive: true });
  return files.filter((file) => file.endsWith('.ts')).map((file) => `${below}${file.replaceAll(path.sep, '/')}`);
}
