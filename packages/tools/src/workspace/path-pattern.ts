/** Path patterns: `*` within a name, `**` for any folders, `{a,b}` for either. No backtracking over text: a model writes them. */
import { fitsPattern } from './names.js';

/** The most patterns that the braces of one may stand for. */
const ALTERNATIVES_MAX = 64;

/**
 * A pattern without braces for each choice in them.
 *
 * @returns undefined when a brace has no end, or there are too many choices
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
 * Whether the names of a path fit a pattern without braces. Each place of the pattern is compared with each name at
 * most once.
 *
 * @example matchesPath(['src', 'a', 'b.ts'], 'src/**' + '/*.ts') // true
 */
export function matchesPath(names: readonly string[], pattern: string): boolean {
  const steps = pattern.split('/').filter((step) => step !== '' && step !== '.');
  let reached = new Set([0]); // names that are used up by the steps so far
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
