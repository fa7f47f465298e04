/*
 * Renders vitest's report of the conformance suite as tables for people. The only reader of test titles: see
 * `scripts/conformance.mjs`.
 */

const MODES = /^conformance\/modes\//;
const LIVE = /\/profiles\/profiles\.test\./;
const GOLDEN = /^conformance\/golden\//;
const CASE = /^(.+) × (.+)$/;
const DIVERGENCE = /> divergence: /;
/** The notes after the name in a title: a seed, the cited clauses. */
const NOTES = / [([].*$/;
/** The states of a test that did not run: a check of a suite that does not apply to its subject. */
const SKIPPED = ['skipped', 'pending', 'todo'];
const MUTANT = /\bmutants?\b/i;

/**
 * @typedef {{ status: string, title: string, ancestorTitles: string[] }} Test
 * @typedef {{ name: string, status: string, assertionResults: Test[], startTime?: number, endTime?: number }} File
 */

/**
 * @param {readonly File[]} files with paths from the root of the repository
 * @returns {string}
 */
export function conformanceTable(files) {
  const parts = [scenarioTable(files), partsTable(files), counts(files), failures(files)];
  return parts.filter((part) => part !== '').join('\n\n');
}

/** Scenarios × modes: the number of protocols on which each is green. */
function scenarioTable(files) {
  const cells = new Map();
  const modes = new Set();
  for (const { mode, scenario, passed } of casesOf(files)) {
    modes.add(mode);
    const row = cells.get(scenario) ?? new Map();
    const cell = row.get(mode) ?? { passed: 0, all: 0 };
    row.set(mode, { passed: cell.passed + (passed ? 1 : 0), all: cell.all + 1 });
    cells.set(scenario, row);
  }
  if (cells.size === 0) return '';
  const rows = [...cells].map(([scenario, row]) => [scenario, ...[...modes].map((mode) => markOf(row.get(mode)))]);
  const heads = [...cells.values()].reduce((sum, row) => sum + (row.get('fresh')?.passed ?? 0), 0);
  const legend = '✓ n: green on n protocols; dear modes take one of them in CI, all in scenarios-long';
  return [table([['scenario', ...modes], ...rows]), legend, `${heads} golden heads of scenarios`].join('\n');
}

function markOf(cell) {
  if (cell === undefined) return '';
  return cell.passed === cell.all ? `✓ ${cell.all}` : `✗ ${cell.passed}/${cell.all}`;
}

/** @returns {Generator<{ mode: string, scenario: string, passed: boolean }>} */
function* casesOf(files) {
  for (const { name, assertionResults } of files) {
    for (const { ancestorTitles, title, status } of assertionResults) {
      const passed = status === 'passed';
      const [mode = '', called = ''] = [ancestorTitles[0], title].map((words) => words?.replace(NOTES, ''));
      const scenario = CASE.exec(called)?.[1];
      if (LIVE.test(name)) yield { mode: 'live', scenario: called, passed };
      else if (MODES.test(name) && scenario !== undefined) yield { mode, scenario, passed };
    }
  }
}

/** Every part of the suite: the number of green checks, and the time it took. */
function partsTable(files) {
  const parts = new Map();
  for (const { name, status, assertionResults, startTime = 0, endTime = 0 } of files) {
    const [, part = name] = name.split('/');
    const known = parts.get(part) ?? { passed: 0, skipped: 0, all: 0, ms: 0 };
    const unloaded = status === 'failed' && assertionResults.length === 0 ? 1 : 0;
    known.passed += assertionResults.filter((test) => test.status === 'passed').length;
    known.skipped += assertionResults.filter((test) => SKIPPED.includes(test.status)).length;
    known.all += assertionResults.length + unloaded;
    known.ms += Math.max(0, endTime - startTime);
    parts.set(part, known);
  }
  const rows = [...parts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([part, { passed, skipped, all, ms }]) => [
      part,
      `${passed + skipped === all ? '✓' : '✗'} ${passed} of ${all - skipped}${skipped === 0 ? '' : `, ${skipped} left out`}`,
      `${(ms / 1000).toFixed(0)} s`,
    ]);
  return table([['part', 'checks', 'time'], ...rows]);
}

/** The checks with a count of their own. A mutant is green when its defect was found. */
function counts(files) {
  const named = (pattern) =>
    files.flatMap(({ assertionResults }) =>
      assertionResults.filter(({ ancestorTitles, title }) => pattern.test([...ancestorTitles, title].join(' > '))),
    );
  const lines = [
    [
      'checks of stored golden worlds',
      files.filter(({ name }) => GOLDEN.test(name)).flatMap((file) => file.assertionResults),
    ],
    ['divergences caught', named(DIVERGENCE)],
    ['mutants found', named(MUTANT)],
  ].filter(([, tests]) => tests.length > 0);
  return lines
    .map(([what, tests]) => `${what}: ${tests.filter(({ status }) => status === 'passed').length} of ${tests.length}`)
    .join('\n');
}

function failures(files) {
  const failed = files.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'failed')
      .map(({ ancestorTitles, title }) => `✗ ${name}: ${[...ancestorTitles, title].join(' > ')}`),
  );
  return failed.join('\n');
}

/** @param {readonly (readonly string[])[]} rows the first is the head */
function table(rows) {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => (row[i] ?? '').length)));
  const lines = rows.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return [lines[0], widths.map((width) => '─'.repeat(width)).join('  '), ...lines.slice(1)].join('\n');
}
