/*
 * `npm run conformance [-- FILTER …]`: runs the conformance suite in its CI form and prints the result as a table:
 * scenarios × modes by name, golden heads, the other parts by folder, the mutants. Exits non-zero when anything is red.
 *
 * It runs all test files in `conformance/`, and the rows of the divergence matrix about our own sources. The table is
 * made from their titles: a mode is the first heading of a test in `conformance/modes`, the title of a case is
 * `scenario × protocol`, of a row of the divergence matrix `divergence: …`, and the title of a mutant has the word. A
 * filter selects the files whose path contains it.
 */
import './lib/node-version.mjs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { conformanceTable } from './lib/conformance-table.mjs';
import { ROOT } from './lib/root.mjs';
import { node, seconds } from './lib/run.mjs';
import { setup } from './setup.mjs';

const started = performance.now();
await setup();
const scratch = await mkdtemp(path.join(os.tmpdir(), 'reprise-conformance-'));
const report = path.join(scratch, 'vitest.json');
const filters = process.argv.slice(2).map((filter) => path.join('conformance', filter));
const { code } = await node([
  path.join(ROOT, 'node_modules/vitest/vitest.mjs'),
  'run',
  ...(filters.length === 0 ? ['conformance/', 'scripts/test/divergence-page.test.ts'] : filters),
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${report}`,
]);
const text = await readFile(report, 'utf8').catch(() => undefined);
await rm(scratch, { recursive: true, force: true });
if (text === undefined) {
  console.error(`conformance: RED: the tests ended without a report (exit ${code})`);
  process.exit(code === 0 ? 1 : code);
}
const { testResults } = JSON.parse(text);
const files = testResults.map(({ name, ...rest }) => ({ ...rest, name: path.relative(ROOT, name) }));
console.log(`\n${conformanceTable(files)}\n`);
console.log(`conformance: ${code === 0 ? 'green' : 'RED'} in ${seconds(performance.now() - started)}`);
process.exitCode = code;
