/**
 * The input and the results of the architecture checks. A check is a function from a tree of texts to problems, so that
 * the tests can plant a broken source and see it named (see `scripts/test/architecture-mutants.test.ts`).
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript-5';

/** Files by their path from the top of the repository, with forward slashes. */
export type Tree = ReadonlyMap<string, string>;

/** One broken rule, at one place. */
export interface Problem {
  readonly file: string;
  readonly line: number;
  readonly what: string;
  /** The replacement. */
  readonly use?: string;
}

/** A problem as a line of text that an editor can jump to. */
export function formatProblem({ file, line, what, use }: Problem): string {
  return `${file}:${line}: ${what}${use === undefined ? '' : `; use ${use}`}`;
}

const IGNORED = new Set(['node_modules', 'dist', '.git', '.types', 'coverage', 'worlds', 'vectors', 'goldens']);
/** What `npm run release -- --dry` leaves at the top. */
const MADE = 'release';
const READ = /\.(tsx?|mjs|jsx?|json|svg|md)$|(^|\/)(LICENSE|\.npmrc|run)$/;

/** It has a name, to which documents link, and no text. */
const PICTURE = /\.png$/;

/** Reads the repository's texts. */
export function readTree(root: string): Tree {
  const files = new Map<string, string>();
  const walk = (folder: string): void => {
    for (const entry of readdirSync(path.join(root, folder), { withFileTypes: true })) {
      const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory() && !IGNORED.has(entry.name) && name !== MADE) walk(name);
      else if (entry.isFile() && PICTURE.test(name)) files.set(name, '');
      else if (entry.isFile() && READ.test(name)) files.set(name, readFileSync(path.join(root, name), 'utf8'));
    }
  };
  walk('');
  return files;
}

const parsed = new WeakMap<Tree, Map<string, ts.SourceFile>>();

/** The syntax tree of a TypeScript file, parsed once per tree. */
export function parse(tree: Tree, file: string): ts.SourceFile {
  const known = parsed.get(tree) ?? new Map<string, ts.SourceFile>();
  parsed.set(tree, known);
  const source = known.get(file) ?? ts.createSourceFile(file, tree.get(file) ?? '', ts.ScriptTarget.ES2022, true);
  known.set(file, source);
  return source;
}

/** The line of a node, counted from 1. */
export function lineOf(node: ts.Node): number {
  const source = node.getSourceFile();
  return source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
}

/** The line of an offset in a text, counted from 1. */
export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

/** The TypeScript sources of the packages, `packages/<package>/src/**`. */
export function packageSources(tree: Tree): readonly string[] {
  return [...tree.keys()].filter((file) => /^packages\/[^/]+\/src\/.+\.ts$/.test(file)).sort();
}

/** Every TypeScript file of the packages and examples, tests and measurements included. */
export function allSources(tree: Tree): readonly string[] {
  return [...tree.keys()].filter((file) => /^(packages|examples)\/[^/]+\/.+\.tsx?$/.test(file)).sort();
}

/** The TypeScript sources of the conformance suite. */
export function conformanceSources(tree: Tree): readonly string[] {
  return [...tree.keys()].filter((file) => /^conformance\/.+\.ts$/.test(file)).sort();
}

/** The package folder a file belongs to: `packages/kernel`, `examples/headless-world`. */
export function packageOf(file: string): string {
  return file.split('/').slice(0, 2).join('/');
}

/** A JSON object of which nothing is known yet. */
export type Json = Readonly<Record<string, unknown>>;

/** Reads a JSON file of the tree; an empty object when the file is absent. */
export function json(tree: Tree, file: string): Json {
  const text = tree.get(file);
  return objectIn(text === undefined ? undefined : JSON.parse(text));
}

/** A value as an object; empty for any other value, so that the check for a field reports the field as missing. */
export function objectIn(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

/** A problem at each place of a file that is one. */
export function problemsAt(
  tree: Tree,
  file: string,
  isProblem: (node: ts.Node) => boolean,
  said: Pick<Problem, 'what' | 'use'>,
): readonly Problem[] {
  const source = parse(tree, file);
  const problems: Problem[] = [];
  const visit = (node: ts.Node): void => {
    if (isProblem(node)) problems.push({ file, line: lineAt(source.text, node.getStart()), ...said });
    node.forEachChild(visit);
  };
  visit(source);
  return problems;
}
