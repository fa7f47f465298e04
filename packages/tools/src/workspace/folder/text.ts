/** Formats names, times and lines as text for a model. */
import { utf16Of } from '@reprise/agent';
import { shortText } from '@reprise/contracts';

/**
 * A path as one word of one line: unchanged when it is plain, as JSON text when it holds a space, a quote, a control
 * character or anything that a terminal or a line-based reader could misread.
 */
export function showPath(path: string): string {
  return /^[^\s"\\\p{C}]+$/u.test(path)
    ? path
    : JSON.stringify(path).replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, escapeUnit);
}

/** A time as ISO 8601 in UTC. A time outside the calendar is shown as the epoch. */
export function showTime(milliseconds: number): string {
  const time = new Date(milliseconds);
  return (Number.isNaN(time.getTime()) ? new Date(0) : time).toISOString();
}

/** A line of a file, shortened and without control characters, so that a match stays one line. */
export function showLine(line: string, unitsMax: number): string {
  const plain = line.replace(/(?!\t)\p{Cc}/gu, '\ufffd').trimEnd();
  return shortText(plain, unitsMax + 1);
}

/** Splits text into lines; a final line break does not start another line. */
export function linesOf(text: string): string[] {
  const lines = text.split(/\r\n|\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** The text of a file, in UTF-8 or UTF-16; NUL, and bytes that are in no character, are shown as U+FFFD. */
export function textOf(bytes: Uint8Array): string {
  return new TextDecoder(utf16Of(bytes.subarray(0, SNIFF_BYTES)) ?? 'utf-8').decode(bytes).replaceAll('\0', '\ufffd');
}

/** How many bytes decide how a file is encoded, and whether it is binary; git uses the same number. */
export const SNIFF_BYTES = 8_000;

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
