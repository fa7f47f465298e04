/** The picture of a review: its rows, in the width and the height of a terminal. Pure. */
import { escapeLine } from 'reprise/terminal';

/** A row: a task or the work before the plan, and what it found. */
export interface PictureRow {
  readonly head: string;
  /** In words of agents; empty while it works. */
  readonly found: string;
}

/** The size of a picture. Without a height all of it is drawn, for it is not drawn again. */
export interface PictureSize {
  readonly columns: number;
  readonly rows: number | undefined;
}

/** A finding stands below its row, at this column. */
const INDENT = '        ';
/** Characters that take two columns. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{3fffd}]/u;
const COLUMNS = 80;
const COLUMNS_MIN = 20;

/** The width of a terminal, which says 0 or nothing where it does not know. */
export function columnsOf(columns: number | undefined): number {
  return Math.max(COLUMNS_MIN, columns === undefined || columns === 0 ? COLUMNS : columns);
}

/**
 * The lines of the picture: never wider than the terminal, whose last column stays free, and never higher, so that it can
 * be drawn again in its place. Findings are whole; where there is no room for all of them, the newest ones are drawn.
 */
export function pictureOf(
  title: string,
  shown: readonly PictureRow[],
  { columns, rows }: PictureSize,
): readonly string[] {
  const width = columns - 1;
  const heads = shown.map(({ head }) => cut(escapeLine(head), width));
  const found = shown.map((row) => (row.found === '' ? [] : wrapped(escapeLine(row.found), width)));
  let room = rows === undefined ? Number.POSITIVE_INFINITY : rows - 2 - heads.length;
  const drawn = found.map(() => false);
  for (let i = found.length - 1; i >= 0; i--) {
    const { length } = found[i] ?? [];
    if (length > room) break;
    drawn[i] = true;
    room -= length;
  }
  const lines = heads.flatMap((head, i) => [head, ...(drawn[i] === true ? (found[i] ?? []) : [])]);
  const most = rows === undefined ? lines.length : Math.max(1, rows - 2);
  const left = lines.length > most ? lines.slice(lines.length - most) : lines;
  return [cut(title, width), ...left];
}

/** The columns that a text takes. */
function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += WIDE.test(character) ? 2 : 1;
  return width;
}

/** The beginning of a text that fits a width. */
function beginning(text: string, width: number): string {
  let end = 0;
  let used = 0;
  for (const character of text) {
    used += WIDE.test(character) ? 2 : 1;
    if (used > width) break;
    end += character.length;
  }
  return text.slice(0, end);
}

function cut(text: string, width: number): string {
  return widthOf(text) <= width ? text : `${beginning(text, width - 1)}…`;
}

/** A text in lines: broken at blanks, and inside a word only where it is longer than a line. */
function wrapped(text: string, columns: number): readonly string[] {
  const width = columns - INDENT.length;
  const lines: string[] = [];
  for (let left = text.trim(); left !== ''; ) {
    const most = beginning(left, width);
    const blank = most.length === left.length ? -1 : most.lastIndexOf(' ');
    const line = blank > 0 ? left.slice(0, blank) : most;
    lines.push(`${INDENT}${line}`);
    left = left.slice(line.length).trimStart();
  }
  return lines;
}
