/** Text is cut in one place, and never through a character. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { endOfText, endOfUtf8, shortText, startOfText, startOfUtf8, wellFormed } from '../src/index.js';

const SEED = Number(process.env.REPRISE_SEED ?? 20_260_101);
const RUNS = Number(process.env.REPRISE_RUNS ?? 5_000);
const COMMAND = 'npx vitest run packages/contracts/test/cut-text.test.ts';

/** Texts of characters of one to four bytes, joiners and flags among them. */
const texts = fc
  .array(fc.constantFrom('a', 'é', '\u0301', '€', '\uffff', '😀', '👩‍👩‍👧', '🇩🇪', '\n', '…', '\u{10ffff}'), {
    maxLength: 40,
  })
  .map((characters) => characters.join(''));
const broken = fc.string({ unit: 'binary', maxLength: 40 }).map((text) => `${text}\ud800${text}\udc00`);
const lengths = fc.integer({ min: -2, max: 80 });
const utf8 = new TextEncoder();
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function holds<T>(property: fc.IProperty<T>): void {
  const found = fc.check(property, { seed: SEED, numRuns: RUNS });
  if (found.failed) throw new Error(`rerun: REPRISE_SEED=${SEED} ${COMMAND}\n${fc.stringify(found.counterexample)}`);
}

/** What is wrong with a cut by units; undefined when nothing is. */
function problemOf(text: string, unitsMax: number, start: string, end: string): string | undefined {
  const room = Math.max(0, Math.min(unitsMax, text.length));
  if (!text.startsWith(start) || !text.endsWith(end)) return 'it is no part of the text';
  if (start.length > room || end.length > room) return 'it is too long';
  if (start.length < room - 1 || end.length < room - 1) return 'it is shorter than it must be';
  if (wellFormed(start) !== start || wellFormed(end) !== end) return 'it holds half a character';
  return undefined;
}

describe(`cutting text (seed ${SEED}, ${RUNS} cases)`, () => {
  it('startOfText and endOfText give the longest part that fits without half a character', () => {
    holds(
      fc.property(texts, lengths, (text, max) => {
        expect(problemOf(text, max, startOfText(text, max), endOfText(text, max))).toBeUndefined();
      }),
    );
  });

  it('the byte versions give the longest part of UTF-8 that fits and is UTF-8 itself', () => {
    holds(
      fc.property(texts, lengths, (text, max) => {
        const bytes = utf8.encode(text);
        const room = Math.max(0, Math.min(max, bytes.length));
        for (const part of [startOfUtf8(bytes, max), endOfUtf8(bytes, max)]) {
          strict.decode(part); // throws for a cut character
          expect(part.length).toBeLessThanOrEqual(room);
          expect(part.length).toBeGreaterThan(room - 4);
        }
      }),
    );
  });

  it('shortText leaves a short text as it is, and marks a shortened one within the bound', () => {
    holds(
      fc.property(texts, fc.integer({ min: 1, max: 60 }), (text, max) => {
        const short = shortText(text, max);
        expect(short.length).toBeLessThanOrEqual(max);
        expect(text.length <= max ? short === text : short.endsWith('…')).toBe(true);
      }),
    );
  });

  it('wellFormed replaces half characters like every UTF-8 encoder', () => {
    holds(
      fc.property(fc.oneof(texts, broken), (text) => {
        expect(wellFormed(text)).toBe(new TextDecoder('utf-8', { ignoreBOM: true }).decode(utf8.encode(text)));
      }),
    );
  });

  it('the properties detect a plain slice', () => {
    const found = fc.check(
      fc.property(
        texts,
        lengths,
        (text, max) => problemOf(text, max, text.slice(0, Math.max(0, max)), endOfText(text, max)) === undefined,
      ),
      { seed: SEED, numRuns: RUNS },
    );
    expect(found.failed).toBe(true);
  });
});
