/** What the surveyor knows, derived only from the tool results in the request. */
import type { Conversation, Exchange } from './conversation.js';

/** One line of a listing. */
export interface Entry {
  readonly type: string;
  readonly size: number;
  /** ISO 8601, UTC: compares as text. */
  readonly changed: string;
  readonly path: string;
}

/** One match of a search. */
export interface Match {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

/** Files of one kind, counted. */
export interface Group {
  readonly name: string;
  readonly files: number;
  readonly bytes: number;
}

/** The figures of a count of all files. */
export interface Counted {
  readonly files: number;
  readonly bytes: number;
  readonly folders: number;
  /** How the files were found, for the reader. */
  readonly by: string;
  /** By kind: `part`, `language`, `largest`, `empty`. */
  readonly groups: ReadonlyMap<string, readonly Group[]>;
}

/** Everything that the tool results contain. */
export interface Findings {
  /** The count of all files; undefined when no tool counts. */
  readonly counted: Counted | undefined;
  /** Paths that the user asked to leave out. */
  readonly leftOut: readonly string[];
  /** Entries by path; an entry that was listed twice counts once. */
  readonly entries: ReadonlyMap<string, Entry>;
  /** Folders that were listed completely. */
  readonly seen: ReadonlySet<string>;
  /** Folders that were listed and are empty. */
  readonly empty: ReadonlySet<string>;
  /** Folders that were listed in part. */
  readonly partial: ReadonlySet<string>;
  /** Beginnings of files, without the tool's heading. */
  readonly texts: ReadonlyMap<string, string>;
  /** By pattern. */
  readonly matches: ReadonlyMap<string, readonly Match[]>;
  /** The number of matches that a search reported, including those not shown. */
  readonly matchCounts: ReadonlyMap<string, number>;
  /** How often each call failed; by {@link callKey}. */
  readonly failures: ReadonlyMap<string, number>;
  /** Calls that gave a result; by {@link callKey}. */
  readonly done: ReadonlySet<string>;
  /** Calls that were refused; repeating them will not help. */
  readonly refused: ReadonlySet<string>;
}

/** The longest line that is parsed as a listing line: a name can contain anything. */
const LINE = /^(file|dir|link|other) (\d+|-) (\d{4}-\d{2}-\d{2}T[\d:.]+Z) (.+)$/;
const MATCH = /^("(?:[^"\\]|\\.)*"|[^\s:]+):(\d+): (.*)$/;

/** The key of a call: two calls with the same key count as the same call. */
export function callKey(tool: string, args: Readonly<Record<string, unknown>>): string {
  return `${tool} ${args.path ?? '.'} ${args.pattern ?? ''} ${args.offset ?? 0}`;
}

interface Mutable {
  counted: Counted | undefined;
  leftOut: readonly string[];
  entries: Map<string, Entry>;
  seen: Set<string>;
  empty: Set<string>;
  partial: Set<string>;
  texts: Map<string, string>;
  matches: Map<string, Match[]>;
  matchCounts: Map<string, number>;
  failures: Map<string, number>;
  done: Set<string>;
  refused: Set<string>;
}

/** Reads every tool result of a conversation. */
export function gather({ exchanges, asked }: Conversation): Findings {
  const found: Mutable = {
    counted: undefined,
    leftOut: asked.flatMap(namesLeftOut),
    entries: new Map(),
    seen: new Set(),
    empty: new Set(),
    partial: new Set(),
    texts: new Map(),
    matches: new Map(),
    matchCounts: new Map(),
    failures: new Map(),
    done: new Set(),
    refused: new Set(),
  };
  for (const exchange of exchanges) {
    const key = callKey(exchange.tool, exchange.args);
    if (READERS[exchange.tool]?.(found, exchange) === true) found.done.add(key);
    else found.failures.set(key, (found.failures.get(key) ?? 0) + 1);
    if (exchange.output.startsWith('Refused:')) found.refused.add(key);
  }
  return found;
}

/** One parser per tool; true if the output is a result. */
const READERS: Readonly<Record<string, (found: Mutable, exchange: Exchange) => boolean>> = {
  count_files: readCount,
  list_files: readListing,
  read_file: readText,
  grep: readMatches,
  write_file: (_, { output }) => output.startsWith('Wrote '),
};

