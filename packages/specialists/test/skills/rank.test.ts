/** Triggers rank a hint, as literals at the borders of words. */
import { describe, expect, it } from 'vitest';
import { rankSkills } from '../../src/skills/index.js';

const SKILLS = [
  { name: 'reviewer', triggers: ['review', 'code review'] },
  { name: 'tester', triggers: ['test', 'c++'] },
  { name: 'author', triggers: ['docs', 'größe'] },
  { name: 'quiet', triggers: [] },
];
const names = (text: string) => rankSkills(SKILLS, text).map(({ name, trigger }) => `${name}: ${trigger}`);

describe('rankSkills', () => {
  it('the longest trigger that stands in the text comes first, whatever its case', () => {
    expect(names('Please do a Code Review of the tests, then TEST it')).toEqual([
      'reviewer: code review',
      'tester: test',
    ]);
    expect(names('review docs')).toEqual(['reviewer: review', 'author: docs']);
  });

  it('a trigger inside a longer word does not count', () => {
    expect(names('contests and previews')).toEqual([]);
    expect(names('größer')).toEqual([]);
    expect(names('(review)')).toEqual(['reviewer: review']);
    expect(names('𝒂review')).toEqual([]);
    expect(names('🔒review🔒')).toEqual(['reviewer: review']);
  });

  it('a trigger is a literal, not a pattern', () => {
    expect(names('port it to C++')).toEqual(['tester: c++']);
    expect(rankSkills([{ name: 'all', triggers: ['.*', ''] }], 'anything')).toEqual([]);
  });
});
