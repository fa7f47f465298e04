/** The words that nothing here uses. The table is `scripts/architecture/words.ts`. */
import { describe, expect, it } from 'vitest';
import { formatProblem, readTree } from '../architecture/tree.js';
import { checkWords, REFUSED_WORDS } from '../architecture/words.js';
import { ROOT } from '../lib/root.mjs';

describe('words', () => {
  it('no text and no file name in the repository uses a refused word', () => {
    expect(checkWords(readTree(ROOT)).map(formatProblem)).toEqual([]);
  });

  it.each([
    ['twin', 'const openTwin = 1;'],
    ['twin', 'TWINS'],
    ['twin', 'broken twins'],
    ['mend', '// Mend the reducer.'],
    ['capsule', 'a capsule'],
    ['how-manieth', 'the how-manieth of its name'],
    ['whoever', 'for whoever asks'],
    ['rival', 'RivalResult'],
    ['is none', ' * a frame that is\n * none'],
    ['perform again', 'frames are performed again'],
  ])('the check finds the refused word %j in %j', (word, text) => {
    expect(checkWords(new Map([['a.ts', text]]))).toMatchObject([{ file: 'a.ts', what: `"${word}"` }]);
  });

  it('the check finds a refused word in the name of a file', () => {
    expect(checkWords(new Map([['packages/kernel/test/store-twins.test.ts', '']]))).toHaveLength(1);
  });

  it.each(['contextWindow', 'arrival', 'amend', 'recommend', 'none of them'])(
    'the check accepts %j, which only contains the letters of a refused word',
    (text) => {
      expect(checkWords(new Map([['a.ts', text]]))).toEqual([]);
    },
  );

  it('every refused word says what to write instead', () => {
    for (const { use } of REFUSED_WORDS) expect(use).not.toBe('');
  });
});