/** `Leave out …: "one", "two".` of a message. */
function namesLeftOut(text: string): string[] {
  const [, list = ''] = /\bLeave out [^":]*: ((?:"(?:[^"\\]|\\.)*"(?:, )?)+)/.exec(text) ?? [];
  return (list.match(/"(?:[^"\\]|\\.)*"/g) ?? []).map(unquote);
}

function readCount(found: Mutable, { output }: Exchange): boolean {
  const [heading = '', ...lines] = output.split('\n');
  const [, files, bytes, folders, by] =
    /^Counted (\d+) files, (\d+) bytes, (\d+) folders, by (.+)$/.exec(heading) ?? [];
  if (by === undefined) return false;
  const groups = new Map<string, Group[]>();
  for (const line of lines) {
    const [, kind, count, size, name] = /^([a-z]+) (\d+) (\d+) (.+)$/.exec(line) ?? [];
    if (kind === undefined || name === undefined) continue;
    const group = { name: unquote(name), files: Number(count), bytes: Number(size) };
    groups.set(kind, [...(groups.get(kind) ?? []), group]);
  }
  found.counted = { files: Number(files), bytes: Number(bytes), folders: Number(folders), by, groups };
  return true;
}

function readListing(found: Mutable, { args, output }: Exchange): boolean {
  const [heading = '', ...lines] = output.split('\n');
  if (!heading.startsWith('Folder ')) return false;
  const folder = String(args.path ?? '.');
  const depth = Number(args.depth ?? 1);
  const entries = lines.flatMap(readEntry).filter(({ path }) => !isLeftOut(found, path));
  for (const entry of entries) found.entries.set(entry.path, entry);
  const cut = heading.includes('more not listed') || output.includes('...[truncated ');
  if (heading.includes('(empty')) found.empty.add(folder);
  if (cut) found.partial.add(folder);
  found.seen.add(folder);
  // A listing of several levels is complete for the folders above its last level, unless it was cut.
  const inner = entries.filter(({ type, path }) => type === 'dir' && levelsBelow(folder, path) < depth && !cut);
  for (const { path } of inner) {
    if (isPassedOver(path)) continue;
    found.seen.add(path);
    if (!entries.some((entry) => entry.path.startsWith(`${path}/`))) found.empty.add(path);
  }
  return true;
}

function readEntry(line: string): Entry[] {
  const [, type, size, changed, shown] = LINE.exec(line) ?? [];
  if (type === undefined || size === undefined || changed === undefined || shown === undefined) return [];
  return [{ type, size: size === '-' ? 0 : Number(size), changed, path: unquote(shown) }];
}

function readText(found: Mutable, { args, output }: Exchange): boolean {
  const end = output.indexOf('\n');
  if (!output.startsWith('File ')) return false;
  found.texts.set(String(args.path), end < 0 ? '' : output.slice(end + 1));
  return true;
}

function readMatches(found: Mutable, { args, output }: Exchange): boolean {
  const [heading = '', ...lines] = output.split('\n');
  const count = /^(?:at least )?(\d+) matches in /.exec(heading)?.[1];
  if (count === undefined) return false;
  const pattern = String(args.pattern);
  found.matchCounts.set(pattern, Number(count));
  found.matches.set(
    pattern,
    lines.flatMap((line) => {
      const [, shown, number, text] = MATCH.exec(line) ?? [];
      return shown === undefined || text === undefined ? [] : [{ path: unquote(shown), line: Number(number), text }];
    }),
  );
  return true;
}

/** Tools write unusual names as JSON strings. */
function unquote(shown: string): string {
  if (!shown.startsWith('"')) return shown;
  try {
    return String(JSON.parse(shown));
  } catch {
    return shown;
  }
}

/** How many levels below a folder a path is: 1 for the folder's own entries. */
export function levelsBelow(folder: string, path: string): number {
  const inside = folder === '.' ? path : path.slice(folder.length + 1);
  return inside.split('/').length;
}

/** The last part of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

const PASSED_OVER = new Set(
  'node_modules .git .hg .svn dist build out target coverage vendor .venv venv __pycache__ .cache .types .next .turbo .idea .vscode .pytest_cache .mypy_cache .gradle bower_components'.split(
    ' ',
  ),
);

/** Whether a folder contains third-party or generated files: the report names it, and the survey skips it. */
export function isPassedOver(path: string): boolean {
  return path.split('/').some((name) => PASSED_OVER.has(name));
}

/** The files that count: without the report of an earlier survey and without skipped folders. */
export function files(found: Findings, report: string): Entry[] {
  return [...found.entries.values()].filter(
    ({ type, path }) => type === 'file' && path !== report && !isPassedOver(path),
  );
}

/** Whether the user asked to leave a path out. */
export function isLeftOut({ leftOut }: Pick<Findings, 'leftOut'>, path: string): boolean {
  return leftOut.some((one) => path === one || path.startsWith(`${one}/`));
}

/** Compares texts by their UTF-16 units: the same order on every machine. */
export function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
