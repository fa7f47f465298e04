/** Numbers as texts that sort as the numbers do: keys of tables. */
import { PRIORITY_MAX } from './bounds.js';

/** The number of digits of the largest safe integer. */
const DIGITS = 16;

/** A whole number from 0 as text of equal length. */
export function sortable(n: number): string {
  return String(n).padStart(DIGITS, '0');
}

/** A position in a queue: higher priorities first, and equal ones in the order of arrival. */
export function placeInLine(priority: number, sequence: number): string {
  return `${sortable(PRIORITY_MAX - priority)}:${sortable(sequence)}`;
}
