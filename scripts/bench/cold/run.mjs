/*
 * What an app pays before its first line runs, beside the AI SDK in the same run: the time of a process that imports
 * the library, and the bytes of an agent that is bundled with it.
 *
 *   npm run bench -- --only cold [--rounds 15] [--built] [--out FILE]
 *
 * Processes take turns, each cold; a figure is the median of the rounds, and CPU is that of the whole process. The
 * packages are built first, unless `--built` says that they are. A bundle is minified by esbuild, and each of its files is
 * compressed by gzip: of the bundle with code splitting what a run loads and what is loaded first, and one file without.
 */
import '../../lib/node-version.mjs';
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { columns } from '../../lib/columns.mjs';
import { ROOT } from '../../lib/root.mjs';
import { node } from '../../lib/run.mjs';
import { piecesOf } from './pieces.mjs';

const PAIRS = [
  { name: 'import the library', ours: ['reprise'], theirs: ['ai'] },
  {
    name: 'import what an agent with a tool imports',
    ours: ['reprise', 'reprise/providers', 'zod'],
    theirs: ['ai', '@ai-sdk/anthropic', 'zod'],
  },
];
const BUNDLES = [
  { name: 'bundle of an agent', ours: 'hello-reprise.mjs', theirs: 'hello-ai.mjs' },
  { name: 'bundle of an agent with a tool', ours: 'hello-tool-reprise.mjs', theirs: 'hello-tool-ai.mjs' },
];
const BUNDLE_PARTS = [
  ['run', 'what its run loads'],
  ['entry', 'entry and static imports'],
  ['whole', 'one file with everything'],
];

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '15' },
    built: { type: 'boolean', default: false },
    out: { type: 'string' },
  },
});
if (!options.built && (await node([path.join(ROOT, 'scripts/build.mjs')])).code !== 0) process.exit(1);

const rows = [...importRows(), ...(await bundleRows())];
console.log(`\ncold, against the AI SDK, median of ${options.rounds} rounds`);
console.log(columns([['', 'reprise', 'AI SDK', 'ratio'], ...rows.map(cellsOf)]));
if (options.out !== undefined) {
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}`;
  await writeFile(options.out, `${JSON.stringify({ machine, ...options, rows }, null, 2)}\n`);
}

function importRows() {
  const programs = [[], ...PAIRS.flatMap(({ ours, theirs }) => [ours, theirs])];
  const found = programs.map(() => ({ wall: [], cpu: [] }));
  for (let round = -1; round < Number(options.rounds); round++)
    for (const [i, packages] of programs.entries()) {
      const { wall, cpu } = cold(packages);
      if (round < 0) continue; // the first round fills the caches of the file system
      found[i].wall.push(wall);
      found[i].cpu.push(cpu);
    }
  const medians = found.map(({ wall, cpu }) => ({ wall: median(wall), cpu: median(cpu) }));
  const floor = { name: 'floor: an empty process, time', unit: 'ms', ours: medians[0].wall, theirs: medians[0].wall };
  const pairs = PAIRS.flatMap(({ name }, i) =>
    ['wall', 'cpu'].map((kind) => ({
      name: `${name}, ${kind === 'wall' ? 'time' : 'CPU'}`,
      unit: 'ms',
      ours: medians[1 + 2 * i][kind],
      theirs: medians[2 + 2 * i][kind],
    })),
  );
  return [...pairs, floor];
}

/** One process that imports packages and ends. */
function cold(packages) {
  const imports = packages.map((name) => `await import('${name}');`).join('');
  const code = `${imports}const u = process.resourceUsage(); console.log((u.userCPUTime + u.systemCPUTime) / 1000);`;
  const started = performance.now();
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const wall = performance.now() - started;
  if (status !== 0) throw new Error(`the import failed: ${stderr}`);
  return { wall, cpu: Number(stdout) };
}

async function bundleRows() {
  const rows = [];
  for (const { name, ours, theirs } of BUNDLES) {
    const [own, other] = [await sizesOf(ours), await sizesOf(theirs)];
    for (const [part, title] of BUNDLE_PARTS)
      rows.push({ name: `${name}, ${title}, gzip`, unit: 'B', ours: own[part], theirs: other[part] });
  }
  return rows;
}

function sizesOf(file) {
  return piecesOf(fileURLToPath(new URL(file, import.meta.url)));
}

function cellsOf({ name, unit, ours, theirs }) {
  const shown = (figure) => `${figure.toFixed(0)} ${unit}`;
  return [name, shown(ours), shown(theirs), name.startsWith('floor') ? '' : (ours / theirs).toFixed(2)];
}

function median(figures) {
  return figures.toSorted((a, b) => a - b)[figures.length >> 1];
}
