/** A text on the whole screen, to read to its end. Pure. */
import type { Input } from './input/keys.js';
import { CONTINUED, type Line, span, textOf, wrapped } from './text/spans.js';
import { fitting, widthOf } from './text/width.js';

/** The state of a pager. */
export interface Pager {
  readonly title: string;
  readonly lines: readonly Line[];
  /** The first shown row. */
  readonly top: number;
  readonly columns: number;
  /** The rows of the screen, one of which is the status line. */
  readonly height: number;
  /** What the status line says at the end of the text. */
  readonly atEnd: string;
}

/** A pager on a text. */
export function openPager(pager: Omit<Pager, 'top'>): Pager {
  return { ...pager, top: 0 };
}

/** The rows of the text at this width. */
export function rowsOf({ lines, columns }: Pager): readonly Line[] {
  return lines.flatMap((line) => wrapped(line, columns, { indent: [CONTINUED] }));
}

/** The number of rows from the beginning whose last one is on the screen. */
export function seenRows(pager: Pager): number {
  return Math.min(rowsOf(pager).length, pager.top + room(pager));
}

function room({ height }: Pager): number {
  return Math.max(1, height - 1);
}

/** Handles an input; undefined when it closes the pager. A paste does nothing. */
export function turn(pager: Pager, input: Input): Pager | undefined {
  if (input.kind === 'paste') return pager;
  const name = input.kind === 'text' ? input.text : input.ctrl === true ? `ctrl-${input.name}` : input.name;
  if (['q', 'Q', 'escape', 'ctrl-c', 'ctrl-o', 'ctrl-d'].includes(name)) return undefined;
  const last = Math.max(0, rowsOf(pager).length - room(pager));
  const to = MOVES[name]?.(pager.top, room(pager), last);
  return to === undefined ? pager : { ...pager, top: Math.min(Math.max(0, to), last) };
}

type Move = (top: number, page: number, last: number) => number;

const DOWN: Move = (top) => top + 1;
const UP: Move = (top) => top - 1;
const PAGE_DOWN: Move = (top, page) => top + Math.max(1, page - 1);
const PAGE_UP: Move = (top, page) => top - Math.max(1, page - 1);

const MOVES: Readonly<Record<string, Move>> = {
  j: DOWN,
  down: DOWN,
  enter: DOWN,
  k: UP,
  up: UP,
  ' ': PAGE_DOWN,
  f: PAGE_DOWN,
  pagedown: PAGE_DOWN,
  b: PAGE_UP,
  pageup: PAGE_UP,
  g: () => 0,
  home: () => 0,
  G: (_top, _page, last) => last,
  end: (_top, _page, last) => last,
};

/** Fits the pager to another size, keeping the first shown text in view. */
export function resized(pager: Pager, columns: number, height: number): Pager {
  const share = pager.top / Math.max(1, rowsOf(pager).length);
  const next = { ...pager, columns, height };
  const rows = rowsOf(next).length;
  return { ...next, top: Math.min(Math.floor(share * rows), Math.max(0, rows - room(next))) };
}

/** What the screen shows: rows of the text, and the status line last. */
export function screenOf(pager: Pager): readonly Line[] {
  const rows = rowsOf(pager);
  const shown = rows.slice(pager.top, pager.top + room(pager));
  const blank = Array.from({ length: room(pager) - shown.length }, (): Line => [span('~', 'dim')]);
  const end = pager.top + shown.length;
  const isEnd = end >= rows.length;
  const place = isEnd
    ? `END · ${pager.atEnd}`
    : `rows ${pager.top + 1}-${end} of ${rows.length} · Space next page · G end · q back`;
  const status = fitting(` ${place}  ·  ${pager.title} `, pager.columns);
  const fill = ' '.repeat(Math.max(0, pager.columns - widthOf(status)));
  return [...shown, ...blank, [span(status + fill, 'inverse')]];
}

/** The text of a pager, for outputs without a screen. */
export function wholeText({ lines }: Pick<Pager, 'lines'>): readonly string[] {
  return lines.map(textOf);
}
