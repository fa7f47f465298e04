/** A mutant for every check of the contracts: planted pages and tests that break one rule, and are named. */
import { describe, expect, it } from 'vitest';
import { formatProblem, type Tree } from '../architecture/tree.js';
import { checkReport, type Report } from '../spec/report.js';
import { readCitations } from '../spec/titles.js';
import { checkSpec, tablePage } from '../spec/traceability.js';

const INDEX = 'docs/spec/README.md';
const PAGE = 'docs/spec/codec.md';
const TEST = 'packages/kernel/test/pure/codec.test.ts';
const SUITE = 'packages/testkit/src/ports/journal-suite.ts';

const row = (highest: number) => `| [Bytes](codec.md) | CODEC | ${highest} | what |\n`;
const page = (...clauses: string[]) => clauses.map((clause) => `- **${clause}\n`).join('');
const TWO = ['CODEC-1** It MUST be one.', 'CODEC-2** It SHOULD be two.'];
const TITLES = "it('one [CODEC-1]', () => {});\nit('two [CODEC-2]', () => {});\n";

/** Two clauses and their tests; a mutant replaces a part. */
function plant(files: Record<string, string> = {}): Tree {
  return new Map(Object.entries({ [INDEX]: row(2), [PAGE]: page(...TWO), [TEST]: TITLES, ...files }));
}

const named = (files: Record<string, string>) => checkSpec(plant(files)).map(formatProblem);

describe('clauses', () => {
  it('clauses that each have a test pass', () => {
    expect(named({})).toEqual([]);
  });

  it('a clause without a test is reported at its place', () => {
    expect(named({ [TEST]: "it('two [CODEC-2]', () => {});" })).toEqual([
      `${PAGE}:1: no test holds CODEC-1; use [CODEC-1] in the title of one`,
    ]);
  });

  it('a test that mentions a clause only in its body or in a comment does not count as its test', () => {
    const text = `// it('one [CODEC-1]')\n${TITLES.replace('one [CODEC-1]', 'one')}expect('[CODEC-1]').toBe(1);`;
    expect(named({ [TEST]: text })).toEqual([expect.stringContaining('no test holds CODEC-1')]);
  });

  it('a clause that disappears is reported, also when the numbers move up', () => {
    const gone = { [PAGE]: page(TWO[0] as string), [TEST]: "it('one [CODEC-1]', () => {});" };
    expect(named(gone)).toEqual([expect.stringContaining('CODEC-2 is gone')]);
    const moved = page('CODEC-1** It SHOULD be two.');
    expect(named({ ...gone, [PAGE]: moved })).toEqual([expect.stringContaining('CODEC-2 is gone')]);
  });

  it('a retired clause may be missing, and may not be cited or assigned again', () => {
    const retired = { [INDEX]: `${row(2)}\n- **CODEC-1** It was absent.\n`, [PAGE]: page(TWO[1] as string) };
    expect(named({ ...retired, [TEST]: "it('two [CODEC-2]', () => {});" })).toEqual([]);
    expect(named(retired)).toEqual([expect.stringContaining(`${TEST}:1: CODEC-1 is retired`)]);
    expect(named({ ...retired, [PAGE]: page(...TWO) }).join()).toContain(`CODEC-1 stands at ${PAGE}:1 already`);
  });

  it.each([
    ['an id used twice', page(...TWO, 'CODEC-2** It MUST be three.'), `CODEC-2 stands at ${PAGE}:2 already`],
    ['a number above the highest', page(...TWO, 'CODEC-3** It MUST be three.'), 'CODEC-3 is above the highest number'],
    ['clauses out of order', page(...TWO.toReversed()), 'CODEC-1 stands behind CODEC-2'],
    ['the prefix of another page', page(...TWO, 'JRN-1** It MUST be three.'), 'JRN-1 is not of CODEC'],
    ['no MUST', page(TWO[0] as string, 'CODEC-2** It is two.'), 'CODEC-2 has 0 of MUST and SHOULD; use one'],
    ['two of them', page(TWO[0] as string, 'CODEC-2** It MUST and MUST.'), 'CODEC-2 has 2 of MUST and SHOULD'],
  ])('%s is named', (_, text, what) => {
    expect(named({ [PAGE]: text }).join('\n')).toContain(what);
  });

  it('a page that the index lists and that does not exist is reported', () => {
    const missing = `${row(2)}| [More](more.md) | MORE | 1 | what |\n`;
    expect(named({ [INDEX]: missing })).toEqual([
      expect.stringContaining(`${INDEX}:2: there is no page docs/spec/more.md`),
    ]);
  });
});

