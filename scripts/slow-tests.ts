/**
 * Writes `lib/slow-tests.json` and `lib/deep-tests.json` from the times in a report of vitest: the test files that take
 * longer than the others, which `npm test` leaves to `npm run test:rest`, and of these the deep ones, of which a run takes
 * one share. A file whose clauses no other test cites is not deep, and neither is one that runs the suite of a port, whose
 * rules cite clauses wherever they run. Run everything on a quiet machine, then this.
 *
 *   TESTS= npx vitest run --reporter=json --outputFile=REPORT
 *   node --conditions=@reprise/source --import tsx scripts/slow-tests.ts REPORT
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readTree } from './architecture/tree.js';
import { DEEP_LIST, OF_EACH_CHANGE } from './lib/deep-tests.mjs';
import { ROOT } from './lib/root.mjs';
import { AT_ONCE, isHeavy, SLOW_LIST } from './lib/suites.mjs';
import type { Report } from './spec/report.js';
import { readCitations } from './spec/titles.js';

/** A file of tests that takes longer is slow, or deep. */
const SLOW_SECONDS = 2;
const DEEP_SECONDS = 3;

const PORT_SUITE = /^packages\/testkit\/src\/ports\/[^/]+-suite\.ts$/;
const SUITE = /^export function (test\w+)/gm;

/** The files with their seconds, the longest first. */
type Times = readonly (readonly [file: string, seconds: number])[];

const [report] = process.argv.slice(2);
if (report === undefined) {
  console.error('slow-tests: name the report of vitest that has the times, see scripts/slow-tests.ts');
  process.exit(2);
}
const tree = readTree(ROOT);
const times = timesIn(JSON.parse(readFileSync(report, 'utf8')) as Report);
const slow = times.filter(([file, seconds]) => seconds > SLOW_SECONDS && !AT_ONCE.includes(file));
const files = slow.map(([file]) => file).filter((file) => !isHeavy(file));
write(SLOW_LIST, { seconds: SLOW_SECONDS, files: files.toSorted() });
const deep = deepAmong(slow.filter(([, seconds]) => seconds > DEEP_SECONDS));
write(DEEP_LIST, { seconds: DEEP_SECONDS, files: Object.fromEntries(deep) });
console.log(
  `of ${times.length} files ${files.length} are slow and in no list of their own, and ${deep.length} are deep`,
);

function timesIn({ testResults }: Report): Times {
  const secondsOf = (tests: Report['testResults'][number]['assertionResults']) =>
    tests.reduce((total, { duration = 0 }) => total + duration, 0) / 1_000;
  return testResults
    .map(({ name, assertionResults }) => [relative(name), Math.round(secondsOf(assertionResults))] as const)
    .toSorted(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
}

function relative(file: string): string {
  return path.relative(ROOT, file).split(path.sep).join('/');
}

/** The longest first: each file whose clauses are cited by files as well that are not deep. */
function deepAmong(candidates: Times): Times {
  const citations = readCitations(tree).map(({ ids, file, port }) => ({ ids, file: port ? 'a port' : file }));
  const taken = new Set<string>();
  return candidates.filter(([file]) => {
    if (OF_EACH_CHANGE.includes(file) || runsPortSuite(file)) return false;
    const left = new Set(
      citations.filter((one) => one.file !== file && !taken.has(one.file)).flatMap(({ ids }) => ids),
    );
    const isDeep = citations.filter((one) => one.file === file).every(({ ids }) => ids.every((id) => left.has(id)));
    if (isDeep) taken.add(file);
    return isDeep;
  });
}

/** Whether a file runs the suite of a port, by the functions that `testkit` offers for it: `testStore(…)`. */
function runsPortSuite(file: string): boolean {
  const suites = [...tree].flatMap(([name, text]) => (PORT_SUITE.test(name) ? [...text.matchAll(SUITE)] : []));
  const text = tree.get(file) ?? '';
  return suites.some(([, suite = '']) => text.includes(`${suite}(`));
}

function write(file: string, list: object): void {
  writeFileSync(file, `${JSON.stringify(list, undefined, 2)}\n`);
}
