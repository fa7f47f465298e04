/** Places a typed text on rows of the screen, and the cursor in them. Pure. */
import { type Line, textOf } from '../text/spans.js';
import { visibleInLine } from '../text/visible.js';
import { graphemesOf, widthOf } from '../text/width.js';

/** A cluster of a row. */
interface Cell {
  /** Its length in code units. */
  readonly length: number;
  readonly columns: number;
  readonly shown: Line;
}

/** A row of the text. */
export interface LaidRow {
  /** Where it begins in the text, in code units. */
  readonly from: number;
  readonly cells: readonly Cell[];
}

/** A text on rows. */
export interface Layout {
  readonly rows: readonly LaidRow[];
  /** The place of the cursor. */
  readonly row: number;
  readonly column: number;
}

/** Lays a text out. Every row is narrower than `columns`, so that the cursor fits behind it. */
export function layout(text: string, cursor: number, columns: number): Layout {
  const rows: LaidRow[] = [];
  let place = { row: 0, column: 0 };
  let from = 0;
  for (const line of text.split('\n')) {
    let start = from;
    let cells: Cell[] = [];
    let used = 0;
    let at = from;
    for (const grapheme of graphemesOf(line)) {
      const cell = cellOf(grapheme, columns);
      if (used + cell.columns >= columns && used > 0) {
        rows.push({ from: start, cells });
        [start, cells, used] = [at, [], 0];
      }
      if (at === cursor) place = { row: rows.length, column: used };
      cells.push(cell);
      used += cell.columns;
      at += cell.length;
    }
    if (at === cursor) place = { row: rows.length, column: used };
    rows.push({ from: start, cells });
    from = at + 1;
  }
  return { rows, ...place };
}

/** The text of a row as it is shown. */
export function shownRow({ cells }: LaidRow): Line {
  return cells.flatMap(({ shown }) => shown);
}

function cellOf(grapheme: string, columns: number): Cell {
  const shown = visibleInLine(grapheme);
  const width = widthOf(textOf(shown));
  if (width < columns) return { length: grapheme.length, columns: width, shown };
  return { length: grapheme.length, columns: 1, shown: [{ text: '�' }] };
}