describe('citations', () => {
  it('a citation of a missing clause is reported at its place', () => {
    expect(named({ [TEST]: `${TITLES}it('three [CODEC-3]', () => {});` })).toEqual([
      expect.stringContaining(`${TEST}:3: there is no clause CODEC-3`),
    ]);
  });

  it.each([
    ['a test', "it.skip('one [CODEC-1]', () => {});", 'skip'],
    ['a test under a condition', "it.skipIf(true)('one [CODEC-1]', () => {});", 'skipIf'],
    ['a test of rows', "it.skip.each([1])('one [CODEC-1]', () => {});", 'skip'],
    ['a test of a suite', "describe.skip('x', () => { it('one [CODEC-1]', () => {}); });", 'skip'],
    ['a cited suite', "describe.runIf(false)('one [CODEC-1]', () => { it('x', () => {}); });", 'runIf'],
  ])('%s that may not run is named', (_, text, how) => {
    expect(named({ [TEST]: `it('two [CODEC-2]', () => {});\n${text}` })).toEqual([
      `${TEST}:2: CODEC-1 is cited by a test that may not run (${how})`,
    ]);
  });

  it('citations are found in suites, in templates, in rows, several at once, and in rules of port suites', () => {
    const text = [
      `describe.each(PLACES)('on $name [CODEC-1]', () => { it('x', () => {}); });`,
      `it.each(ROWS)(\`given \${n} of %s [CODEC-1, CODEC-2]\`, () => {});`,
    ].join('\n');
    const suite = `const all = [check('a rule [CODEC-1]', run), { ...titled('another [CODEC-2]'), run }];`;
    const found = readCitations(plant({ [TEST]: text, [SUITE]: suite }));
    expect(found.map(({ ids, path, runs }) => [ids.join(' '), path.join(' › '), runs.source])).toEqual([
      ['CODEC-1', 'on …', '^on .* \\[CODEC-1\\]$'],
      ['CODEC-1 CODEC-2', 'given … of …', '^given .* of .* \\[CODEC-1, CODEC-2\\]$'],
      ['CODEC-1', 'a rule', '^a rule \\[CODEC-1\\]$'],
      ['CODEC-2', 'another', '^another \\[CODEC-2\\]$'],
    ]);
  });

  it('the table of tests lists each citation under its clause, with its file', () => {
    const table = tablePage(plant());
    expect(table).toContain('## [Bytes](codec.md)');
    expect(table).toContain(`| CODEC-2 | two | [codec.test.ts](../../${TEST}) |`);
    expect(tablePage(plant({ [TEST]: TITLES.replace('two', 'too') }))).not.toBe(table);
  });
});

