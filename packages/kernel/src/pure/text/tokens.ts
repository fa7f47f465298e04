/**
 * Text as words. The same text gives the same words on every engine and in every release: only the pinned table is
 * used, and no locale, case mapping or character class of the engine.
 *
 * Words are runs of letters, digits and the marks that belong to them. Case and accents are folded away (`É`, `é` and
 * `e` with a combining accent are one). Of scripts that put no spaces between words, each character is a word.
 */
import { ALONE_RANGES, FOLD_RUNS, WORD_RANGES } from './table.js';

/** The longest word, in characters; a longer one is cut, and found by its beginning. */
export const WORD_LENGTH_MAX = 64;

/** The role of a character in a word, by its code point. */
const OUTSIDE = 0;
const INSIDE = 1;
const ALONE = 2;
const ACCENT = 3;

interface Table {
  /** The role of a character: {@link OUTSIDE} or one of the others. */
  readonly kinds: Uint8Array;
  /** The distance to the character that replaces it. */
  readonly folds: Int32Array;
}

const POINTS = 0x110000;

let table: Table | undefined;

/** The table is built at its first use: an import costs nothing. */
function tableOf(): Table {
  if (table !== undefined) return table;
  const kinds = new Uint8Array(POINTS);
  const folds = new Int32Array(POINTS);
  fill(kinds, WORD_RANGES, INSIDE);
  fill(kinds, ALONE_RANGES, ALONE);
  kinds.fill(ACCENT, 0x300, 0x370);
  const runs = numbersIn(FOLD_RUNS);
  for (let i = 0, at = 0; i < runs.length; i += 4) {
    const [gap = 0, count = 0, step = 0, distance = 0] = runs.slice(i, i + 4);
    for (let k = 0; k < count; k++) folds[at + gap + k * step] = distance;
    at += gap + (count - 1) * step + 1;
  }
  table = { kinds, folds };
  return table;
}

function fill(kinds: Uint8Array, ranges: string, kind: number): void {
  const numbers = numbersIn(ranges);
  for (let i = 0, at = 0; i < numbers.length; i += 2) {
    const start = at + (numbers[i] ?? 0);
    at = start + (numbers[i + 1] ?? 0);
    kinds.fill(kind, start, at);
  }
}

function numbersIn(text: string): number[] {
  return text.split(' ').map((digits) => Number.parseInt(digits, 36));
}

/**
 * The words of a text, in order, folded.
 *
 * @example wordsOf('Éclair, no. 7') // ['eclair', 'no', '7']
 */
export function wordsOf(text: string): string[] {
  const { kinds, folds } = tableOf();
  const words: string[] = [];
  let word = '';
  let length = 0;
  const end = (): void => {
    if (length > 0) words.push(word);
    word = '';
    length = 0;
  };
  for (let i = 0; i < text.length; i++) {
    const point = text.codePointAt(i) ?? 0;
    if (point > 0xffff) i++;
    const kind = kinds[point];
    if (kind === ACCENT) continue;
    if (kind !== INSIDE) end();
    if (kind === OUTSIDE) continue;
    if (length < WORD_LENGTH_MAX) word += String.fromCodePoint(point + (folds[point] ?? 0));
    length++;
    if (kind === ALONE) end();
  }
  end();
  return words;
}
