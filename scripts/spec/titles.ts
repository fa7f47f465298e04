/**
 * The tests that cite clauses: `it('a revoked right ends what waits for it [GATE-9, EFF-4]', …)`.
 *
 * Titles are read from the syntax of the sources, so a commented-out test cites nothing. A citation in the title of
 * a suite holds for all of its tests. A computed title cannot be read here; if it cites, the check of the report
 * finds it (`report.ts`).
 */
import ts from 'typescript-5';
import { lineOf, parse, type Tree } from '../architecture/tree.js';
import { DEEP } from '../lib/deep-tests.mjs';

/** A title that cites clauses. */
export interface Citation {
  readonly ids: readonly string[];
  readonly file: string;
  readonly line: number;
  /** Titles from the outermost suite to this one, as the source has them, without citations. */
  readonly path: readonly string[];
  /** The title when it runs: a pattern, since rows and templates fill it in. */
  readonly runs: RegExp;
  /** It is a rule of a port suite, and runs wherever the suite is used. */
  readonly port: boolean;
  /** Why it may not run, when it may not. */
  readonly skipped: string | undefined;
  /** It is a deep test: it runs in its share alone, so another test of the same clauses runs for each change. */
  readonly deep: boolean;
}

/** `[JRN-4]`, `[JRN-4, RPL-2]`. */
const CITED = /\s*\[([A-Z]+-\d+(?:, [A-Z]+-\d+)*)\]/g;
const TESTS = /^((packages|examples)\/[^/]+\/test|conformance|scripts\/test)\/.*\.test\.ts$/;
const PORT_SUITES = /^packages\/testkit\/src\/ports\/[^/]+-suite\.ts$/;
const RUNNERS = new Set(['describe', 'it', 'test']);
const CHECKS = new Set(['check', 'titled']);
const SKIPPING = new Set(['skip', 'skipIf', 'runIf', 'todo', 'fails']);
/** Stands for a filled-in part; no source contains it. */
const HOLE = '\u0000';

/** The ids that a title cites. */
export function idsIn(title: string): readonly string[] {
  return [...title.matchAll(CITED)].flatMap(([, ids = '']) => ids.split(', '));
}

/** The title of a test or of a suite, as the source has it; `…` for each filled-in part. */
export interface TestTitle {
  readonly text: string;
  readonly file: string;
  readonly line: number;
  /** It is the title of a suite, not of a test. */
  readonly suite: boolean;
}

/** The title of every test and suite, without the clauses that it cites. */
export function readTitles(tree: Tree): readonly TestTitle[] {
  const found: TestTitle[] = [];
  for (const file of [...tree.keys()].filter((name) => TESTS.test(name)).sort()) {
    const visit = (node: ts.Node): void => {
      const title = titleOfTest(node);
      const text = title?.text.replace(CITED, '').replaceAll(HOLE, '…');
      if (title !== undefined && text !== undefined)
        found.push({ text, file, line: lineOf(node), suite: title.runner === 'describe' });
      ts.forEachChild(node, visit);
    };
    visit(parse(tree, file));
  }
  return found;
}

/** Suites of which a share may run no test: vitest fails a suite that is empty. Each is deep itself, or has a test that is not. */
export function emptyBesideDeep(tree: Tree): readonly TestTitle[] {
  const found: TestTitle[] = [];
  const mayHold = ([name, text]: readonly [string, string]): boolean => TESTS.test(name) && text.includes('deep');
  for (const [file] of [...tree].filter(mayHold).sort()) {
    const hasTest = (node: ts.Node): boolean => {
      if (isDeep(node)) return false;
      const runner = titleOfTest(node)?.runner;
      return (runner !== undefined && runner !== 'describe') || (ts.forEachChild(node, hasTest) ?? false);
    };
    const visit = (node: ts.Node): void => {
      const title = titleOfTest(node);
      if (title?.runner === 'describe' && holdsDeep(node) && !(ts.forEachChild(node, hasTest) ?? false))
        found.push({ text: title.text, file, line: lineOf(node), suite: true });
      ts.forEachChild(node, visit);
    };
    visit(parse(tree, file));
  }
  return found;
}

