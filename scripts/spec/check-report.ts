/** `check-report.ts REPORT…`: checks that every test that cites a clause ran and passed, by vitest's JSON reports. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { formatProblem, readTree } from '../architecture/tree.js';
import { checkReport, type Report } from './report.js';
import { readCitations } from './titles.js';

const citations = readCitations(readTree(path.resolve(import.meta.dirname, '../..')));
const reports = process.argv.slice(2).map((file) => JSON.parse(readFileSync(file, 'utf8')) as Report);
const report: Report = { testResults: reports.flatMap(({ testResults }) => testResults) };
const problems = checkReport(report, citations);
for (const problem of problems) console.error(formatProblem(problem));
console.log(
  `${citations.length} citing tests and suites: ${problems.length === 0 ? 'all ran and passed' : 'see above'}`,
);
process.exitCode = problems.length === 0 ? 0 : 1;
