import { describe, expect, it } from 'vitest';
import { Budget } from '../../../src/pure/json-schema/budget.js';
import { linearPattern } from '../../../src/pure/json-schema/pattern.js';

const letters: Readonly<Record<string, (codePoint: number) => boolean>> = {
  L: (codePoint) => /\p{L}/u.test(String.fromCodePoint(codePoint)),
};

function matches(pattern: string, text: string): boolean {
  const found = linearPattern(pattern, (name) => letters[name]);
  if (typeof found === 'string') throw new Error(`${pattern}: ${found}`);
  return found.matches(text, new Budget());
}

/** Characters on both sides of every edge that a class of a pattern has. */
const EDGES = [
  0, 7, 8, 9, 0xa, 0xb, 0xc, 0xd, 0xe, 0x1f, 0x20, 0x21, 0x2d, 0x2f, 0x30, 0x39, 0x3a, 0x40, 0x41, 0x5a, 0x5b, 0x5e,
  0x5f, 0x60, 0x61, 0x7a, 0x7b, 0x9f, 0xa0, 0xa1, 0x167f, 0x1680, 0x1fff, 0x2000, 0x200a, 0x200b, 0x2027, 0x2028,
  0x2029, 0x202a, 0x202f, 0x205f, 0x3000, 0xd800, 0xdbff, 0xdc00, 0xdfff, 0xfeff, 0xffff, 0x10000, 0x1f600, 0x10ffff,
].map((codePoint) => String.fromCodePoint(codePoint));

