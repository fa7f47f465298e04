import type { Patterns } from '@reprise/contracts';
import { PATTERN_LENGTH_MAX } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import {
  covers,
  coversPatterns,
  isPattern,
  matches,
  matchesAny,
  meetPatterns,
  normalise,
} from '../../../src/pure/authority/index.js';
import { Meaning, patternsOf, setsOf, textsOf } from './texts.js';

/** Letters on both sides of the star: what sorts before `*` and what sorts after it. */
const LETTERS = [
  ['a', 'b'],
  ['!', 'a'],
] as const;

/** A character that no pattern can name, so that no list of longer beginnings is ever complete. */
const OUTSIDE = ' ';

interface PatternSets {
  readonly normalise: (patterns: Patterns) => Patterns;
  readonly matchesAny: (patterns: Patterns, text: string) => boolean;
  readonly meetPatterns: (a: Patterns, b: Patterns) => Patterns;
  readonly coversPatterns: (outer: Patterns, inner: Patterns) => boolean;
}

const OURS: PatternSets = { normalise, matchesAny, meetPatterns, coversPatterns };

interface Judged {
  readonly list: Patterns;
  /** In any order: authors do not sort their lists. */
  readonly shuffled: Patterns;
  readonly set: bigint;
}

/** Holds every list of up to three patterns, and every pair of such lists, to the sets that they mean. */
function judge(sets: PatternSets, letters: readonly string[], size: number): number {
  const meaning = new Meaning(textsOf([...letters, OUTSIDE], 4));
  const lists = setsOf(patternsOf(letters, 2), size).map((list, i): Judged => {
    const shuffled = i % 2 === 0 ? list : list.toReversed();
    return { list, shuffled, set: meaning.of(list) };
  });
  const formOf = new Map<bigint, string>();
  for (const { list, shuffled, set } of lists) {
    for (const order of ordersOf(list)) {
      const form = JSON.stringify(sets.normalise(order));
      if (form !== (formOf.get(set) ?? form)) expect.fail(`${JSON.stringify(order)} has another form: ${form}`);
      formOf.set(set, form);
    }
    expect(meaning.of(sets.normalise(shuffled))).toBe(set);
    for (const [i, text] of meaning.texts.entries()) {
      if (sets.matchesAny(shuffled, text) !== ((set >> BigInt(i)) % 2n === 1n))
        expect.fail(`${JSON.stringify(shuffled)} and ${JSON.stringify(text)}`);
    }
  }
  expect(new Set(formOf.values()).size).toBe(formOf.size);
  for (const a of lists) for (const b of lists) judgePair(sets, meaning, a, b);
  return lists.length * lists.length;
}

/** The orders that a list may be written in. */
function ordersOf(list: Patterns): Patterns[] {
  if (list.length < 2) return [list];
  return list.flatMap((first, i) => ordersOf(list.toSpliced(i, 1)).map((rest) => [first, ...rest]));
}

function judgePair(sets: PatternSets, meaning: Meaning, a: Judged, b: Judged): void {
  const shown = () => `${JSON.stringify(a.shuffled)} and ${JSON.stringify(b.shuffled)}`;
  const both = sets.meetPatterns(a.shuffled, b.shuffled);
  if (meaning.of(both) !== (a.set & b.set)) expect.fail(`${shown()} meet in ${JSON.stringify(both)}`);
  if (`${both}` !== `${sets.normalise(both)}`) expect.fail(`${shown()} meet in no normal form`);
  const inside = (a.set & b.set) === b.set;
  if (sets.coversPatterns(a.shuffled, b.shuffled) !== inside) expect.fail(`${shown()}: covers is not ${inside}`);
}

