/** What is escaped in texts of others, before a terminal shows them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../conformance/part.js';
import { escapeLine, escapeText, isRepriseError } from '../src/index.js';

const SEED = 660;
/** What a terminal may execute, hide or reorder, as the engine classes it; joiners belong to scripts. */
const ACTIVE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;
/** Letters, digits, marks, symbols and punctuation. */
const READ = /[\p{L}\p{N}\p{M}\p{S}\p{P}]/u;
const SAMPLE = 'Grüße, 日本, क्षि, نمی\u200cخواهم, 👨\u200d👩\u200d👧, e\u0301, ─│✓';

const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom('\u001b[2J', '\u001b]52;c;aGk=\u0007', '\u009b31m', '\u202e', '\r', '\u2028', '\ud83d', '\udc68'),
      fc.string({ unit: 'binary', maxLength: 6 }),
      fc.string({ unit: 'grapheme', maxLength: 4 }),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''));

describe('texts of others for a terminal', () => {
  it('every character that the engine classes as a control, a format, a separator of lines or half a pair is escaped, and nothing that is read', () => {
    const wrong: string[] = [];
    for (let code = 0; code <= 0x10ffff; code++) {
      const character = String.fromCodePoint(code);
      const isEscaped = escapeLine(character) !== character;
      if (isEscaped ? READ.test(character) : ACTIVE.test(character)) wrong.push(code.toString(16));
    }
    expect(wrong).toEqual([]);
  });

  it(`an escaped text has nothing that a terminal would execute, and an escaped line stays one line (seed ${SEED})`, () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(escapeText(text).replace(/[\n\t]/g, '')).not.toMatch(ACTIVE);
        expect(escapeLine(text)).not.toMatch(ACTIVE);
      }),
      { seed: SEED, numRuns: 1_000 / stepOf(4) },
    );
  });

  it('letters of all scripts, emoji of several people and line feeds stay as they are', () => {
    expect(escapeLine(SAMPLE)).toBe(SAMPLE);
    expect(escapeText(`${SAMPLE}\n\t${SAMPLE}`)).toBe(`${SAMPLE}\n\t${SAMPLE}`);
  });

  it('an escape is that of JSON: the text of a JSON string stays the same text', () => {
    const text = 'a\u001b[2Jb\u202e\u{e0041}\r';
    expect(JSON.parse(`"${escapeLine(text)}"`)).toBe(text);
  });

  it('anything but a text is refused by name', () => {
    for (const escaped of [escapeLine, escapeText])
      try {
        escaped(undefined as never);
        expect.unreachable();
      } catch (error) {
        expect(isRepriseError(error, 'invalid_argument')).toBe(true);
      }
  });
});
