/**
 * Exports without a user. The packages of this repository are workspaces of one published package, so a line in a
 * workspace's own entry uses nothing: what counts is an import by another file, or a name that an entry of
 * `packages/reprise` passes on.
 */
import ts from 'typescript-5';
import { exportedDeclarations } from './docstrings.js';
import { exportsOf, resolveImport } from './imports.js';
import { REACHED_OTHERWISE } from './reached-otherwise.js';
import { lineOf, type Problem, packageSources, parse, type Tree } from './tree.js';

/** A name that a file exports, and where the file has it from when it only passes it on. */
interface Exported {
  readonly node: ts.Node;
  readonly from?: { readonly file: string; readonly name: string };
}

/** Stands for every name of a file. */
const ALL = '*';

/** Tests of packages and examples. The testkit is made for them, so they are what uses it. */
const IS_TEST = /^(packages|examples)\/[^/]+\/test\//;
const MADE_FOR_TESTS = 'packages/testkit/';

/** Every exported name of the packages' sources is used, and by more than tests unless the table has it. */
export function checkDeadExports(tree: Tree): readonly Problem[] {
  const live = reachFrom(tree, (file) => !IS_TEST.test(file));
  const tested = reachFrom(tree, () => true);
  const found = new Set<string>();
  const problems = packageSources(tree).flatMap((file) =>
    [...live.exportsOf(file)]
      .filter(([name]) => !live.isUsed(file, name))
      .filter(([name]) => !(file.startsWith(MADE_FOR_TESTS) && tested.isUsed(file, name)))
      .filter(([name]) => found.add(rowOf(file, name)) && REACHED_OTHERWISE[rowOf(file, name)] === undefined)
      .map(([name, { node, from }]) => ({
        file,
        line: lineOf(node),
        ...(tested.isUsed(file, name) ? onlyTested(name, from) : unused(name, from)),
      })),
  );
  return [...problems, ...needlessRows(tree, found)];
}

function unused(name: string, from: Exported['from']): Pick<Problem, 'what' | 'use'> {
  const what = `nothing imports the exported name ${name}`;
  return {
    what,
    use: from === undefined ? 'it in another file, or drop `export`' : 'it in another file, or drop the line',
  };
}

function onlyTested(name: string, from: Exported['from']): Pick<Problem, 'what' | 'use'> {
  const what = `only tests import the exported name ${name}`;
  return { what, use: from === undefined ? 'what uses it in the test, or a row of REACHED_OTHERWISE' : from.file };
}

/** The row of a name: by its package, so that files can move. */
function rowOf(file: string, name: string): string {
  return `${file.split('/')[1]}#${name}`;
}

/** Rows of the table for names that are gone, or that something imports by now. */
function needlessRows(tree: Tree, found: ReadonlySet<string>): readonly Problem[] {
  const file = 'scripts/architecture/reached-otherwise.ts';
  if (!tree.has(file)) return [];
  return Object.keys(REACHED_OTHERWISE)
    .filter((row) => !found.has(row))
    .map((row) => ({ file, line: 1, what: `the row ${row} excuses nothing`, use: 'a table without it' }));
}

/** The names that are used when the entries of `reprise` and the chosen files are what uses them. */
function reachFrom(tree: Tree, isUser: (file: string) => boolean): Reach {
  const reach = new Reach(tree);
  for (const entry of exportsOf(tree, 'reprise').values()) if (tree.has(entry)) reach.use(entry, ALL);
  for (const file of tree.keys()) {
    if (isUser(file)) for (const [target, name] of importedBy(tree, file)) reach.use(target, name);
  }
  return reach;
}

/** The used names, followed through every file that re-exports them. */
class Reach {
  readonly #exports = new Map<string, ReadonlyMap<string, Exported>>();
  readonly #used = new Set<string>();

  constructor(private readonly tree: Tree) {}

  exportsOf(file: string): ReadonlyMap<string, Exported> {
    const known = this.#exports.get(file) ?? new Map(exportedBy(this.tree, file));
    this.#exports.set(file, known);
    return known;
  }

  isUsed(file: string, name: string): boolean {
    return this.#used.has(`${file} ${name}`);
  }

  use(file: string, name: string): void {
    if (!file.startsWith('packages/') || this.isUsed(file, name)) return;
    this.#used.add(`${file} ${name}`);
    if (name === ALL) for (const each of this.exportsOf(file).keys()) this.use(file, each);
    const from = this.exportsOf(file).get(name)?.from;
    if (from !== undefined) this.use(from.file, from.name);
    if (name === ALL || !this.exportsOf(file).has(name)) {
      for (const star of starsOf(this.tree, file)) this.use(star, name);
    }
  }
}

