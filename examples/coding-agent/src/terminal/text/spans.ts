/** Styled text as data: lines of spans, and rows of lines that fit a number of columns. */
import type { Paint, Style } from './paint.js';
import { graphemesOf, widthOf } from './width.js';

/** A piece of text in one style. It contains no line break, and nothing that a terminal would execute. */
export interface Span {
  readonly text: string;
  readonly styles?: readonly Style[];
}

/** A line of text. */
export type Line = readonly Span[];

/** How lines are broken into rows. */
export interface WrapOptions {
  /** Breaks between words where a word fits a row. */
  readonly words?: boolean;
  /** Stands before every row but the first. */
  readonly indent?: Line;
}

/** The fewest columns that are laid out: the widest character takes two, and a row needs room beside its indent. */
export const COLUMNS_MIN = 4;

/** A span, with styles. */
export function span(text: string, ...styles: readonly Style[]): Span {
  return styles.length === 0 ? { text } : { text, styles };
}

/** Stands before the rows that continue a line, so that they do not look like lines of their own. */
export const CONTINUED: Span = span('↳ ', 'dim');

/** The text of a line. */
export function textOf(line: Line): string {
  return line.map(({ text }) => text).join('');
}

/** The width of a line in columns. */
export function lineWidth(line: Line): number {
  return widthOf(textOf(line));
}

/** Characters that a terminal would execute, or by which it would reorder others. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const ACTIVE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * A text as a terminal may receive it. Texts from outside were made visible before, by those who know how they are to be
 * read; this is for one that was forgotten, as in the message of an error.
 */
export function harmless(text: string): string {
  return text.replace(ACTIVE, '\ufffd');
}

/** A line as the terminal receives it. */
export function painted(line: Line, paint: Paint): string {
  return line
    .map(({ text, styles = [] }) => styles.reduce((done, style) => paint[style](done), harmless(text)))
    .join('');
}

/** A line with line breaks in it as lines. */
export function brokenUp(line: Line): readonly Line[] {
  if (!line.some(({ text }) => text.includes('\n'))) return [line];
  const lines: Span[][] = [[]];
  for (const { text, styles = [] } of line) {
    text.split('\n').forEach((part, i) => {
      if (i > 0) lines.push([]);
      if (part !== '') lines.at(-1)?.push(span(part, ...styles));
    });
  }
  return lines;
}

interface Cell {
  readonly text: string;
  readonly columns: number;
  readonly styles: readonly Style[] | undefined;
}

/**
 * Breaks a line into rows of at most `columns` columns. Without `words`, the rows hold every character of the line.
 */
export function wrapped(line: Line, columns: number, { words = false, indent = [] }: WrapOptions = {}): Line[] {
  const room = Math.max(columns, COLUMNS_MIN);
  const hang = lineWidth(indent) <= room - COLUMNS_MIN ? indent : [];
  const rows: Cell[][] = [];
  let row: Cell[] = [];
  let used = 0;
  let left = room;
  const end = (): void => {
    rows.push(row);
    row = [];
    used = 0;
    left = room - lineWidth(hang);
  };
  for (const word of words ? wordsOf(cellsOf(line, room)) : cellsOf(line, room).map((cell) => [cell])) {
    const width = columnsOf(word);
    const isBlank = word.every(({ text }) => text === ' ');
    if (used + width > left && used > 0 && (!words || isBlank || width <= room - lineWidth(hang))) end();
    if (words && isBlank && used === 0 && rows.length > 0) continue; // a row does not begin with the break
    for (const cell of word) {
      if (used + cell.columns > left && used > 0) end();
      row.push(cell);
      used += cell.columns;
    }
  }
  rows.push(row);
  return rows.map((cells, i) => joined(i === 0 ? cells : [...hang.map(asCell), ...cells], words));
}

function columnsOf(cells: readonly Cell[]): number {
  return cells.reduce((sum, { columns }) => sum + columns, 0);
}

function asCell({ text, styles }: Span): Cell {
  return { text, columns: widthOf(text), styles };
}

/** The clusters of a line. One that is wider than a row is taken apart. */
function cellsOf(line: Line, room: number): Cell[] {
  return line.flatMap(({ text, styles }) =>
    graphemesOf(text).flatMap((grapheme) => {
      const columns = widthOf(grapheme);
      if (columns <= room) return [{ text: grapheme, columns, styles }];
      return [...grapheme].map((one) => ({ text: one, columns: widthOf(one), styles }));
    }),
  );
}

/** Words, and the blanks between them. */
function wordsOf(cells: readonly Cell[]): Cell[][] {
  const words: Cell[][] = [];
  for (const cell of cells) {
    const last = words.at(-1);
    if (last !== undefined && (last[0]?.text === ' ') === (cell.text === ' ')) last.push(cell);
    else words.push([cell]);
  }
  return words;
}

/** Joins neighbors of the same style. */
function joined(cells: readonly Cell[], trims: boolean): Line {
  const spans: { text: string; styles: readonly Style[] | undefined }[] = [];
  let end = cells.length;
  while (trims && end > 0 && cells[end - 1]?.text === ' ') end -= 1;
  for (const { text, styles } of cells.slice(0, end)) {
    const last = spans.at(-1);
    if (last !== undefined && last.styles === styles) last.text += text;
    else spans.push({ text, styles });
  }
  return spans.map(({ text, styles }) => (styles === undefined ? { text } : { text, styles }));
}
