/**
 * The tests of which CI does a part, in full: each broken build, each place where a process dies, each scenario in each
 * protocol:
 *
 *   npx tsx --conditions=@reprise/source scripts/long/whole.ts [FILE …]
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../lib/root.mjs';

const FOLDERS = ['packages', 'conformance', 'examples'];

/** The test files that take their part by `conformance/part.ts`. */
function inParts(): string[] {
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) => path.join(folder, file)),
  );
  return files
    .filter((file) => file.endsWith('.test.ts') && !file.includes('node_modules'))
    .filter((file) => /from '[./]*(conformance\/)?part\.js'/.test(readFileSync(path.join(ROOT, file), 'utf8')))
    .sort();
}

const asked = process.argv.slice(2).filter((word) => !word.startsWith('-'));
const vitest = path.join(ROOT, 'node_modules/vitest/vitest.mjs');
const { status } = spawnSync(process.execPath, [vitest, 'run', ...(asked.length > 0 ? asked : inParts())], {
  cwd: ROOT,
  env: { ...process.env, TESTS: 'all' },
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
