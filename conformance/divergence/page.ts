/** `docs/reference/divergence.md`, made of what running the matrix came to. */
import { cellOf, RIVAL_NAMES, RIVALS, type RivalName, type RivalRun, readResults, rowsRun } from '../rivals/results.js';
import { type Catch, GROUPS, type Group, type Row, type Where } from './row.js';

/** A row that was run. */
export interface RanRow {
  readonly row: Row;
  readonly caught: readonly Catch[];
}

const INTRODUCTION: Readonly<Record<Group, string>> = {
  'changed code':
    'A small shop, and a session of an agent, were recorded; then somebody changed the code and left its name. Recorded → performed.',
  ambient:
    'A reducer or plan asks what is not in the journal. Under the guard it is named as it is asked. Without the guard the second fold of its frame comes out otherwise, or a verification does; what answers differently only elsewhere (another time zone, language, environment, engine) is found elsewhere. The other engine is played: the same one, with other last bits and letters.',
  'illegal values':
    'Things without a byte form are refused where they come in: in a request, and in what a reducer leaves in its state. Things with two forms have one.',
  integrity:
    'The journal or its content was changed after it was written. Bytes that were changed alone are found without the app. Where everything behind the change was made to fit, performing it finds what does not follow; what follows from other inputs is told by the head that was acknowledged.',
  'receipts and writers':
    'Answers that come twice, late, to the wrong place or from nobody; writers that are not the one. What happened outside is recorded as what it is and changes nothing that is over.',
};

const WHERE: Readonly<Record<Where, string>> = {
  definition: 'as it is defined',
  sources: 'in the sources, by the rules for Reprise’s own pure code',
  opening: 'as the world is opened',
  request: 'the request is refused',
  guard: 'under the guard',
  'second fold': 'by the second fold',
  journal: 'recorded as what it is',
  'no difference': 'makes no difference',
  verification: 'performing it again',
  'verification elsewhere': 'performing it elsewhere',
  'integrity check': 'verifying without the app',
  'acknowledged head': 'by the acknowledged head',
};

/** What somebody has to have done for it to be found there. */
const WHEN: Partial<Readonly<Record<Where, string>>> = {
  'acknowledged head': ', if you kept it',
  guard: ', if it is installed',
  'second fold': ', if frames are performed twice',
};

/** The page of a matrix that was run. */
export function divergencePage(rows: readonly RanRow[]): string {
  const parts = [
    '# Divergence',
    '',
    `${rows.length} ways to break determinism or integrity, and what finds each. This page is made by \`conformance/divergence\`: each row was done, was caught as it says here, and has a sound twin that passes the same checks. How to run it: \`npx vitest run conformance/divergence\`. What the words mean: [Determinism](../explanation/determinism.md), [Verify in CI](../how-to/verify-in-ci.md).`,
    '',
    'A finding names the frame, the record by its place in the frame, its kind, the path in it, and both values.',
    '',
  ];
  for (const group of GROUPS) {
    parts.push(`## ${titleCase(group)}`, '', INTRODUCTION[group], '');
    parts.push(...tableOf(rows.filter(({ row }) => row.group === group)), '');
  }
  parts.push(...besideOthers(rows), '', ...LIMITS);
  return parts.join('\n');
}

const PROBES = '../../conformance/rivals';

/** The rows that were also done to others, beside ours. */
function besideOthers(rows: readonly RanRow[]): string[] {
  const results = readResults();
  const ours = new Map(rows.map(({ row, caught }) => [`${row.group}: ${row.name}`, caught]));
  const run = rowsRun(results, [...ours.keys()]);
  const cells = run.map((title) => [
    title,
    `**found**: ${(ours.get(title) ?? []).map(({ where }) => `${WHERE[where]}${WHEN[where] ?? ''}`).join('; ')}`,
    ...RIVAL_NAMES.map((name) => escaped(cellOf(results, name, title))),
  ]);
  const versions = (name: RivalName) => Object.values(RIVALS[name].packages)[0] ?? '';
  const head = ['broken', 'Reprise', ...RIVAL_NAMES.map((name) => `${RIVALS[name].title} ${versions(name)}`)];
  return [
    '## Beside others',
    '',
    'An order of the same shape with the same twins, as far as they make sense elsewhere. *Found*: it says so. *Prevented*: it cannot be done, or cannot differ. *Silent*: it goes on and says nothing. *Left to you*: it says nothing, and what it gives back is another than before, so that whoever kept that could see it. *Not tried*: it could be done, and was not.',
    '',
    'These are other things with other promises, and this is no ranking: to go on in silence when a parameter changes is by design for most of them, so that code can be changed under way. Reprise compares more because it promises more, and asks for a new version or an era where they ask for nothing.',
    '',
    'To repeat it: `npm run test:long -- --only rivals`. It installs the versions named here from the registry into a temporary folder, and takes a PostgreSQL of its own for DBOS (`initdb` and `pg_ctl` on the PATH). A row that comes out unfairly for one of them is a defect of its probe: mend it there.',
    '',
    ...RIVAL_NAMES.map((name) => describeRival(name, results[name])),
    '',
    ...tableLines([head, head.map(() => '---'), ...cells]),
    '',
    `The other ${rows.length - run.length} rows were not done to others. Most of them break what has no counterpart there: a chain of frames, digests of states, records of attempts, a closed form of values, a guard.`,
  ];
}

function describeRival(name: RivalName, { date, node }: RivalRun): string {
  const { title, done, promises } = RIVALS[name];
  const [main = '', version = ''] = Object.entries(RIVALS[name].packages)[0] ?? [];
  return `- **${title}** (\`${main}@${version}\`, ${date}, Node ${node}), by [this probe](${PROBES}/${name}/probe.mjs): ${done}. ${promises}`;
}

const LIMITS: readonly string[] = [
  '## What nothing here can find',
  '',
  '- **A journal that was forged whole**, together with the definitions it names and by code that you believe, is a sound journal. Only a head that was published finds it: [Publish heads](../how-to/verify-in-ci.md#publish-heads).',
  '- **What only another engine shows**, and no guard can stand before: the operator `**`, patterns with the flags `i`, `u` and `v`, the words of an engine’s own errors. Reprise’s own pure code is held to rules of syntax; for yours, a verification on the other engine finds what came out otherwise, at the frame where it did.',
  '- **Code that was always wrong.** Performing it again shows that it is the same, not that it is right.',
  '',
];

function tableOf(rows: readonly RanRow[]): string[] {
  const cells = rows.map(({ row, caught }) => [
    escaped(row.name),
    escaped(row.how),
    caught.map(({ where, code, names }) => `${WHERE[where]}${codeOf(code)}: ${escaped(names)}`).join('<br>'),
  ]);
  // Cells of this length are not made to stand in line: the page would be mostly space.
  return tableLines([['broken', 'how', 'caught'], ['---', '---', '---'], ...cells]);
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
