/** How tool calls and their results are shown: in one line, and whole. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { AgentEventOf } from 'reprise';
import { type Difference, difference } from './diff.js';
import { outputLines, plain } from './text/plain.js';
import { type Line, span, textOf } from './text/spans.js';
import { foreignLetters, visible, visibleInLine } from './text/visible.js';
import { fitting } from './text/width.js';

const RESULT_LINES = 4;
/** The result of a program is at the end of its output. */
const PROGRAM_LINES = 7;
const TITLE_COLUMNS = 160;

type Args = Readonly<Record<string, unknown>>;

/** Describes a call in one line, cut to a readable length. */
export function callLine(tool: string, given: unknown): string {
  const args = (given ?? {}) as Args;
  switch (tool) {
    case 'run_process':
    case 'run_shell':
      return `run  ${cut(commandText(tool, args))}${inFolder(args.cwd)}`;
    case 'edit_file':
      return `edit  ${oneLine(args.path)}${args.all === true ? ' (everywhere)' : ''}`;
    case 'write_file':
      return `write  ${oneLine(args.path)}`;
    case 'read_file':
      return `read  ${oneLine(args.path)}${args.offset === undefined ? '' : ` from line ${Number(args.offset) + 1}`}`;
    case 'grep':
      return `grep  ${oneLine(args.pattern)}${inFolder(args.path)}`;
    case 'glob':
      return `glob  ${oneLine(args.pattern)}${inFolder(args.path)}`;
    case 'list_files':
      return `list  ${oneLine(args.path ?? '.')}`;
    case 'ask_human':
      return 'ask';
    default:
      return `${oneLine(tool)}  ${oneLine(JSON.stringify(args))}`;
  }
}

/** A call as a person approves it: nothing is cut, and nothing is hidden. */
export interface WholeCall {
  readonly lines: readonly Line[];
  /** The change of a file, if the call makes one. */
  readonly difference?: Difference;
}

/** The arguments that the body of a call shows in their own way; all others are listed by name. */
const OWN_ARGS: Readonly<Record<string, readonly string[]>> = {
  run_process: ['argv'],
  run_shell: ['command'],
  edit_file: ['path', 'old', 'new', 'all'],
  write_file: ['path', 'text'],
};

/** The whole of a call. Reads the file that it would change. */
export async function wholeCall(tool: string, given: unknown, folder: string): Promise<WholeCall> {
  const args = (given ?? {}) as Args;
  const own = (OWN_ARGS[tool] ?? []).filter((name) => name !== 'path' || isWhole(args.path));
  const others = Object.entries(args).filter(([name, value]) => !own.includes(name) && !isDefault(name, value));
  const listed = others.flatMap(([name, value]) => namedArgument(name, value));
  if (tool === 'run_shell' || tool === 'run_process') return { lines: [...commandLines(tool, args), ...listed] };
  if (tool !== 'edit_file' && tool !== 'write_file') return { lines: listed };
  const { lines, ...change } = await changeOf(tool, args, folder);
  return {
    lines: [...lines, ...change.difference.lines, ...warnings(change.difference.hidden, []), ...listed],
    ...change,
  };
}

/** Whether the title of a call shows a path to its end. */
function isWhole(file: unknown): boolean {
  return typeof file === 'string' && oneLine(file) === textOf(visibleInLine(file)) && visible(file).hidden.length === 0;
}

function isDefault(name: string, value: unknown): boolean {
  return name === 'cwd' && (value === '.' || value === '');
}

/** The command, with numbered lines when there are several. */
function commandLines(tool: string, args: Args): Line[] {
  const text = commandText(tool, args);
  const { lines, hidden } = visible(text);
  const width = String(lines.length).length;
  const shown = lines.map((line, i) => [
    span(lines.length === 1 ? '$ ' : `${String(i + 1).padStart(width)} │ `, 'dim'),
    ...line,
  ]);
  return [...shown, ...warnings(hidden, foreignLetters(text))];
}

/** What a person should know about the characters of a text. */
function warnings(hidden: readonly string[], foreign: readonly string[]): Line[] {
  const line = (what: string, list: readonly string[]): Line[] =>
    list.length === 0 ? [] : [[span(`! ${what}: `, 'yellow'), span(list.join(', '), 'yellow')]];
  return [
    ...line('characters that a terminal does not show', hidden),
    ...line('letters outside ASCII, which may look like others', foreign),
  ];
}

function namedArgument(name: string, value: unknown): Line[] {
  const text = typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? 'undefined');
  const { lines, hidden } = visible(text);
  const [first = [], ...rest] = lines;
  const label = `${textOf(visibleInLine(name))}: `;
  if (rest.length === 0) return [[span(label, 'dim'), ...first], ...warnings(hidden, [])];
  return [[span(label, 'dim')], ...lines.map((line) => [span('  │ ', 'dim'), ...line]), ...warnings(hidden, [])];
}

