import type { Tool } from '@reprise/agent';
import { defineTool, looksBinary, utf16Of } from '@reprise/agent';
import * as z from 'zod';
import { Slices } from '../../slices/slices.js';
import { refusal } from '../folder/confine.js';
import type { WorkspaceContext } from '../folder/context.js';
import { namePattern } from '../folder/names.js';
import { refusing } from '../folder/refusing.js';
import { linesOf, SNIFF_BYTES, showLine, showPath, textOf } from '../folder/text.js';
import type { LineMatcher } from './line-matcher.js';
import { LINE_SEARCHED_UNITS_MAX, literalMatcher, PATTERN_LENGTH_MAX, regexMatcher, TooSlow } from './line-matcher.js';
import type { WalkNotes } from './walk.js';
import { counted, describeNotes, newNotes, walk } from './walk.js';

const LIMIT_DEFAULT = 80;
const LIMIT_MAX = 500;

/** The largest share of NULs in a text that is searched: a log that a crash has damaged has some. */
const NUL_SHARE_MAX = 0.1;

/** How many files that are not searched are named. */
const SKIPPED_NAMED = 5;

/** The most characters of a line that a match shows: minified files have lines of megabytes. */
const LINE_UNITS_MAX = 160;

/** Bounds on time: files above the first are skipped and counted, the others end the search. */
const FILE_BYTES_MAX = 2 * 1024 * 1024;
const TOTAL_BYTES_MAX = 128 * 1024 * 1024;

/** How many characters of text are searched at once. */
const BATCH_UNITS = 256 * 1024;

const args = z.strictObject({
  pattern: z.string().min(1).max(PATTERN_LENGTH_MAX).describe('What to look for in each line.'),
  regex: z
    .boolean()
    .default(false)
    .describe('Whether pattern is a JavaScript regular expression. Default: literal text.'),
  ignore_case: z.boolean().default(false).describe('Default false.'),
  path: z.string().max(4096).default('.').describe('File or folder to search. Default: the whole workspace.'),
  name: z.string().max(256).default('*').describe('File name pattern with *, for example *.ts. Default: every file.'),
  limit: z.int().min(1).max(LIMIT_MAX).default(LIMIT_DEFAULT).describe(`Most matches. Default ${LIMIT_DEFAULT}.`),
});

type Ask = z.output<typeof args>;

/** Makes the tool `grep`: matching lines as `path:line: text`, in the order of a listing. */
export function grep(context: WorkspaceContext): Tool {
  return defineTool({
    name: 'grep',
    description:
      'Finds lines in the text files of the workspace. After a heading, one match per line: path:line: text. Binary and very large files are skipped.',
    args,
    guarantee: 'idempotent',
    family: 'search',
    run: (ask, { signal }) => refusing(() => search(context, ask, signal)),
  });
}

interface Tally {
  readonly lines: string[];
  /** The first files that were not searched. */
  readonly skipped: string[];
  /** Lines of which only the start was searched. */
  longLines: number;
  matches: number;
  matchingFiles: number;
  searched: number;
  binary: number;
  large: number;
  unreadable: number;
  bytes: number;
  /** Why the search stopped early. */
  stopped?: string;
}

/** A file whose bytes are read when its turn comes. */
interface Source {
  readonly shown: string;
  read(bytesMax: number): Uint8Array | 'large' | 'unreadable' | Promise<Uint8Array | 'large' | 'unreadable'>;
}

/**
 * Lines of several files that are searched together: starting a search's timer costs more than searching a small file.
 */
class Batch {
  readonly lines: string[] = [];
  readonly #files: { readonly shown: string; readonly from: number }[] = [];
  #units = 0;

  get isFull(): boolean {
    return this.#units >= BATCH_UNITS;
  }

  add(shown: string, text: string): void {
    this.#files.push({ shown, from: this.lines.length });
    this.#units += text.length;
    for (const line of linesOf(text)) this.lines.push(line);
  }

