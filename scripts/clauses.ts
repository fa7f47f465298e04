/**
 * The clauses of the specification and the tests that check them, from the titles of the tests:
 *
 *   npm run clauses                    writes docs/spec/tests.md, a page with all of them, which is not in git
 *   npm run clauses -- TREE-25 JRN-4   prints these clauses and their tests
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { readTree, type Tree } from './architecture/tree.js';
import { readSpec } from './spec/pages.js';
import { readCitations } from './spec/titles.js';
import { TABLE, tablePage } from './spec/traceability.js';

const ROOT = path.resolve(import.meta.dirname, '..');

/** The text of one clause and, for each of its tests, the file and the titles. */
function printed(tree: Tree, id: string): string {
  const { clauses, retired } = readSpec(tree);
  const clause = [...clauses, ...retired].find((one) => one.id === id);
  if (clause === undefined) throw new Error(`there is no clause ${id}; docs/spec/README.md lists the pages of clauses`);
  const tests = readCitations(tree).filter(({ ids }) => ids.includes(id));
  const lines = tests.map(({ file, line, path: titles }) => `  ${file}:${line}\n    ${titles.join(' › ')}`);
  return [`${id} (${clause.file}:${clause.line})`, `  ${clause.text}`, ...lines].join('\n');
}

const tree = readTree(ROOT);
const asked = process.argv.slice(2);
try {
  for (const id of asked) console.log(printed(tree, id));
  if (asked.length === 0) {
    writeFileSync(path.join(ROOT, TABLE), tablePage(tree));
    console.log(`wrote ${TABLE}`);
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