describe.each(LETTERS)('every list of patterns over %s and %s', (...letters) => {
  it('lists match, cover and meet as the sets of their texts do, for texts of any characters [GATE-2]', () => {
    expect(judge(OURS, letters, 3)).toBe(378 * 378);
  });

  it('over these letters, a list denies exactly the lists that name a text and everything that follows it', () => {
    const meaning = new Meaning(textsOf(letters, 4));
    const universe = patternsOf(letters, 2);
    let denied = 0;
    for (const list of setsOf(universe, 3)) {
      for (const pattern of universe.filter((one) => one.endsWith('*'))) {
        const inside = (meaning.of(list) & meaning.of([pattern])) === meaning.of([pattern]);
        const covered = coversPatterns(list, [pattern]);
        const complete = namesAllBelow(list, pattern.slice(0, -1), letters);
        expect([list, pattern, covered || complete]).toEqual([list, pattern, inside]);
        expect([list, pattern, covered && complete]).toEqual([list, pattern, false]);
        if (complete) denied++;
      }
    }
    expect(denied).toBeGreaterThan(0);
  });
});

/** Whether a list matches a text and, letter by letter, all that goes on from it, with no pattern for them all. */
function namesAllBelow(list: Patterns, stem: string, letters: readonly string[]): boolean {
  if (stem.length > 2 || list.some((pattern) => covers(pattern, `${stem}*`)) || !matchesAny(list, stem)) return false;
  const covered = (text: string) => list.some((pattern) => covers(pattern, `${text}*`));
  return letters.every((letter) => covered(stem + letter) || namesAllBelow(list, stem + letter, letters));
}

describe('a pattern', () => {
  it.each(['a', '*', 'a*', 'llm.generate@1', 'shop/Paid@1', '~!', 'x'.repeat(PATTERN_LENGTH_MAX)])(
    'a pattern may be %s',
    (text) => {
      expect(isPattern(text)).toBe(true);
    },
  );

  it.each(['', '**', 'a*b', '*a', 'a b', ' ', 'é', 'a\n', '\u007f', 'x'.repeat(PATTERN_LENGTH_MAX + 1)])(
    'a pattern may not be %j [GATE-2]',
    (text) => {
      expect(isPattern(text)).toBe(false);
    },
  );

  it('a pattern matches its own text to the letter, however much the text looks like a pattern [GATE-2]', () => {
    expect(matches('a', 'a*')).toBe(false);
    expect(matches('a*', 'a*')).toBe(true);
    expect(matches('a.c', 'abc')).toBe(false);
    expect(matches('a*', 'A')).toBe(false);
    expect(matches('a*', 'aé 𝒳')).toBe(true);
  });
});

describe('the brute force', () => {
  const mutants: readonly (readonly [string, Partial<PatternSets>])[] = [
    ['joins instead of meeting', { meetPatterns: (a, b) => normalise([...a, ...b]) }],
    ['takes only what both name', { meetPatterns: (a, b) => normalise(a).filter((one) => normalise(b).includes(one)) }],
    [
      'takes every pattern for a beginning',
      { matchesAny: (list, text) => list.some((one) => text.startsWith(one.replace('*', ''))) },
    ],
    [
      'takes a beginning for its own text',
      { matchesAny: (list, text) => list.some((one) => one.replace('*', '') === text) },
    ],
    [
      'forgets that a beginning is a text itself',
      { matchesAny: (list, text) => matchesAny(list, text) && !list.includes(`${text}*`) },
    ],
    [
      'covers by the first pattern alone',
      { coversPatterns: (outer, inner) => coversPatterns(outer, inner.slice(0, 1)) },
    ],
    ['keeps what lies in another', { normalise: (list) => [...list].sort((a, b) => (a < b ? -1 : 1)) }],
    [
      'sorts nothing',
      { normalise: (list) => list.filter((one) => !list.some((other) => other !== one && covers(other, one))) },
    ],
  ];

  it.each(mutants)('the brute force finds a mutant that %s', (_, mutant) => {
    expect(() => judge({ ...OURS, ...mutant }, LETTERS[1], 2)).toThrow();
  });
});
