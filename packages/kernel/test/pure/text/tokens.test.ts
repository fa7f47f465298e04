import { describe, expect, it } from 'vitest';
import { wordsOf } from '../../../src/pure/text/index.js';
import { WORD_LENGTH_MAX } from '../../../src/pure/text/tokens.js';

describe('words', () => {
  it.each<[string, readonly string[]]>([
    ['Hello, world-wide web! no. 7', ['hello', 'world', 'wide', 'web', 'no', '7']],
    ['Éclair ÉCLAIR éclair e\u0301clair', ['eclair', 'eclair', 'eclair', 'eclair']],
    ['Ærø Straße ŁÓDŹ İstanbul', ['ærø', 'straße', 'łodz', 'istanbul']],
    ['ΟΔΥΣΣΕΥΣ Ὀδυσσεύς', ['οδυσσευσ', 'οδυσσευσ']],
    ['Ёлка ЙОД', ['елка', 'иод']],
    ['東京とTokyo', ['東', '京', 'と', 'tokyo']],
    ['हिन्दी और', ['हिन्दी', 'और']],
    ['snake_case a.b@c', ['snake', 'case', 'a', 'b', 'c']],
    ['\ud835\udc9c x', ['\ud835\udc9c', 'x']],
    ['\ud835\udc9c\ud835\udc9cn x', ['\ud835\udc9c\ud835\udc9cn', 'x']],
    ['one\uffffletter', ['one', 'letter']],
    ['\ud800 lone', ['lone']],
    [' \n\t—…', []],
  ])('the words of %j are %j', (text, words) => {
    expect(wordsOf(text)).toEqual(words);
  });

  it('words that are too long are cut, so that they are found by their beginning', () => {
    expect(wordsOf(`${'x'.repeat(100)} y`)).toEqual(['x'.repeat(WORD_LENGTH_MAX), 'y']);
  });

  it('the pinned table agrees with this engine on every letter that it has, and folding a folded letter changes nothing [VIEW-10]', () => {
    const wrong: string[] = [];
    for (let point = 0; point <= 0x2ffff; point++) {
      if (point >= 0xd800 && point <= 0xdfff) continue;
      const char = String.fromCodePoint(point);
      const [word] = wordsOf(char);
      // A table of a later Unicode knows letters that an older engine does not, and the reverse: only what both know.
      if (word !== undefined && !/[\p{L}\p{N}\p{M}\p{Cn}]/u.test(char)) wrong.push(char);
      if (word !== undefined && wordsOf(word)[0] !== word) wrong.push(char);
      if (word === undefined && point < 0x250 && /[\p{L}\p{N}]/u.test(char)) wrong.push(char);
    }
    expect(wrong).toEqual([]);
  });
});