  /** The positions of lines; requested in ascending order. */
  *placesOf(
    hits: readonly number[],
  ): Generator<{ readonly shown: string; readonly line: number; readonly hit: number }> {
    let file = 0;
    for (const hit of hits) {
      while ((this.#files[file + 1]?.from ?? Number.POSITIVE_INFINITY) <= hit) file += 1;
      const { shown, from } = this.#files[file] ?? { shown: '', from: 0 };
      yield { shown, line: hit - from + 1, hit };
    }
  }
}

async function search(context: WorkspaceContext, ask: Ask, signal: AbortSignal): Promise<string> {
  const matcher = ask.regex ? regexMatcher(ask.pattern, ask.ignore_case) : literalMatcher(ask.pattern, ask.ignore_case);
  if (typeof matcher === 'string') throw refusal(ask.pattern, matcher);
  const tally: Tally = {
    lines: [],
    skipped: [],
    longLines: 0,
    matches: 0,
    matchingFiles: 0,
    searched: 0,
    binary: 0,
    large: 0,
    unreadable: 0,
    bytes: 0,
  };
  const notes = newNotes();
  const slices = new Slices(signal);
  let batch = new Batch();
  const flush = (): void => {
    const full = batch;
    batch = new Batch();
    searchBatch(full, matcher, ask, tally);
  };
  for await (const files of filesOf(context, ask, notes, signal)) {
    for (const file of files) {
      await take(file, batch, tally);
      if (batch.isFull || tally.stopped !== undefined) flush();
      if (tally.stopped !== undefined) break;
      await slices.next();
    }
    if (tally.stopped !== undefined) break;
  }
  flush();
  return [heading(tally, notes, ask.limit), ...tally.lines].join('\n');
}

/** The files to search: the named one, or those of a walk whose names match. */
async function* filesOf(
  context: WorkspaceContext,
  ask: Ask,
  notes: WalkNotes,
  signal: AbortSignal,
): AsyncGenerator<readonly Source[]> {
  const place = await context.confinement.resolve(ask.path, 'read');
  if (place.missing.length > 0) throw refusal(ask.path, 'there is no such file or folder');
  if (await context.confinement.isFile(place)) {
    yield [{ shown: place.shown, read: (bytesMax) => context.confinement.readWhole(place.shown, bytesMax) }];
    return;
  }
  const fits = namePattern(ask.name);
  for await (const entries of walk(place, { ignore: context.ignore, signal }, notes)) {
    const files = entries.filter(({ type, name }) => type === 'file' && fits(name));
    if (files.length > 0) yield files;
  }
}

async function take(file: Source, batch: Batch, tally: Tally): Promise<void> {
  const read = file.read(FILE_BYTES_MAX);
  const bytes = read instanceof Promise ? await read : read;
  if (typeof bytes === 'string' || isBinary(bytes.subarray(0, SNIFF_BYTES))) {
    tally[typeof bytes === 'string' ? bytes : 'binary'] += 1;
    if (tally.skipped.length < SKIPPED_NAMED) tally.skipped.push(file.shown);
    return;
  }
  tally.searched += 1;
  tally.bytes += bytes.length;
  batch.add(file.shown, textOf(bytes));
  if (tally.bytes > TOTAL_BYTES_MAX) tally.stopped = `stopped after ${TOTAL_BYTES_MAX} bytes; search a subfolder`;
}

/**
 * Whether a search passes over a file, by its start: one that is read as binary, or whose NULs are no accident in a text.
 */
function isBinary(start: Uint8Array): boolean {
  if (!start.includes(0)) return false;
  if (looksBinary(start)) return true;
  const nuls = start.reduce((count, byte) => count + (byte === 0 ? 1 : 0), 0);
  return nuls > start.length * NUL_SHARE_MAX && utf16Of(start) === undefined;
}

function namesOf({ skipped, binary, large, unreadable }: Tally): string {
  const more = binary + large + unreadable - skipped.length;
  return [...skipped.map(showPath), ...(more > 0 ? [`and ${more} more`] : [])].join(', ');
}

function searchBatch(batch: Batch, matcher: LineMatcher, { limit, regex: isCut }: Ask, tally: Tally): void {
  const hits = matcher(batch.lines);
  if (hits instanceof TooSlow) {
    tally.stopped = 'the pattern takes too long; use a simpler one';
    return;
  }
  if (isCut) tally.longLines += batch.lines.filter(({ length }) => length > LINE_SEARCHED_UNITS_MAX).length;
  let last: string | undefined;
  for (const { shown, line, hit } of batch.placesOf(hits)) {
    if (shown !== last) tally.matchingFiles += 1;
    last = shown;
    tally.matches += 1;
    if (tally.lines.length < limit)
      tally.lines.push(`${showPath(shown)}:${line}: ${showLine(batch.lines[hit] ?? '', LINE_UNITS_MAX)}`);
  }
}

function heading(tally: Tally, notes: WalkNotes, limit: number): string {
  const parts = [`${tally.searched} files searched`, ...describeNotes(notes)];
  if (tally.binary > 0) parts.push(`${tally.binary} binary skipped`);
  if (tally.large > 0) parts.push(`${tally.large} above ${FILE_BYTES_MAX} bytes skipped`);
  if (tally.unreadable > 0) parts.push(`${tally.unreadable} could not be read`);
  if (tally.matches === 0 && tally.skipped.length > 0) parts.push(`not searched: ${namesOf(tally)}`);
  if (tally.longLines > 0)
    parts.push(
      `${tally.longLines} lines searched up to character ${LINE_SEARCHED_UNITS_MAX}; search them without regex`,
    );
  if (tally.matches > limit) parts.push(`the first ${limit} are shown`);
  if (tally.stopped !== undefined) parts.push(tally.stopped);
  const isLeast = tally.stopped !== undefined || !notes.complete;
  return `${counted(tally.matches, isLeast)} matches in ${tally.matchingFiles} files (${parts.join('; ')})`;
}
