/** Times as clients read them. */

/** A journal time as text, in UTC and to the millisecond; null for none. */
export function timeOf(ms: number | null): string | null {
  if (ms === null) return null;
  const days = Math.floor(ms / DAY);
  const rest = ms - days * DAY;
  const [year, month, day] = dateOf(days);
  const time = [Math.floor(rest / 3_600_000), Math.floor(rest / 60_000) % 60, Math.floor(rest / 1_000) % 60];
  const clock = time.map((part) => padded(part, 2)).join(':');
  return `${padded(year, 4)}-${padded(month, 2)}-${padded(day, 2)}T${clock}.${padded(rest % 1_000, 3)}Z`;
}

const DAY = 86_400_000;

/**
 * The date of a day since 1970, by the rules of the Gregorian calendar. Years are counted from March, so that the day that
 * is added every four years is the last one; 400 years have 146,097 days.
 */
function dateOf(days: number): readonly [year: number, month: number, day: number] {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const leaps = Math.floor(dayOfEra / 1_460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leaps) / 365);
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const month = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * month + 2) / 5) + 1;
  const civil = month < 10 ? month + 3 : month - 9;
  return [yearOfEra + era * 400 + (civil <= 2 ? 1 : 0), civil, day];
}

function padded(n: number, digits: number): string {
  return String(n).padStart(digits, '0');
}
