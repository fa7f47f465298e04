import type { Value } from '@reprise/contracts';
import { Ref } from '@reprise/contracts';
import { anyValue } from '@reprise/testkit/ports';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../../../conformance/part.js';
import { anyAddress } from '../../../../testkit/src/arbitraries/index.js';
import { decode, encode, isRepriseError, toHex } from '../../../src/index.js';
import { type LeafKey, type LeafKind, leafKey } from '../../../src/pure/engine/index.js';
import { type MapChange, MerkleMap } from '../../../src/state/map/index.js';
import { nodesIn } from '../../replay/verify/replay-law.js';
import { hold, rerun, SEED } from '../../support/laws/hold.js';
import { nativeHash } from '../../support/laws/run-schedule.js';

/** Keys of every kind; many of one kind, so that buckets split and branches fold. */
const keys: fc.Arbitrary<LeafKey> = fc.oneof(
  { weight: 8, arbitrary: fc.nat(400).map((n) => leafKey(['cell', 'law/Map@1', `k${n}`])) },
  { weight: 2, arbitrary: anyAddress().map(([reducer, key]) => leafKey(['cell', reducer, key])) },
  { weight: 1, arbitrary: fc.nat(50).map((n) => leafKey(['timer', n, 'law/Map@1', -1, 't', `k${n % 7}`])) },
  { weight: 1, arbitrary: fc.nat(50).map((n) => leafKey(['plan', 'law/Map@1', n, 'k'])) },
  { weight: 1, arbitrary: fc.constant(leafKey(['world'])) },
);

/** Small leaves, and some on both sides of the bound above which a leaf stands beside its bucket. */
const leaves: fc.Arbitrary<Uint8Array> = fc.oneof(
  { weight: 6, arbitrary: anyValue({ maxDepth: 2 }).map((value) => encode(value)) },
  { weight: 1, arbitrary: fc.constantFrom(1_021, 1_022, 2_000).map((length) => encode(new Uint8Array(length))) },
);

const changes: fc.Arbitrary<readonly MapChange[]> = fc.noBias(
  fc.array(fc.record({ key: keys, bytes: fc.option(leaves, { nil: undefined, freq: 3 }) }), {
    maxLength: 120,
    size: 'max',
  }),
);

/** Deletes everything but so many leaves: branches fold back to buckets, buckets go. */
interface Sweep {
  readonly keep: number;
}

const batchLists: fc.Arbitrary<readonly (readonly MapChange[])[]> = fc
  .array(fc.oneof({ weight: 3, arbitrary: changes }, { weight: 2, arbitrary: fc.record({ keep: fc.nat(60) }) }), {
    minLength: 1,
    maxLength: 6,
  })
  .map((steps) => {
    const batches: (readonly MapChange[])[] = [];
    for (const step of steps) batches.push('keep' in step ? sweep(batches, step) : step);
    return batches;
  });

function sweep(batches: readonly (readonly MapChange[])[], { keep }: Sweep): MapChange[] {
  const gone = after(batches).slice(keep);
  return gone.map(({ key }) => ({ key, bytes: undefined }));
}

/** The leaves after changes, by key. */
function after(batches: readonly (readonly MapChange[])[]): MapChange[] {
  const held = new Map<string, MapChange>();
  for (const change of batches.flat()) {
    if (change.bytes === undefined) held.delete(change.key.id);
    else held.set(change.key.id, change);
  }
  return [...held.values()];
}

type Update = (map: MerkleMap, batches: readonly (readonly MapChange[])[]) => Promise<string>;

/** The root after batches of changes, one after another. */
const inBatches: Update = async (map, batches) => {
  let root: Awaited<ReturnType<MerkleMap['update']>> | undefined;
  for (const batch of batches) root = await map.update(root?.ref ?? null, batch);
  return `${root?.ref.hex} ${root?.leaves}`;
};

function lawFor(update: Update): fc.IAsyncProperty<[readonly (readonly MapChange[])[], number]> {
  return fc.asyncProperty(batchLists, fc.nat(), async (batches, turn) => {
    const map = new MerkleMap(nodesIn(new Map()), nativeHash);
    const whole = after(batches);
    const shuffled = [...whole].sort((a, b) =>
      toHex(nativeHash(encode([a.key.path, turn]))) < toHex(nativeHash(encode([b.key.path, turn]))) ? -1 : 1,
    );
    const fresh = await map.update(null, shuffled);
    expect(await update(map, batches)).toBe(`${fresh.ref.hex} ${whole.length}`);
    const found = new Map<string, string>();
    for (const kind of await map.kinds(fresh.ref)) {
      for await (const { key, bytes } of map.entries(fresh.ref, kind)) found.set(key.id, toHex(bytes));
    }
    expect(found).toEqual(new Map(whole.map(({ key, bytes }) => [key.id, toHex(bytes as Uint8Array)])));
    for (const { key, bytes } of whole.slice(0, 20))
      expect(toHex((await map.lookup(fresh.ref, key)) as Uint8Array)).toBe(toHex(bytes as Uint8Array));
    expect(await map.lookup(fresh.ref, leafKey(['cell', 'law/Map@1', 'absent']))).toBeUndefined();
  });
}

