/*
 * Writes `lib/slow-tests.json`: the test files that take longer than the others, so that `npm test` leaves them to
 * `npm run test:rest`. The times are those of a report of vitest: run everything on a quiet machine, then this.
 *
 *   npx vitest run --reporter=json --outputFile=REPORT && node scripts/slow-tests.mjs REPORT
 */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ROOT } from './lib/root.mjs';
import { AT_ONCE, isHeavy, SLOW_LIST } from './lib/suites.mjs';

/** A file of tests that takes longer is slow. */
const SECONDS = 2;

const [report] = process.argv.slice(2);
if (report === undefined) {
  console.error('slow-tests: name the report of vitest that has the times, see scripts/slow-tests.mjs');
  process.exit(2);
}
const { testResults } = JSON.parse(await readFile(report, 'utf8'));
const files = testResults
  .filter(({ assertionResults }) => sum(assertionResults.map(({ duration }) => duration ?? 0)) > SECONDS * 1_000)
  .map(({ name }) => path.relative(ROOT, name).split(path.sep).join('/'))
  .filter((file) => !AT_ONCE.includes(file) && !isHeavy(file))
  .sort();
await writeFile(SLOW_LIST, `${JSON.stringify({ seconds: SECONDS, files }, undefined, 2)}\n`);
console.log(`${files.length} of ${testResults.length} files take more than ${SECONDS} s`);

function sum(numbers) {
  return numbers.reduce((total, one) => total + one, 0);
}
