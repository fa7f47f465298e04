/** Fenced code, line by line: it is the one block that may be long, so it is never parsed. */
import type { Code } from 'mdast';

/** The line that begins fenced code. */
export interface Fence {
  /** The marks that end it: these, or more of them. */
  readonly marks: string;
  /** The blanks before the marks, which the lines of the code may have too. */
  readonly indent: number;
  /** The language, or ''. */
  readonly lang: string;
}

const OPENS = /^( {0,3})(`{3,}(?=[^`]*$)|~{3,})[ \t]*([^ \t]*)/;

/** The fence that a line begins. */
export function fenceOf(line: string): Fence | undefined {
  const [, blanks = '', marks, lang = ''] = OPENS.exec(line) ?? [];
  return marks === undefined ? undefined : { marks, indent: blanks.length, lang };
}

/** Whether a line ends the code of a fence. */
export function closes(line: string, { marks }: Fence): boolean {
  const [, found = ''] = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line) ?? [];
  return found.startsWith(marks);
}

/** A line of the code, without the blanks that its fence has too. */
export function codeLine(line: string, { indent }: Fence): string {
  const blanks = /^ */.exec(line)?.[0].length ?? 0;
  return line.slice(Math.min(indent, blanks));
}

/** The code of a chunk that a fence begins; its end may still be missing. */
export function codeOf(raw: string, fence: Fence): Code {
  const lines = raw.split('\n').slice(1);
  const isClosed = lines.length > 0 && closes(lines.at(-1) ?? '', fence);
  const value = (isClosed ? lines.slice(0, -1) : lines).map((line) => codeLine(line, fence)).join('\n');
  return { type: 'code', lang: fence.lang || null, value };
}
