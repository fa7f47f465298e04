/**
 * Path patterns: `*` within a name, `**` for any folders, `{a,b}` for alternatives. Matching never backtracks, since a
 * model writes the patterns.
 */
import { fitsPattern } from './names.js';

/** The most patterns that the braces of one pattern may expand to. */
const ALTERNATIVES_MAX = 64;

/**
 * Expands a pattern's braces into patterns without braces.
 *
 * @returns undefined when a brace is not closed, or there are too many alternatives
 * @example expandBraces('a.{ts,js}') // ['a.ts', 'a.js']
 */
export function expandBraces(pattern: string): readonly string[] | undefined {
  const open = pattern.lastIndexOf('{');
  if (open < 0) return pattern.includes('}') ? undefined : [pattern];
  const close = pattern.indexOf('}', open);
  if (close < 0) return undefined;
  const all: string[] = [];
  for (const choice of pattern.slice(open + 1, close).split(',')) {
    const inner = expandBraces(`${pattern.slice(0, open)}${choice}${pattern.slice(close + 1)}`);
    if (inner === undefined || all.length + inner.length > ALTERNATIVES_MAX) return undefined;
    all.push(...inner);
  }
  return all;
}

/**
 * Whether the names of a path match a pattern without braces. Each step of the pattern is compared with each name at
 * most once.
 *
 * @example matchesPath(['src', 'a', 'b.ts'], 'src/**' + '/*.ts') // true
 */
export function matchesPath(names: readonly string[], pattern: string): boolean {
  const steps = pattern.split('/').filter((step) => step !== '' && step !== '.');
  let reached = new Set([0]); // how many names are consumed by the steps so far
  for (const step of steps) {
    const next = new Set<number>();
    for (const at of reached) {
      if (step === '**') for (let end = at; end <= names.length; end++) next.add(end);
      else if (at < names.length && fitsPattern(names[at] ?? '', step)) next.add(at + 1);
    }
    reached = next;
  }
  return reached.has(names.length);
}
