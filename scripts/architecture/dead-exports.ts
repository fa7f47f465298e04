/** Exports without an import: each is a promise without a user. */
import ts from 'typescript';
import { exportedDeclarations } from './docstrings.js';
import { exportsOf, resolveImport } from './imports.js';
import { REACHED_OTHERWISE } from './rules.js';
import { lineOf, type Problem, packageSources, parse, type Tree } from './tree.js';

/** A name that a file exports, and where the file has it from when it only passes it on. */
interface Exported {
  readonly node: ts.Node;
  readonly from?: { readonly file: string; readonly name: string };
}

/** Stands for every name of a file. */
const ALL = '*';

/** Every exported name of the packages' sources is imported by another file, or a package entry offers it. */
export function checkDeadExports(tree: Tree): readonly Problem[] {
  const reach = new Reach(tree);
  for (const entry of entriesOf(tree)) reach.use(entry, ALL);
  for (const file of tree.keys()) {
    if (/\.(ts|mts|tsx|mjs)$/.test(file)) for (const [target, name] of importedBy(tree, file)) reach.use(target, name);
  }
  return packageSources(tree).flatMap((file) =>
    [...reach.exportsOf(file)]
      .filter(([name]) => !reach.isUsed(file, name) && REACHED_OTHERWISE[`${file}#${name}`] === undefined)
      .map(([name, { node, from }]) => ({
        file,
        line: lineOf(node),
        what: `nothing imports the exported name ${name}`,
        use: from === undefined ? 'it in another file, or drop `export`' : 'it in another file, or drop the line',
      })),
  );
}

function entriesOf(tree: Tree): readonly string[] {
  const folders = [...tree.keys()].flatMap((file) => /^packages\/([^/]+)\/package\.json$/.exec(file)?.[1] ?? []);
  return folders.flatMap((folder) => [...exportsOf(tree, folder).values()]).filter((file) => tree.has(file));
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
  const found: (readonly [string, string])[] = [];
  const add = (specifier: ts.Node | undefined, names: readonly string[]): void => {
    if (specifier === undefined || !ts.isStringLiteralLike(specifier)) return;
    const target = resolveImport(tree, file, specifier.text);
    if (target !== undefined && target !== file) found.push(...names.map((name) => [target, name] as const));
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, namesOf(node));
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node.argument.literal, [ALL]);
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      add(node.arguments[0], [ALL]);
    ts.forEachChild(node, visit);
  };
  visit(parse(tree, file));
  return found;
}

function namesOf({ importClause }: ts.ImportDeclaration): readonly string[] {
  const bindings = importClause?.namedBindings;
  if (bindings === undefined) return [];
  if (ts.isNamespaceImport(bindings)) return [ALL];
  return bindings.elements.map(({ name, propertyName }) => (propertyName ?? name).text);
}
