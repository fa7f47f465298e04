/**
 * Line matchers for `grep`. A regular expression from a model runs with a time bound: JavaScript's engine backtracks,
 * and a pattern such as (a+)+$ could block the process for years.
 */

import vm from 'node:vm';
import { startOfText } from '@reprise/contracts';

/** The most UTF-16 units of a pattern. */
export const PATTERN_LENGTH_MAX = 500;

/**
 * How long the regex engine may work on one file, and on one whole search, in milliseconds. The engine is stopped by wall
 * time. A process that the machine did not run for half of it has not worked on the file, which is tried again.
 */
const FILE_MS = 200;
const SEARCH_MS = 2_000;
const TRIES = 5;

/** How many characters of a line a pattern is matched with: longer lines are minified code, where matches are useless. */
export const LINE_SEARCHED_UNITS_MAX = 20_000;

/** The result of a matcher whose pattern takes too long. */
export class TooSlow {
  readonly type = 'too_slow';
}

/** Returns the indexes of the lines that match. */
export type LineMatcher = (lines: readonly string[]) => number[] | TooSlow;

/** Matches lines that contain a text. */
export function literalMatcher(text: string, ignoreCase: boolean): LineMatcher {
  if (ignoreCase) {
    // An escaped literal has no quantifier, so it cannot backtrack and needs no time bound.
    const expression = new RegExp(text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&'), 'i');
    return (lines) => indexesOf(lines, (line) => expression.test(line));
  }
  return (lines) => indexesOf(lines, (line) => line.includes(text));
}

/** Matches lines by a regular expression; returns the reason when the pattern is invalid. */
export function regexMatcher(pattern: string, ignoreCase: boolean): LineMatcher | string {
  const flags = ignoreCase ? 'i' : '';
  // Flag u first, for \p{…}; without it when it refuses escapes that every other grep accepts, such as \- or \:.
  const expression = compile(pattern, `${flags}u`) ?? compile(pattern, flags);
  if (expression === undefined) return 'the pattern is not a JavaScript regular expression';
  return underClock((lines) => indexesOf(lines, (line) => expression.test(startOfText(line, LINE_SEARCHED_UNITS_MAX))));
}

function compile(pattern: string, flags: string): RegExp | undefined {
  try {
    return new RegExp(pattern, flags);
  } catch {
    return undefined;
  }
}

function indexesOf(lines: readonly string[], matches: (line: string) => boolean): number[] {
  const out: number[] = [];
  for (let i = 0; i < lines.length; i++) if (matches(lines[i] ?? '')) out.push(i);
  return out;
}

/**
 * Runs a search with the time bound of `node:vm`, the only way to stop a running regular expression. The context holds
 * only the function to call: it confines time, not code.
 */
function underClock(search: (lines: readonly string[]) => number[]): LineMatcher {
  let spentMs = 0;
  let lines: readonly string[] = [];
  let found: number[] = [];
  const sandbox = vm.createContext({
    find: () => {
      found = search(lines);
    },
  });
  const script = new vm.Script('find()');
  return (given) => {
    lines = given;
    for (let tries = 1; spentMs <= SEARCH_MS; tries++) {
      const before = process.cpuUsage();
      const isDone = endsInTime(script, sandbox);
      const { user, system } = process.cpuUsage(before);
      const workedMs = (user + system) / 1_000;
      spentMs += workedMs;
      if (isDone) return found;
      if (workedMs > FILE_MS / 2 || tries === TRIES) break;
    }
    return new TooSlow();
  };
}

function endsInTime(script: vm.Script, sandbox: vm.Context): boolean {
  try {
    script.runInContext(sandbox, { timeout: FILE_MS });
    return true;
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false;
    throw error;
  }
}
