import ts from 'typescript-5';
import { exportsOf, resolveImport } from './imports.js';
import { lineOf, type Problem, packageOf, parse, type Tree } from './tree.js';

/** Every public name of a package has a JSDoc comment at its declaration. */
export function checkDocstrings(tree: Tree): readonly Problem[] {
  const entries = new Set<string>();
  for (const file of tree.keys()) {
    const manifest = /^packages\/([^/]+)\/package\.json$/.exec(file);
    if (manifest?.[1] === undefined) continue;
    for (const [subpath, source] of exportsOf(tree, manifest[1])) if (subpath !== './package.json') entries.add(source);
  }
  const offered = new Map<string, Offered>();
  for (const entry of [...entries].sort()) collect(tree, entry, undefined, offered);
  return [...offered.values()]
    .filter(({ declarations }) => !declarations.some(isDocumented))
    .map(({ name, file, declarations }) => ({
      file,
      line: lineOf(declarations[0] ?? parse(tree, file)),
      what: `exported name ${name} has no docstring`,
      use: 'a sentence that says what it is for',
    }));
}

interface Offered {
  readonly name: string;
  readonly file: string;
  readonly declarations: ts.Node[];
}

/** Follows exports of a file to their declarations; `only` limits it to the names that are passed on. */
function collect(tree: Tree, file: string, only: ReadonlySet<string> | undefined, offered: Map<string, Offered>): void {
  if (!tree.has(file)) return;
  for (const statement of parse(tree, file).statements) {
    if (ts.isExportDeclaration(statement)) collectExport(tree, file, statement, only, offered);
    else
      for (const [name, declaration] of exportedDeclarations(statement)) keep(file, name, declaration, only, offered);
  }
}

function collectExport(
  tree: Tree,
  file: string,
  statement: ts.ExportDeclaration,
  only: ReadonlySet<string> | undefined,
  offered: Map<string, Offered>,
): void {
  const clause = statement.exportClause;
  const chosen =
    clause !== undefined && ts.isNamedExports(clause)
      ? clause.elements
          .filter((element) => only === undefined || only.has(element.name.text))
          .map((element) => (element.propertyName ?? element.name).text)
      : undefined;
  if (statement.moduleSpecifier === undefined) return keepLocal(tree, file, new Set(chosen), offered);
  if (!ts.isStringLiteral(statement.moduleSpecifier)) return;
  const target = resolveImport(tree, file, statement.moduleSpecifier.text);
  if (target === undefined || packageOf(target) !== packageOf(file)) return;
  collect(tree, target, chosen === undefined ? only : new Set(chosen), offered);
}

/** `export { a }` of names that the file declares without the keyword, or has imported from its own package. */
function keepLocal(tree: Tree, file: string, names: ReadonlySet<string>, offered: Map<string, Offered>): void {
  for (const statement of parse(tree, file).statements) {
    for (const [name, declaration] of declarationsOf(statement)) keep(file, name, declaration, names, offered);
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) continue;
    const bindings = statement.importClause?.namedBindings;
    if (bindings === undefined || !ts.isNamedImports(bindings)) continue;
    const target = resolveImport(tree, file, statement.moduleSpecifier.text);
    if (target === undefined || packageOf(target) !== packageOf(file)) continue;
    const passed = bindings.elements.filter((element) => names.has(element.name.text));
    if (passed.length === 0) continue;
    collect(tree, target, new Set(passed.map((element) => (element.propertyName ?? element.name).text)), offered);
  }
}

function keep(
  file: string,
  name: string,
  declaration: ts.Node,
  only: ReadonlySet<string> | undefined,
  offered: Map<string, Offered>,
): void {
  if (only !== undefined && !only.has(name)) return;
  const key = `${file} ${name}`;
  const known = offered.get(key) ?? { name, file, declarations: [] };
  offered.set(key, known);
  known.declarations.push(declaration);
}

/** The declarations and exports of a statement, by name. */
export function exportedDeclarations(statement: ts.Statement): readonly (readonly [string, ts.Node])[] {
  const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
  const exported = modifiers.some((modifier) => modifier.kind === ts.SyntaxKind.ExportKeyword);
  return exported ? declarationsOf(statement) : [];
}

function declarationsOf(statement: ts.Statement): readonly (readonly [string, ts.Node])[] {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations
      .filter((declaration) => ts.isIdentifier(declaration.name))
      .map((declaration) => [declaration.name.getText(), statement]);
  }
  const named =
    ts.isFunctionDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement) ||
    ts.isEnumDeclaration(statement);
  return named && statement.name !== undefined ? [[statement.name.text, statement]] : [];
}

function isDocumented(node: ts.Node): boolean {
  return ts.getJSDocCommentsAndTags(node).some((doc) => {
    const text = ts.isJSDoc(doc) ? ts.getTextOfJSDocComment(doc.comment) : undefined;
    return text !== undefined && text.trim().length >= 10;
  });
}
