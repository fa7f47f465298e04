/**
 * The words that nothing here uses, and how no title of a test begins. The tables are `scripts/architecture/words.ts`
 * and `scripts/architecture/titles.ts`.
 */
import { describe, expect, it } from 'vitest';
import { checkTitles } from '../architecture/titles.js';
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
    ['somebody', 'as somebody reads it'],
    ['someone', '// Someone else holds it.'],
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

describe('titles of tests', () => {
  const TEST = 'packages/kernel/test/a.test.ts';
  const found = (title: string) => checkTitles(new Map([[TEST, `it('${title}', () => {});`]]));

  it('no title of a test in the repository begins in the middle of a sentence', () => {
    expect(checkTitles(readTree(ROOT)).map(formatProblem)).toEqual([]);
  });

  it.each([
    'is refused with a reason',
    'that nobody changed is read',
    'whose text was cut',
    'and the other one',
    'refuses a second writer',
    'keeps an approval over a crash',
    'of a text is a list',
    'with %s takes nothing more',
    'one that forgets',
    'one whose log is gone',
    'it is the same again',
  ])('the check finds the title %j', (title) => {
    expect(found(title)).toMatchObject([{ file: TEST, line: 1 }]);
  });

  it.each([
    'a second writer is refused',
    'with a full disk, an append fails',
    'names of the prototype become own keys',
    'one byte over the ceiling is reported',
    '%s is refused',
  ])('the check accepts the title %j', (title) => {
    expect(found(title)).toEqual([]);
  });

  it('the check finds titles in tables of rows and in suites, and leaves the titles of suites', () => {
    const text = "describe('of a thing', () => { it.each(ROWS)('is %s', () => {}); });";
    expect(checkTitles(new Map([[TEST, text]]))).toMatchObject([{ what: expect.stringContaining('"is …"') }]);
  });
});
