/** Canonical bytes are read by the tools of others: by cbor-x, which knows nothing of Reprise, to the same values. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Ref } from '@reprise/contracts';
import { decode, decodeScope, encode, encodeScope, FRAME_DEPTH_MAX, fromHex, toHex } from '@reprise/kernel';
import { anyValue } from '@reprise/testkit/ports';
import { isNativeAccelerationEnabled } from 'cbor-x';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keptFolders, keptWorlds } from '../golden/stored.js';
import { stepOf } from '../part.js';
import {
  linkedValues,
  OPTIONS,
  type PlainWorld,
  readFramePlainly,
  readPlainly,
  translated,
  writtenAgain,
} from './cbor-x.js';

const vectors = JSON.parse(readFileSync(new URL('../vectors/codec.json', import.meta.url), 'utf8')) as {
  readonly accept: readonly { readonly hex: string }[];
};
const worlds = keptFolders()
  .flatMap(keptWorlds)
  .map(({ golden, folder, world }) => [`${folder}/${golden.name}`, world] as const);

/** Another one by `REPRISE_SEED=… npx vitest run conformance/interop`. */
const SEED = Number(process.env.REPRISE_SEED ?? 20_260_101);
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Checks that cbor-x and our codec read the same value: the same in memory, and the same bytes when it is written. */
function expectSame(bytes: Uint8Array, what: string): void {
  expect(translated(readPlainly(bytes)), what).toEqual(decode(bytes, FRAME_DEPTH_MAX));
  expect(toHex(writtenAgain(bytes)), what).toBe(toHex(bytes));
}

/** The same of a frame, whose repeated parts are references. */
function expectSameFrame(bytes: Uint8Array, what: string): void {
  const read = translated(readFramePlainly(bytes));
  expect(read, what).toEqual(decodeScope(bytes, FRAME_DEPTH_MAX));
  expect(toHex(encodeScope(read, FRAME_DEPTH_MAX)), what).toBe(toHex(bytes));
}

/** The exception: cbor-x drops a leading U+FEFF from longer texts. */
const BOM_BYTES_MAX = 64;

describe('cbor-x reads the same value as our codec [CODEC-17]', () => {
  it(`cbor-x decodes each of the ${vectors.accept.length} published vectors to the same value`, () => {
    for (const { hex } of vectors.accept) expectSame(fromHex(hex), hex);
  });

  it.each(worlds)(
    'cbor-x decodes %s to the same values: the file, every frame and every blob that is a value',
    (_, world) => {
      expectSame(world, 'the file');
      const { frames, blobs } = readPlainly(world) as PlainWorld;
      for (const [seq, { bytes }] of frames.entries()) expectSameFrame(bytes, `frame ${seq}`);
      const values = linkedValues({ frames, blobs }, sha256);
      for (const [digest, blob] of values) expectSame(blob, `blob sha256:${digest}`);
      expect(values.size).toBeGreaterThan(0);
    },
  );

  it(`cbor-x decodes the bytes of 2,000 random values to the same values (seed ${SEED})`, () => {
    const same = fc.property(anyValue(), (value) => expectSame(encode(value), 'value'));
    fc.assert(same, { numRuns: 2_000 / stepOf(4), seed: SEED });
  });

  it('cbor-x drops a leading U+FEFF from texts above 64 bytes: the only exception', () => {
    const text = (bytes: number) => `\ufeff${'a'.repeat(bytes - 3)}`;
    expect(readPlainly(encode(text(BOM_BYTES_MAX)))).toBe(text(BOM_BYTES_MAX));
    if (isNativeAccelerationEnabled) return; // the optional native reader is another implementation
    expect(readPlainly(encode(text(BOM_BYTES_MAX + 1)))).toBe(text(BOM_BYTES_MAX + 1).slice(1));
    expect(readPlainly(encode({ a: `a${text(100)}` }))).toEqual({ a: `a${text(100)}` });
  });

  it('a link as Tag 42 around its 37 bytes, byte strings as Uint8Array, maps as objects', () => {
    const link = Ref.fromHex('ab'.repeat(32), 'value');
    const read = readPlainly(encode({ link, bytes: new Uint8Array([1, 2]), map: {} }));
    const body = new Uint8Array([0, 1, 0x71, 0x12, 0x20, ...new Uint8Array(32).fill(0xab)]);
    expect(read).toMatchObject({ link: { tag: 42 }, map: {} });
    const { link: tag, bytes } = read as { link: { value: Uint8Array }; bytes: Uint8Array };
    expect([toHex(tag.value), toHex(bytes)]).toEqual([toHex(body), '0102']);
  });

  it('cbor-x decodes integers from 2^32 on as bigint without `int64AsNumber`', () => {
    const options = { ...OPTIONS, int64AsNumber: false };
    for (const n of [2 ** 32, 2 ** 53 - 1, -(2 ** 32) - 1, 1 - 2 ** 53]) {
      expect(readPlainly(encode(n), options)).toBe(BigInt(n));
      expect(readPlainly(encode(n))).toBe(n);
    }
    expect(readPlainly(encode(2 ** 32 - 1), options)).toBe(2 ** 32 - 1);
    expect(readPlainly(encode(2 ** 53), options)).toBe(2 ** 53);
  });
});

describe('the comparison with cbor-x finds a reader that differs', () => {
  const worldBytes = worlds[0]?.[1] ?? new Uint8Array();

  it.each([
    ['leaves 64-bit integers as bigint', { ...OPTIONS, int64AsNumber: false }],
    ['gives maps as Map', { ...OPTIONS, mapsAsObjects: false }],
  ])('the comparison finds a reader that %s', (_, options) => {
    const read = () => readPlainly(worldBytes, options);
    expect(() => expect(read()).toEqual(decode(worldBytes))).toThrow();
  });

  it('the comparison finds a reader that forgets whether a link leads to a value', () => {
    const forgetful = fc.property(anyValue(), (value) => {
      const bytes = encode(value);
      const text = toHex(bytes).replaceAll('d82a58250001711220', 'd82a58250001551220');
      expect(toHex(writtenAgain(fromHex(text)))).toBe(toHex(bytes));
    });
    const run = { numRuns: 2_000, seed: SEED, endOnFailure: true };
    expect(() => fc.assert(forgetful, run)).toThrow(`seed: ${SEED}`);
  });
});
