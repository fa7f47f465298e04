import { isBuiltin } from 'node:module';
import path from 'node:path';
import ts from 'typescript-5';
import { FLOORS, FOLDERS } from './folders.js';
import { HOST_FREE, LIBRARIES, NODE_FOLDERS, PACKAGES } from './rules.js';
import {
  allSources,
  conformanceSources,
  json,
  lineOf,
  objectIn,
  type Problem,
  packageOf,
  packageSources,
  parse,
  type Tree,
} from './tree.js';

/** One import, export-from, `import()` or `import('…')` type of a file. */
export interface Import {
  readonly file: string;
  readonly line: number;
  readonly specifier: string;
  /** Erased by the compiler: it orders nothing at run time. */
  readonly typeOnly: boolean;
}

/** The imports of a file. */
export function importsOf(tree: Tree, file: string): readonly Import[] {
  const found: Import[] = [];
  const add = (node: ts.Node, specifier: ts.Node | undefined, typeOnly: boolean): void => {
    if (specifier === undefined || !ts.isStringLiteralLike(specifier)) return;
    found.push({ file, line: lineOf(node), specifier: specifier.text, typeOnly });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) add(node, node.moduleSpecifier, node.importClause?.isTypeOnly === true);
    else if (ts.isExportDeclaration(node)) add(node, node.moduleSpecifier, node.isTypeOnly);
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node, node.argument.literal, true);
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      add(node, node.arguments[0], false);
    ts.forEachChild(node, visit);
  };
  visit(parse(tree, file));
  return found;
}

/** Packages import packages as the table permits, name every library they use, and reach others only by their name. */
export function checkPackages(tree: Tree): readonly Problem[] {
  const problems: Problem[] = [];
  for (const file of allSources(tree)) {
    for (const found of importsOf(tree, file)) problems.push(...packageProblems(tree, found));
  }
  return problems;
}

function packageProblems(tree: Tree, found: Import): readonly Problem[] {
  const { file, line, specifier } = found;
  const home = packageOf(file);
  if (specifier.startsWith('.')) {
    const target = path.posix.join(path.posix.dirname(file), specifier);
    // A test is not published: it may use the internals of another package, and share its helpers.
    if (target.startsWith(`${home}/`) || file.startsWith(`${home}/test/`)) return [];
    return [{ file, line, what: `${specifier} reaches into another package`, use: 'its name and an exported subpath' }];
  }
  if (specifier.startsWith('node:')) return [];
  const [name, subpath] = splitSpecifier(specifier);
  const problems: Problem[] = [];
  const other = workspaceFolder(name);
  if (other !== undefined && subpath !== '.' && !exportsOf(tree, other).has(subpath)) {
    problems.push({ file, line, what: `${name} does not export ${subpath}`, use: 'one of its exported subpaths' });
  }
  if (!file.startsWith(`${home}/src/`)) return problems;
  if (other === undefined && isBuiltin(name)) {
    return [...problems, { file, line, what: `built-in module ${name} without its prefix`, use: `node:${name}` }];
  }
  const manifest = json(tree, `${home}/package.json`);
  if (specifier.startsWith('#') && objectIn(manifest.imports)[specifier] !== undefined) return problems;
  const { dependencies, peerDependencies, optionalDependencies } = manifest;
  const declared = [dependencies, peerDependencies, optionalDependencies].map(objectIn);
  // A package of types alone is declared as what it is.
  const names = [name, `@types/${name}`];
  if (!declared.some((one) => names.some((known) => one[known] !== undefined)) && name !== manifest.name) {
    problems.push({ file, line, what: `${home}/package.json does not declare ${name}`, use: 'a declared dependency' });
  }
  if (home.startsWith('packages/')) problems.push(...layerProblems(found, home.slice('packages/'.length), name, other));
  return problems;
}

function layerProblems(found: Import, home: string, name: string, other: string | undefined): readonly Problem[] {
  const { file, line } = found;
  const allowed = PACKAGES[home];
  if (allowed === undefined) return [{ file, line, what: `package ${home} is not in the table PACKAGES` }];
  if (other !== undefined && other !== home && !allowed.includes(other)) {
    const use = 'a port that the lower package defines, and an import that points up the list';
    return [{ file, line, what: `upward import: ${home} may not import ${other}`, use }];
  }
  const rule = LIBRARIES[name];
  if (rule === undefined || rule.only.some((folder) => file.startsWith(`${folder}/`))) return [];
  return [{ file, line, what: `${name} may not be imported here: ${rule.why}` }];
}

