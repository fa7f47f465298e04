/** The report: what the surveyor found, as Markdown. Equal findings give equal text. */
import { languageOf } from '../languages.js';
import {
  type Counted,
  type Entry,
  type Findings,
  files,
  type Group,
  isPassedOver,
  type Match,
  nameOf,
  order,
} from './findings.js';
import { UNFINISHED, unfinishedLines } from './unfinished.js';

const ROWS_MAX = 12;
const LINES_MAX = 20;

/** Files whose times lie this close together were written at once, by a clone or a copy: their times say nothing. */
const AT_ONCE_MS = 5 * 60_000;

/** Writes the report. */
export function writeReport(found: Findings, report: string, calls: number): string {
  const seen = files(found, report);
  const { counted } = found;
  const { oldest, newest } = byTime(seen);
  const sections = [
    `# Survey\n\n${summary(found, seen)}`,
    section('What it is', about(found)),
    section('Parts', counted === undefined ? parts(seen) : table('part', counted, groupsOf(counted, 'part'))),
    section(
      'Languages',
      counted === undefined ? languages(seen) : table('language', counted, groupsOf(counted, 'language')),
    ),
    section(
      'Largest',
      largest(found, seen).map(({ name, bytes: size }) => `- ${code(name)}: ${bytes(size)}`),
    ),
    section('Oldest', oldest),
    section('Newest', newest),
    section('What looks unfinished', unfinished(found, seen, report)),
    section('A closer look', closerLook(found)),
    section('Not looked at', notLookedAt(found)),
    `---\nMade with ${calls} tool calls by rules, not by a language model.`,
  ];
  return `${sections.filter((text) => text !== '').join('\n\n')}\n`;
}

/** The oldest and the newest files, without those that a clone or a copy wrote at once. */
function byTime(seen: readonly Entry[]): { readonly oldest: string[]; readonly newest: string[] } {
  const first = seen.reduce((least, { changed }) => Math.min(least, Date.parse(changed)), Infinity);
  const later = seen.filter(({ changed }) => Date.parse(changed) - first > AT_ONCE_MS);
  const atOnce = seen.length - later.length;
  const isCopy = atOnce > 1 && 2 * atOnce > seen.length;
  const dated = isCopy ? later : seen;
  const newest = top(dated, (a, b) => order(b.changed, a.changed)).map(line);
  if (!isCopy) return { oldest: top(dated, (a, b) => order(a.changed, b.changed)).map(line), newest };
  const when = new Date(first).toISOString().slice(0, 16).replace('T', ' ');
  const which = later.length === 0 ? 'All' : `${atOnce} of the ${seen.length}`;
  const note = `- ${which} files listed were written within five minutes, from ${when} UTC on, as by a clone or a copy: their times say nothing.`;
  return { oldest: [note], newest };
}

function groupsOf({ groups }: Counted, kind: string): readonly Group[] {
  return groups.get(kind) ?? [];
}

/** A table of groups with their share of all bytes. */
function table(title: string, { bytes: whole }: Pick<Counted, 'bytes'>, groups: readonly Group[]): string[] {
  if (groups.length === 0) return [];
  return [
    `| ${title} | files | size | share |`,
    '| --- | ---: | ---: | ---: |',
    ...groups.slice(0, ROWS_MAX).map(({ name, files: count, bytes: size }) => {
      const share = whole === 0 ? 0 : Math.round((100 * size) / whole);
      return `| ${cell(name)} | ${count} | ${bytes(size)} | ${share} % |`;
    }),
  ];
}

function largest({ counted }: Findings, seen: readonly Entry[]): readonly Group[] {
  if (counted !== undefined) return groupsOf(counted, 'largest');
  return top(seen, (a, b) => b.size - a.size).map(({ path, size }) => ({ name: path, files: 1, bytes: size }));
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `## ${title}\n\n${lines.join('\n')}`;
}

