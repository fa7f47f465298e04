/** Numbers as texts that sort as the numbers do: keys of tables. */
import { PRIORITY_MAX } from './bounds.js';

/** What every safe integer fits in. */
const DIGITS = 16;

/** A whole number from 0 as text of equal length. */
export function sortable(n: number): string {
  return String(n).padStart(DIGITS, '0');
}

/** The place of something in line: higher priorities first, the first come first among equals. */
export function placeInLine(priority: number, sequence: number): string {
  return `${sortable(PRIORITY_MAX - priority)}:${sortable(sequence)}`;
}
