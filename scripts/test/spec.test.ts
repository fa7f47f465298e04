/** The contracts of `docs/spec` against the tests that cite them. That each check can fail is shown in its mutants. */
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { formatProblem, readTree } from '../architecture/tree.js';
import { readSpec } from '../spec/pages.js';
import { checkSpec, tablePage } from '../spec/traceability.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
const tree = readTree(ROOT);

describe('the contracts', () => {
  it('every clause has a test, every citation a clause, and ids are given once', () => {
    expect(checkSpec(tree).map(formatProblem)).toEqual([]);
  });

  it('the table of tests has a row for every clause', () => {
    const table = tablePage(tree);
    const listed = new Set([...table.matchAll(/^\| ([A-Z]+-\d+) \| /gm)].map(([, id]) => id));
    expect(readSpec(tree).clauses.flatMap(({ id }) => (listed.has(id) ? [] : [id]))).toEqual([]);
  });

  it('the specification is not empty', () => {
    expect(readSpec(tree).clauses.length).toBeGreaterThan(50);
  });
});