function summary(found: Findings, seen: readonly Entry[]): string {
  const { counted } = found;
  if (counted?.files === 0) return 'The folder holds no files.';
  if (counted !== undefined) {
    const exact = `${counted.bytes.toLocaleString('en-US')} bytes`;
    const rough = counted.bytes < 1024 ? '' : ` (${bytes(counted.bytes)})`;
    const files = `${plural(counted.files, 'file')} in ${plural(counted.folders, 'folder')}`;
    return `${files}, ${exact}${rough} in all, counted by ${counted.by}.`;
  }
  if (!found.seen.has('.')) return 'The folder could not be listed.';
  if (seen.length === 0) return 'The folder holds no files.';
  const folders = [...found.entries.values()].filter(({ type, path }) => type === 'dir' && !isPassedOver(path)).length;
  const [oldest] = top(seen, (a, b) => order(a.changed, b.changed));
  const [newest] = top(seen, (a, b) => order(b.changed, a.changed));
  const size = seen.reduce((sum, entry) => sum + entry.size, 0);
  const span = `last changed between ${day(oldest)} and ${day(newest)}`;
  return `${plural(seen.length, 'file')} in ${plural(folders, 'folder')}, ${bytes(size)} in all, ${span}.`;
}

/** What READMEs and manifests say about themselves. */
function about(found: Findings): string[] {
  return [...found.texts]
    .sort(([a], [b]) => a.split('/').length - b.split('/').length || order(a, b))
    .flatMap(([path, text]) => {
      const says = describe(nameOf(path), text);
      return says === undefined ? [] : [`- ${code(path)}: ${says}`];
    })
    .slice(0, ROWS_MAX);
}

function describe(name: string, text: string): string | undefined {
  if (/^readme/i.test(name)) return readmeSays(text);
  if (/^(package|composer)\.json$/i.test(name)) return manifestSays(text);
  const named = /^\s*(?:name|module)\s*[= ]\s*"?([^"\n]+)"?/m.exec(text)?.[1];
  return /\.(toml|mod)$/i.test(name) && named !== undefined ? `declares ${named.trim()}` : undefined;
}

function readmeSays(text: string): string | undefined {
  const lines = text.split('\n').map((line) => line.trim());
  const title = lines.find((line) => /^#+ /.test(line))?.replace(/^#+ /, '');
  const prose = lines.find((line) => /^[\p{L}\p{N}*_`"“]/u.test(line) && line !== title);
  const says = [title, prose].filter((part) => part !== undefined && part !== '').join(': ');
  return says === '' ? undefined : cut(says, 240);
}

function manifestSays(text: string): string | undefined {
  const field = (name: string) => new RegExp(`"${name}"\\s*:\\s*"((?:[^"\\\\]|\\\\.)*)"`).exec(text)?.[1];
  const says = [field('name'), field('description')].filter((part) => part !== undefined).join(': ');
  return says === '' ? undefined : cut(says, 240);
}

/** One row for each top-level folder, and one for the files beside them. */
function parts(seen: readonly Entry[]): string[] {
  const groups = groupBy(seen, ({ path }) => (path.includes('/') ? `${path.slice(0, path.indexOf('/'))}/` : '(top)'));
  if (groups.size < 2) return [];
  const rows = [...groups].sort((a, b) => total(b[1]) - total(a[1]) || order(a[0], b[0])).slice(0, ROWS_MAX);
  return [
    '| part | files | size | oldest | newest |',
    '| --- | ---: | ---: | --- | --- |',
    ...rows.map(([part, group]) => {
      const [oldest] = top(group, (a, b) => order(a.changed, b.changed));
      const [newest] = top(group, (a, b) => order(b.changed, a.changed));
      return `| ${cell(part)} | ${group.length} | ${bytes(total(group))} | ${day(oldest)} | ${day(newest)} |`;
    }),
  ];
}

function languages(seen: readonly Entry[]): string[] {
  const groups = [...groupBy(seen, ({ path }) => languageOf(nameOf(path)))]
    .sort((a, b) => total(b[1]) - total(a[1]) || order(a[0], b[0]))
    .map(([name, group]) => ({ name, files: group.length, bytes: total(group) }));
  return table('language', { bytes: total(seen) }, groups);
}

function unfinished(found: Findings, seen: readonly Entry[], report: string): string[] {
  const lines: string[] = [];
  for (const { pattern } of UNFINISHED) {
    const { lines: own, isLeast } = unfinishedLines(found, pattern, report);
    if (own.length === 0) continue;
    const count = `${isLeast ? 'At least ' : ''}${plural(own.length, 'line')}`;
    lines.push(`- ${count} with “${pattern}”, for example:`, ...own.slice(0, 6).map(quote));
  }
  const blank = (
    found.counted === undefined
      ? seen.filter(({ size }) => size === 0).map(({ path }) => path)
      : groupsOf(found.counted, 'empty').map(({ name }) => name)
  ).map(code);
  if (blank.length > 0) lines.push(`- Empty files: ${some(blank)}`);
  const hollow = [...found.empty].filter((path) => path !== '.').map((path) => code(path));
  if (hollow.length > 0) lines.push(`- Empty folders: ${some(hollow)}`);
  if (seen.length > 3) lines.push(...missing(seen));
  return lines.length === 0 ? ['- Nothing calls itself unfinished.'] : lines;
}

