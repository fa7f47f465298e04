import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../../../conformance/part.js';
import { Scrubber } from '../../../src/ports/scrub/index.js';

/** What a scrubber has to give, letter by letter: each run of letters that are in any secret's place is one mark. */
function scrubbedByHand(text: string, secrets: readonly string[]): string {
  const low = text.toLowerCase();
  const spans: (readonly [number, number])[] = [];
  for (const secret of secrets)
    for (let at = low.indexOf(secret.toLowerCase()); at >= 0; at = low.indexOf(secret.toLowerCase(), at + 1))
      spans.push([at, at + secret.length]);
  const merged: [number, number][] = [];
  for (const [from, to] of spans.sort((a, b) => a[0] - b[0] || b[1] - a[1])) {
    const last = merged.at(-1);
    if (last !== undefined && from < last[1]) last[1] = Math.max(last[1], to);
    else merged.push([from, to]);
  }
  let told = '';
  let at = 0;
  for (const [from, to] of merged) {
    told += `${text.slice(at, from)}[secret]`;
    at = to;
  }
  return told + text.slice(at);
}

const letters = (of: string, minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...of), minLength, maxLength });

describe('secrets that overlap (seed 14)', () => {
  it('overlapping random secrets of two letters are removed as if each were searched for in turn [CON-16]', () => {
    fc.assert(
      fc.property(
        fc.array(letters('xX;', 8, 11), { minLength: 1, maxLength: 6 }),
        letters('xX;', 0, 60),
        fc.array(fc.nat({ max: 9 }), { maxLength: 8 }),
        (secrets, noise, sizes) => {
          // Parts of one secret before another: what follows decides which of them it is.
          const parts = secrets.flatMap((one, n) => [one.slice(0, sizes[n] ?? 3), secrets[n + 1] ?? one, one.slice(4)]);
          const text = `${noise}${parts.join('')}${noise.slice(0, 5)}`;
          expect(new Scrubber(secrets).scrub(text)).toBe(scrubbedByHand(text, secrets));
        },
      ),
      { seed: 14, numRuns: 1_500 / stepOf(4) },
    );
  });

  it.each([
    ['the end of one begins another', ['aaaabbbbccccX', 'bbbbccccdddd'], 'aaaabbbbccccdddd', 'aaaa[secret]'],
    ['one is within another that is not there', ['aaaabbbbccccdddd', 'bbbbcccc'], 'aaaabbbbccccx', 'aaaa[secret]x'],
    ['one ends within another', ['aaaabbbbcccc', 'bbbbccccdddd'], '-aaaabbbbccccdddd-', '-[secret]-'],
    ['one follows another', ['aaaabbbb', 'ccccdddd'], 'aaaabbbbccccdddd', '[secret][secret]'],
    ['one is the beginning of another', ['aaaabbbb', 'aaaabbbbcccc'], 'aaaabbbbcccc aaaabbbbcc', '[secret] [secret]cc'],
  ])('overlapping secrets are removed where %s [CON-16]', (_, secrets, text, told) => {
    expect(new Scrubber(secrets).scrub(text)).toBe(told);
  });

  it('text is held back as far as any of the secrets may have begun, and passed on when none has', () => {
    const teller = new Scrubber(['aaaabbbbccccX', 'bbbbccccdddd']).piecewise();
    expect(teller.push('aaaabbbbcccc')).toBe('');
    expect(teller.push('d')).toBe('aaaa');
    expect(teller.push('ddd!')).toBe('[secret]!');
    expect(teller.push('-aaaabbbbcc')).toBe('-');
    expect(teller.end()).toBe('aaaabbbbcc');
    expect(teller.end()).toBe('');
  });
});

