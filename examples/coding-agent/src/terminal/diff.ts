/** The differences between two texts, line by line. */

/** A line of a diff: in both texts, only before, or only after. */
export interface DiffLine {
  readonly sign: ' ' | '-' | '+';
  readonly text: string;
}

/** How many equal lines are shown around a difference. */
const AROUND = 2;
/** With more pairs of lines to compare than this, all lines count as different: no person reads such a diff. */
const PAIRS_MAX = 4_000_000;

/** The lines that differ, with some lines around them. */
export function diffLines(before: string, after: string): readonly DiffLine[] {
  return nearChanges(compared(linesOf(before), linesOf(after)));
}

function linesOf(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** Compares by the longest common subsequence of lines. */
function compared(before: readonly string[], after: readonly string[]): DiffLine[] {
  const all = (sign: '-' | '+', lines: readonly string[]) => lines.map((text): DiffLine => ({ sign, text }));
  if (before.length * after.length > PAIRS_MAX) return [...all('-', before), ...all('+', after)];
  const common = commonLengths(before, after);
  const lines: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < before.length && j < after.length) {
    const [old, wanted] = [before[i] ?? '', after[j] ?? ''];
    if (old === wanted) {
      lines.push({ sign: ' ', text: old });
      i += 1;
      j += 1;
    } else if ((common[i + 1]?.[j] ?? 0) >= (common[i]?.[j + 1] ?? 0)) {
      lines.push({ sign: '-', text: old });
      i += 1;
    } else {
      lines.push({ sign: '+', text: wanted });
      j += 1;
    }
  }
  return [...lines, ...all('-', before.slice(i)), ...all('+', after.slice(j))];
}

/** How many lines are in common from each pair of positions on. */
function commonLengths(before: readonly string[], after: readonly string[]): readonly Uint32Array[] {
  const table = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1));
  for (let i = before.length - 1; i >= 0; i--) {
    const [row, below] = [table[i], table[i + 1]];
    if (row === undefined || below === undefined) continue;
    for (let j = after.length - 1; j >= 0; j--) {
      row[j] = before[i] === after[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0);
    }
  }
  return table;
}

function nearChanges(lines: readonly DiffLine[]): DiffLine[] {
  const near = new Set<number>();
  lines.forEach(({ sign }, i) => {
    if (sign !== ' ') for (let at = i - AROUND; at <= i + AROUND; at++) near.add(at);
  });
  return lines.filter((_, i) => near.has(i));
}
