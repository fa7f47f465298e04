/** What pages say of the code: tables of options, paths, commands and codes, each with its place. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript-5';

/** The text of a file, and its path from the root. */
export interface Page {
  readonly file: string;
  readonly text: string;
}

/** A table of options: where it stands, its header, and the names in its first column. */
export interface OptionTable {
  /** `docs/reference/tools.md#Options`, with the heading above it; a second one has ` 2` behind it. */
  readonly place: string;
  readonly header: string;
  readonly names: readonly string[];
}

const PAGES = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md'];
const FOLDERS = ['docs', 'packages', 'examples', 'conformance'];
const NOT_READ: ReadonlySet<string> = new Set(['node_modules', 'dist']);

/** Every page of the repository; what it says of the past, in the changelog and the decisions, is left as it was. */
export function pagesOf(root: string): Page[] {
  const files = [...PAGES, ...FOLDERS.flatMap((folder) => filesIn(root, folder, '.md'))];
  return files.filter((file) => !file.startsWith('docs/decisions/')).map((file) => read(root, file));
}

/** Every source of the packages. */
export function sourcesOf(root: string): Page[] {
  return filesIn(root, 'packages', '.ts')
    .filter((file) => /^packages\/[^/]+\/src\//.test(file))
    .map((file) => read(root, file));
}

function read(root: string, file: string): Page {
  return { file, text: readFileSync(path.join(root, file), 'utf8') };
}

function filesIn(root: string, folder: string, ending: string): string[] {
  return readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const file = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return NOT_READ.has(entry.name) ? [] : filesIn(root, file, ending);
    return entry.name.endsWith(ending) ? [file] : [];
  });
}

/** The text without the code between fences. */
function proseOf(text: string): string {
  return text.replaceAll(/^( *)```[\s\S]*?^\1```/gm, (fence) => fence.replaceAll(/[^\n]/g, ''));
}

function spansOf(line: string): string[] {
  return [...line.matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span);
}

/** A file or a folder of the repository, as pages write it. */
const PATH = /^[A-Za-z0-9@_.-]+(?:\/[A-Za-z0-9@_.-]+)*\/?$/;

/**
 * The paths in backticks that nothing is at: those that begin with a folder of the repository or of a package, and on the
 * page of the architecture every path of a source, also relative to the one named before it.
 */
export function pathsNowhere(root: string, { file, text }: Page): string[] {
  const packages = readdirSync(path.join(root, 'packages'));
  const begins = new RegExp(
    `^(?:(?:docs|packages|scripts|conformance|examples)/|(?:${packages.join('|')})/(?:src|test)/)`,
  );
  return proseOf(text)
    .split('\n')
    .flatMap((line, at) => {
      let before = '';
      return spansOf(line).flatMap((span) => {
        const isRelative = file === 'ARCHITECTURE.md' && /^[a-z-]+(?:\/[a-z-]+)*\.ts$/.test(span) && before !== '';
        if (!PATH.test(span) || !(begins.test(span) || isRelative)) return [];
        const found = placesOf(span, before).find((place) => existsSync(path.join(root, place)));
        if (found !== undefined) before = found;
        return found === undefined ? [`${file}:${at + 1}: ${span}`] : [];
      });
    });
}

/** Where a path may stand: from the root, from the packages, or from a folder above the one that was named before. */
function placesOf(span: string, before: string): string[] {
  const above: string[] = [];
  for (let folder = before; folder !== '.' && folder !== ''; folder = path.posix.dirname(folder)) above.push(folder);
  return ['.', 'packages', ...above].map((folder) => path.posix.join(folder, span));
}

const HEADER = /^\| *((?:option|bound|field|argument)s?\b[^|]*?) *\|/;

/** The tables of options in a page. */
export function optionTables({ file, text }: Page): OptionTable[] {
  const tables: OptionTable[] = [];
  let heading = '';
  const lines = text.split('\n');
  for (const [at, line] of lines.entries()) {
    heading = /^#+ (.*)$/.exec(line)?.[1] ?? heading;
    const header = HEADER.exec(line)?.[1];
    if (header === undefined || !/^\| *-/.test(lines[at + 1] ?? '')) continue;
    const end = lines.findIndex((row, i) => i > at && !row.startsWith('|'));
    const rows = lines.slice(at + 2, end === -1 ? undefined : end);
    const place = `${file}#${heading}`;
    const many = tables.filter((table) => table.place.startsWith(place)).length;
    const names = rows.flatMap((row) => spansOf(row.split('|')[1] ?? ''));
    tables.push({ place: many === 0 ? place : `${place} ${many + 1}`, header, names });
  }
  return tables;
}

/**
 * The properties of an interface.
 *
 * @param named `packages/x/src/y.ts#Name`
 */
export function propertiesOf(root: string, named: string): string[] {
  const [file = '', name = ''] = named.split('#');
  const source = ts.createSourceFile(file, read(root, file).text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  let isThere = false;
  const visit = (node: ts.Node): void => {
    if (ts.isInterfaceDeclaration(node) && node.name.text === name) {
      isThere = true;
      for (const member of node.members) if (member.name !== undefined) found.push(member.name.getText());
    } else node.forEachChild(visit);
  };
  visit(source);
  if (!isThere) throw new Error(`there is no interface ${named}`);
  return found;
}

/** A call of the command in a page: its words after `reprise`. */
export interface CommandLine {
  readonly where: string;
  readonly words: readonly string[];
}

const VERB = /^[a-z][a-z-]*$/;

/** The calls of `npx reprise` in a page or a source, also in code and in hints. */
export function commandLines({ file, text }: Page): CommandLine[] {
  return text.split('\n').flatMap((line, at) =>
    [...line.matchAll(/npx reprise ((?:[^`|#"'\n;&)]|"[^"\n]*")*)/g)].map(([, rest = '']) => ({
      where: `${file}:${at + 1}`,
      words: rest
        .replaceAll(/"[^"]*"/g, 'TEXT')
        .split(/ {2,}|\. |, |: |…/)[0]
        ?.split(/\s+/)
        .filter((word) => word !== '') as string[],
    })),
  );
}

/** What a call of the command names that the command does not have. @param helpOf the help of some verbs; '' without one */
export async function unknownIn(
  { where, words }: CommandLine,
  helpOf: (verbs: readonly string[]) => Promise<string>,
): Promise<string[]> {
  const [first = '', second = ''] = words;
  if (!VERB.test(first)) return [];
  const group = await helpOf([first]);
  // Of a command that is not there, the help is that of the one before it.
  if (!group.startsWith(`Usage: reprise ${first}`)) return [`${where}: reprise has no command ${first}`];
  const isGroup = VERB.test(second) && /^Commands:$/m.test(group);
  const inner = isGroup ? await helpOf([first, second]) : group;
  if (isGroup && !inner.startsWith(`Usage: reprise ${first} ${second}`))
    return [`${where}: reprise ${first} has no command ${second}`];
  const options = new Set(optionsIn(inner));
  const used = words.map((word) => word.replace(/=.*$/, '')).filter((word) => /^--?[a-zA-Z][a-zA-Z-]*$/.test(word));
  return used
    .filter((option) => !options.has(option))
    .map((option) => `${where}: reprise ${first} has no option ${option}`);
}

/** The options that a help lists. */
export function optionsIn(help: string): string[] {
  return help.split('\n').flatMap((line) => {
    const [, names = ''] = /^ {2}((?:-[a-zA-Z], )?-{1,2}[a-zA-Z][a-zA-Z-]*)/.exec(line) ?? [];
    return names === '' ? [] : names.split(', ');
  });
}