/**
 * The conformance suite holds what another implementation would have to meet: it reaches packages by what they export,
 * examples by their files, and nothing else of this repository.
 */
export function checkConformance(tree: Tree): readonly Problem[] {
  return conformanceSources(tree)
    .flatMap((file) => importsOf(tree, file))
    .flatMap((found) => conformanceProblem(tree, found) ?? []);
}

function conformanceProblem(tree: Tree, { file, line, specifier }: Import): Problem | undefined {
  if (specifier.startsWith('.')) {
    const target = path.posix.join(path.posix.dirname(file), specifier);
    if (/^(conformance|examples)\//.test(target)) return undefined;
    const use = 'an exported subpath of a package; a test of our own internals belongs to its package or to scripts';
    return { file, line, what: `${specifier} reaches past the public entry points`, use };
  }
  const [name, subpath] = splitSpecifier(specifier);
  const folder = workspaceFolder(name);
  if (folder === undefined || exportsOf(tree, folder).has(subpath)) return undefined;
  return { file, line, what: `${name} does not export ${subpath}`, use: 'one of its exported subpaths' };
}

/** Folders of a package import each other as the table permits. */
export function checkFolders(tree: Tree): readonly Problem[] {
  const problems: Problem[] = [];
  for (const file of packageSources(tree)) {
    const home = file.split('/')[1] ?? '';
    const table = FOLDERS[home];
    if (table === undefined) {
      problems.push({ file, line: 1, what: `package ${home} has no row in the table FOLDERS` });
      continue;
    }
    const folder = folderOf(file);
    const allowed = table[folder];
    if (allowed === undefined) {
      problems.push({ file, line: 1, what: `folder ${folder} of ${home} is not in the table FOLDERS` });
      continue;
    }
    for (const { line, specifier, typeOnly } of importsOf(tree, file)) {
      const target = resolveImport(tree, file, specifier);
      if (target === undefined || packageOf(target) !== packageOf(file)) continue;
      const to = folderOf(target);
      if (to === folder || allowed.some((one) => stands(one, to))) continue;
      if (typeOnly && isOneFloor(home, folder, to)) continue;
      const known = allowed.length === 0 ? 'no other folder' : allowed.join(', ');
      problems.push({ file, line, what: `upward import: ${home}/${folder} may not import ${to}`, use: known });
    }
  }
  return problems;
}

/** The tables themselves: a folder table with a circle would forbid nothing. */
export function checkTables(): readonly Problem[] {
  const file = 'scripts/architecture/rules.ts';
  const tables = [['PACKAGES', PACKAGES] as const, ...Object.entries(FOLDERS)];
  return tables.flatMap(([name, table]) =>
    circles(new Map(Object.entries(table).map(([from, to]) => [from, expand(Object.keys(table), from, to)]))).map(
      (circle) => ({
        file,
        line: 1,
        what: `table ${name} runs in a circle: ${circle.join(' → ')}`,
      }),
    ),
  );
}

/** Packages that also run in browsers use nothing of a host, and nothing of their folders for Node. */
export function checkHostFree(tree: Tree): readonly Problem[] {
  const problems: Problem[] = [];
  for (const file of packageSources(tree)) {
    if (!HOST_FREE.includes(file.split('/')[1] ?? '') || nodeFolderOf(file) !== undefined) continue;
    for (const { line, specifier } of importsOf(tree, file)) {
      if (isOfNode(tree, file, specifier)) {
        problems.push({ file, line, what: `${specifier} is for Node`, use: 'a type of this package that it fills' });
      }
      if (!isBuiltin(specifier)) continue;
      problems.push({ file, line, what: `${specifier} is not there in browsers`, use: 'a port that a driver fills' });
    }
  }
  return problems;
}

/** The folder for Node in which a file of such a package stands. */
function nodeFolderOf(file: string): string | undefined {
  return Object.keys(NODE_FOLDERS).find((folder) => file.startsWith(`${folder}/`));
}

/** Whether an import of a file that is for every host reaches what only a folder for Node may use. */
function isOfNode(tree: Tree, file: string, specifier: string): boolean {
  const target = resolveImport(tree, file, specifier);
  if (target !== undefined && packageOf(target) === packageOf(file)) return nodeFolderOf(target) !== undefined;
  const only = Object.entries(NODE_FOLDERS).filter(([folder]) => packageOf(folder) === packageOf(file));
  const other = workspaceFolder(splitSpecifier(specifier)[0]);
  return other !== undefined && only.some(([, packages]) => packages.includes(other));
}

/** No file imports itself: a cycle of value imports runs in an accidental order. Type-only imports do not count. */
export function checkCycles(tree: Tree): readonly Problem[] {
  const graph = new Map<string, Set<string>>();
  const lines = new Map<string, number>();
  for (const file of packageSources(tree)) {
    const targets = new Set<string>();
    for (const found of importsOf(tree, file)) {
      const target = found.typeOnly ? undefined : resolveImport(tree, file, found.specifier);
      if (target === undefined) continue;
      targets.add(target);
      lines.set(`${file} ${target}`, lines.get(`${file} ${target}`) ?? found.line);
    }
    graph.set(file, targets);
  }
  return circles(graph).map((circle) => {
    const [first = '', second = ''] = circle;
    const what = `import circle: ${circle.join(' → ')}`;
    return { file: first, line: lines.get(`${first} ${second}`) ?? 1, what, use: 'a third file, or `import type`' };
  });
}

/** The source file behind an import, for relative paths and for packages of this repository. */
export function resolveImport(tree: Tree, file: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) {
    const target = path.posix.join(path.posix.dirname(file), specifier);
    const candidates = [target.replace(/\.js$/, '.ts'), target, `${target}/index.ts`];
    return candidates.find((candidate) => tree.has(candidate));
  }
  const [name, subpath] = splitSpecifier(specifier);
  const folder = workspaceFolder(name);
  return folder === undefined ? undefined : exportsOf(tree, folder).get(subpath);
}

