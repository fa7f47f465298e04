/** The values of arguments of the command: numbers, amounts, and options that may be repeated. */
import { InvalidArgumentError } from 'commander';

/** A whole number, 0 or more. */
export function count(text: string): number {
  return wholeNumber(text, 0);
}

/** A whole number, 1 or more. */
export function positive(text: string): number {
  return wholeNumber(text, 1);
}

/** A port of TCP; 0 for any free one. */
export function port(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError('Expected a port from 0 to 65535.');
}

function wholeNumber(text: string, least: number): number {
  if (/^\d{1,15}$/.test(text) && Number(text) >= least) return Number(text);
  throw new InvalidArgumentError(`Expected a whole number, ${least} or more.`);
}

/** Reads an amount in dollars. */
export function dollars(text: string): number {
  const amount = Number(text);
  if (/^\d{1,7}(?:\.\d{1,6})?$/.test(text) && amount > 0) return amount;
  throw new InvalidArgumentError('Expected an amount in dollars above zero, as 2 or 0.50.');
}

/** Reads a price: dollars per million tokens of input and output. */
export function price(text: string): { readonly in: number; readonly out: number } {
  const [input, output] = /^(\d+(?:\.\d+)?),(\d+(?:\.\d+)?)$/.exec(text)?.slice(1) ?? [];
  if (input !== undefined && output !== undefined) return { in: Number(input), out: Number(output) };
  throw new InvalidArgumentError('Expected two amounts in dollars per million tokens, as 3,15.');
}

/** Collects the values of an option that may be repeated. */
export function several(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

/** Reads words with commas between them. */
export function listed(text: string): readonly string[] {
  return text.split(',').map((word) => word.trim());
}

/** Reads a day or a time, in UTC unless it says otherwise. @returns milliseconds since 1970 */
export function time(text: string): number {
  const ms = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/.test(text)
    ? Date.parse(text)
    : Number.NaN;
  if (!Number.isNaN(ms) && isDay(text.slice(0, 'YYYY-MM-DD'.length))) return ms;
  throw new InvalidArgumentError('Expected a day, as 2026-11-30, or a time, as 2026-11-30T09:00Z.');
}

/** Whether the calendar has the day: a date is read as that of the next month when it has not. */
function isDay(day: string): boolean {
  return new Date(Date.parse(day)).toISOString().startsWith(day);
}
