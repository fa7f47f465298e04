/** Bundles that are damaged, or made to exhaust their reader: each is refused, and nothing else happens. */
import { isRepriseError } from '@reprise/contracts';
import { CODE_BYTES_MAX } from '@reprise/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CODE_MARK } from '../src/code-text.js';
import { sandbox } from '../src/index.js';
import { bundleOfMutant } from './worlds.js';

const SEED = 24;
const BOUNDS = { silentMs: 6_000, memoryMb: 128 };

/** The result of loading: the code of the refusal, or that it was loaded. */
async function verdictOn(bytes: Uint8Array): Promise<string> {
  try {
    await sandbox(BOUNDS).load(bytes);
    return 'loaded';
  } catch (error) {
    if (isRepriseError(error)) return error.code;
    throw error;
  }
}

/** Code with the mark of pure code, so that it is read. */
const text = (code: string): Uint8Array => new TextEncoder().encode(`${CODE_MARK}\n${code}`);

const EXHAUSTING: readonly (readonly [what: string, bytes: Uint8Array])[] = [
  ['nothing', new Uint8Array()],
  ['a million brackets', text('['.repeat(1_000_000))],
  ['a million parentheses', text(`${'('.repeat(1_000_000)}1${')'.repeat(1_000_000)}`)],
  ['a template in a template, ten thousand deep', text('`${'.repeat(10_000))],
  ['a pattern that backtracks without end', text(`/^(a+)+$/.test('${'a'.repeat(64)}b');`)],
  ['a name of four megabytes', text(`var ${'a'.repeat(4_000_000)};`)],
  ['bytes that are not UTF-8', new Uint8Array(100_000).fill(0xff)],
  ['text without the mark of pure code', new TextEncoder().encode('const a = 1;')],
  ['more bytes than code may have', new Uint8Array(CODE_BYTES_MAX + 1).fill(0x20)],
];

describe('a bundle', () => {
  it.each(EXHAUSTING)('a bundle of %s is refused', async (_, bytes) => {
    expect(['code_failed', 'bound_exceeded', 'invalid_argument']).toContain(await verdictOn(bytes));
  });

  it('a sound bundle without its mark, or with more bytes than code may have, is refused all the same', async () => {
    const whole = await bundleOfMutant('');
    expect(await verdictOn(whole.slice(CODE_MARK.length + 1))).toBe('code_failed');
    const padded = new Uint8Array(CODE_BYTES_MAX + 1).fill(0x20);
    padded.set(whole);
    expect(await verdictOn(padded)).toBe('code_failed');
    expect(await verdictOn(padded.slice(0, CODE_BYTES_MAX))).toBe('loaded');
  });

  it(`a bundle with random damage is either loaded or refused (seed ${SEED})`, async () => {
    const whole = await bundleOfMutant('');
    expect(await verdictOn(whole)).toBe('loaded');
    const damage = fc.record({
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      cut: fc.boolean(),
      bytes: fc.string({ minLength: 1, maxLength: 64 }).map((more) => new TextEncoder().encode(more)),
    });
    const law = fc.asyncProperty(damage, async ({ at, cut, bytes }) => {
      const place = Math.floor(at * whole.length);
      const damaged = cut
        ? whole.slice(0, place)
        : Uint8Array.from([...whole.slice(0, place), ...bytes, ...whole.slice(place)]);
      expect(['loaded', 'code_failed', 'bound_exceeded']).toContain(await verdictOn(damaged));
    });
    await fc.assert(law, { seed: SEED, numRuns: 24, endOnFailure: true });
  });
});
