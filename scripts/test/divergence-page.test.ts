/** The page about divergences: the rows that were run, the rows about our own sources, and the results of other systems. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ROWS, runRow, titleOf } from '../../conformance/divergence/matrix.js';
import { COMPARISON_NAMES, COMPARISONS, readResults } from '../comparisons/results.js';
import { divergencePage } from '../divergence/page.js';
import { SOURCE_ROWS } from '../divergence/sources.js';

const PAGE = fileURLToPath(new URL('../../docs/reference/divergence.md', import.meta.url));
const ALL = [...ROWS, ...SOURCE_ROWS];
const sources = SOURCE_ROWS.map((row) => [titleOf(row), row] as const);

describe('the sources of pure code', () => {
  it.each(sources)('divergence: %s', async (_, row) => {
    expect((await runRow(row)).length).toBeGreaterThan(0);
  });

  it.each(sources)('mutant: %s: the sound one passes', async (_, row) => {
    expect(await row.sound()).toEqual([]);
  });
});

describe('the page of divergences', () => {
  it('the page of divergences lists the rows with their results', async () => {
    const ran = await Promise.all(ALL.map(async (row) => ({ row, caught: await runRow(row) })));
    const page = divergencePage(ran);
    if (process.env.DOCS_UPDATE === '1') writeFileSync(PAGE, page);
    expect(readFileSync(PAGE, 'utf8')).toBe(page);
  });
});

describe('the results of other systems', () => {
  const comparisons = readResults();

  it.each(COMPARISON_NAMES)('%s was run in its pinned version, on rows of the matrix', (name) => {
    expect(comparisons[name].packages).toEqual(COMPARISONS[name].packages);
    const titles = ALL.map(titleOf);
    const { none } = COMPARISONS[name];
    for (const row of [...Object.keys(comparisons[name].rows), ...Object.keys(none)]) expect(titles).toContain(row);
    expect(Object.keys(none).filter((row) => row in comparisons[name].rows)).toEqual([]);
  });

  it('mutant: a probe that rejects the recorded run proves nothing', () => {
    const { read } = COMPARISONS.xstate;
    const fault = { said: null, differsAt: 1 };
    const results = { 'what was recorded': { said: null, differsAt: null }, 'changed code: a table': fault };
    expect(read({ results })['changed code: a table']?.outcome).toBe('left to you');
    expect(() => read({ results: { ...results, 'what was recorded': fault } })).toThrow('not replayed');
    expect(() => read({ results: { 'changed code: a table': fault } })).toThrow('nothing sound');
  });
});
