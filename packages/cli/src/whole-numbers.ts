/** Whole numbers among the arguments of the command. */
import { InvalidArgumentError } from 'commander';

/** A whole number, 0 or more. */
export function count(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected a whole number, 0 or more.');
}

/** A whole number, 1 or more. */
export function positive(text: string): number {
  const number = count(text);
  if (number > 0) return number;
  throw new InvalidArgumentError('Expected a whole number, 1 or more.');
}