describe('a pattern', () => {
  it.each([
    '.',
    '\\d',
    '\\D',
    '\\w',
    '\\W',
    '\\s',
    '\\S',
    '[a-z]',
    '[^a-z]',
    '[a-cb-z]',
    '[az]',
    '[\\d_]',
    '[^\\s]',
    '[\\W\\d]',
    '[a-]',
    '[-a]',
    '[\\b]',
    '[^]',
    '[]',
    '[\\0-\\x1f]',
    '\\0',
    '\\t',
    '\\n',
    '\\v',
    '\\f',
    '\\r',
    '\\cI',
    '\\cz',
    '\\x41',
    '\\u0041',
    '\\u{1F600}',
    '\\u{10FFFF}',
    '\\ud83d\\ude00',
    '[\\ud83d\\ude00]',
    '[😀-\u{1f601}]',
    '\\ud800',
    '\\udfff',
    '\\p{L}',
    '\\P{L}',
    '[\\p{L}\\d]',
    '[^\\p{L}]',
    '\\b',
    '\\B',
    '\\/',
    '\\.',
    '\\-'.replace('-', '$'),
    '^',
    '$',
    '\\ud800\\ud800',
    '\\udbff\\udfff',
    '\\ud800\\udc00',
  ])('a pattern of one character, %s, matches each character that JavaScript matches [TOOL-32]', (pattern) => {
    const wanted = new RegExp(`^(?:${pattern})$`, 'u');
    for (const text of ['', ...EDGES]) {
      expect([pattern, text.codePointAt(0), matches(`^(?:${pattern})$`, text)]).toEqual([
        pattern,
        text.codePointAt(0),
        wanted.test(text),
      ]);
    }
  });

  it.each([
    ['a{2}', ['a', 'aa', 'aaa']],
    ['^a{2,}$', ['a', 'aa', 'aaa']],
    ['^a{2,3}?$', ['a', 'aa', 'aaa', 'aaaa']],
    ['^a{0}$', ['', 'a']],
    ['^a{0,1}b$', ['b', 'ab', 'aab']],
    ['^(?:ab|a|)c$', ['abc', 'ac', 'c', 'bc']],
    ['^(ab*)+?$', ['a', 'ab', 'aab', 'abba', '']],
    ['^(?<name>a)(?:b)(c)$', ['abc', 'ab']],
    ['a(?=bc)', ['abc', 'ab', 'acb']],
    ['a(?!bc)', ['abc', 'ab', 'abcab']],
    ['(?<=ab)c', ['abc', 'bc', 'c', 'acb']],
    ['(?<!ab)c', ['abc', 'bc', 'c', 'abcc']],
    ['(?<=^a*)b', ['aab', 'cb']],
    ['^(?=.*\\d)(?=.*[a-z]).{3,}$', ['a1b', 'abc', '123', 'a1']],
    ['^(?!.*(?:a(?=b)))', ['ab', 'ba', 'acb']],
    ['\\bfoo\\b', ['foo', 'a foo.', 'foob', 'afoo', '-foo-']],
    ['\\Boo\\B', ['foob', 'foo', 'oo']],
    ['o$', ['foo', 'oof', 'fo\no']],
    ['^😀{2}.$', ['😀😀😀', '😀😀', '😀😀😀😀']],
    ['x*', ['', 'y']],
    ['(?:)|z', ['', 'z']],
  ] as const)('%s matches the texts that JavaScript matches [TOOL-32]', (pattern, texts) => {
    for (const text of texts)
      expect([text, matches(pattern, text)]).toEqual([text, new RegExp(pattern, 'u').test(text)]);
  });

  it.each([
    ['a{', 'a{', 'a'],
    ['^a{,2}$', 'a{,2}', 'aa'],
    ['^a{x}$', 'a{x}', 'a'],
    ['^a{1', 'a{1', 'a1'],
    ['^a}]$', 'a}]', 'a'],
    ['^[\\w-.]$', '-', ','],
    ['^[a-\\d]$', '-', 'b'],
    ['^\\-\\_\\😀$', '-_😀', '-_'],
  ])('%s is read more leniently than JavaScript reads it: it matches %j and not %j', (pattern, fitting, other) => {
    expect([matches(pattern, fitting), matches(pattern, other)]).toEqual([true, false]);
  });

  it.each([
    ['*', 'there is nothing to repeat'],
    ['+', 'there is nothing to repeat'],
    ['?', 'there is nothing to repeat'],
    ['a**', 'there is nothing to repeat'],
    ['a{2}{3}', 'there is nothing to repeat'],
    ['a{3,2}', 'wrong order'],
    ['[b-a]', 'wrong order'],
    [')', 'closes nothing'],
    ['a)b', 'closes nothing'],
    ['(', 'a ( is not closed'],
    ['(?:a', 'a ( is not closed'],
    ['(?<a', 'the name of a group is not closed'],
    ['(?i)a', 'JavaScript has no such group'],
    ['[a', 'a [ is not closed'],
    ['[\\', 'stands at the end'],
    ['\\', 'stands at the end'],
    ['\\1', 'cannot be matched in linear time'],
    ['\\9', 'cannot be matched in linear time'],
    ['(?<a>b)\\k<a>', 'cannot be matched in linear time'],
    ['\\q', 'JavaScript has no \\q'],
    ['\\A', 'JavaScript has no \\A'],
    ['\\01', 'JavaScript has no \\0'],
    ['\\x4', '2 hexadecimal digits are missing'],
    ['\\x4g', '2 hexadecimal digits are missing'],
    ['\\u004', '4 hexadecimal digits are missing'],
    ['\\u{110000}', 'names no code point'],
    ['\\u{zz}', 'names no code point'],
    ['\\u{41', '\\u{ is not closed'],
    ['\\c1', '\\c needs a letter'],
    ['\\c', '\\c needs a letter'],
    ['\\pL', 'needs the name of a property'],
    ['\\p{L', 'the name of a property is not closed'],
    ['\\p{Unknown}', 'the property Unknown is not known here'],
    ['(){9999}{9999}', 'there is nothing to repeat'],
    ['(?:(){9999}){9999}', 'more than 20000 states'],
  ])('%s is refused with a reason [TOOL-33]', (pattern, why) => {
    expect(linearPattern(pattern, (name) => letters[name])).toContain(why);
  });

  it('the steps of a pattern grow with the text, also for a pattern that only looks ahead [TOOL-32]', () => {
    const pattern = linearPattern('(?=b)');
    if (typeof pattern === 'string') throw new Error(pattern);
    const spent = (length: number): number => {
      let steps = 0;
      const spend = (n: number): void => {
        steps += n;
      };
      const budget = { spend } as unknown as Budget;
      pattern.matches('a'.repeat(length), budget);
      return steps;
    };
    const [some, many] = [spent(1_000), spent(2_000)];
    expect(some).toBeGreaterThan(3_000);
    expect(many).toBeGreaterThan(some * 1.9);
    expect(many).toBeLessThan(some * 2.1);
  });
});
