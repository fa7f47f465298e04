/** When agents end: times, and the seconds in which they are stated and shown. */

/**
 * The end of an agent's time: as it is declared, else that of its parent. 0 is no end. Times are compared and seconds are
 * shown, rounded up: what ends less than a second after the parent ends with it.
 *
 * @param above when the parent ends; undefined for no end
 */
export function endOf(ttl_seconds: number | undefined, above: number | undefined, now: number): number | null {
  if (ttl_seconds === undefined) return above ?? null;
  if (ttl_seconds === 0) return null;
  const end = now + ttl_seconds * 1_000;
  return above !== undefined && end > above && end < above + 1_000 ? above : end;
}

/** The seconds until a time, as they are shown: rounded up. */
export function secondsUntil(end: number, now: number): number {
  return Math.max(0, Math.ceil((end - now) / 1_000));
}