async function changeOf(tool: string, args: Args, folder: string): Promise<{ lines: Line[]; difference: Difference }> {
  const before = await present(folder, String(args.path));
  if (tool === 'write_file') {
    const note = before === undefined ? [[span('a new file', 'dim')]] : [];
    return { lines: note, difference: difference(before ?? '', String(args.text)) };
  }
  const [old, wanted] = [String(args.old), String(args.new)];
  const after = before === undefined ? undefined : edited(before, old, wanted, args.all === true);
  if (before !== undefined && after !== undefined) return { lines: [], difference: difference(before, after) };
  const why = before === undefined ? 'the file cannot be read' : 'the file does not contain the old text now';
  return { lines: [[span(`! ${why}: without line numbers`, 'yellow')]], difference: difference(old, wanted, false) };
}

/** The text after an edit; undefined when the old text does not occur. */
function edited(text: string, old: string, wanted: string, all: boolean): string | undefined {
  if (old === '' || !text.includes(old)) return undefined;
  return all ? text.replaceAll(old, () => wanted) : text.replace(old, () => wanted);
}

/** The current content of a file, for display; undefined for anything but a regular file inside the folder. */
async function present(folder: string, name: string): Promise<string | undefined> {
  const file = path.resolve(folder, name);
  if (!file.startsWith(`${path.resolve(folder)}${path.sep}`)) return undefined;
  return readFile(file, 'utf8').catch(() => undefined);
}

/** The shown part of a result. */
export interface Shown {
  readonly lines: readonly Line[];
}

/** Describes the result of a call. `number`: by which it can be shown whole. */
export function resultLines(event: AgentEventOf<'tool.completed'>, number: number): Shown {
  if (event.tool === 'edit_file' || event.tool === 'write_file') return { lines: [[span('done', 'dim')]] };
  const whole = textLines(event.text ?? (event.ref === undefined ? '' : '(long; the world has it whole)'));
  const { shown, side } = shownPart(event.tool, whole);
  const left = whole.length - shown.length;
  const more =
    left > 0 && side !== 'heading' ? [[span(`… ${left} lines ${side} · /show ${number} or Ctrl-O`, 'dim')]] : [];
  const body = shown.map(dimmed);
  return { lines: side === 'before' ? [...more, ...body] : [...body, ...more] };
}

/** Dims a line, and cuts it to a readable length. */
export function dimmed(line: Line): Line {
  return [span(cut(textOf(line)), 'dim')];
}

function textLines(text: string): Line[] {
  return outputLines(text).filter((line) => textOf(line).trim() !== '');
}

/** The visible part of a result, and where to find the rest. */
function shownPart(tool: string, lines: readonly Line[]) {
  if (tool.startsWith('run_')) return { shown: lines.slice(-PROGRAM_LINES), side: 'before' } as const;
  // The first line describes the rest.
  if (tool === 'read_file' || tool === 'list_files') return { shown: lines.slice(0, 1), side: 'heading' } as const;
  return { shown: lines.slice(0, RESULT_LINES), side: 'more' } as const;
}

/** Why a call has no result, in words for the user. */
export function failureLines(event: AgentEventOf<'tool.failed'>): Shown {
  const one = (text: string): Shown => ({ lines: [[span(text, 'yellow')]] });
  switch (event.non_execution?.kind) {
    case 'denied':
      return one('not done: refused');
    case 'cancelled':
      return one('not done: stopped before it began');
    case 'interrupted':
      return one('stopped while it ran: it may be done in part');
    case 'outcome_unknown':
      return one('outcome unknown: no answer of this call was recorded, so it may have happened');
    case 'completed_late':
      return one('given up on, and answered after all');
    default: {
      const whole = textLines(event.text ?? `${event.code ?? 'failed'}${errorWords(event)}`);
      const { shown } = shownPart(event.tool, whole);
      return { lines: shown.map((line) => [span(cut(textOf(line)), 'red')]) };
    }
  }
}

/** What went wrong, in the words of the provider or of the tool; empty when they are not known. */
export function errorWords({ error }: Pick<AgentEventOf<'llm_step.failed'>, 'error'>): string {
  if (error === undefined) return '';
  const status = error.status === undefined ? '' : `${error.status} `;
  const cause = error.causes?.at(-1)?.message;
  return `: ${status}${plain(error.message).trim()}${cause === undefined ? '' : `: ${plain(cause).trim()}`}`;
}

/** The command of a call as a shell would read it. */
function commandText(tool: string, { command, argv }: Args): string {
  if (tool === 'run_shell') return String(command ?? '');
  if (!Array.isArray(argv)) return String(argv ?? '');
  return argv.map((word) => quoted(String(word))).join(' ');
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

function inFolder(folder: unknown): string {
  return folder === undefined || folder === '.' || folder === '' ? '' : `  in ${oneLine(folder)}`;
}

function oneLine(text: unknown): string {
  return cut(String(text ?? ''));
}

/** A text from outside in one line. */
function cut(text: string): string {
  return fitting(textOf(visibleInLine(text)), TITLE_COLUMNS);
}
