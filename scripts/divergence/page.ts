/** `docs/reference/divergence.md`, generated from the results of the matrix. */
import { type Catch, GROUPS, type Group, type Row, type Where } from '../../conformance/divergence/row.js';
import {
  COMPARISON_NAMES,
  COMPARISONS,
  type ComparisonName,
  type ComparisonRun,
  cellOf,
  readResults,
  rowsRun,
} from '../comparisons/results.js';

/** A row that was run. */
export interface RanRow {
  readonly row: Row;
  readonly caught: readonly Catch[];
}

const INTRODUCTION: Readonly<Record<Group, string>> = {
  'changed code':
    'A small shop and an agent session were recorded. Then the code was changed under the same name. The table shows recorded → replayed.',
  ambient:
    'A reducer or plan uses something that is not in the journal. With the guard, the use is detected immediately and named. Without the guard, the second fold of the frame or a verification gives a different result. A result that differs only elsewhere (in another time zone, locale, environment or engine) is detected elsewhere. The other engine is simulated: it is the same engine with different last bits and letters.',
  'illegal values':
    'Values without a canonical encoding are refused where they enter: in a request, and in the state that a reducer leaves. Values that could be written in two forms are normalized to one.',
  integrity:
    'The journal or its content was changed after it was written. A change of bytes alone is detected without the app. If everything after the change was adapted to it, replay detects records that do not follow from the inputs. If the inputs themselves were replaced, the acknowledged head detects it.',
  'receipts and writers':
    'Answers arrive twice, late, at the wrong place or without a question, and a second writer appears. Each outcome from outside is recorded truthfully and changes nothing that is already settled.',
};

const WHERE: Readonly<Record<Where, string>> = {
  definition: 'when it is defined',
  sources: 'in the sources, by the rules for Reprise’s own pure code',
  opening: 'when the world is opened',
  request: 'the request is refused',
  guard: 'with the guard',
  'second fold': 'by the second fold',
  journal: 'recorded truthfully',
  'no difference': 'has no effect',
  verification: 'by replay',
  'verification elsewhere': 'by replay elsewhere',
  'integrity check': 'by verification without the app',
  'acknowledged head': 'by the acknowledged head',
};

/** The condition under which the divergence is found there. */
const WHEN: Partial<Readonly<Record<Where, string>>> = {
  'acknowledged head': ', if you stored it',
  guard: ', if it is installed',
  'second fold': ', if frames are folded twice',
};

/** The page of a matrix that was run. */
export function divergencePage(rows: readonly RanRow[]): string {
  const parts = [
    '# Divergence',
    '',
    `${rows.length} ways to break determinism or integrity, and the check that detects each. This page is generated from the rows of \`conformance/divergence\`: each row was executed, was detected as described here, and has a control that passes the same checks. To run it: \`npx vitest run conformance/divergence scripts/test/divergence-page.test.ts\`. For the terms, see [Determinism](../explanation/determinism.md) and [Verify in CI](../how-to/verify-in-ci.md).`,
    '',
    'A finding names the frame, the index and kind of the record, the path within it, and both values.',
    '',
  ];
  for (const group of GROUPS) {
    parts.push(`## ${titleCase(group)}`, '', INTRODUCTION[group], '');
    parts.push(...tableOf(rows.filter(({ row }) => row.group === group)), '');
  }
  parts.push(...besideOthers(rows), '', ...LIMITS);
  return parts.join('\n');
}

const PROBES = '../../scripts/comparisons';

/** The rows that were also done to others, beside ours. */
function besideOthers(rows: readonly RanRow[]): string[] {
  const results = readResults();
  const ours = new Map(rows.map(({ row, caught }) => [`${row.group}: ${row.name}`, caught]));
  const run = rowsRun(results, [...ours.keys()]);
  const cells = run.map((title) => [
    title,
    `**found**: ${(ours.get(title) ?? []).map(({ where }) => `${WHERE[where]}${WHEN[where] ?? ''}`).join('; ')}`,
    ...COMPARISON_NAMES.map((name) => escaped(cellOf(results, name, title))),
  ]);
  const versions = (name: ComparisonName) => Object.values(COMPARISONS[name].packages)[0] ?? '';
  const head = ['defect', 'Reprise', ...COMPARISON_NAMES.map((name) => `${COMPARISONS[name].title} ${versions(name)}`)];
  return [
    '## Beside others',
    '',
    'The same order was implemented with other systems, and the same defects were introduced, as far as they make sense there. *Found*: the system reports the defect. *Prevented*: the defect cannot be introduced, or has no effect. *Silent*: the system continues and reports nothing. *Left to you*: the system reports nothing, but its result differs from before, so that a caller that stored the old result can see the difference. *Not tried*: the defect could be introduced, and was not.',
    '',
    'These systems make other promises, so the table is not a ranking. Most of them continue silently by design when a parameter changes, so that code can be changed during a run. Reprise compares more because it promises more; in return it requires a new version or an era where the others require nothing.',
    '',
    'To repeat it: `npm run test:long -- --only comparisons`. It installs the versions named here from the registry into a temporary folder, and takes a PostgreSQL of its own for DBOS (`initdb` and `pg_ctl` on the PATH). If a row is unfair to one of these systems, its probe is wrong: fix it there.',
    '',
    ...COMPARISON_NAMES.map((name) => describeComparison(name, results[name])),
    '',
    ...tableLines([head, head.map(() => '---'), ...cells]),
    '',
    `The other ${rows.length - run.length} rows were not tried with other systems. Most of them break something that has no counterpart there: a chain of frames, digests of states, records of attempts, a closed set of values, a guard.`,
  ];
}

function describeComparison(name: ComparisonName, { date, node }: ComparisonRun): string {
  const { title, done, promises } = COMPARISONS[name];
  const [main = '', version = ''] = Object.entries(COMPARISONS[name].packages)[0] ?? [];
  return `- **${title}** (\`${main}@${version}\`, ${date}, Node ${node}), by [this probe](${PROBES}/${name}/probe.mjs): ${done}. ${promises}`;
}

const LIMITS: readonly string[] = [
  '## What no check here can detect',
  '',
  '- **A completely forged journal**, together with the definitions that it names and produced by code that you trust, is a valid journal. Only a published head detects it: [Publish heads](../how-to/verify-in-ci.md#publish-heads).',
  '- **Differences that only another engine shows** and that no guard can intercept: the operator `**`, patterns with the flags `i`, `u` and `v`, the texts of an engine’s own errors. Syntax rules exclude them from Reprise’s own pure code. For your code, a verification on the other engine detects a difference at the frame where it occurs.',
  '- **Code that was always wrong.** Replay shows that the behavior is the same, not that it is right.',
  '',
];

function tableOf(rows: readonly RanRow[]): string[] {
  const cells = rows.map(({ row, caught }) => [
    escaped(row.name),
    escaped(row.how),
    caught.map(({ where, code, names }) => `${WHERE[where]}${codeOf(code)}: ${escaped(names)}`).join('<br>'),
  ]);
  // Cells of this length are not made to stand in line: the page would be mostly space.
  return tableLines([['defect', 'how it was introduced', 'detected'], ['---', '---', '---'], ...cells]);
}

function tableLines(lines: readonly (readonly string[])[]): string[] {
  return lines.map((line) => `| ${line.join(' | ')} |`);
}

function codeOf(code: string | undefined): string {
  return code === undefined ? '' : `, [\`${code}\`](../errors/${code}.md)`;
}

function escaped(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

function titleCase(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