/** The names that a file declares or passes on. */
function* exportedBy(tree: Tree, file: string): Generator<readonly [string, Exported]> {
  if (!tree.has(file)) return;
  for (const statement of parse(tree, file).statements) {
    for (const [name, node] of exportedDeclarations(statement)) yield [name, { node }];
    if (!ts.isExportDeclaration(statement) || statement.exportClause === undefined) continue;
    const target = targetOf(tree, file, statement);
    if (!ts.isNamedExports(statement.exportClause)) continue;
    for (const node of statement.exportClause.elements) {
      const from = target === undefined ? {} : { from: { file: target, name: (node.propertyName ?? node.name).text } };
      yield [node.name.text, { node, ...from }];
    }
  }
}

/** The files behind `export * from`. */
function starsOf(tree: Tree, file: string): readonly string[] {
  if (!tree.has(file)) return [];
  return parse(tree, file)
    .statements.filter(ts.isExportDeclaration)
    .filter(({ exportClause }) => exportClause === undefined || ts.isNamespaceExport(exportClause))
    .flatMap((statement) => targetOf(tree, file, statement) ?? []);
}

function targetOf(tree: Tree, file: string, { moduleSpecifier }: ts.ExportDeclaration): string | undefined {
  if (moduleSpecifier === undefined || !ts.isStringLiteral(moduleSpecifier)) return undefined;
  return resolveImport(tree, file, moduleSpecifier.text);
}

/** The names that a file imports, each with the file that it names. */
function importedBy(tree: Tree, file: string): readonly (readonly [string, string])[] {
  if (file.endsWith('.md')) return codeOf(tree.get(file) ?? '').flatMap((code) => importsIn(tree, file, code));
  return /\.(ts|mts|tsx|mjs)$/.test(file) ? importsIn(tree, file, parse(tree, file)) : [];
}

/** The programs on a page: the tests run them. */
function codeOf(page: string): readonly ts.SourceFile[] {
  const blocks = [...page.matchAll(/^```(?:ts|tsx|js)\b.*\n([\s\S]*?)^```/gm)];
  return blocks.map(([, code = '']) => ts.createSourceFile('page.ts', code, ts.ScriptTarget.ES2022, true));
}

function importsIn(tree: Tree, file: string, source: ts.SourceFile): readonly (readonly [string, string])[] {
  const found: (readonly [string, string])[] = [];
  const add = (specifier: ts.Node | undefined, names: readonly string[]): void => {
    if (specifier === undefined || !ts.isStringLiteralLike(specifier)) return;
    const target = resolveImport(tree, file, specifier.text);
    if (target !== undefined && target !== file) found.push(...names.map((name) => [target, name] as const));
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, namesOf(node));
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
      add(node.argument.literal, [firstOf(node.qualifier) ?? ALL]);
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      add(node.arguments[0], loadedNames(node));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function namesOf({ importClause, parent }: ts.ImportDeclaration): readonly string[] {
  const bindings = importClause?.namedBindings;
  if (bindings === undefined) return [];
  if (ts.isNamespaceImport(bindings)) return namesBehind(bindings.name.text, parent);
  return bindings.elements.map(({ name, propertyName }) => (propertyName ?? name).text);
}

/** The names that a file reads from a namespace; all of them once it hands the namespace on. */
function namesBehind(space: string, source: ts.Node): readonly string[] {
  const names: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isNamespaceImport(node)) return;
    if (ts.isIdentifier(node) && node.text === space) names.push(nameAfter(node) ?? ALL);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return names;
}

/** `name` of `node.name`, in an expression or a type. */
function nameAfter(node: ts.Node): string | undefined {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent) && parent.expression === node) return parent.name.text;
  return ts.isQualifiedName(parent) && parent.left === node ? parent.right.text : undefined;
}

function firstOf(name: ts.EntityName | undefined): string | undefined {
  if (name === undefined) return undefined;
  return ts.isIdentifier(name) ? name.text : firstOf(name.left);
}

/** The names taken of `(await import('x')).name` and of `const { name } = await import('x')`. */
function loadedNames(call: ts.CallExpression): readonly string[] {
  if (!ts.isAwaitExpression(call.parent)) return [ALL];
  const { parent } = call.parent;
  if (ts.isVariableDeclaration(parent) && ts.isObjectBindingPattern(parent.name))
    return parent.name.elements.map(({ name, propertyName, dotDotDotToken }) =>
      dotDotDotToken === undefined ? (propertyName ?? name).getText() : ALL,
    );
  const name = ts.isParenthesizedExpression(parent) ? nameAfter(parent) : undefined;
  return [name ?? ALL];
}
