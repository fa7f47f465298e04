/**
 * Makes every character of a text visible that a terminal would execute, hide or reorder.
 *
 * For a text that a person approves: what runs is what is read. Nothing is left out, and nothing is normalized.
 */
import { type Line, type Span, span } from './spans.js';
import { graphemesOf, widthOf } from './width.js';

/** Characters that draw nothing, change the order of others, or look like a space without being one. */
const HIDDEN =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}]|(?! )\p{Zs}|^[\p{Mn}\p{Me}]/u;
// biome-ignore lint/complexity/useRegexLiterals: as a literal, this flag needs a newer target than the repository's
const EMOJI = new RegExp('^\\p{RGI_Emoji}$', 'v');
/** A cluster of letters with joiners inside, as Persian and Hindi are written. */
const JOINED = /^[\p{L}\p{M}\u200c\u200d]*$/u;
const TAB_COLUMNS = 4;

/** A text made visible. */
export interface Visible {
  readonly lines: readonly Line[];
  /** The distinct characters that would have been hidden, each as it is shown. */
  readonly hidden: readonly string[];
}

/**
 * Shows a text line by line. A line feed ends a line; every other control character is shown as a mark.
 *
 * @param joins lets joiners between letters pass: for prose, not for what a person approves
 */
export function visible(text: string, joins = false): Visible {
  const hidden = new Set<string>();
  const lines = text.split('\n').map((line) => visibleLine(line, hidden, joins));
  return { lines, hidden: [...hidden] };
}

/** Shows a text in one line: line feeds are marks too. */
export function visibleInLine(text: string): Line {
  return text.split('\n').flatMap((line, i) => [...(i === 0 ? [] : [span('⏎', 'yellow')]), ...visibleLine(line)]);
}

function visibleLine(line: string, hidden: Set<string> = new Set(), joins = false): Line {
  const spans: Span[] = [];
  let clear = '';
  let column = 0;
  const flush = (): void => {
    if (clear !== '') spans.push(span(clear));
    clear = '';
  };
  for (const grapheme of graphemesOf(line)) {
    if (!HIDDEN.test(grapheme) || EMOJI.test(grapheme) || (joins && /\p{L}/u.test(grapheme) && JOINED.test(grapheme))) {
      clear += grapheme;
      column += widthOf(grapheme);
      continue;
    }
    for (const character of grapheme) {
      if (character === '\t') {
        const blanks = TAB_COLUMNS - (column % TAB_COLUMNS);
        clear += ' '.repeat(blanks);
        column += blanks;
      } else if (!HIDDEN.test(character)) {
        clear += character;
        column += widthOf(character);
      } else {
        flush();
        const mark = markOf(character);
        column += widthOf(mark);
        hidden.add(mark);
        spans.push(span(mark, 'inverse', 'yellow'));
      }
    }
  }
  flush();
  return spans;
}

/** How a hidden character is shown: control characters by their pictures, the others by their number. */
export function markOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return '␡';
  return `‹U+${code.toString(16).toUpperCase().padStart(4, '0')}›`;
}

/** The letters of a text outside ASCII, each once with its number: some look like others. */
export function foreignLetters(text: string): readonly string[] {
  const found = new Set(Array.from(text).filter((character) => character > '\u007f' && /\p{L}|\p{N}/u.test(character)));
  return [...found].map((letter) => `${letter} ${markOf(letter)}`);
}
