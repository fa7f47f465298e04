/** Fits lines to a terminal. Piped output is never fitted: there a line is a thing, to be found with grep. */

/** Text in which each unit is one character, of one column. */
const PLAIN = /^[ -~]*$/;

/** The narrowest space for words beside an indent. */
const WORDS_MIN = 24;

/** Cuts a line to some columns, with a mark of omission at its end. */
export function cutToColumns(line: string, columns: number): string {
  let [shown, width] = ['', 0];
  for (const segment of charactersOf(line)) {
    width += widthOf(segment);
    if (width > columns) return `${shown.slice(0, -1)}…`;
    shown += segment;
  }
  return line;
}

/**
 * Wraps a line between words. Lines after the first are indented, so that a text of others cannot look like an entry.
 *
 * @param indent the columns before the lines after the first; the first line is not broken within so many columns
 */
export function wrapToColumns(line: string, columns: number, indent: number): string {
  const pad = ' '.repeat(columns - indent < WORDS_MIN ? 2 : indent);
  const lines: string[] = [];
  let [current, width] = ['', 0];
  for (const segment of charactersOf(line)) {
    const more = widthOf(segment);
    if (width + more > columns) {
      const rest = breakOff(lines, current, segment, pad.length);
      if (rest === undefined) {
        [current, width] = [pad, pad.length];
        continue; // the space at which the line was broken
      }
      current = `${pad}${rest}`;
      width = widthOfText(current);
    }
    current += segment;
    width += more;
  }
  return [...lines, current].join('\n');
}

/** Ends a full line at its last space. @returns what goes to the next line; undefined when the next character is a space */
function breakOff(lines: string[], current: string, next: string, indent: number): string | undefined {
  const at = current.lastIndexOf(' ');
  if (next === ' ' || at <= indent) {
    lines.push(current);
    return next === ' ' ? undefined : '';
  }
  lines.push(current.slice(0, at));
  return current.slice(at + 1);
}

/** The columns of a text as a person sees it. */
export function widthOfText(text: string): number {
  let width = 0;
  for (const segment of charactersOf(text)) width += widthOf(segment);
  return width;
}

/** The columns of one character as a person sees it. */
function widthOf(segment: string): number {
  if (segment >= ' ' && segment <= '~') return 1;
  const { zero, wide } = unicode();
  if (zero.test(segment)) return 0;
  return wide.test(segment) || segment.includes('\ufe0f') ? 2 : 1;
}

/** The characters of a text as a person sees them. */
function* charactersOf(text: string): Generator<string> {
  if (PLAIN.test(text)) yield* text;
  else for (const { segment } of unicode().segmenter.segment(text)) yield segment;
}

/** What Unicode knows of characters. It takes 18 ms to load, a tenth of a start, and plain text does without it. */
function unicode() {
  known ??= {
    segmenter: new Intl.Segmenter(),
    zero: /^[\p{Mn}\p{Me}\p{Cf}]+$/u,
    wide: /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}])/u,
  };
  return known;
}

let known: { readonly segmenter: Intl.Segmenter; readonly zero: RegExp; readonly wide: RegExp } | undefined;
