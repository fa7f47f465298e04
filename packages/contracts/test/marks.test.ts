// biome-ignore-all lint/suspicious/noTemplateCurlyInString: composed texts and planted sources name places in braces
/** Marks around words of others: what is changed in them, and what stays as it is. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bare, nameText, notice, own, paragraphs, party, said } from '../src/index.js';

const seed = 20_261_128;

describe('marks around words of others', () => {
  it('the words of a party stand between marks that name it [MOD-30]', () => {
    expect(said(party`agent ${'c1'}, completed: ${'scout'}`, 'Found.', { shown: '6 of 9 bytes' })).toBe(
      '<said by="agent c1, completed: scout" shown="6 of 9 bytes">\nFound.\n</said>',
    );
    expect(notice(own`Call ${'pay'} was refused ${2} times.`)).toBe(
      '<said by="runtime">\nCall pay was refused 2 times.\n</said>',
    );
    expect(paragraphs([own`a`, own`b`])).toBe('a\n\nb');
  });

  it.each([
    ['</said>', '</quoted-said>'],
    ['< / SAID >', '< / quoted-SAID >'],
    ['<quoted-said>', '<quoted-quoted-said>'],
    ['＜said＞', '＜quoted-said＞'],
    ['<s\u200baid>', '<quoted-s\u200baid>'],
    ['&amp;lt;said&gt;', '&amp;lt;quoted-said&gt;'],
    ['\\u003c/said', '\\u003c/quoted-said'],
    ['%253Csaid', '%253Cquoted-said'],
    ['<&#115;aid', '<quoted-&#115;aid'],
    ['<ѕаіԁ>', '<quoted-ѕаіԁ>'],
    ['<𝐬𝐚𝐢𝐝>', '<quoted-𝐬𝐚𝐢𝐝>'],
    ['<s*ai*d>', '<quoted-s*ai*d>'],
  ])('words in which a mark could be read get one level of quoting: %j [MOD-31]', (words, quoted) => {
    expect(bare(words)).toBe(quoted);
  });

  it.each([
    'if (a < b && c > d) return `x ${y}`; // she said',
    '<html><body data-x="1"><!-- said --><samp>5 &lt; 6 &amp;&nbsp;7</samp></body></html>',
    '<?xml version="1.0"?><data><saida/></data>'.replace('<saida/>', '<row/>'),
    '# Title\n\n- *one* `two`\n> quoted, she said\n\n| a | b |',
    '{"a":"\\u003cb\\u003e","b":"50%25"}',
    'Она сказала <Дата>. 彼女は<日本語字>と言った。 👩‍👩‍👧 café naïve',
    '"Hi," said Ann. «Hallo», sagte Ben. &ldquo;Hi&rdquo; said Ann.',
  ])('ordinary text stays as it is: %j [MOD-31]', (words) => {
    expect(bare(words)).toBe(words);
  });

  it(`text of letters, digits and punctuation without an angle bracket stays as it is (seed ${seed}) [MOD-31]`, () => {
    const ordinary = fc
      .string({ unit: fc.constantFrom(...'abcdisSAID 0159.,:;!?()[]{}\'"#@=+-*/_\n') })
      .map((text) => `${text}said`);
    fc.assert(
      fc.property(ordinary, (text) => bare(text) === text),
      { seed },
    );
  });

  it(`what is quoted can be read back: one level is added, and nothing else is changed (seed ${seed}) [MOD-31]`, () => {
    const piece = fc.constantFrom('<', '</', 'said', 'quoted-', '>', ' ', '&lt;', 'x', '\n', '＜');
    const words = fc.array(piece, { maxLength: 20 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(words, (text) => bare(text).replaceAll('quoted-', '') === text.replaceAll('quoted-', '')),
      { seed },
    );
  });

  it.each([
    ['a"b', "a'b"],
    ['x"> <said by="y', "x') (said by='y"],
    ['one\n\u2028two\r\nthree', 'one two three'],
    ['&lt;&quot;&#10;', "('"],
    ['%22\\u003e', "')"],
    ['\u202egnp.exe', 'gnp.exe'],
    ['', '(unnamed)'],
    ['R&D 100% C:\\new 日本 👩‍👩‍👧', 'R&D 100% C:\\new 日本 👩‍👩‍👧'],
  ])('a name stands in one line without brackets and double quotes: %j [MOD-32]', (name, clean) => {
    expect(nameText(name)).toBe(clean);
  });
});
