/**
 * The contracts as data: the pages of `docs/spec`, each a list of clauses under one prefix.
 *
 * A clause is one line, `- **CODEC-3** Sentence with one MUST.` Its id is given once and never again: the README
 * lists, for each page, the highest number that was ever given, and the ids that are retired.
 */
import { lineAt, type Problem, type Tree } from '../architecture/tree.js';

/** The folder of the specification. */
export const SPEC = 'docs/spec';
/** The page that lists the pages. */
export const INDEX = `${SPEC}/README.md`;

/** One promise of Reprise. */
export interface Clause {
  readonly id: string;
  readonly text: string;
  readonly file: string;
  readonly line: number;
}

/** One contract: a page and the prefix of its ids. */
export interface Contract {
  readonly title: string;
  readonly file: string;
  readonly prefix: string;
  /** The highest number that was ever given. */
  readonly highest: number;
  readonly line: number;
}

/** The content of `docs/spec`. */
export interface Spec {
  readonly contracts: readonly Contract[];
  /** In the order of the pages. */
  readonly clauses: readonly Clause[];
  readonly retired: readonly Clause[];
}

const CONTRACT = /^\| \[([^\]]+)\]\(([\w-]+\.md)\) *\| *([A-Z]+) *\| *(\d+) *\|/gm;
const CLAUSE = /^- \*\*([A-Z]+-\d+)\*\* (.*)$/gm;

/** Reads the index and every page that it lists. */
export function readSpec(tree: Tree): Spec {
  const index = tree.get(INDEX) ?? '';
  const contracts = [...index.matchAll(CONTRACT)].map(([, title = '', page = '', prefix = '', highest], i, all) => ({
    title,
    file: `${SPEC}/${page}`,
    prefix,
    highest: Number(highest),
    line: lineAt(index, all[i]?.index ?? 0),
  }));
  return {
    contracts,
    clauses: contracts.flatMap(({ file }) => clausesOf(tree, file)),
    retired: clausesOf(tree, INDEX),
  };
}

/** The number of an id. */
export function numberOf(id: string): number {
  return Number(id.slice(id.indexOf('-') + 1));
}

/** Ids are in order, complete and used once, and every clause requires exactly one thing. */
export function checkPages(tree: Tree, spec: Spec): readonly Problem[] {
  return [...spec.contracts.flatMap((contract) => checkContract(tree, spec, contract)), ...checkIds(spec)];
}

function clausesOf(tree: Tree, file: string): readonly Clause[] {
  const page = tree.get(file) ?? '';
  return [...page.matchAll(CLAUSE)].map((match) => ({
    id: match[1] ?? '',
    text: match[2] ?? '',
    file,
    line: lineAt(page, match.index),
  }));
}

function checkContract(tree: Tree, { clauses, retired }: Spec, contract: Contract): readonly Problem[] {
  const { file, prefix, highest, line } = contract;
  if (!tree.has(file)) return [{ file: INDEX, line, what: `there is no page ${file}` }];
  const problems: Problem[] = [];
  const own = clauses.filter((clause) => clause.file === file);
  for (const [i, clause] of own.entries()) {
    const before = own[i - 1];
    if (!clause.id.startsWith(`${prefix}-`)) problems.push({ ...clause, what: `${clause.id} is not of ${prefix}` });
    else if (before !== undefined && numberOf(before.id) >= numberOf(clause.id))
      problems.push({ ...clause, what: `${clause.id} stands behind ${before.id}` });
    const duties = clause.text.match(/\b(MUST|SHOULD)\b/g)?.length ?? 0;
    if (duties !== 1) problems.push({ ...clause, what: `${clause.id} has ${duties} of MUST and SHOULD`, use: 'one' });
  }
  const given = new Set([...own, ...retired].map(({ id }) => id));
  for (let n = 1; n <= highest; n++) {
    if (!given.has(`${prefix}-${n}`))
      problems.push({ file, line: 1, what: `${prefix}-${n} is gone`, use: `a line under the retired ids of ${INDEX}` });
  }
  const beyond = [...given].filter((id) => id.startsWith(`${prefix}-`) && numberOf(id) > highest);
  for (const id of beyond)
    problems.push({ file: INDEX, line, what: `${id} is above the highest number of its page, ${highest}` });
  return problems;
}

function checkIds({ clauses, retired }: Spec): readonly Problem[] {
  const seen = new Map<string, Clause>();
  const problems: Problem[] = [];
  for (const clause of [...clauses, ...retired]) {
    const first = seen.get(clause.id);
    if (first !== undefined)
      problems.push({ ...clause, what: `${clause.id} stands at ${first.file}:${first.line} already`, use: 'a new id' });
    else seen.set(clause.id, clause);
  }
  return problems;
}