describe('the report of a test run', () => {
  const citations = readCitations(plant({ [SUITE]: "const all = [check('a rule [CODEC-2]', run)];" }));
  const ran = (file: string, title: string, status = 'passed', suite = 'codec') => ({
    name: `/somewhere/${file}`,
    assertionResults: [{ ancestorTitles: [suite], title, status }],
  });
  const RULE = ran('packages/store/test/ports.test.ts', 'a rule [CODEC-2]');
  const report = (...testResults: Report['testResults']): Report => ({ testResults });
  const problems = (...results: Report['testResults']) => checkReport(report(...results), citations).map(formatProblem);

  it('a suite that is left out in words is no problem, as long as its clauses are tested elsewhere', () => {
    const left = {
      ancestorTitles: ['PostgreSQL (skipped: no PostgreSQL is installed)', 'journal'],
      title: 'a [JRN-1]',
      status: 'skipped',
    };
    const found = checkReport({ testResults: [{ name: '/r/a.test.ts', assertionResults: [left] }] }, []);
    expect(found).toEqual([]);
    const skipped = { ...left, ancestorTitles: ['PostgreSQL', 'journal'], title: 'a [JRN-1]' };
    expect(checkReport({ testResults: [{ name: '/r/a.test.ts', assertionResults: [skipped] }] }, [])).toHaveLength(1);
  });

  it('a run in which every cited test passed is accepted', () => {
    expect(problems(ran(TEST, 'one [CODEC-1]'), ran(TEST, 'two [CODEC-2]'), RULE)).toEqual([]);
  });

  it('a deep test may be missing, when a test that runs for each change cites its clauses too; a failed one is named', () => {
    const text = (deepTitle: string) =>
      `it('each time [CODEC-1]', run);\ndeep('name', () => {\n  it('${deepTitle}', run);\n});\n`;
    const planted = (deepTitle: string) => readCitations(plant({ [TEST]: text(deepTitle) }));
    const check = (deepTitle: string, ...results: Report['testResults']) =>
      checkReport(
        report(...results),
        planted(deepTitle).filter(({ file }) => file === TEST),
      ).map(formatProblem);
    const each = ran(TEST, 'each time [CODEC-1]', 'passed');
    expect(check('in its share [CODEC-1]', each)).toEqual([]);
    expect(check('in its share [CODEC-1]', each, ran(TEST, 'in its share [CODEC-1]', 'failed'))).toHaveLength(1);
    expect(check('in its share [CODEC-1]')).toEqual([`${TEST}:1: the test of CODEC-1 did not run`]);
    expect(check('in its share [CODEC-2]', each)).toEqual([
      `${TEST}:3: only deep tests cite CODEC-2, and they run in their share alone`,
    ]);
  });

  it('a cited test that did not run is named, one of the same title elsewhere does not stand for it', () => {
    const elsewhere = ran('packages/agent/test/codec.test.ts', 'one [CODEC-1]');
    expect(problems(elsewhere, ran(TEST, 'two [CODEC-2]'), RULE)).toEqual([
      `${TEST}:1: the test of CODEC-1 did not run`,
    ]);
    expect(problems(ran(TEST, 'one [CODEC-1]'), ran(TEST, 'two [CODEC-2]'))).toEqual([
      `${SUITE}:1: the test of CODEC-2 did not run`,
    ]);
  });

  it.each(['failed', 'skipped', 'pending', 'todo'])('a cited test that %s is named', (status) => {
    const found = problems(ran(TEST, 'one [CODEC-1]', status), ran(TEST, 'two [CODEC-2]'), RULE);
    expect(found).toEqual([`${TEST}:1: ${status}, and cited for CODEC-1: codec › one [CODEC-1]`]);
  });

  it('a rule of a port suite that an implementation waives does not count as tested by it', () => {
    const waived = ran('packages/store/test/ports.test.ts', 'a rule [CODEC-2] (waived: no disk)');
    const others = [ran(TEST, 'one [CODEC-1]'), ran(TEST, 'two [CODEC-2]')];
    expect(problems(...others, RULE, waived)).toEqual([]);
    expect(problems(...others, waived)).toEqual([`${SUITE}:1: the test of CODEC-2 did not run`]);
  });

  it('a citation that no source shows, since its title is computed, is named', () => {
    const found = problems(
      ran(TEST, 'one [CODEC-1]'),
      ran(TEST, 'two [CODEC-2]'),
      RULE,
      ran(TEST, 'x', 'passed', 'y [CODEC-9]'),
    );
    expect(found).toEqual([
      expect.stringContaining('it cites in a title that cannot be read in its source: y [CODEC-9]'),
    ]);
  });
});
