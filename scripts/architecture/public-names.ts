/** What users get: the names that the entries of `packages/reprise` pass on, each at the file that declares it. */
import ts from 'typescript-5';
import { exportedDeclarations } from './docstrings.js';
import { exportsOf, resolveImport } from './imports.js';
import { parse, type Tree } from './tree.js';

/** The names of each file that users can import. */
export function publicNames(tree: Tree): ReadonlyMap<string, ReadonlySet<string>> {
  const walk = new Walk(tree);
  for (const entry of exportsOf(tree, 'reprise').values()) walk.follow(entry, undefined);
  return walk.found;
}

class Walk {
  readonly found = new Map<string, Set<string>>();
  readonly #seen = new Set<string>();

  constructor(private readonly tree: Tree) {}

  /** Keeps the exports of a file that have the name; all of them when `only` is undefined. */
  follow(file: string, only: string | undefined): void {
    const visit = `${file} ${only ?? ''}`;
    if (this.#seen.has(visit) || !this.tree.has(file) || !file.endsWith('.ts')) return;
    this.#seen.add(visit);
    for (const statement of parse(this.tree, file).statements) {
      for (const [name] of exportedDeclarations(statement))
        if (only === undefined || only === name) this.#keep(file, name);
      if (ts.isExportDeclaration(statement)) this.#passOn(file, statement, only);
    }
  }

  #keep(file: string, name: string): void {
    this.found.set(file, (this.found.get(file) ?? new Set()).add(name));
  }

  #passOn(file: string, { exportClause, moduleSpecifier }: ts.ExportDeclaration, only: string | undefined): void {
    const target = this.#target(file, moduleSpecifier);
    if (exportClause === undefined || ts.isNamespaceExport(exportClause)) {
      if (target !== undefined) this.follow(target, exportClause === undefined ? only : undefined);
      return;
    }
    for (const { name, propertyName } of exportClause.elements) {
      if (only !== undefined && name.text !== only) continue;
      const own = (propertyName ?? name).text;
      if (target !== undefined) this.follow(target, own);
      else if (moduleSpecifier === undefined) this.#passOnLocal(file, own);
    }
  }

  /** `export { name }` without a place: declared in the file, or imported by it. */
  #passOnLocal(file: string, local: string): void {
    for (const statement of parse(this.tree, file).statements) {
      const bindings = ts.isImportDeclaration(statement) ? statement.importClause?.namedBindings : undefined;
      if (bindings === undefined || !ts.isImportDeclaration(statement) || !ts.isNamedImports(bindings)) continue;
      const found = bindings.elements.find(({ name }) => name.text === local);
      const target = this.#target(file, statement.moduleSpecifier);
      if (found !== undefined && target !== undefined)
        return this.follow(target, (found.propertyName ?? found.name).text);
    }
    this.#keep(file, local);
  }

  #target(file: string, specifier: ts.Expression | undefined): string | undefined {
    return specifier !== undefined && ts.isStringLiteral(specifier)
      ? resolveImport(this.tree, file, specifier.text)
      : undefined;
  }
}
