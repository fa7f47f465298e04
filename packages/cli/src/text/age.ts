/** How long ago something was, in one unit. */

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** A duration in its largest whole unit: `4 min`, `2 h`, `3 d`. */
export function durationText(ms: number): string {
  for (const [unit, size] of UNITS) if (ms >= size) return `${Math.floor(ms / size)} ${unit}`;
  return 'a moment';
}
