/**
 * How the title of a test may not begin. A title stands alone in a log, so it is a full sentence with its own subject:
 * "a second writer is refused", not "is refused" behind the title of a suite.
 */
import { readTitles } from '../spec/titles.js';
import type { Problem, Tree } from './tree.js';

/** Words that begin no sentence: the subject of what follows stands in the title of the suite. */
const FRAGMENTS: ReadonlySet<string> = new Set(
  [
    'and or but that whose which who then than',
    'is are was were be been has have had does do did may might must can cannot could would should will',
    'accepts applies asks becomes begins comes contains continues copies costs creates dies ends fails finds follows',
    'forgets gives goes has holds ignores keeps knows lacks leaves lets loses makes prints refuses rejects',
    'removes replaces reports returns runs says sees stays stops takes tells throws turns uses waits',
  ]
    .join(' ')
    .split(' '),
);

/** Words that begin a sentence only when a comma ends what they introduce: "with a full disk, an append fails". */
const INTRODUCTIONS: ReadonlySet<string> = new Set(
  'after as before behind beside beyond by during for from in inside into of on to under until when where while with'.split(
    ' ',
  ),
);

/** "one that …", "one with …": a word that stands for the subject in the title of the suite. */
const STAND_IN = /^(?:it|they|its|their) |^one (?:that|whose|which|who|with|without|in|…)(?: |$)/;

/** Every title of a test that begins in the middle of a sentence. */
export function checkTitles(tree: Tree): readonly Problem[] {
  return readTitles(tree)
    .filter(({ suite, text }) => !suite && beginsMidSentence(text))
    .map(({ file, line, text }) => ({
      file,
      line,
      what: `the title "${text}" begins in the middle of a sentence`,
      use: 'a full sentence with its subject',
    }));
}

function beginsMidSentence(title: string): boolean {
  const [first = ''] = title.split(' ', 1);
  if (FRAGMENTS.has(first)) return true;
  if (INTRODUCTIONS.has(first)) return !title.includes(', ');
  return STAND_IN.test(title);
}
