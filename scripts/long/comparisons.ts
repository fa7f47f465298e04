/**
 * Runs the rows of the divergence matrix with other systems:
 *
 *   npx tsx --conditions=@reprise/source scripts/long/comparisons.ts [--only temporal]
 *
 * Each is installed in its pinned version into a folder of the system's temporary ones; its probe in
 * `comparisons/<name>` tries its rows and prints the results; `comparisons/results.json` stores them, with versions
 * and date, for the page. DBOS needs the binaries of PostgreSQL (`initdb`, `pg_ctl`, on the PATH), of which it gets a
 * separate server.
 */
import { execFile } from 'node:child_process';
import { chown, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import {
  COMPARISON_NAMES,
  COMPARISONS,
  type ComparisonName,
  type ComparisonRun,
  RESULTS_FILE,
  readResults,
} from '../comparisons/results.js';

const run = promisify(execFile);
const { values: options } = parseArgs({ options: { only: { type: 'string', multiple: true } } });
const names = COMPARISON_NAMES.filter((name) => options.only === undefined || options.only.includes(name));
const folder = await mkdtemp(path.join(os.tmpdir(), 'reprise-comparisons-'));
const results: Record<ComparisonName, ComparisonRun> = { ...readResults() };
try {
  for (const name of names) {
    results[name] = await probed(name);
    tell(name, results[name]);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
await writeFile(RESULTS_FILE, `${JSON.stringify(results, null, 2)}\n`);
console.log(
  `comparisons: ok; kept in ${path.relative(process.cwd(), RESULTS_FILE)}; DOCS_UPDATE=1 npx vitest run scripts/test/divergence-page.test.ts writes the page`,
);

/** Installs a comparison, runs its probe and reads the output. */
async function probed(name: ComparisonName): Promise<ComparisonRun> {
  const { packages, read } = COMPARISONS[name];
  const home = path.join(folder, name);
  await cp(fileURLToPath(new URL(`comparisons/${name}`, import.meta.url)), home, { recursive: true });
  // One version of protobuf for all of Temporal: two in one tree do not know each other's types.
  const overrides = name === 'temporal' ? { protobufjs: '8.8.1' } : {};
  const manifest = { name: `probe-${name}`, private: true, type: 'module', dependencies: packages, overrides };
  await writeFile(path.join(home, 'package.json'), JSON.stringify(manifest));
  await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: home });
  const probe = async (...args: string[]) => {
    const { stdout } = await run(process.execPath, ['probe.mjs', ...args], { cwd: home, maxBuffer: 1 << 24 });
    return read(JSON.parse(stdout));
  };
  const rows = name === 'dbos' ? await withPostgres(probe) : await probe();
  return { date: new Date().toISOString().slice(0, 10), node: process.version, packages, rows };
}

function tell(name: ComparisonName, { rows }: ComparisonRun): void {
  const counts = new Map<string, number>();
  for (const { outcome } of Object.values(rows)) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  const shown = [...counts].map(([outcome, count]) => `${count} ${outcome}`).join(', ');
  console.log(`${COMPARISONS[name].title}: ${Object.keys(rows).length} rows, ${shown}`);
}

/** Starts a separate PostgreSQL, whose files and process are removed afterwards. It refuses to run as root. */
async function withPostgres<T>(use: (url: string) => Promise<T>): Promise<T> {
  const data = path.join(folder, 'postgres');
  await mkdir(data);
  const asRoot = process.getuid?.() === 0;
  if (asRoot) {
    const id = async (flag: string) => Number((await run('id', [flag, 'postgres'])).stdout);
    await chown(folder, await id('-u'), await id('-g'));
    await chown(data, await id('-u'), await id('-g'));
  }
  const postgres = (command: string, ...args: string[]) =>
    asRoot ? run('runuser', ['-u', 'postgres', '--', command, ...args]) : run(command, args);
  const port = await freePort();
  await postgres('initdb', '-A', 'trust', '-U', 'probe', '-D', data);
  const server = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=${data}`;
  await postgres('pg_ctl', '-D', data, '-o', server, '-l', path.join(data, 'log'), '-w', 'start');
  try {
    return await use(`postgresql://probe@127.0.0.1:${port}/probe`);
  } finally {
    await postgres('pg_ctl', '-D', data, '-m', 'immediate', 'stop');
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}
