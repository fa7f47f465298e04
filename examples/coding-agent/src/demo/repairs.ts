/** Small mistakes that people make in one line, and their likely corrections. */

/** A corrected line of a file. */
export interface Repair {
  /** Its number, from 0. */
  readonly line: number;
  readonly old: string;
  readonly new: string;
  /** The replacement, for display. */
  readonly from: string;
  readonly to: string;
}

/** Common confusions, the likeliest first. */
const MISTAKES: readonly (readonly [from: string, to: string])[] = [
  [' > ', ' >= '],
  [' < ', ' <= '],
  [' >= ', ' > '],
  [' <= ', ' < '],
  [' === ', ' !== '],
  [' !== ', ' === '],
  [' + ', ' - '],
  [' - ', ' + '],
  [' * ', ' / '],
  [' / ', ' * '],
  [' && ', ' || '],
  [' || ', ' && '],
  [' += ', ' -= '],
  [' -= ', ' += '],
  [' = 0', ' = 1'],
  [' = 1', ' = 0'],
];

const COMMENT = /^\s*(\/\/|\/?\*)/;

/**
 * The likely corrections of a source text, the likeliest first: each replaces one thing in one line.
 *
 * @param suspects names of functions that are probably wrong: their lines come first
 */
export function repairsOf(source: string, suspects: readonly string[]): readonly Repair[] {
  const lines = source.split('\n');
  const likely = suspectLines(lines, suspects);
  const order = [...likely, ...lines.keys()].filter((line, i, all) => all.indexOf(line) === i);
  return order.flatMap((line) => repairsIn(lines[line] ?? '', line));
}

function repairsIn(text: string, line: number): Repair[] {
  if (COMMENT.test(text)) return [];
  return MISTAKES.filter(([from]) => text.includes(from)).map(([from, to]) => {
    return { line, old: text, new: text.replace(from, to), from: from.trim(), to: to.trim() };
  });
}

/** The lines of each function by name, from its declaration to its closing line. */
function suspectLines(lines: readonly string[], suspects: readonly string[]): number[] {
  return suspects.flatMap((name) => {
    const first = lines.findIndex((text) => new RegExp(`\\b(function|const) ${name}\\b`).test(text));
    if (first < 0) return [];
    const length = lines.slice(first).findIndex((text) => /^}/.test(text));
    return Array.from({ length: length < 0 ? lines.length - first : length + 1 }, (_, i) => first + i);
  });
}
