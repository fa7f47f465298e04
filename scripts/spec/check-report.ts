/** `check-report.ts REPORT`: holds a JSON report of vitest to the citations of the sources. A stage of `npm test`. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { formatProblem, readTree } from '../architecture/tree.js';
import { checkReport, type Report } from './report.js';
import { readCitations } from './titles.js';

const citations = readCitations(readTree(path.resolve(import.meta.dirname, '../..')));
const report = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Report;
const problems = checkReport(report, citations);
for (const problem of problems) console.error(formatProblem(problem));
console.log(
  `${citations.length} citing tests and suites: ${problems.length === 0 ? 'all ran and passed' : 'see above'}`,
);
process.exitCode = problems.length === 0 ? 0 : 1;