describe(`the map's root (seed ${SEED})`, () => {
  it('the root depends on the leaves alone: any order, any batches, deletions among them [RPL-8]', async () => {
    await hold(lawFor(inBatches), { numRuns: 120 / stepOf(4), command: rerun('map.test.ts') });
  });

  it.each<[string, Update]>([
    [
      'loses the deletions',
      (map, batches) =>
        inBatches(
          map,
          batches.map((batch) => batch.filter(({ bytes }) => bytes !== undefined)),
        ),
    ],
    ['keeps only the last batch', (map, batches) => inBatches(map, batches.slice(-1))],
    [
      'forgets a change in each batch',
      (map, batches) =>
        inBatches(
          map,
          batches.map((batch) => batch.slice(1)),
        ),
    ],
  ])('a mutant that %s is found', async (_, update) => {
    await expect(hold(lawFor(update), { numRuns: 100, shrink: false, command: '' })).rejects.toThrow();
  });

  it('a map of several branches finds every leaf, lists all its nodes, and folds back to one bucket', async () => {
    const kept = new Map<string, Uint8Array>();
    const map = new MerkleMap(nodesIn(kept), nativeHash);
    const key = (n: number) => leafKey(['cell', 'law/Map@1', `k${n}`]);
    const large = encode(new Uint8Array(2_000));
    const all = Array.from({ length: 3_000 }, (_, n) => ({ key: key(n), bytes: n === 7 ? large : encode(n) }));
    const { ref, leaves: count } = await map.update(null, all);
    expect(count).toBe(3_000);
    const fresh = new MerkleMap(nodesIn(kept), nativeHash);
    for (let n = 0; n < 3_000; n += 61) expect(await fresh.lookup(ref, key(n))).toEqual(encode(n));
    expect(await fresh.lookup(ref, key(3_000))).toBeUndefined();
    const blobs = new Set<string>();
    await fresh.collectBlobs(ref, blobs);
    expect(blobs).toEqual(new Set(kept.keys()));
    expect(blobs).toContain(toHex(nativeHash(large)));
    const gone = all.slice(3).map(({ key: of }) => ({ key: of, bytes: undefined }));
    expect(await map.update(ref, gone)).toEqual(await map.update(null, all.slice(0, 3)));
  });

  it('a leaf stands in its bucket up to 1,024 bytes, and beside it above that size', async () => {
    for (const [length, beside] of [
      [1_021, false], // three bytes more as a value
      [1_022, true],
    ] as const) {
      const kept = new Map<string, Uint8Array>();
      const bytes = encode(new Uint8Array(length));
      await new MerkleMap(nodesIn(kept), nativeHash).update(null, [{ key: leafKey(['world']), bytes }]);
      expect([bytes.length, kept.has(toHex(nativeHash(bytes)))]).toEqual([length + 3, beside]);
    }
  });

  it('the empty map is one map [RPL-8]', async () => {
    const map = new MerkleMap(nodesIn(new Map()), nativeHash);
    const one = await map.update(null, [{ key: leafKey(['world']), bytes: encode(1) }]);
    const gone = await map.update(one.ref, [{ key: leafKey(['world']), bytes: undefined }]);
    expect(gone).toEqual(await map.update(null, []));
  });
});

describe(`given something else where a map should be (seed ${SEED})`, () => {
  /** What reading a root of these bytes, and all that it links, is refused with. */
  async function refusalOf(root: Uint8Array, node = root): Promise<string> {
    const map = new MerkleMap(
      { get: async (ref) => (ref.hex === ROOT.hex ? root : node), putValue: never },
      nativeHash,
    );
    try {
      for (const kind of await map.kinds(ROOT)) for await (const entry of map.entries(ROOT, kind)) void entry;
      return 'nothing';
    } catch (error) {
      return isRepriseError(error) ? error.code : String(error);
    }
  }
  const ROOT = Ref.fromHex('0'.repeat(64), 'value');
  const CHILD = Ref.fromHex('1'.repeat(64), 'value');
  const never = async () => CHILD;
  const trie = encode([['cell', CHILD, 1]]);

  it('any other value as the root or as a node is refused as damage, and no other error escapes', async () => {
    const law = fc.asyncProperty(anyValue({ maxDepth: 3 }), async (junk) => {
      const bytes = encode(junk);
      expect(['blob_damaged', 'nothing']).toContain(await refusalOf(bytes));
      expect(['blob_damaged', 'nothing']).toContain(await refusalOf(trie, bytes));
    });
    await hold(law, { numRuns: 300 / stepOf(4), command: rerun('map.test.ts') });
  });

  it.each([
    ['text', encode('no map')],
    ['a list of something else', encode([['cell', 'no link', 1]])],
    ['bytes that are no value', Uint8Array.of(0xff)],
    ['a branch of three', encode(['branch', [null, null, null]])],
    ['a bucket of numbers', encode(['bucket', [1, 2]])],
    ['a bucket of a leaf without a place', encode(['bucket', [[[], Uint8Array.of(1)]]])],
    ['a bucket of a leaf without bytes', encode(['bucket', [[['world'], 'text']]])],
    ['a branch of invalid links', encode(['branch', Array.from({ length: 16 }, () => ['text', 1])])],
    ['a list of invalid kinds', encode([[1, Ref.fromHex('a'.repeat(64), 'value'), 1]])],
    ['a list of links without a count', encode([['cell', Ref.fromHex('a'.repeat(64), 'value'), 'one']])],
    ['a list of links with less than one leaf', encode([['cell', Ref.fromHex('a'.repeat(64), 'value'), 0]])],
    ['a bucket without a leaf', encode(['bucket', []])],
    ['a bucket of 33 leaves', encode(['bucket', leavesOf(33)])],
    ['a bucket with more leaves than its link says', encode(['bucket', leavesOf(2)])],
    ['a bucket of a leaf of another kind', encode(['bucket', [[['timer', 1], encode(1)]]])],
    ['a bucket of a leaf whose place is a map', encode(['bucket', [[['cell', {}], encode(1)]]])],
    ['a branch of as few leaves as fit a bucket', encode(['branch', children(2, CHILD)])],
  ])('%s in the place of a map is refused as damage', async (_, junk) => {
    expect([await refusalOf(junk), await refusalOf(trie, junk)]).toContain('blob_damaged');
  });

  it('a valid map is read', async () => {
    expect(await refusalOf(trie, encode(['bucket', leavesOf(1)]))).toBe('nothing');
  });
});

