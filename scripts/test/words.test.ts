/** The words that nothing here uses. The table is `scripts/architecture/words.ts`. */
import { describe, expect, it } from 'vitest';
import { formatProblem, readTree } from '../architecture/tree.js';
import { checkWords, REFUSED_WORDS } from '../architecture/words.js';
import { ROOT } from '../lib/root.mjs';

describe('words', () => {
  it('no text and no name of a file uses a refused word', () => {
    expect(checkWords(readTree(ROOT)).map(formatProblem)).toEqual([]);
  });

  it.each([
    ['mutant', 'const openMutant = 1;'],
    ['mutant', 'MUTANTS'],
    ['mutant', 'mutants'],
    ['fix', '// Fix the reducer.'],
    ['sandbox', 'a sandbox'],
    ['how-manieth', 'the how-manieth of its name'],
    ['whoever', 'for whoever asks'],
    ['comparison', 'ComparisonResult'],
    ['is none', ' * a frame that is\n * none'],
    ['replay', 'frames are replayed'],
  ])('a planted "%s" is found in %j', (word, text) => {
    expect(checkWords(new Map([['a.ts', text]]))).toMatchObject([{ file: 'a.ts', what: `"${word}"` }]);
  });

  it('a refused word in the name of a file is found', () => {
    expect(checkWords(new Map([['packages/kernel/test/store-mutants.test.ts', '']]))).toHaveLength(1);
  });

  it.each(['contextWindow', 'arrival', 'amend', 'recommend', 'none of them'])('%s is no refused word', (text) => {
    expect(checkWords(new Map([['a.ts', text]]))).toEqual([]);
  });

  it('every refused word says what to write instead', () => {
    for (const { use } of REFUSED_WORDS) expect(use).not.toBe('');
  });
});
