/** Frames refer to what stood before in them: one form, read back, refused in any other, and bounded. */
import { Ref, type Value } from '@reprise/contracts';
import { anyValue } from '@reprise/testkit/ports';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../../../conformance/part.js';
import { cpuMsOf } from '../../../../../scripts/lib/cpu.js';
import { decode, decodeScope, encode, encodeScope, FRAME_DEPTH_MAX, fromHex, toHex } from '../../../src/index.js';
import { decodeScopeStart, encodeScopeLinks, linksOf } from '../../../src/pure/codec/index.js';
import { codeOf } from '../../support/judge.js';
import { hold, rerun, SEED } from '../../support/laws/hold.js';

/** Digests, and texts that are nearly digests. */
const DIGESTS = ['ab'.repeat(32), '09'.repeat(32), 'AB'.repeat(32), `${'ab'.repeat(31)}ag`, `${'ab'.repeat(31)}a`];

/** Values that repeat themselves: few texts, links and maps, in many places. */
const repetitive = (): fc.Arbitrary<Value> => {
  const text = fc.constantFrom('', 'id', 'kind', 'a longer text', 'été', 'x'.repeat(300), '__proto', ...DIGESTS);
  const link = fc.constantFrom('ab', 'cd').map((pair) => Ref.fromHex(pair.repeat(32), pair === 'ab' ? 'raw' : 'value'));
  const leaf = fc.oneof(text, link, fc.constantFrom(0, -1, 1.5, null, true), fc.uint8Array({ maxLength: 40 }));
  const { tree } = fc.letrec<{ tree: Value }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      leaf as fc.Arbitrary<Value>,
      fc.array(tie('tree'), { maxLength: 6 }),
      fc.dictionary(fc.constantFrom('a', 'b', 'kind', 'name', '7', 'a longer text', 'ab'.repeat(32)), tie('tree'), {
        noNullPrototype: true,
      }),
    ),
  }));
  return tree;
};

const named = ({ kind, hex }: Ref): string => `${kind}:${hex}`;

const values = () => fc.oneof({ weight: 3, arbitrary: repetitive() }, { weight: 1, arbitrary: anyValue() });

