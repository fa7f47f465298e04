/** What the command writes to a terminal, also of what others wrote. */
import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../conformance/part.js';
import { streamSink } from '../src/process/io.js';

const SEED = 4;

const hostile = fc.oneof(
  fc.constantFrom('\u001b[2J', '\u001b]52;c;aGk=\u0007', '\u0007', '\u009b31m', '\u202e', '\r', '\u2028', 'x\n', '\t'),
  fc.string({ unit: 'binary', maxLength: 8 }),
);

async function written(isTTY: boolean, texts: readonly string[]): Promise<string> {
  const stream = Object.assign(new PassThrough(), { isTTY });
  const sink = streamSink(stream);
  for (const text of texts) await sink.write(text);
  return stream.read()?.toString() ?? '';
}

describe('what the command writes', () => {
  it(`a terminal is sent nothing that it would execute or by which it would hide or reorder text, whatever is printed (seed ${SEED})`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(hostile, { minLength: 1, maxLength: 8 }), async (texts) => {
        expect(await written(true, texts)).not.toMatch(/(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
      }),
      { seed: SEED, numRuns: 300 / stepOf(4) },
    );
  });

  it('a pipe is sent the text as it is', async () => {
    expect(await written(false, ['\u001b[2J', 'a\tb\n'])).toBe('\u001b[2Ja\tb\n');
  });
});
