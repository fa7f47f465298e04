/** The width of texts on a terminal: clusters of characters as they are drawn, not code units. */
import stringWidth from 'string-width';

/** Each character is one column wide and a cluster of its own. Most lines are such, and need no table of Unicode. */
const NARROW = /^[ -~\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2039\u203a]*$/;
let segmenter: Intl.Segmenter | undefined;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the range of plain ASCII
const ASCII = /^[\u0000-\u007f]*$/;

/** The width of a text in columns. The text has no escape sequences. */
export function widthOf(text: string): number {
  if (NARROW.test(text)) return text.length;
  return stringWidth(text, { countAnsiEscapeCodes: true });
}

/** The clusters of a text: what a person sees as one character. */
export function graphemesOf(text: string): string[] {
  // A carriage return and a line feed are one cluster, so texts with both take the long way.
  if (ASCII.test(text) && !text.includes('\r')) return [...text];
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** Cuts a text to a number of columns. */
export function fitting(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let cut = '';
  let used = 0;
  for (const grapheme of graphemesOf(text)) {
    used += widthOf(grapheme);
    if (used > columns - 1) break;
    cut += grapheme;
  }
  return `${cut}…`;
}
