/**
 * Matches a name against a list of patterns.
 *
 * Every name of a workspace is checked, mostly in vain. Names and endings are looked up in tables, and of the other
 * patterns only those are tried that begin or end with the same character as the name.
 */

/** Checks names, given in ASCII lower case. */
interface NameMatcher {
  test(lower: string): boolean;
}

/**
 * Makes a matcher: `*` is any text, `?` one of the characters that join words, or nothing.
 *
 * @param patterns in lower case
 */
export function nameMatcher(patterns: readonly string[]): NameMatcher {
  const whole = new Set(patterns.filter((pattern) => !/[*?]/.test(pattern)));
  const ended = patterns.filter((pattern) => /^\*\.[^*?.]+$/.test(pattern));
  const endings = new Set(ended.map((pattern) => pattern.slice(2)));
  const others = patterns.filter((pattern) => !whole.has(pattern) && !ended.includes(pattern));
  const started = others.filter((pattern) => !isWild(pattern[0]));
  const closed = others.filter((pattern) => isWild(pattern[0]) && !isWild(pattern.at(-1)));
  const open = expressionOf(others.filter((pattern) => isWild(pattern[0]) && isWild(pattern.at(-1))));
  const byFirst = grouped(started, (pattern) => pattern.charCodeAt(0));
  const byLast = grouped(closed, (pattern) => pattern.charCodeAt(pattern.length - 1));
  return {
    test: (lower) =>
      whole.has(lower) ||
      endings.has(endingOf(lower)) ||
      byFirst.get(lower.charCodeAt(0))?.test(lower) === true ||
      byLast.get(lower.charCodeAt(lower.length - 1))?.test(lower) === true ||
      open?.test(lower) === true,
  };
}

/** What follows the last dot; the empty text when there is no dot. */
export function endingOf(name: string): string {
  const dot = name.lastIndexOf('.');
  return dot < 0 ? '' : name.slice(dot + 1);
}

/** A pattern as the source of a regular expression. */
export function patternSource(pattern: string): string {
  return pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '[-_. 0-9]?');
}

function isWild(unit: string | undefined): boolean {
  return unit === '*' || unit === '?';
}

function grouped(patterns: readonly string[], keyOf: (pattern: string) => number): Map<number, RegExp> {
  const groups = new Map<number, string[]>();
  for (const pattern of patterns) groups.set(keyOf(pattern), [...(groups.get(keyOf(pattern)) ?? []), pattern]);
  const compiled = [...groups].flatMap(([key, group]) => {
    const expression = expressionOf(group);
    return expression === undefined ? [] : [[key, expression] as const];
  });
  return new Map(compiled);
}

function expressionOf(patterns: readonly string[]): RegExp | undefined {
  return patterns.length === 0 ? undefined : new RegExp(`^(?:${patterns.map(patternSource).join('|')})$`, 's');
}
