/** Times in words: the clock of the reader, with the day where it is another one. */
const two = (n: number) => String(n).padStart(2, '0');

/** The time of a day: `09:31:40`. */
export function clock(ms: number): string {
  const date = new Date(ms);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** A day: `2026-01-02`. */
export function day(ms: number): string {
  const date = new Date(ms);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** A day and a time: `2026-01-02 09:31:40`. */
export function moment(ms: number): string {
  return `${day(ms)} ${clock(ms)}`;
}

/** A moment for machines and other time zones; empty outside the range of dates. */
export function iso(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString();
}

const UNITS: readonly (readonly [ms: number, name: string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
];

/** A length of time in one unit: `4 min`. */
export function span(ms: number): string {
  for (const [unit, name] of UNITS) if (ms >= unit) return `${Math.floor(ms / unit)} ${name}`;
  return ms < 0 ? 'in the future' : '0 s';
}

/** How long ago a moment was: `3 h ago`. */
export function ago(ms: number, now: number): string {
  return now - ms < 2_000 ? 'just now' : `${span(now - ms)} ago`;
}
