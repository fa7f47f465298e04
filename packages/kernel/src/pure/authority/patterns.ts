/**
 * Patterns, and lists of them as sets of texts. The language is so small that inclusion and intersection are
 * decided by comparing prefixes.
 *
 * Invariants
 * P1  Two patterns lie one in the other or have no text in common, so their intersection is one of them or nothing.
 * P2  A normal form holds no pattern that lies in another and is sorted by code units. A list and its normal form
 *     match the same texts, and two lists that match the same texts have the same normal form.
 * P3  A list covers a pattern when one of its patterns does. For texts of any characters that is exact: no list
 *     matches all that `p*` does unless a single one of its patterns does, because a text may continue with a character
 *     that no pattern can name. Where texts are known to use few characters it errs on the safe side: over the
 *     letters a and b, the list `p`, `pa*`, `pb*` matches all that `p*` does but does not count as covering it.
 * P4  Every function takes any list, and gives normal forms.
 */
import { PATTERN, PATTERN_LENGTH_MAX, type Patterns } from '@reprise/contracts';

/** Tells whether a text is a pattern: visible ASCII, and a star nowhere but at the end. */
export function isPattern(text: string): boolean {
  return text.length <= PATTERN_LENGTH_MAX && PATTERN.test(text);
}

/**
 * Tells whether a pattern matches a text.
 *
 * @example matches('llm.*', 'llm.generate@1') // true
 */
export function matches(pattern: string, text: string): boolean {
  return pattern.endsWith('*') ? text.startsWith(pattern.slice(0, -1)) : text === pattern;
}

/**
 * Tells whether one pattern matches all that another does.
 *
 * @example covers('llm.*', 'llm.generate*') // true
 */
export function covers(outer: string, inner: string): boolean {
  return matches(outer, inner); // as text: a prefix has no star in it, so the inner star never matters
}

/** Gives the normal form of a list (P2): the list itself when it is one, as recorded lists are. */
export function normalise(patterns: Patterns): Patterns {
  if (isNormal(patterns)) return patterns;
  const kept: string[] = [];
  for (const pattern of [...patterns].sort(byCodeUnits)) {
    // All patterns with one prefix are adjacent, so a pattern that covers this one or lies in it is at the end.
    if (coveredBy(pattern, kept.at(-1))) continue;
    while (coveredBy(kept.at(-1), pattern)) kept.pop();
    kept.push(pattern);
  }
  return kept;
}

/** Neighbors tell: between a pattern and one that lies in it there are only others that lie in it. */
function isNormal(patterns: Patterns): boolean {
  for (let i = 1; i < patterns.length; i++) {
    const [before, pattern] = [patterns[i - 1] as string, patterns[i] as string];
    if (before >= pattern || matches(before, pattern) || matches(pattern, before)) return false; // as in `covers`
  }
  return true;
}

/** Tells whether any pattern of a list matches a text. */
export function matchesAny(patterns: Patterns, text: string): boolean {
  return patterns.some((pattern) => matches(pattern, text));
}

/** Gives the list that matches exactly the texts which both match. It may be as long as both together. */
export function meetPatterns(a: Patterns, b: Patterns): Patterns {
  const [one, other] = [normalise(a), normalise(b)];
  const within = (inner: Patterns, outer: Patterns) => inner.filter((pattern) => normalFormCovers(outer, pattern));
  return [...new Set([...within(one, other), ...within(other, one)])].sort(byCodeUnits); // P1
}

/** Tells whether one list matches all that another does; exact for texts of any characters (P3). */
export function coversPatterns(outer: Patterns, inner: Patterns): boolean {
  return firstUncovered(outer, inner) === undefined;
}

/** Finds the first pattern of a list's normal form that another list does not cover. */
export function firstUncovered(outer: Patterns, inner: Patterns): string | undefined {
  const wide = normalise(outer);
  return normalise(inner).find((pattern) => !normalFormCovers(wide, pattern));
}

/** Orders texts by their UTF-16 code units, as every engine and locale does. */
export function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * The cover of a pattern is next to the pattern's place in a normal form: between `p*` and a text that begins with
 * `p` there are only texts that begin with `p`, and `p*` would have replaced them. So two checks suffice.
 */
function normalFormCovers(normal: Patterns, pattern: string): boolean {
  const place = placeOf(normal, pattern);
  return coveredBy(pattern, normal[place]) || coveredBy(pattern, normal[place - 1]);
}

/** The index of the first entry that is not before a text. */
function placeOf(sorted: Patterns, text: string): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as string) < text) low = middle + 1;
    else high = middle;
  }
  return low;
}

function coveredBy(inner: string | undefined, outer: string | undefined): boolean {
  return inner !== undefined && outer !== undefined && matches(outer, inner); // as in `covers`
}
