/** Lines that call something unfinished, as opposed to lines that only contain the word. */
import { type Findings, isLeftOut, type Match } from './findings.js';

/** What is searched for: marks of unfinished work in most languages. */
export const UNFINISHED = [
  { pattern: 'TODO' },
  { pattern: 'FIXME' },
  { pattern: 'not implemented', ignore_case: true },
] as const;

/** A mark is the first word of a comment. Anywhere else it may mean something else. */
const IN_COMMENT = /(?:^|\s)(?:\/\/+|\/?\*+|#+|--|<!--|;+|%+)\s*(?:TODO|FIXME|XXX|not implemented)\b/i;

/** Code that fails because it is not written yet: the message of an error. */
const IN_CODE = /\b(?:throw|raise|panic|fatal|abort)\b[^"'`]*["'`].*not\s+implemented/i;

/** Tests and their data: what they call unfinished is an example. */
const EXAMPLES =
  /(?:^|\/)(?:tests?|__tests__|specs?|fixtures?|testdata|goldens?|__mocks__|mocks|snapshots|conformance|e2e)\/|[._-](?:test|spec)\.\w+$/i;

/** The unfinished lines of a pattern. */
export interface Unfinished {
  readonly lines: readonly Match[];
  /** Whether the search found more than it showed, so that there may be more lines. */
  readonly isLeast: boolean;
}

/** The lines that call something unfinished, without tests, the report itself, and what was to be left out. */
export function unfinishedLines(found: Findings, pattern: string, report: string): Unfinished {
  const shown = found.matches.get(pattern) ?? [];
  const lines = shown.filter(
    ({ path, text }) =>
      path !== report &&
      !isLeftOut(found, path) &&
      !EXAMPLES.test(path) &&
      (IN_COMMENT.test(text) || IN_CODE.test(text)),
  );
  return { lines, isLeast: (found.matchCounts.get(pattern) ?? 0) > shown.length };
}
