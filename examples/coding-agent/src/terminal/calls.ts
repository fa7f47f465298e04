/** How tool calls and their results are shown. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { AgentEventOf } from 'reprise';
import { diffLines } from './diff.js';
import { type Paint, plain } from './paint.js';

/** The maximum number of lines shown of a diff, and of a result. */
const DIFF_LINES_MAX = 60;
const RESULT_LINES = 4;
/** The result of a program is at the end of its output. */
const PROGRAM_LINES = 7;
const LINE_COLUMNS = 160;

type Args = Readonly<Record<string, unknown>>;

/** Describes a call in one line. */
export function callLine(tool: string, given: unknown): string {
  const args = (given ?? {}) as Args;
  switch (tool) {
    case 'run_process':
      return `run  ${commandLine(args.argv)}${inFolder(args.cwd)}`;
    case 'run_shell':
      return `run  ${oneLine(args.command)}${inFolder(args.cwd)}`;
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
      return `${tool}  ${oneLine(JSON.stringify(args))}`;
  }
}

/** The change that a call would make, as a diff; empty for calls that change no file. */
export async function callDiff(tool: string, given: unknown, folder: string, paint: Paint): Promise<string[]> {
  const args = (given ?? {}) as Args;
  if (tool === 'edit_file') return painted(String(args.old), String(args.new), paint);
  if (tool !== 'write_file') return [];
  const before = await present(folder, String(args.path));
  return painted(before, String(args.text), paint);
}

/** The current content of a file, for display; empty for anything but a regular file inside the folder. */
async function present(folder: string, name: string): Promise<string> {
  const file = path.resolve(folder, name);
  if (!file.startsWith(`${path.resolve(folder)}${path.sep}`)) return '';
  return readFile(file, 'utf8').catch(() => '');
}

function painted(before: string, after: string, paint: Paint): string[] {
  const lines = diffLines(before, after);
  const shown = lines.slice(0, DIFF_LINES_MAX).map(({ sign, text }) => {
    const line = `${sign} ${cut(plain(text))}`;
    return sign === '-' ? paint.red(line) : sign === '+' ? paint.green(line) : paint.dim(line);
  });
  return lines.length > shown.length ? [...shown, paint.dim(`… ${lines.length - shown.length} more lines`)] : shown;
}

/** Describes the result of a call. */
export function resultLines(event: AgentEventOf<'tool.completed'>, paint: Paint): string[] {
  if (event.tool === 'edit_file' || event.tool === 'write_file') return [paint.dim('done')];
  const lines = textLines(event.text ?? (event.ref === undefined ? '' : '(long; the world has it whole)'));
  const { shown, side } = shownPart(event.tool, lines);
  const left = lines.length - shown.length;
  const more = left > 0 && side !== 'heading' ? [paint.dim(`… ${left} lines ${side}`)] : [];
  const body = shown.map((line) => paint.dim(cut(line)));
  return side === 'before' ? [...more, ...body] : [...body, ...more];
}

function textLines(text: string): string[] {
  return plain(text)
    .split('\n')
    .filter((line) => line.trim() !== '');
}

/** The visible part of a result, and where to find the rest. */
function shownPart(tool: string, lines: readonly string[]) {
  if (tool.startsWith('run_')) return { shown: lines.slice(-PROGRAM_LINES), side: 'before' } as const;
  // The first line describes the rest.
  if (tool === 'read_file' || tool === 'list_files') return { shown: lines.slice(0, 1), side: 'heading' } as const;
  return { shown: lines.slice(0, RESULT_LINES), side: 'more' } as const;
}

/** Why a call has no result, in words for the user. */
export function failureLines(event: AgentEventOf<'tool.failed'>, paint: Paint): string[] {
  switch (event.non_execution?.kind) {
    case 'denied':
      return [paint.yellow('not done: refused')];
    case 'cancelled':
      return [paint.yellow('not done: stopped before it began')];
    case 'interrupted':
      return [paint.yellow('stopped while it ran: it may be done in part')];
    case 'outcome_unknown':
      return [paint.yellow('outcome unknown: the process died in this call, so it may have happened')];
    case 'completed_late':
      return [paint.yellow('given up on, and answered after all')];
    default: {
      const { shown } = shownPart(event.tool, textLines(event.text ?? event.code ?? 'failed'));
      return shown.map((line) => paint.red(cut(line)));
    }
  }
}

function commandLine(argv: unknown): string {
  if (!Array.isArray(argv)) return oneLine(argv);
  return argv.map((word) => (/^[\w@%+=:,./-]+$/.test(String(word)) ? String(word) : JSON.stringify(word))).join(' ');
}

function inFolder(folder: unknown): string {
  return folder === undefined || folder === '.' || folder === '' ? '' : `  in ${oneLine(folder)}`;
}

function oneLine(text: unknown): string {
  return cut(plain(String(text ?? '')).replaceAll('\n', ' ⏎ '));
}

function cut(line: string): string {
  return line.length > LINE_COLUMNS ? `${line.slice(0, LINE_COLUMNS)}…` : line;
}
