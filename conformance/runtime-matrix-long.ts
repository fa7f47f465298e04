/**
 * The golden worlds under other runtimes, time zones and languages:
 *
 *   npx tsx --conditions=@reprise/source conformance/runtime-matrix-long.ts [--node 20 --node 22 …]
 *
 * Each other Node comes from the package registry (there is a package for each platform) into a folder of the system's
 * temporary ones, and performs `golden/check.ts` in a process of its own. Every head must be the pinned one.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { readGolden } from './golden/kept.js';
import { GOLDEN_WORLDS, type Golden } from './golden/worlds.js';

const run = promisify(execFile);
const CHECK = fileURLToPath(new URL('golden/check.ts', import.meta.url));
const TSX = createRequire(import.meta.url).resolve('tsx/cli');

/** The releases that are promised, besides the one that runs this: the oldest of the first line and the two after. */
const RELEASES = ['20.19.0', '22', '24'];

/** Where and in which language a machine may stand: none may reach a byte. */
const PLACES: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ['UTC, C', { TZ: 'UTC', LANG: 'C', LC_ALL: 'C' }],
  ['Apia, Turkish', { TZ: 'Pacific/Apia', LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' }],
  ['Kathmandu, Arabic', { TZ: 'Asia/Kathmandu', LANG: 'ar_EG.UTF-8', LC_ALL: 'ar_EG.UTF-8' }],
  ['Lord Howe, Lithuanian', { TZ: 'Australia/Lord_Howe', LANG: 'lt_LT.UTF-8', LC_ALL: 'lt_LT.UTF-8' }],
];

const { values: options } = parseArgs({ options: { node: { type: 'string', multiple: true } } });
const folder = await mkdtemp(path.join(os.tmpdir(), 'reprise-matrix-'));
const rows: Row[] = [];
try {
  await tryAll('this', process.execPath);
  for (const release of options.node ?? RELEASES) await tryAll(release, await nodeOf(release));
} finally {
  await rm(folder, { recursive: true, force: true });
}
print();

interface Row {
  readonly node: string;
  readonly place: string;
  readonly heads: Readonly<Record<string, string>>;
}

/**
 * A Node of another release; npm finds the newest of a line. The package of the platform holds the binary itself; the
 * one called `node` fetches it by a script as it is installed, which npm may refuse to run.
 */
async function nodeOf(release: string): Promise<string> {
  const prefix = path.join(folder, release);
  await mkdir(prefix, { recursive: true });
  const onWindows = process.platform === 'win32';
  const name = `node-${onWindows ? 'win' : process.platform}-${process.arch}`;
  const flags = ['--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts'];
  await run('npm', ['install', '--prefix', prefix, `${name}@${release}`, ...flags], { shell: onWindows });
  return path.join(prefix, 'node_modules', name, 'bin', onWindows ? 'node.exe' : 'node');
}

async function tryAll(release: string, node: string): Promise<void> {
  const version = (await run(node, ['--version'])).stdout.trim();
  if (release !== 'this' && version === process.version) return;
  for (const [place, env] of PLACES) {
    const args = [TSX, '--conditions=@reprise/source', CHECK, '--json'];
    const { stdout } = await run(node, args, { env: { ...process.env, ...env }, maxBuffer: 1 << 24 });
    const computed = JSON.parse(stdout) as Record<string, Golden>;
    rows.push({ node: version, place, heads: judged(computed) });
  }
}

/** For each world `equal`, or the head that differs. */
function judged(computed: Readonly<Record<string, Golden>>): Record<string, string> {
  const heads: Record<string, string> = {};
  for (const { name } of GOLDEN_WORLDS) {
    const golden = computed[name];
    const equal = JSON.stringify(golden) === JSON.stringify(readGolden(name));
    heads[name] = equal ? 'equal' : `DIFFERENT ${golden?.head.slice(0, 12)}`;
  }
  return heads;
}

function print(): void {
  const names = GOLDEN_WORLDS.map(({ name }) => name);
  console.log(`| node | place | ${names.join(' | ')} |\n|${'---|'.repeat(names.length + 2)}`);
  for (const { node, place, heads } of rows) {
    console.log(`| ${node} | ${place} | ${names.map((name) => heads[name]).join(' | ')} |`);
  }
  const different = rows.flatMap(({ heads }) => Object.values(heads)).filter((head) => head !== 'equal').length;
  console.log(
    `runtime matrix: ${rows.length} runtimes and places, ${names.length} worlds each, ${different} different heads`,
  );
  if (different > 0) process.exitCode = 1;
}
