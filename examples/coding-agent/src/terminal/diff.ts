/** The difference between two texts as lines to read: with line numbers, some lines around, and the changed words marked. */
import { diffWordsWithSpace, structuredPatch } from 'diff';
import type { Style } from './text/paint.js';
import { type Line, type Span, span } from './text/spans.js';
import { visible } from './text/visible.js';

/** How many equal lines are shown around a difference. */
const AROUND = 3;
/** Comparing takes no longer than this: then all lines count as different. */
const COMPARE_MS = 1_000;
/** Words are compared in lines up to this length. */
const WORD_UNITS_MAX = 2_000;

/** A difference to read. */
export interface Difference {
  readonly lines: readonly Line[];
  readonly added: number;
  readonly removed: number;
  /** The characters that would have been hidden, each as it is shown. */
  readonly hidden: readonly string[];
}

/** A line of a comparison. */
interface Compared {
  readonly sign: ' ' | '-' | '+';
  readonly text: string;
  /** Line numbers before and after. */
  readonly before?: number;
  readonly after?: number;
}

/**
 * Compares two texts line by line.
 *
 * @param numbered whether the texts are whole files, so that line numbers have a meaning
 */
export function difference(before: string, after: string, numbered = true): Difference {
  const hidden = new Set<string>();
  const hunks = hunksOf(before, after);
  const width = numbered ? String(lastNumber(hunks.flat())).length : 0;
  const lines = hunks.flatMap((hunk, i) => [
    ...(i === 0 ? [] : [[span(`${' '.repeat(width)} ⋮`, 'dim')]]),
    ...marked(hunk, hidden).map(({ line, words }) => shownLine(line, words, width)),
  ]);
  const count = (sign: string) => hunks.flat().filter((one) => one.sign === sign).length;
  return { lines, added: count('+'), removed: count('-'), hidden: [...hidden] };
}

/** The largest line number. As a loop: a file may have more lines than a call takes arguments. */
function lastNumber(lines: readonly Compared[]): number {
  return lines.reduce((last, { before, after }) => Math.max(last, before ?? after ?? 0), 0);
}

function hunksOf(before: string, after: string): Compared[][] {
  const patch = structuredPatch('', '', before, after, '', '', { context: AROUND, timeout: COMPARE_MS });
  if (patch === undefined) return [[...allLines('-', before), ...allLines('+', after)]];
  return patch.hunks.map(({ oldStart, newStart, lines }) => numberedLines(lines, oldStart, newStart));
}

function allLines(sign: '-' | '+', text: string): Compared[] {
  const lines = text.replace(/\n$/, '').split('\n');
  return lines.map((line, i) => ({ sign, text: line, ...(sign === '-' ? { before: i + 1 } : { after: i + 1 }) }));
}

function numberedLines(lines: readonly string[], oldStart: number, newStart: number): Compared[] {
  let [before, after] = [oldStart, newStart];
  return lines.map((line) => {
    const [sign, text] = [line[0], line.slice(1)];
    if (sign === '-') return { sign, text, before: before++ };
    if (sign === '+') return { sign, text, after: after++ };
    if (sign === '\\') return { sign: ' ', text: `(${text.trim()})` };
    return { sign: ' ', text, before: before++, after: after++ };
  });
}

/** Pairs each removed line with the added line in its place, and finds the words that differ. */
function marked(hunk: readonly Compared[], hidden: Set<string>): { line: Compared; words: Line }[] {
  const words = new Map<Compared, Line>();
  for (const [removed, added] of pairsOf(hunk)) {
    if (removed.text.length + added.text.length > WORD_UNITS_MAX) continue;
    const parts = diffWordsWithSpace(removed.text, added.text);
    const isSimilar = parts.some((part) => !part.added && !part.removed && part.value.trim() !== '');
    if (!isSimilar) continue;
    const of = (isOwn: (part: (typeof parts)[number]) => boolean, color: Style): Line =>
      parts
        .filter((part) => isOwn(part) || !(part.added || part.removed))
        .flatMap((part) => shownText(part.value, hidden, isOwn(part) ? [color, 'inverse'] : [color]));
    words.set(
      removed,
      of((part) => part.removed, 'red'),
    );
    words.set(
      added,
      of((part) => part.added, 'green'),
    );
  }
  const color = { '-': 'red', '+': 'green', ' ': 'dim' } as const;
  return hunk.map((line) => ({ line, words: words.get(line) ?? shownText(line.text, hidden, [color[line.sign]]) }));
}

function pairsOf(hunk: readonly Compared[]): [Compared, Compared][] {
  const pairs: [Compared, Compared][] = [];
  for (let i = 0; i < hunk.length; ) {
    const removed = runOf(hunk, i, '-');
    const added = runOf(hunk, i + removed.length, '+');
    i += Math.max(1, removed.length + added.length);
    if (removed.length !== added.length) continue;
    for (const [j, line] of removed.entries()) {
      const other = added[j];
      if (other !== undefined) pairs.push([line, other]);
    }
  }
  return pairs;
}

function runOf(hunk: readonly Compared[], from: number, sign: string): readonly Compared[] {
  let end = from;
  while (hunk[end]?.sign === sign) end += 1;
  return hunk.slice(from, end);
}

function shownText(text: string, hidden: Set<string>, styles: readonly Style[]): Span[] {
  const shown = visible(text);
  for (const mark of shown.hidden) hidden.add(mark);
  return (shown.lines[0] ?? []).map((one) => (one.styles === undefined ? { text: one.text, styles } : one));
}

function shownLine({ sign, before, after }: Compared, words: Line, width: number): Line {
  const number = width === 0 ? '' : `${String(after ?? before ?? '').padStart(width)} `;
  const color = sign === '-' ? 'red' : sign === '+' ? 'green' : 'dim';
  return [span(number, 'dim'), span(`${sign} `, color), ...words];
}
