/** The contracts of `docs/spec` against the tests that cite them. That each check can fail is shown in its mutants. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { formatProblem, readTree } from '../architecture/tree.js';
import { readSpec } from '../spec/pages.js';
import { checkSpec, TABLE, tablePage } from '../spec/traceability.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
const tree = readTree(ROOT);

describe('the contracts', () => {
  it('every clause has a test, every citation a clause, and ids are given once', () => {
    expect(checkSpec(tree).map(formatProblem)).toEqual([]);
  });

  it('the table of tests is what the titles say', () => {
    if (process.env.DOCS_UPDATE === '1') writeFileSync(path.join(ROOT, TABLE), tablePage(tree));
    expect(readFileSync(path.join(ROOT, TABLE), 'utf8')).toBe(tablePage(tree));
  });

  it('the specification is not empty', () => {
    expect(readSpec(tree).clauses.length).toBeGreaterThan(50);
  });
});
