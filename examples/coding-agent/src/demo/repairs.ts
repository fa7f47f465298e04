/** The small mistakes that people make in one line, and what may have been meant. */

/** One line of a file as it may have been meant. */
export interface Repair {
  /** Counted from 0. */
  readonly line: number;
  readonly old: string;
  readonly new: string;
  /** What is exchanged. */
  readonly from: string;
  readonly to: string;
}

/** What is often written in place of what, the likeliest first. */
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
 * What may be meant in place of a source text: one exchange in one line each, the likeliest first.
 *
 * @param suspects names of functions that are likely to be wrong: their lines come first
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

/** The lines of functions by name: from where one is declared to the line that closes it. */
function suspectLines(lines: readonly string[], suspects: readonly string[]): number[] {
  return suspects.flatMap((name) => {
    const first = lines.findIndex((text) => new RegExp(`\\b(function|const) ${name}\\b`).test(text));
    if (first < 0) return [];
    const length = lines.slice(first).findIndex((text) => /^}/.test(text));
    return Array.from({ length: length < 0 ? lines.length - first : length + 1 }, (_, i) => first + i);
  });
}
