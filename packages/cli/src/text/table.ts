/** Tables of text: words to the left, numbers to the right. */
import { cutToColumns, widthOfText } from './layout.js';

/** A column of a table. */
export interface Column {
  readonly head: string;
  /** Numbers stand to the right. A column of words gives way when the table is too wide. */
  readonly align: 'left' | 'right';
}

const GAP = '  ';

/** The least columns that words keep. */
const WORDS_MIN = 3;

/** Lays out rows below their heads. @param columns the width of the terminal; absent where lines are not fitted */
export function tableLines(
  shape: readonly Column[],
  rows: readonly (readonly string[])[],
  columns: number | undefined,
): string[] {
  const all = [shape.map(({ head }) => head), ...rows];
  const widths = shape.map((_, i) => Math.max(...all.map((row) => widthOfText(row[i] ?? ''))));
  shrink(shape, widths, columns);
  return all.map((row) =>
    row
      .map((cell, i) => fitted(cell, widths[i] ?? 0, shape[i]))
      .join(GAP)
      .trimEnd(),
  );
}

/** Takes from the widest words until the table fits. */
function shrink(shape: readonly Column[], widths: number[], columns: number | undefined): void {
  if (columns === undefined) return;
  const width = (): number => widths.reduce((sum, one) => sum + one, 0) + GAP.length * (widths.length - 1);
  while (width() > columns) {
    const words = widths.map((one, i) => (shape[i]?.align === 'left' ? one : 0));
    const widest = Math.max(...words);
    if (widest <= WORDS_MIN) return;
    widths[words.indexOf(widest)] = widest - 1;
  }
}

function fitted(cell: string, width: number, column: Column | undefined): string {
  const shown = cutToColumns(cell, width);
  const pad = ' '.repeat(Math.max(width - widthOfText(shown), 0));
  return column?.align === 'right' ? `${pad}${shown}` : `${shown}${pad}`;
}
