/**
 * The formats that are checked, as patterns of the linear engine: a library's own expressions might take unbounded time
 * on a long text. A format that is not listed informs readers and is not checked.
 */
import type { Budget } from './budget.js';
import { type LinearPattern, linearPattern } from './pattern.js';

/** Checks a text by a format. @throws OutOfSteps */
export type FormatCheck = (text: string, budget: Budget) => boolean;

const DATE = '(?:\\d{4})-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])';
const TIME =
  '(?:(?:[01]\\d|2[0-3]):[0-5]\\d:(?:[0-5]\\d|60))(?:\\.\\d+)?(?:[zZ]|[+-](?:[01]\\d|2[0-3]):?(?:[0-5]\\d)?)';
const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const IPV4 = `${OCTET}(?:\\.${OCTET}){3}`;
const HEX = '[0-9a-fA-F]{1,4}';
const IPV6 = [
  `(?:${HEX}:){7}${HEX}`,
  `(?:${HEX}:){6}${IPV4}`,
  ...[0, 1, 2, 3, 4, 5, 6, 7].map(
    (n) => `(?:${HEX}(?::${HEX}){${Math.max(0, n - 1)}})${n === 0 ? '{0}' : ''}::${tail(7 - n)}`,
  ),
].join('|');
const LABEL = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?';
const HOSTNAME = `${LABEL}(?:\\.${LABEL})*`;
const ATEXT = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";
const PERCENT = '%[0-9a-fA-F]{2}';
const PCHARS = `(?:[A-Za-z0-9\\-._~!$&'()*+,;=:@/]|${PERCENT})*`;
const QUERY = `(?:[A-Za-z0-9\\-._~!$&'()*+,;=:@/?]|${PERCENT})*`;
const USER = `(?:[A-Za-z0-9\\-._~!$&'()*+,;=:]|${PERCENT})*`;
const HOST = `(?:\\[[0-9a-fA-F:.vV]+\\]|(?:[A-Za-z0-9\\-._~!$&'()*+,;=]|${PERCENT})*)`;
const HIERARCHY = `(?://(?:${USER}@)?${HOST}(?::\\d*)?(?:/${PCHARS})?|(?!//)${PCHARS})`;
const AFTER = `(?:\\?${QUERY})?(?:#${QUERY})?`;

const PATTERNS: Readonly<Record<string, string>> = {
  'date-time': `${DATE}[tT\\s]${TIME}`,
  date: DATE,
  time: TIME,
  duration: 'P(?!$)(?:\\d+Y)?(?:\\d+M)?(?:\\d+D)?(?:T(?=\\d)(?:\\d+H)?(?:\\d+M)?(?:\\d+S)?)?|P\\d+W',
  email: `${ATEXT}(?:\\.${ATEXT})*@${HOSTNAME}`,
  hostname: `(?=.{1,253}$)${HOSTNAME}`,
  ipv4: IPV4,
  ipv6: IPV6,
  uri: `[A-Za-z][A-Za-z0-9+.\\-]*:${HIERARCHY}${AFTER}`,
  'uri-reference': `(?:[A-Za-z][A-Za-z0-9+.\\-]*:)?${HIERARCHY}${AFTER}`,
  uuid: '[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}',
  'json-pointer': '(?:/(?:[^~/]|~[01])*)*',
};

const known = new Map<string, FormatCheck>();

/** The check of a format; undefined where it is not checked. */
export function formatCheck(name: string): FormatCheck | undefined {
  const made = known.get(name) ?? make(name);
  if (made !== undefined) known.set(name, made);
  return made;
}

function make(name: string): FormatCheck | undefined {
  if (name === 'regex') return (text, budget) => isPattern(text, budget);
  const source = Object.hasOwn(PATTERNS, name) ? PATTERNS[name] : undefined;
  if (source === undefined) return undefined;
  const pattern = linearPattern(`^(?:${source})$`) as LinearPattern;
  const dated = name === 'date' || name === 'date-time';
  return (text, budget) => pattern.matches(text, budget) && (!dated || isDay(text));
}

function isPattern(text: string, budget: Budget): boolean {
  budget.spend(text.length * 10);
  return typeof linearPattern(text, () => () => true) !== 'string';
}

/** Whether a month has the day that a date names. */
function isDay(text: string): boolean {
  const [year, month, day] = [Number(text.slice(0, 4)), Number(text.slice(5, 7)), Number(text.slice(8, 10))];
  if (month !== 2) return day <= ([4, 6, 9, 11].includes(month) ? 30 : 31);
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return day <= (isLeap ? 29 : 28);
}

/** The part of an address that may follow `::`, of at most so many groups. */
function tail(groups: number): string {
  if (groups === 0) return '';
  const words = `(?:${HEX}(?::${HEX}){0,${groups - 1}})?`;
  return groups < 2 ? words : `(?:${words}|(?:${HEX}:){0,${groups - 2}}${IPV4})`;
}
