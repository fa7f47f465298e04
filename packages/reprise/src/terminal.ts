/** Printing for people: what models, tools and people wrote never controls the terminal that shows it. */
import { inspect } from 'node:util';
import { escapeText } from '@reprise/contracts';

export { escapeLine, escapeText } from '@reprise/contracts';

/**
 * Prints values to standard output as `console.log` does, in one piece. What a terminal would execute, hide or reorder
 * is printed as an escape, so a model cannot move the cursor, hide a line or write to the clipboard. The same is printed
 * into a pipe, whose reader may be a terminal.
 *
 * @param values texts as they are, and everything else as `util.inspect` shows it; nothing is a format
 * @example print(await run.text())
 */
export function print(...values: readonly unknown[]): void {
  // biome-ignore lint/suspicious/noConsole: this is the place that prints
  console.log(wordsOf(values));
}

/** Prints values to standard error, as {@link print} does to standard output. */
export function printError(...values: readonly unknown[]): void {
  // biome-ignore lint/suspicious/noConsole: this is the place that prints
  console.error(wordsOf(values));
}

function wordsOf(values: readonly unknown[]): string {
  return escapeText(values.map((value) => (typeof value === 'string' ? value : inspect(value))).join(' '));
}