/** What a reader would expect and not find. */
function missing(seen: readonly Entry[]): string[] {
  const has = (pattern: RegExp) => seen.some(({ path }) => pattern.test(path));
  const source = seen.filter(({ path }) => /\.(ts|js|py|rs|go|java|rb|c|cpp|cs)$/.test(path)).length;
  return [
    ...(has(/(^|\/)readme/i) ? [] : ['- There is no README.']),
    ...(source > 3 && !has(/(^|\/)licen[cs]e/i) ? ['- There is no license file.'] : []),
    ...(source > 3 && !has(/(^|[/._-])(tests?|spec)([/._-]|$)/i) ? ['- There are no tests to be seen.'] : []),
  ];
}

function quote({ path, line, text }: Match): string {
  return `  - ${code(`${path}:${line}`)} ${code(cut(text.trim(), 100))}`;
}

/** The first lines of files that stood out and that no description covers. */
function closerLook(found: Findings): string[] {
  return [...found.texts]
    .filter(([path, text]) => describe(nameOf(path), text) === undefined && text.trim() !== '')
    .sort(([a], [b]) => order(a, b))
    .slice(0, 6)
    .map(([path, text]) => `- ${code(path)} begins: ${code(cut(text.trim().split('\n')[0] ?? '', 120))}`);
}

function notLookedAt(found: Findings): string[] {
  const dirs = [...found.entries.values()].filter(({ type }) => type === 'dir').map(({ path }) => path);
  const passed = dirs.filter((path) => isPassedOver(path)).map(code);
  const unseen = dirs.filter((path) => !isPassedOver(path) && !found.seen.has(path)).map(code);
  const partial = [...found.partial].map(code);
  const refused = [...found.refused].map((key) => code(key.trim()));
  return [
    ...(passed.length > 0 ? [`- Passed over: ${some(passed)}`] : []),
    ...(unseen.length > 0 ? [`- Seen from outside only: ${some(unseen)}`] : []),
    ...(partial.length > 0 ? [`- Listed in part: ${some(partial)}`] : []),
    ...(refused.length > 0 ? [`- Refused: ${some(refused)}`] : []),
  ];
}

function top(entries: readonly Entry[], rank: (a: Entry, b: Entry) => number): Entry[] {
  return [...entries].sort((a, b) => rank(a, b) || order(a.path, b.path)).slice(0, 5);
}

function line(entry: Entry): string {
  return `- ${code(entry.path)}: ${entry.changed.slice(0, 16).replace('T', ' ')} UTC`;
}

function day(entry: Entry | undefined): string {
  return entry?.changed.slice(0, 10) ?? '-';
}

function groupBy(entries: readonly Entry[], key: (entry: Entry) => string): Map<string, Entry[]> {
  const groups = new Map<string, Entry[]>();
  for (const entry of entries) groups.set(key(entry), [...(groups.get(key(entry)) ?? []), entry]);
  return groups;
}

function total(entries: readonly Entry[]): number {
  return entries.reduce((sum, { size }) => sum + size, 0);
}

function bytes(size: number): string {
  if (size < 1024) return plural(size, 'byte');
  const power = size < 1024 ** 2 ? 1 : size < 1024 ** 3 ? 2 : 3;
  return `${(size / 1024 ** power).toFixed(1)} ${['', 'KiB', 'MiB', 'GiB'][power]}`;
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function some(items: readonly string[]): string {
  const more = items.length - LINES_MAX;
  return more > 0 ? `${items.slice(0, LINES_MAX).join(', ')} and ${more} more` : items.join(', ');
}

/** A name or a line in backquotes; without them if it contains any. */
function code(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.includes('`') ? JSON.stringify(line) : `\`${line}\``;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

function cut(text: string, lengthMax: number): string {
  return text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text;
}
