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
