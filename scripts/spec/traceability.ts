/** Compares the clauses with the tests that cite them, finds what is missing on either side, and makes the table. */
import path from 'node:path';
import type { Problem, Tree } from '../architecture/tree.js';
import { checkPages, INDEX, readSpec, SPEC, type Spec } from './pages.js';
import { type Citation, readCitations } from './titles.js';

/** The page that is made of the citations, on demand: it is not in git. */
export const TABLE = `${SPEC}/tests.md`;

/** Every clause has a test, every citation a clause, and nothing that is cited may be skipped. */
export function checkSpec(tree: Tree): readonly Problem[] {
  const spec = readSpec(tree);
  const citations = readCitations(tree);
  return [...checkPages(tree, spec), ...checkUntested(spec, citations), ...checkCitations(spec, citations)];
}

/** The table as it should be. */
export function tablePage(tree: Tree): string {
  const spec = readSpec(tree);
  const citations = readCitations(tree);
  const sections = spec.contracts.map((contract) => {
    const clauses = spec.clauses.filter(({ file }) => file === contract.file);
    const rows = clauses.flatMap(({ id }) =>
      citations.filter(({ ids }) => ids.includes(id)).map((one) => row(id, one)),
    );
    const head = `## [${contract.title}](${path.posix.basename(contract.file)})`;
    return [head, '', '| clause | test | in |', '| --- | --- | --- |', ...rows].join('\n');
  });
  return `${[INTRODUCTION, ...sections].join('\n\n')}\n`;
}

const INTRODUCTION = `# Clauses and their tests

This page is generated from the titles of the tests, which cite the clauses that they check (\`npm run clauses\`). The check of the specification fails for a clause without a test, and for a cited test that did not run. The rules of the port suites run against every implementation of their port.`;

function row(id: string, { file, path: titles }: Citation): string {
  const title = titles.join(' › ').replaceAll('|', '\\|');
  return `| ${id} | ${title} | [${path.posix.basename(file)}](${path.posix.relative(SPEC, file)}) |`;
}

function checkUntested({ clauses }: Spec, citations: readonly Citation[]): readonly Problem[] {
  const cited = new Set(citations.flatMap(({ ids }) => ids));
  return clauses
    .filter(({ id }) => !cited.has(id))
    .map((clause) => ({ ...clause, what: `no test holds ${clause.id}`, use: `[${clause.id}] in the title of one` }));
}

function checkCitations({ clauses, retired }: Spec, citations: readonly Citation[]): readonly Problem[] {
  const known = new Set(clauses.map(({ id }) => id));
  const gone = new Set(retired.map(({ id }) => id));
  return citations.flatMap(({ ids, file, line, skipped }) => {
    const unknown = ids.filter((id) => !known.has(id));
    const problems: Problem[] = unknown.map((id) => ({
      file,
      line,
      what: gone.has(id) ? `${id} is retired` : `there is no clause ${id}`,
      use: `an id that stands in ${INDEX} or its pages`,
    }));
    if (skipped !== undefined)
      problems.push({ file, line, what: `${ids.join(', ')} is cited by a test that may not run (${skipped})` });
    return problems;
  });
}
