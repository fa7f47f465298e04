/** Holds a law over random cases; a failure names the command that runs the same cases again. */

import fc from 'fast-check';
import { stepOf } from '../../../../conformance/part.js';

const SEED = Number(process.env.REPRISE_SEED ?? 20261123);

/** The seed of the random cases, for titles. */
export const SEEDED = `seed ${SEED}`;

/** Checks a property, in a fourth of the cases for a change. */
export function hold<T>(property: fc.IProperty<T>, file: string, numRuns = 300): void {
  fc.assert(property, {
    seed: SEED,
    numRuns: Math.ceil(numRuns / stepOf(4)),
    reporter: (found) => {
      if (!found.failed) return;
      const example = JSON.stringify(found.counterexample).slice(0, 2_000);
      const why = String((found.errorInstance as Error | undefined)?.message ?? found.errorInstance);
      throw new Error(
        `${why}\nrerun: REPRISE_SEED=${SEED} npx vitest run examples/coding-agent/test/terminal/${file}\n${example}`,
      );
    },
  });
}

/** Whether a law fails for a mutant. */
export function refutes<T>(property: fc.IProperty<T>, numRuns = 1_000): boolean {
  return fc.check(property, { seed: SEED, numRuns, endOnFailure: true }).failed;
}

const PIECES = [
  'a',
  'Z',
  '9',
  ' ',
  '  ',
  '-',
  '_',
  '.',
  '/',
  '"',
  '日',
  '本',
  '한',
  '각',
  '👨‍👩‍👧',
  '👍🏽',
  '🇩🇪',
  '❤️',
  'é',
  'e\u0301',
  'क्षि',
  '\u200b',
  '\u200d',
  '\u202e',
  '\u2066',
  '\u00ad',
  '\u00a0',
  '\ufeff',
  '\u0000',
  '\u0007',
  '\u001b[31m',
  '\u001b',
  '\u009b',
  '\r',
  '\t',
  '\u007f',
  '\ud800',
  '\u3164',
  '\u0300\u0301',
  'ﾞ',
  '㊗',
  '①',
  '\u{e0041}',
];

/** Texts with everything that a terminal draws in its own way. */
export const hostileText = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...PIECES) },
      fc.string({ unit: 'grapheme', maxLength: 4 }),
      fc.string({ unit: 'binary', maxLength: 4 }),
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(''));

/** The same with line breaks. */
export const hostileLines = fc.array(hostileText, { maxLength: 6 }).map((lines) => lines.join('\n'));