function holdsDeep(node: ts.Node): boolean {
  return ts.forEachChild(node, (child) => isDeep(child) || holdsDeep(child)) ?? false;
}

/** Every title of the tests that cites a clause. */
export function readCitations(tree: Tree): readonly Citation[] {
  const files = [...tree.keys()].sort();
  return [
    ...files.filter((file) => TESTS.test(file)).flatMap((file) => citationsIn(tree, file, titleOfTest, false)),
    ...files.filter((file) => PORT_SUITES.test(file)).flatMap((file) => citationsIn(tree, file, titleOfCheck, true)),
  ];
}

/** A title as the source has it, with {@link HOLE} for each part that is filled in. */
interface Title {
  readonly text: string;
  readonly skipping: string | undefined;
  /** The function that takes it: `describe`, `it`, `check`. */
  readonly runner: string;
}

function citationsIn(tree: Tree, file: string, titleOf: (node: ts.Node) => Title | undefined, port: boolean) {
  const found: Citation[] = [];
  const visit = (node: ts.Node, path: readonly string[], skipped: string | undefined, deep: boolean): void => {
    const title = titleOf(node);
    if (title === undefined) return ts.forEachChild(node, (child) => visit(child, path, skipped, deep || isDeep(node)));
    const inner = [...path, title.text.replace(CITED, '').replaceAll(HOLE, '…')];
    const why = skipped ?? title.skipping;
    const ids = idsIn(title.text);
    if (ids.length > 0)
      found.push({ ids, file, line: lineOf(node), path: inner, runs: patternOf(title.text), port, skipped: why, deep });
    ts.forEachChild(node, (child) => visit(child, inner, why, deep));
  };
  visit(parse(tree, file), [], undefined, file in DEEP);
  return found;
}

/** `deep('…', () => { … })` of `conformance/part.ts`. */
function isDeep(node: ts.Node): boolean {
  return ts.isCallExpression(node) && namesOf(node.expression)[0] === 'deep';
}

/** `describe('…')`, `it.each(rows)('…')`. */
function titleOfTest(node: ts.Node): Title | undefined {
  if (!ts.isCallExpression(node)) return undefined;
  const names = namesOf(node.expression);
  if (!RUNNERS.has(names[0] ?? '') || node.arguments.length < 2) return undefined;
  const text = textOf(node.arguments[0]);
  if (text === undefined) return undefined;
  const filled = names.includes('each') ? text.replace(/%[a-z#]|\$[\w#.]+/g, HOLE) : text;
  return { text: filled, skipping: names.find((name) => SKIPPING.has(name)), runner: names[0] ?? '' };
}

/** `check('…')`, `titled('…')`. */
function titleOfCheck(node: ts.Node): Title | undefined {
  if (!ts.isCallExpression(node)) return undefined;
  const [runner = ''] = namesOf(node.expression);
  const text = CHECKS.has(runner) ? textOf(node.arguments[0]) : undefined;
  return text === undefined ? undefined : { text, skipping: undefined, runner };
}

/** The names of a callee, the root first: `it`, `each` of `it.each(rows)`. */
function namesOf(callee: ts.Expression): readonly string[] {
  if (ts.isIdentifier(callee)) return [callee.text];
  if (ts.isPropertyAccessExpression(callee)) return [...namesOf(callee.expression), callee.name.text];
  if (ts.isCallExpression(callee)) return namesOf(callee.expression);
  return [];
}

function textOf(node: ts.Node | undefined): string | undefined {
  if (node === undefined) return undefined;
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return undefined;
  return node.head.text + node.templateSpans.map((span) => HOLE + span.literal.text).join('');
}

function patternOf(text: string): RegExp {
  const parts = text.split(HOLE).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's');
}
