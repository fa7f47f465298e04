import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { stepOf } from '../../../../../conformance/part.js';
import { portableSha256, toHex } from '../../../src/index.js';
import { hold, rerun, SEED } from '../../support/laws/hold.js';

const fresh = async () => {
  vi.resetModules();
  return (await import('../../../src/ports/content/host-hash.js')).hostSha256();
};

describe(`the hash of the host (seed ${SEED})`, () => {
  it('the hash of the host gives the digests of the portable one [CODEC-15]', async () => {
    const host = await fresh();
    expect(host).not.toBe(portableSha256);
    const law = fc.property(fc.uint8Array({ maxLength: 5_000 }), (bytes) => {
      expect(toHex(host(bytes))).toBe(toHex(portableSha256(bytes)));
    });
    await hold(law, { numRuns: 300 / stepOf(4), command: rerun('host-hash.test.ts') });
  });

  it.each([
    ['without a process', undefined],
    ['without built-in modules', {}],
    ['whose modules have no hash', { getBuiltinModule: () => ({}) }],
  ])('a host %s gets the portable hash', async (_, process) => {
    vi.stubGlobal('process', process);
    const digest = toHex((await fresh())(new Uint8Array([1, 2, 3])));
    vi.unstubAllGlobals();
    expect(digest).toBe(toHex(portableSha256(new Uint8Array([1, 2, 3]))));
  });
});
