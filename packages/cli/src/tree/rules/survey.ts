/** Looks at a part of the folder, and says what is in it: with the names, numbers and sentences that the tools found. */
import type { ScriptStep } from '@reprise/providers';
import { type Folder, type FoundFile, kindOf, nameOf } from './folder.js';
import type { Called } from './reading.js';
import { sentenceOf, termsOf } from './words.js';

/** The part of the folder that a node looks at. */
export interface Place {
  /** Relative to the folder of the tree. */
  readonly path: string;
  /** Only the files of the folder itself, without its folders. */
  readonly filesOnly: boolean;
}

type Call = NonNullable<ScriptStep['calls']>[number];

const LISTED_DEPTH = 4;
const [READ_MAX, NAMED_MAX, MATCHES_MAX] = [6, 12, 6];
const DECLARED = '^(export |pub |public |def |class |func |fn |module )';

/** The call that lists a place. */
export function listing({ path, filesOnly }: Place): Call {
  return { tool: 'list_files', args: { path, depth: filesOnly ? 1 : LISTED_DEPTH, limit: 200 } };
}

/** The calls that look into a place: what describes it, and what the question asks about. */
export function looks({ path, filesOnly }: Place, folder: Folder, question: string): readonly Call[] {
  const read = worthReading(folder).map((file): Call => ({ tool: 'read_file', args: { path: file.path, limit: 40 } }));
  const search = (pattern: string, more: object): Call => ({
    tool: 'grep',
    args: { path, pattern, limit: 60, ...(filesOnly ? { name: '*.*' } : {}), ...more },
  });
  const terms = termsOf(question).map((term) => search(term, { ignore_case: true }));
  return [...read, search(DECLARED, { regex: true }), ...terms];
}

const DESCRIBES =
  /^(?:readme(?:\..*)?|package\.json|pyproject\.toml|cargo\.toml|go\.mod|index\.\w+|main\.\w+|mod\.\w+|lib\.\w+)$/i;
const TEXT =
  /\.(?:[cm]?[jt]sx?|py|rs|go|java|kt|rb|php|c|h|cc|cpp|cs|swift|scala|ex|hs|lua|sh|sql|md|txt|json|toml|ya?ml|html|css)$/i;

/** The files to read: those that describe, then the largest sources. */
function worthReading({ files }: Folder): readonly FoundFile[] {
  const texts = files.filter(({ path, bytes }) => TEXT.test(path) && bytes > 0 && bytes < 400_000);
  const rank = ({ path }: FoundFile): number =>
    DESCRIBES.test(nameOf(path)) ? 0 : /\.(?:json|ya?ml|toml)$/.test(path) ? 2 : 1;
  return texts.toSorted((a, b) => rank(a) - rank(b) || depth(a) - depth(b) || b.bytes - a.bytes).slice(0, READ_MAX);
}

function depth({ path }: FoundFile): number {
  return path.split('/').length;
}

/** The findings about a place, as text: the first paragraph is the summary. */
export function findings(place: Place, folder: Folder, question: string): string {
  const inside = filesOf(place, folder);
  const seen = { ...folder, files: inside };
  const what = place.filesOnly ? `The files directly in \`${place.path}\`` : `\`${place.path}\``;
  if (inside.length === 0) return `${what}: no files were found.`;
  return [
    `${what}: ${countOf(folder, inside)}${aboutOf(seen)}`,
    ...listOf(seen),
    ...termsOf(question).flatMap((term) => matchesOf(term, folder, place)),
  ].join('\n');
}

/** The files of a place that were listed. */
export function filesOf({ path, filesOnly }: Place, { files }: Folder): readonly FoundFile[] {
  const inside = path === '.' ? files : files.filter((file) => file.path.startsWith(`${path}/`));
  return filesOnly ? inside.filter((file) => isDirectlyIn(path, file.path)) : inside;
}

function isDirectlyIn(folder: string, path: string): boolean {
  return path.split('/').length === (folder === '.' ? 1 : folder.split('/').length + 1);
}

function countOf({ entries, folders }: Folder, files: readonly FoundFile[]): string {
  const kinds = new Map<string, number>();
  for (const { path } of files) kinds.set(kindOf(path), (kinds.get(kindOf(path)) ?? 0) + 1);
  const most = [...kinds].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).slice(0, 4);
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const isAll = entries <= files.length + folders.length;
  return `${isAll ? '' : 'at least '}${plural(files.length, 'file')}, ${sizeOf(bytes)} (${most.map(([kind, n]) => `${n} ${kind}`).join(', ')}).`;
}

/** What the place says about itself. */
function aboutOf(folder: Folder): string {
  for (const [path, text] of folder.texts) {
    const sentence = DESCRIBES.test(nameOf(path)) ? sentenceOf(path, text, folder) : undefined;
    if (sentence !== undefined && folder.files.some((file) => file.path === path))
      return ` \`${path}\` says: ${sentence}`;
  }
  return '';
}

/** A line for each file that says what it is or what it declares, then for the largest others. */
function listOf(folder: Folder): string[] {
  const declared = declaredIn(folder);
  const told = folder.files.map((file) => {
    const text = folder.texts.get(file.path);
    const sentence = text === undefined ? undefined : sentenceOf(file.path, text, folder);
    const names = (declared.get(file.path) ?? []).slice(0, 5);
    return {
      file,
      says: [
        ...(sentence === undefined ? [] : [sentence]),
        ...(names.length === 0 ? [] : [`declares ${names.join(', ')}`]),
      ],
    };
  });
  const first = told
    .toSorted((a, b) => b.says.length - a.says.length || b.file.bytes - a.file.bytes)
    .slice(0, NAMED_MAX);
  const lines = first.map(
    ({ file, says }) => `- \`${file.path}\` (${sizeOf(file.bytes)})${says.length === 0 ? '' : `: ${says.join(' · ')}`}`,
  );
  const left = folder.files.length - first.length;
  return left > 0 ? [...lines, `- and ${plural(left, 'more file')}`] : lines;
}

/** The names that files declare at the beginning of a line. */
function declaredIn({ lines }: Folder): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, string[]>();
  for (const { path, text } of lines.get(DECLARED) ?? []) {
    const name =
      /\b(?:function\*?|class|interface|type|const|let|enum|def|func|fn|struct|trait|mod|module)\s+(?:\([^)]*\)\s*)?([\w$]{2,40})/.exec(
        text,
      )?.[1];
    if (name !== undefined) names.set(path, [...(names.get(path) ?? []), name]);
  }
  return names;
}

function matchesOf(term: string, folder: Folder, place: Place): string[] {
  // A search also enters the folders of a place, which other nodes look at.
  const found = (folder.lines.get(term) ?? []).filter(({ path }) => !place.filesOnly || isDirectlyIn(place.path, path));
  if (found.length === 0) return [];
  const files = new Set(found.map(({ path }) => path));
  const places = found.slice(0, MATCHES_MAX).map(({ path, line }) => `\`${path}\`:${line}`);
  const more = found.length > MATCHES_MAX ? ', …' : '';
  return [`“${term}” stands in ${plural(files.size, 'file')}: ${places.join(', ')}${more}`];
}

/** The number of lines in which a word of the question was found. */
export function matchCount(folder: Folder, question: string): number {
  return termsOf(question).reduce((sum, term) => sum + (folder.lines.get(term)?.length ?? 0), 0);
}

/** Whether a place was looked into. */
export function wasLookedInto(calls: readonly Called[]): boolean {
  return calls.some(({ tool }) => tool === 'grep');
}

/** A count with its word. */
export function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

function sizeOf(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
