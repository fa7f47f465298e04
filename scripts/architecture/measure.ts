/**
 * The measures of the sources that a machine can count, one table: run it before and after a change of shape, with
 * `npx tsx --conditions=@reprise/source scripts/architecture/measure.ts [folder of a checkout]`. It judges nothing; what
 * must stay 0 is a rule of `scripts/test/architecture.test.ts`.
 */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript-5';
import { readEntries } from '../api/entries.js';
import { FOLDERS } from './folders.js';
import { exportsOf, importsOf, resolveImport } from './imports.js';
import { docstringsOf, SHORT_WORDS } from './short-docstrings.js';
import { packageOf, packageSources, parse, readTree, type Tree } from './tree.js';

/** The most files that a folder may have before it counts as crowded. */
const CROWDED = 20;

interface Counts {
  files: number;
  lines: number;
  /** Lines that are blank or in a comment are not code; a line with both counts as code. */
  code: number;
  comments: number;
  casts: number;
  /** `as unknown as X`, counted once and apart from {@link casts}. */
  doubleCasts: number;
}

const NOTHING: Counts = { files: 0, lines: 0, code: 0, comments: 0, casts: 0, doubleCasts: 0 };

function countsOf(tree: Tree, files: readonly string[]): Counts {
  const counts = { ...NOTHING, files: files.length };
  for (const file of files) {
    const source = parse(tree, file);
    const { comments, code, lines } = linesOf(source);
    counts.lines += lines;
    counts.comments += comments;
    counts.code += code;
    const { casts, doubleCasts } = castsOf(source);
    counts.casts += casts;
    counts.doubleCasts += doubleCasts;
  }
  return counts;
}

/** A line is code when a token stands on it, a comment when only a comment does. */
function linesOf(source: ts.SourceFile): { lines: number; code: number; comments: number } {
  const { text } = source;
  const code = new Set<number>();
  const comments = new Set<number>();
  const lineAt = (offset: number): number => source.getLineAndCharacterOfPosition(offset).line;
  const keep = (lines: Set<number>, from: number, to: number): void => {
    for (let line = lineAt(from); line <= lineAt(Math.max(from, to - 1)); line++) lines.add(line);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isJSDoc(node)) return;
    for (const range of ts.getLeadingCommentRanges(text, node.getFullStart()) ?? [])
      keep(comments, range.pos, range.end);
    for (const range of ts.getTrailingCommentRanges(text, node.end) ?? []) keep(comments, range.pos, range.end);
    const children = node.getChildren(source);
    if (children.length === 0 && node.end > node.getStart(source)) keep(code, node.getStart(source), node.end);
    for (const child of children) visit(child);
  };
  visit(source);
  const alone = [...comments].filter((line) => !code.has(line)).length;
  return { lines: text.split('\n').length - 1, code: code.size, comments: alone };
}

