/**
 * What "always" may cover: a pattern that is proposed for a call, and the calls that it matches later.
 *
 * Pure: it reads no disk. Which place a path leads to is found by `located` before.
 *
 * Invariants
 * A1  A pattern matches no call that does more than the call it was proposed for, except with other names and paths
 *     inside the folder. When in doubt, there is no pattern and no match, and the person is asked.
 * A2  A compound command, and a program that runs another one, gets no pattern and matches none.
 * A3  A pattern of files or of commands matches by the real place, after symbolic links, never by the path as written.
 */
import { firstWords, mayFollow, mayHavePattern, startsWith } from './programs.js';
import { isReadable, simpleCommand } from './simple-command.js';

/** A call that waits for approval. */
export interface Call {
  readonly tool?: string | undefined;
  readonly args?: unknown;
  /**
   * The real place inside the folder that the call is about, as `located` finds it: of a file tool its file, of a
   * command the folder that it runs in. `.` is the folder itself. Without it, only patterns of a tool match.
   */
  readonly place?: string | undefined;
}

/** What may be allowed without a question. Plain data, so that it can be stored. */
export type Pattern =
  /** Every call of a tool. */
  | { readonly kind: 'tool'; readonly tool: string }
  /** Writing and editing one file. */
  | { readonly kind: 'file'; readonly file: string }
  /** Writing and editing files in a folder and below. */
  | { readonly kind: 'folder'; readonly folder: string }
  /** A simple command in one folder: exactly these words, or these first words and names, paths and plain options. */
  | {
      readonly kind: 'command';
      readonly words: readonly string[];
      readonly exact: boolean;
      readonly in: string;
    };

const FILE_TOOLS: ReadonlySet<string> = new Set(['write_file', 'edit_file']);
const COMMAND_TOOLS: ReadonlySet<string> = new Set(['run_shell', 'run_process']);

/** Tools that a pattern of the whole tool never covers: what they do is in their arguments. */
const NOT_AS_A_WHOLE: ReadonlySet<string> = new Set([
  ...FILE_TOOLS,
  ...COMMAND_TOOLS,
  ...['start_process', 'write_process', 'ask_human'],
]);

/** The longest pattern, in characters: a person has to read it. */
const PATTERN_UNITS_MAX = 400;

/** The pattern that may be proposed for a call; undefined when it can only be decided each time. */
export function patternOf(call: Call): Pattern | undefined {
  const { tool } = call;
  if (tool === undefined || !/^[\w.:/-]{1,256}$/.test(tool)) return undefined;
  if (FILE_TOOLS.has(tool)) return filePattern(call);
  if (COMMAND_TOOLS.has(tool)) return commandPattern(call);
  return NOT_AS_A_WHOLE.has(tool) ? undefined : { kind: 'tool', tool };
}

/** Whether a pattern covers a call. */
export function matches(pattern: Pattern, call: Call): boolean {
  if (call.tool === undefined) return false;
  switch (pattern.kind) {
    case 'tool':
      return call.tool === pattern.tool && !NOT_AS_A_WHOLE.has(call.tool);
    case 'file':
      return placeOfFile(call) === pattern.file;
    case 'folder':
      return isInside(placeOfFile(call), pattern.folder);
    case 'command':
      return matchesCommand(pattern, call);
  }
}

/** A pattern in words. */
export function describePattern(pattern: Pattern): string {
  switch (pattern.kind) {
    case 'tool':
      return `every call of ${pattern.tool}`;
    case 'file':
      return `writing and editing ${pattern.file}`;
    case 'folder':
      return `writing and editing files in ${pattern.folder}/ and below`;
    case 'command': {
      const command = `\`${pattern.words.map(quoted).join(' ')}\``;
      const where = pattern.in === '.' ? '' : `, in ${pattern.in}/`;
      return pattern.exact ? `exactly ${command}${where}` : `${command}, with other names and paths too${where}`;
    }
  }
}

/** The folder of the file; for a file at the top the file itself, since its folder is everything. */
function filePattern(call: Call): Pattern | undefined {
  const file = placeOfFile(call);
  if (file === undefined) return undefined;
  const end = file.lastIndexOf('/');
  return end < 0 ? { kind: 'file', file } : { kind: 'folder', folder: file.slice(0, end) };
}

function commandPattern(call: Call): Pattern | undefined {
  const words = wordsOf(call);
  if (words === undefined || call.place === undefined) return undefined;
  const first = firstWords(words);
  return { kind: 'command', words: first ?? words, exact: first === undefined, in: call.place };
}

function matchesCommand(pattern: Pattern & { kind: 'command' }, call: Call): boolean {
  const words = wordsOf(call);
  if (words === undefined || call.place !== pattern.in || !startsWith(words, pattern.words)) return false;
  const rest = words.slice(pattern.words.length);
  return pattern.exact ? rest.length === 0 : mayFollow(pattern.words, rest);
}

/** The words of a call that runs one simple command, and nothing else. */
function wordsOf({ tool = '', args, place }: Call): readonly string[] | undefined {
  if (!COMMAND_TOOLS.has(tool) || !isPlace(place) || !isRecord(args)) return undefined;
  const { cwd, timeout_seconds, stdin, command, argv, ...others } = args;
  // Text on the standard input can be a program: `node` alone, or `git apply`.
  if (Object.keys(others).length > 0 || (stdin !== undefined && stdin !== '')) return undefined;
  const [given, absent] = tool === 'run_shell' ? [command, argv] : [argv, command];
  if (absent !== undefined) return undefined;
  const words = tool === 'run_shell' ? lineWords(given) : listWords(given);
  const [program, ...rest] = words ?? [];
  if (words === undefined || program === undefined) return undefined;
  return words.join(' ').length <= PATTERN_UNITS_MAX && mayHavePattern([program, ...rest]) ? words : undefined; // A2
}

function lineWords(command: unknown): readonly string[] | undefined {
  return typeof command === 'string' ? simpleCommand(command) : undefined;
}

function listWords(argv: unknown): readonly string[] | undefined {
  if (!Array.isArray(argv)) return undefined;
  return argv.every((word): word is string => typeof word === 'string' && isReadable(word)) ? argv : undefined;
}

function placeOfFile({ tool = '', args, place }: Call): string | undefined {
  const isFile = FILE_TOOLS.has(tool) && isRecord(args) && isPlace(place) && place !== '.';
  return isFile && !isOfGit(place) ? place : undefined;
}

/** Whether a place belongs to git itself: what is written there (hooks, settings) runs with the next command of git. */
function isOfGit(place: string): boolean {
  return place.split('/').some((name) => name.toLowerCase() === '.git');
}

function isInside(file: string | undefined, folder: string): boolean {
  return file?.startsWith(`${folder}/`) === true;
}

/** Whether a place is a normalized path inside the folder, in the form of `located`, that a person can read. */
function isPlace(place: string | undefined): place is string {
  if (place === '.') return true;
  if (place === undefined || place.length > PATTERN_UNITS_MAX || !isReadable(place)) return false;
  return place.split('/').every((name) => name !== '' && name !== '.' && name !== '..');
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function quoted(word: string): string {
  return /^[\w./:@%+,=~-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