/** A package's exported subpaths and the sources behind them. */
export function exportsOf(tree: Tree, folder: string): ReadonlyMap<string, string> {
  const exported = objectIn(json(tree, `packages/${folder}/package.json`).exports);
  const found = new Map<string, string>();
  for (const [subpath, target] of Object.entries(exported)) {
    const source = typeof target === 'string' ? target : objectIn(target)['@reprise/source'];
    if (typeof source === 'string') found.set(subpath, path.posix.join(`packages/${folder}`, source));
  }
  return found;
}

/** The folder of a source in its package's `src`; `.` is `src` itself. */
function folderOf(file: string): string {
  return path.posix.dirname(file).split('/').slice(3).join('/') || '.';
}

/** Whether a name of the table is a folder: it includes everything below it. */
function stands(name: string, folder: string): boolean {
  return folder === name || (name !== '.' && folder.startsWith(`${name}/`));
}

/** The folders that a row of a table names, each by itself. */
function expand(folders: readonly string[], from: string, names: readonly string[]): ReadonlySet<string> {
  return new Set(folders.filter((folder) => folder !== from && names.some((name) => stands(name, folder))));
}

/** The floor that a room is on: `pure/engine` of `pure/engine/leaf`, and of `pure/engine` itself. */
/** Whether two folders are rooms of one floor, see {@link FLOORS}. */
function isOneFloor(home: string, a: string, b: string): boolean {
  return (FLOORS[home] ?? []).some((floor) => floor === '.' || (stands(floor, a) && stands(floor, b)));
}

function splitSpecifier(specifier: string): readonly [name: string, subpath: string] {
  const parts = specifier.split('/');
  const length = specifier.startsWith('@') ? 2 : 1;
  const rest = parts.slice(length).join('/');
  return [parts.slice(0, length).join('/'), rest === '' ? '.' : `./${rest}`];
}

function workspaceFolder(name: string): string | undefined {
  if (name === 'reprise') return name;
  return name.startsWith('@reprise/') ? name.slice('@reprise/'.length) : undefined;
}

/** The circles of a graph, one per knot, each beginning and ending with its first file in order. */
function circles(graph: ReadonlyMap<string, ReadonlySet<string>>): readonly (readonly string[])[] {
  const found: string[][] = [];
  const done = new Set<string>();
  const trail: string[] = [];
  const visit = (node: string): void => {
    const at = trail.indexOf(node);
    if (at >= 0) {
      const knot = trail.slice(at);
      const first = knot.indexOf([...knot].sort()[0] ?? '');
      found.push([...knot.slice(first), ...knot.slice(0, first), knot[first] ?? '']);
      return;
    }
    if (done.has(node)) return;
    trail.push(node);
    for (const next of graph.get(node) ?? []) visit(next);
    trail.pop();
    done.add(node);
  };
  for (const node of [...graph.keys()].sort()) visit(node);
  return found;
}