function castsOf(source: ts.SourceFile): { casts: number; doubleCasts: number } {
  let [casts, doubleCasts] = [0, 0];
  const visit = (node: ts.Node): void => {
    if (ts.isAsExpression(node) && !ts.isConstTypeReference(node.type)) {
      const inner = withoutParentheses(node.expression);
      if (ts.isAsExpression(inner) && inner.type.kind === ts.SyntaxKind.UnknownKeyword) {
        doubleCasts++;
        return visit(inner.expression);
      }
      casts++;
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return { casts, doubleCasts };
}

function withoutParentheses(node: ts.Expression): ts.Expression {
  return ts.isParenthesizedExpression(node) ? withoutParentheses(node.expression) : node;
}

/** Pairs of first-level folders of one package that import each other by value, `.` being the top of `src`. */
function foldersInPairs(tree: Tree): readonly string[] {
  const edges = new Set<string>();
  for (const file of packageSources(tree)) {
    for (const { specifier, typeOnly } of importsOf(tree, file)) {
      const target = typeOnly ? undefined : resolveImport(tree, file, specifier);
      if (target === undefined || packageOf(target) !== packageOf(file)) continue;
      const [home, from, to] = [packageOf(file), firstFolder(file), firstFolder(target)];
      if (from !== to) edges.add(`${home} ${from} ${to}`);
    }
  }
  return [...edges].flatMap((edge) => {
    const [home = '', from = '', to = ''] = edge.split(' ');
    return from < to && edges.has(`${home} ${to} ${from}`) ? [`${home}/src: ${from} ↔ ${to}`] : [];
  });
}

function firstFolder(file: string): string {
  const rest = file.split('/').slice(3);
  return rest.length > 1 ? (rest[0] ?? '.') : '.';
}

/** Folders with more than {@link CROWDED} sources directly in them, the fullest first. */
function crowdedFolders(files: readonly string[]): readonly string[] {
  const sizes = new Map<string, number>();
  for (const file of files) {
    const folder = path.posix.dirname(file);
    sizes.set(folder, (sizes.get(folder) ?? 0) + 1);
  }
  return [...sizes]
    .filter(([, size]) => size > CROWDED)
    .sort(([, a], [, b]) => b - a)
    .map(([folder, size]) => `${folder} ${size}`);
}

function publicNamesOf(root: string): { reprise: readonly string[]; workspaces: readonly string[] } {
  const entries = readEntries(root);
  const names = (isOwn: boolean): readonly string[] => [
    ...new Set(
      entries
        .filter(({ specifier }) => /^reprise(\/|$)/.test(specifier) === isOwn)
        .flatMap(({ offers }) => offers.map(({ name }) => name)),
    ),
  ];
  return { reprise: names(true), workspaces: names(false) };
}

const HEADS = [
  'package',
  'files',
  'lines',
  'comments : code',
  'casts per 1,000 lines',
  'as X',
  'as unknown as X',
  'docstrings',
  `public, ≤ ${SHORT_WORDS} words`,
  `private, ≤ ${SHORT_WORDS} words`,
];

function report(root: string): string {
  const tree = readTree(root);
  const files = packageSources(tree);
  const homes = [...new Set(files.map(packageOf))].sort();
  const docs = docstringsOf(tree);
  const row = (name: string, own: readonly string[]): string => {
    const counts = countsOf(tree, own);
    const inside = new Set(own);
    const short = docs.filter(({ file, words }) => inside.has(file) && words <= SHORT_WORDS);
    return `| ${[
      name,
      counts.files,
      counts.lines,
      (counts.comments / counts.code).toFixed(2),
      ((1000 * (counts.casts + counts.doubleCasts)) / counts.lines).toFixed(1),
      counts.casts,
      counts.doubleCasts,
      docs.filter(({ file }) => inside.has(file)).length,
      short.filter(({ isPublic }) => isPublic).length,
      short.filter(({ isPublic }) => !isPublic).length,
    ].join(' | ')} |`;
  };
  const engine = 'packages/kernel/src/pure/engine/';
  const pairs = foldersInPairs(tree);
  const crowded = crowdedFolders(files);
  const withRow = homes.filter((home) => FOLDERS[home.slice('packages/'.length)] !== undefined);
  const names = publicNamesOf(root);
  const list = (title: string, lines: readonly (string | number)[]): string =>
    [`${title}: ${lines.length}`, ...lines.map((line) => `  ${line}`)].join('\n');
  return [
    `| ${HEADS.join(' | ')} |`,
    `| --- |${' --: |'.repeat(HEADS.length - 1)}`,
    ...homes.map((home) =>
      row(
        home,
        files.filter((file) => packageOf(file) === home),
      ),
    ),
    row(
      'the engine (kernel/src/pure/engine)',
      files.filter((file) => file.startsWith(engine)),
    ),
    row('all packages', files),
    '',
    list('pairs of first-level folders that import each other by value', pairs),
    list(`folders with more than ${CROWDED} files`, crowded),
    `packages with a row of folder rules: ${withRow.length} of ${homes.length}, missing: ${homes.filter((home) => !withRow.includes(home)).join(', ') || 'none'}`,
    `public names: ${names.reprise.length} distinct names in ${[...exportsOf(tree, 'reprise')].filter(([, file]) => file.endsWith('.ts')).length} entries of reprise; ${names.workspaces.length} in the entries of the other packages`,
  ].join('\n');
}

const here = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
process.stdout.write(`${report(path.resolve(process.argv[2] ?? here))}\n`);
