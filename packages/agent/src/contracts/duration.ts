import { isWhole, RepriseError } from '@reprise/contracts';

/** A duration: milliseconds, or a number with its unit, such as `'10s'`, `'1.5h'`, `'2d'`. */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The longest duration, in milliseconds: 366 days. */
const SPAN_MS_MAX = 366 * 86_400_000;

/**
 * Converts a duration to whole milliseconds.
 *
 * @param where the option that holds the duration, for the message
 * @throws RepriseError `invalid_argument` unless the duration is between 1 millisecond and 366 days
 * @example durationMs('1.5s', 'timeout') // 1_500
 */
export function durationMs(duration: Duration, where: string): number {
  const ms = typeof duration === 'number' ? duration : parsed(duration);
  if (isWhole(ms, 1) && ms <= SPAN_MS_MAX) return ms;
  throw new RepriseError('invalid_argument', 'invalid duration', {
    where,
    expected: "whole milliseconds, or text such as '500ms', '10s', '5m', '2h', '1d', up to 366 days",
    actual: duration,
  });
}

function parsed(text: unknown): number {
  const found = /^(\d{1,12}(?:\.\d{1,6})?)(ms|s|m|h|d)$/.exec(String(text));
  return found === null ? Number.NaN : Math.round(Number(found[1]) * (UNITS[found[2] ?? ''] ?? Number.NaN));
}