describe(`references in a frame (seed ${SEED})`, () => {
  it('what a frame is written from is read back, and is written the same again [CODEC-18]', async () => {
    const law = fc.asyncProperty(fc.array(values(), { maxLength: 8 }), async (list) => {
      const bytes = encodeScope(list, FRAME_DEPTH_MAX);
      const read = decodeScope(bytes, FRAME_DEPTH_MAX);
      expect(toHex(encode(read, FRAME_DEPTH_MAX))).toBe(toHex(encode(list, FRAME_DEPTH_MAX)));
      expect(toHex(encodeScope(read, FRAME_DEPTH_MAX))).toBe(toHex(bytes));
      expect(bytes.length).toBeLessThanOrEqual(encode(list, FRAME_DEPTH_MAX).length + 3 + 2 * mapsIn(list));
      for (let items = 0; items <= list.length; items++) {
        const start = decodeScopeStart(bytes, items);
        expect(toHex(encode(start, FRAME_DEPTH_MAX))).toBe(toHex(encode(list.slice(0, items), FRAME_DEPTH_MAX)));
      }
    });
    await hold(law, { numRuns: 400 / stepOf(4), command: rerun('scope.test.ts') });
  });

  it('the links that are listed while a frame is written are those of what it is written from, in order', async () => {
    let links = 0;
    const law = fc.asyncProperty(fc.array(values(), { maxLength: 8 }), async (list) => {
      const written = encodeScopeLinks(list, FRAME_DEPTH_MAX);
      expect(toHex(written.bytes)).toBe(toHex(encodeScope(list, FRAME_DEPTH_MAX)));
      expect(written.links.map(named)).toEqual(linksOf(list).map(named));
      links += written.links.length;
    });
    await hold(law, { numRuns: 400 / stepOf(4), command: rerun('scope.test.ts') });
    expect(links).toBeGreaterThan(100);
  });

  it('other bytes are refused, or are the one form of another value [CODEC-18]', async () => {
    const change = fc.record({ at: fc.nat(), xor: fc.integer({ min: 1, max: 255 }) });
    const law = fc.asyncProperty(fc.array(values(), { maxLength: 5 }), change, async (list, { at, xor }) => {
      const bytes = encodeScope(list, FRAME_DEPTH_MAX);
      const other = new Uint8Array(bytes);
      const place = at % bytes.length;
      other[place] = (other[place] ?? 0) ^ xor;
      let read: Value;
      try {
        read = decodeScope(other, FRAME_DEPTH_MAX);
      } catch (error) {
        expect((error as { code?: string }).code).toBe('invalid_bytes');
        return;
      }
      expect(toHex(encodeScope(read, FRAME_DEPTH_MAX))).toBe(toHex(other));
    });
    await hold(law, { numRuns: 2_000 / stepOf(4), command: rerun('scope.test.ts') });
  });

  it.each<[string, string]>([
    ['an item without the tag of a scope', '80'],
    ['a text that stood before and is written again', 'd9010082636162636361626363'.slice(0, -2)],
    ['a reference to no string', 'd9010081d81900'],
    ['a reference to a short text, which has no number', 'd901008262616269d81900'.replace('69d8', 'd8')],
    ['a reference that is no number', 'd9010082636162 63d8196161'.replaceAll(' ', '')],
    ['a reference to plain bytes', 'd901008243010203d81900'],
    ['a reference to a key', 'd9010082a163616263f6d81900'],
    ['a map of three entries that is not marked', 'd9010081a3616100616200616300'],
    ['a marked map of two entries', 'd9010081d81ca261610061 6200'.replaceAll(' ', '')],
    ['a marked text', 'd9010081d81c63616263'],
    ['a map that stood before and is written again', `d9010082${'d81ca3616100616200616300'.repeat(2)}`],
    ['a reference to no map', 'd9010081d81d00'],
    ['a reference to a map that has not ended', 'd9010081d81ca3616100616200 6163d81d00'.replaceAll(' ', '')],
    ['a link that refers to a text', 'd901008263616263d82ad81900'],
    ['a text that refers to a link', `d9010082d82a58250001551220${'ab'.repeat(32)}d81900`],
    ['a link that stood before and is written again', `d9010082${`d82a58250001551220${'ab'.repeat(32)}`.repeat(2)}`],
    ['a digest as text', `d90100817840${'6162'.repeat(32)}`],
    ['a digest that stood before and is written again', `d9010082${`d75820${'ab'.repeat(32)}`.repeat(2)}`],
    ['a digest of 31 bytes', `d9010081d7581f${'ab'.repeat(31)}`],
    ['a digest that is text', 'd9010081d763616263'],
    ['a digest that refers to a text', 'd901008263616263d7d81900'],
    ['a digest that refers to a map', `d9010082${'d81ca3616100616200616300'}d7d81d00`],
    ['a link that refers to a digest', `d9010082d75820${'ab'.repeat(32)}d82ad81900`],
    ['a text that refers to a digest', `d9010082d75820${'ab'.repeat(32)}d81900`],
    ['a digest that refers to a link', `d9010082d82a58250001551220${'ab'.repeat(32)}d7d81900`],
    ['a scope in a scope', 'd9010081d9010080'],
    ['bytes behind the scope', 'd901008000'],
  ])('%s is refused [CODEC-18]', async (_, hex) => {
    expect(await codeOf(Promise.resolve().then(() => decodeScope(fromHex(hex))))).toBe('invalid_bytes');
  });

  it('tags of a scope are refused outside of one [CODEC-18]', async () => {
    for (const hex of ['d9010080', 'd81900', `d75820${'ab'.repeat(32)}`, 'd81ca3616100616200616300', 'd81d00'])
      expect(await codeOf(Promise.resolve().then(() => decode(fromHex(hex))))).toBe('invalid_bytes');
  });

  it('64 lower-case hex digits are written as their bytes, and again as a reference to them [CODEC-19]', () => {
    const digest = 'ab'.repeat(32);
    expect(toHex(encodeScope([digest, digest]))).toBe(`d9010082d75820${digest}d7d81900`);
    expect(decodeScope(encodeScope([digest, digest]))).toEqual([digest, digest]);
    for (const text of ['AB'.repeat(32), `${'ab'.repeat(31)}ag`])
      expect(toHex(encodeScope([text]))).toBe(`d90100817840${toHex(new TextEncoder().encode(text))}`);
    expect(toHex(encodeScope({ [digest]: 0 }))).toBe(`d90100a17840${toHex(new TextEncoder().encode(digest))}00`);
  });

  it('a link, a digest and a text that look alike are kept apart [CODEC-18, CODEC-19]', () => {
    const hex = 'ab'.repeat(32);
    const list = [hex, Ref.fromHex(hex, 'raw'), Ref.fromHex(hex, 'value'), `\0raw${hex}`, `raw${hex}`];
    const twice = [...list, ...list] as Value[];
    expect(toHex(encode(decodeScope(encodeScope(twice))))).toBe(toHex(encode(twice)));
  });

  it('references to maps of references are refused before they take more than a value may [CODEC-18]', async () => {
    // Each map names the one before it three times: 3^40 maps in less than a kilobyte.
    const maps = Array.from({ length: 40 }, (_, i) => {
      const below = i === 0 ? ['00', '00', '00'] : Array.from({ length: 3 }, () => `d81d${head(i - 1)}`);
      return `d81ca3${below.map((item, key) => `61${(0x61 + key).toString(16)}${item}`).join('')}`;
    });
    const bomb = fromHex(`d90100${listHead(maps.length)}${maps.join('')}`);
    expect(bomb.length).toBeLessThan(1_000);
    let error: unknown;
    const cost = await cpuMsOf(() => {
      try {
        decodeScope(bomb, 128);
      } catch (thrown) {
        error = thrown;
      }
    });
    expect(error).toMatchObject({
      code: 'invalid_bytes',
      what: expect.stringContaining('references stand for more than'),
    });
    expect(cost).toBeLessThan(20_000);
  });

  it('a list of maps that are alike takes time in proportion to its length [CODEC-18]', async () => {
    const list = Array.from({ length: 100_000 }, (_, i): Value => ({ a: 'same', b: i, c: 'same' }));
    const cost = await cpuMsOf(() => expect(decodeScope(encodeScope(list))).toEqual(list));
    expect(cost).toBeLessThan(20_000); // each compared with all before it took minutes
  });

  it('maps beyond the first that are alike are written whole, and read back', () => {
    const maps = Array.from({ length: 20 }, (_, i): Value => ({ a: i, b: 0, c: 0 }));
    const twice = [...maps, ...maps];
    const bytes = encodeScope(twice);
    expect(decodeScope(bytes)).toEqual(twice);
    const references = toHex(bytes).split('d81d').length - 1;
    expect(references).toBe(16);
  });

  it('a reference nests as deep as the map that it stands for', async () => {
    const deep = Array.from({ length: 30 }).reduce<Value>((inner) => ({ a: inner, b: 0, c: 0 }), 0);
    const nested = Array.from({ length: 20 }).reduce<Value>((inner) => [inner], deep);
    const bytes = encodeScope([deep, nested], 128);
    expect(await codeOf(Promise.resolve().then(() => decodeScope(bytes, 45)))).toBe('invalid_bytes');
    expect(decodeScope(bytes, 64)).toEqual([deep, nested]);
  });
});

function mapsIn(value: Value): number {
  if (typeof value !== 'object' || value === null || value instanceof Ref || value instanceof Uint8Array) return 0;
  const inner = Object.values(value).reduce<number>((sum, item) => sum + mapsIn(item as Value), 0);
  return inner + (Array.isArray(value) ? 0 : 1);
}

function head(n: number): string {
  return n < 24 ? n.toString(16).padStart(2, '0') : `18${n.toString(16).padStart(2, '0')}`;
}

function listHead(n: number): string {
  return n < 24 ? (0x80 + n).toString(16) : `98${n.toString(16).padStart(2, '0')}`;
}