/** The sixteen places of a branch under which one child stands again and again. */
function children(places: number, child: Ref, count = 16): Value[] {
  return Array.from({ length: 16 }, (_, place) => (place < places ? [child, count] : null));
}

/** So many leaves of cells, as a bucket holds them. */
function leavesOf(count: number): Value[] {
  return Array.from({ length: count }, (_, n) => [['cell', 'law/Map@1', `k${n}`], encode(n)]);
}

describe('given a map of few bytes that claims to be of many leaves', () => {
  /** Levels of sixteen equal children each, above a bucket. */
  function tower(levels: number, kind: LeafKind, bottom: Value) {
    const kept = new Map<string, Uint8Array>();
    const nodes = nodesIn(kept);
    const put = (node: Value) => nodes.putValue(encode(node));
    return (async () => {
      let [child, count] = [await put(bottom), 1];
      for (let level = 0; level < levels; level++) {
        child = await put(['branch', children(16, child, count)]);
        count = Math.min(count * 16, Number.MAX_SAFE_INTEGER);
      }
      return { nodes, root: await put([[kind, child, count]]) };
    })();
  }

  it.each(['timer', 'effect', 'plan', 'pending', 'cell'] as const)(
    'a map with sixty levels of equal children and a leaf of kind %s is refused at the first misplaced leaf [RPL-26]',
    async (kind) => {
      const { nodes, root } = await tower(60, kind, ['bucket', [[[kind, 'law/Map@1', 'k'], encode(1)]]]);
      let reads = 0;
      const get = (ref: Ref) => {
        reads++;
        return nodes.get(ref);
      };
      const counted = { ...nodes, get };
      const error = await refusalIn(new MerkleMap(counted, nativeHash), root, kind);
      expect(error).toMatch(/^blob_damaged: .*not a node of a state map/);
      expect(reads).toBeLessThan(100);
    },
  );

  it('a map whose branches go below the last digit of a key is refused', async () => {
    const { nodes, root } = await tower(70, 'timer', ['bucket', [[['timer', 1], encode(1)]]]);
    expect(await refusalIn(new MerkleMap(nodes, nativeHash), root, 'timer')).toContain('blob_damaged');
  });

  it('a map of sound shape with one leaf twice is refused', async () => {
    const kept = new Map<string, Uint8Array>();
    const nodes = nodesIn(kept);
    const key = (n: number): LeafKey => leafKey(['timer', n, 'law/Map@1', -1, 't', 'k']);
    const all = Array.from({ length: 40 }, (_, n) => ({ key: key(n), bytes: encode(n) }));
    const { ref } = await new MerkleMap(nodes, nativeHash).update(null, all);
    const [[kind, link, count]] = decode(kept.get(ref.hex) as Uint8Array) as unknown as [[string, Ref, number]];
    const [, places] = decode(kept.get(link.hex) as Uint8Array) as unknown as [string, (Value[] | null)[]];
    const [used, free] = [places.find((place) => place !== null), places.indexOf(null)];
    const other = free >= 0 ? free : places.findIndex((place) => place !== used);
    const forged = places.map((place, at) => (at === other ? (used as Value) : place)) as Value;
    const root = await nodes.putValue(encode([[kind, await nodes.putValue(encode(['branch', forged])), count]]));
    expect(await refusalIn(new MerkleMap(nodes, nativeHash), root, 'timer')).toContain('blob_damaged');
  });

  /** What a walk over one kind is refused with. */
  async function refusalIn(map: MerkleMap, root: Ref, kind: LeafKind): Promise<string> {
    try {
      for await (const entry of map.entries(root, kind)) void entry;
      return 'nothing';
    } catch (error) {
      return isRepriseError(error) ? `${error.code}: ${error.what}` : String(error);
    }
  }
});
