import type { Tool } from '@reprise/agent';
import { defineTool } from '@reprise/agent';
import * as z from 'zod';
import { refusal } from './confine.js';
import type { WorkspaceContext } from './context.js';
import type { LineMatcher } from './line-matcher.js';
import { literalMatcher, PATTERN_LENGTH_MAX, regexMatcher, TooSlow } from './line-matcher.js';
import { fitsPattern } from './names.js';
import { refusing } from './refusing.js';
import { linesOf, looksBinary, showLine, showPath } from './text.js';
import type { Entry, WalkNotes } from './walk.js';
import { describeNotes, newNotes, walk } from './walk.js';

const LIMIT_DEFAULT = 80;
const LIMIT_MAX = 500;

/** The most a line shows of a match: minified files have lines of megabytes. */
const LINE_UNITS_MAX = 160;

/** Bounds on time: files above the first are passed over and counted, the others end the search. */
const FILE_BYTES_MAX = 2 * 1024 * 1024;
const TOTAL_BYTES_MAX = 128 * 1024 * 1024;
const DEPTH_MAX = 32;

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

/** The tool `grep`: lines that match, as `path:line: text`, in the order of a listing. */
export function grep(context: WorkspaceContext): Tool {
  return defineTool({
    name: 'grep',
    description:
      'Finds lines in the text files of the workspace. After a heading, one match per line: path:line: text. Binary and very large files are passed over.',
    args,
    delivery: 'idempotent',
    family: 'search',
    run: (ask, { signal }) => refusing(() => search(context, ask, signal)),
  });
}

interface Tally {
  readonly lines: string[];
  matches: number;
  matchingFiles: number;
  searched: number;
  binary: number;
  large: number;
  unreadable: number;
  bytes: number;
  /** Why the search ended before its end. */
  stopped?: string;
}

async function search(context: WorkspaceContext, ask: Ask, signal: AbortSignal): Promise<string> {
  const matcher = ask.regex ? regexMatcher(ask.pattern, ask.ignore_case) : literalMatcher(ask.pattern, ask.ignore_case);
  if (typeof matcher === 'string') throw refusal(ask.pattern, matcher);
  const tally: Tally = {
    lines: [],
    matches: 0,
    matchingFiles: 0,
    searched: 0,
    binary: 0,
    large: 0,
    unreadable: 0,
    bytes: 0,
  };
  const notes = newNotes();
  for await (const path of filesOf(context, ask, notes, signal)) {
    await searchFile(context, path, matcher, ask.limit, tally);
    if (tally.stopped !== undefined) break;
  }
  return [heading(tally, notes, ask.limit), ...tally.lines].join('\n');
}

/** The files to search: one that was named, or those a walk finds and whose name fits. */
async function* filesOf(
  context: WorkspaceContext,
  ask: Ask,
  notes: WalkNotes,
  signal: AbortSignal,
): AsyncGenerator<Pick<Entry, 'shown'>> {
  const place = await context.confinement.resolve(ask.path, 'read');
  if (place.missing.length > 0) throw refusal(ask.path, 'there is no such file or folder');
  if (await context.confinement.isFile(place)) {
    yield place;
    return;
  }
  for await (const entry of walk(place, { depth: DEPTH_MAX, ignore: context.ignore, signal }, notes)) {
    if (entry.type === 'file' && fitsPattern(entry.shown.slice(entry.shown.lastIndexOf('/') + 1), ask.name))
      yield entry;
  }
}

async function searchFile(
  context: WorkspaceContext,
  path: Pick<Entry, 'shown'>,
  matcher: LineMatcher,
  limit: number,
  tally: Tally,
): Promise<void> {
  const bytes = await context.confinement.readWhole(path.shown, FILE_BYTES_MAX);
  if (typeof bytes === 'string' || looksBinary(bytes)) {
    tally[typeof bytes === 'string' ? bytes : 'binary'] += 1;
    return;
  }
  tally.searched += 1;
  tally.bytes += bytes.length;
  const lines = linesOf(new TextDecoder('utf-8').decode(bytes));
  const hits = matcher(lines);
  if (hits instanceof TooSlow) {
    tally.stopped = 'the pattern takes too long; use a simpler one';
    return;
  }
  note(tally, path.shown, lines, hits, limit);
  if (tally.bytes > TOTAL_BYTES_MAX) tally.stopped = `stopped after ${TOTAL_BYTES_MAX} bytes; search a subfolder`;
}

function note(tally: Tally, shown: string, lines: readonly string[], hits: readonly number[], limit: number): void {
  if (hits.length > 0) tally.matchingFiles += 1;
  tally.matches += hits.length;
  for (const hit of hits.slice(0, Math.max(0, limit - tally.lines.length))) {
    tally.lines.push(`${showPath(shown)}:${hit + 1}: ${showLine(lines[hit] ?? '', LINE_UNITS_MAX)}`);
  }
}

function heading(tally: Tally, notes: WalkNotes, limit: number): string {
  const parts = [`${tally.searched} files searched`, ...describeNotes(notes)];
  if (tally.binary > 0) parts.push(`${tally.binary} binary passed over`);
  if (tally.large > 0) parts.push(`${tally.large} above ${FILE_BYTES_MAX} bytes passed over`);
  if (tally.unreadable > 0) parts.push(`${tally.unreadable} could not be read`);
  if (tally.matches > limit) parts.push(`the first ${limit} are shown`);
  if (tally.stopped !== undefined) parts.push(tally.stopped);
  return `${tally.matches} matches in ${tally.matchingFiles} files (${parts.join('; ')})`;
}
