/** When a delivery is tried again. All times are in milliseconds of the journal. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The times of deliveries, in one place. */
export const SCHEDULE = {
  /** A delivery that was not taken for so long is undelivered. */
  giveUpMs: 24 * HOUR,
  /** The wait after the first failed attempt of a delivery, after the second, and so on; the last one repeats. */
  waitsMs: [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR],
  /**
   * The rest of a receiver after one failure, after two in a row, and so on; the last one repeats. Nothing is sent to it
   * meanwhile, so a dead receiver costs some 150 attempts a day, however many deliveries wait for it.
   */
  restsMs: [SECOND, 5 * SECOND, 30 * SECOND, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE],
  /** A wait is longer by up to this share of it, so that many receivers behind one server do not come back at once. */
  jitter: 0.25,
  /** The longest `Retry-After` that is respected. */
  retryAfterMsMax: HOUR,
  /** How long a receiver has for its answer. */
  answerMs: 15 * SECOND,
} as const;

/** How long a delivery waits after so many attempts. @param random from 0 to 1 */
export function waitAfter(attempts: number, random: number): number {
  return Math.round(nth(SCHEDULE.waitsMs, attempts) * (1 + random * SCHEDULE.jitter));
}

/** How long a receiver rests after so many failures in a row. @param retryAfterMs what it asked for, or null */
export function restAfter(failures: number, retryAfterMs: number | null): number {
  return Math.max(nth(SCHEDULE.restsMs, failures), Math.min(retryAfterMs ?? 0, SCHEDULE.retryAfterMsMax));
}

/** The entry for the n-th time, from 1. */
function nth(list: readonly number[], n: number): number {
  return list[Math.min(n, list.length) - 1] ?? 0;
}