describe('the letters of a secret', () => {
  it('letters from A to Z match in both cases, and no other character does', () => {
    const scrubber = new Scrubber(['azAZ@`[{09é']);
    expect(scrubber.scrub('AZaz@`[{09é')).toBe('[secret]');
    for (const other of ['azAZ``[{09é', 'azAZ@@[{09é', 'azAZ@`{{09é', 'azAZ@`[[09é', 'azAZ@`[{09É']) {
      expect(scrubber.scrub(other)).toBe(other);
    }
  });

  it('a matcher finds 1,024 secrets, and one more secret replaces the one declared longest ago', () => {
    const secrets = Array.from({ length: 1_024 }, (_, n) => `secret-${String(n).padStart(5, '0')}`);
    const scrubber = new Scrubber(['secret-of-the-world']);
    for (const secret of secrets) expect(scrubber.conceal(secret)).toBe(true);
    expect(scrubber.scrub(secrets.join(' '))).toBe(secrets.map(() => '[secret]').join(' '));
    expect(scrubber.conceal('secret-00000')).toBe(true);
    expect(scrubber.scrub('secret-00001')).toBe('[secret]');
    expect(scrubber.conceal('secret-of-late')).toBe(true);
    expect(scrubber.scrub('secret-00000 secret-00001 secret-00002 secret-of-late secret-of-the-world')).toBe(
      '[secret] secret-00001 [secret] [secret] [secret]',
    );
    expect([scrubber.conceal('short'), scrubber.conceal('secret-of-the-world')]).toEqual([false, true]);
  });

  it('a secret has at most 16,384 letters; a longer text is searched for line by line', () => {
    const long = 'k'.repeat(16_384);
    expect(new Scrubber([long]).scrub(long)).toBe('[secret]');
    const longer = new Scrubber([`${long}k\n-----LINE-----\n  line-of-it  `, `-----line that ends-----`]);
    expect(longer.scrub(`${long}k`)).toBe(`${long}k`);
    expect(longer.scrub('<line-of-it> -----LINE-----')).toBe('<[secret]> -----LINE-----');
    expect(new Scrubber(['1st line of it\nends in -----']).scrub('ends in -----')).toBe('[secret]');
  });

  it('secrets are found in bytes as they are', () => {
    const scrubber = new Scrubber(['secret-of-ann']);
    const bytes = (text: string) => new TextEncoder().encode(text);
    expect([scrubber.isIn(bytes('a secret-of-ann b')), scrubber.isIn(bytes('secret-of-'))]).toEqual([true, false]);
    expect(new Scrubber().isIn(bytes('x'))).toBe(false);
  });
});

describe('text that looks like an escape, and escapes that end with the text', () => {
  const scrubber = new Scrubber(['key&<>"\'/é1']);
  it.each([
    ['named', 'key&amp;&lt;&gt;&quot;&apos;/é1'],
    ['in decimal', 'k&#101;y&#38;&#60;&#62;&#34;&#39;&#47;&#233;&#49;'],
    ['in hex', 'k&#x65;y&#x26;&#x3C;&#x3e;&#x22;&#x0027;&#x2f;&#xe9;&#x31;'],
    ['as bytes', 'key\\x26\\x3c\\x3e\\x22\\x27\\x2f\\xe9\\x31'],
    ['as a program would', 'key&<>\\"\\\'\\/\\u00E91'],
    ['in HTML inside of HTML', 'key&amp;amp;&amp;lt;&amp;gt;&amp;quot;&amp;amp;#39;&amp;#x2f;é1'],
    ['escaped thrice', 'key%252526%2525253C%25253e%252522%252527%2fé1'],
  ])('escapes are read where they stand for the letters of a secret: %s [CON-16]', (_, text) => {
    expect(scrubber.scrub(`<${text}>`)).toBe('<[secret]>');
  });

  it.each([
    '&unknown; key',
    '&#99999; key',
    '&#x1f600; key',
    '&amp key',
    '%2 key',
    '%zz',
    '\\u12',
    '\\xq',
    '\\',
    '&',
    '%',
  ])('text that only looks like an escape is left as it is: %j', (text) => {
    expect(scrubber.scrub(text)).toBe(text);
    const teller = scrubber.piecewise();
    expect([...text].map((unit) => teller.push(unit)).join('') + teller.end()).toBe(text);
  });

  it('a possible escape is held back only while it may continue', () => {
    for (const [piece, told] of [
      ['!&am', '!'],
      ['!&#3', '!'],
      ['!&#x2', '!'],
      ['!%', '!'],
      ['!%25', '!'],
      ['!%252', '!'],
      ['!&amp;', '!'],
      ['!&amp;q', '!'],
      ['!\\u00', '!'],
      ['!\\x2', '!'],
      ['!\\', '!'],
      ['!&amb!', '!&amb!'],
      ['!&#!', '!&#!'],
      ['!&#x!', '!&#x!'],
      ['!&abcde!', '!&abcde!'],
      ['!%!', '!%!'],
    ] as const)
      expect([piece, scrubber.piecewise().push(piece)]).toEqual([piece, told]);
  });
});
