import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { withScenarios } from './page.js';

const PAGE = new URL('../../docs/reference/conformance.md', import.meta.url);

describe('the page about the conformance suite', () => {
  it('the page lists the scenarios that are replayed (DOCS_UPDATE=1 rewrites them)', () => {
    const page = readFileSync(PAGE, 'utf8');
    if (process.env.DOCS_UPDATE === '1') writeFileSync(PAGE, withScenarios(page));
    expect(readFileSync(PAGE, 'utf8')).toBe(withScenarios(page));
  });

  it('mutant: a changed word of the table is found', () => {
    const page = readFileSync(PAGE, 'utf8');
    const changed = page.replace('A model answers at once.', 'A model never answers.');
    expect(changed).not.toBe(page);
    expect(withScenarios(changed)).not.toBe(changed);
  });
});
