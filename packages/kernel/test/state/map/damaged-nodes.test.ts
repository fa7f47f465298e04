import type { Value } from '@reprise/contracts';
import { Ref } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import { decode, encode, isRepriseError, toHex } from '../../../src/index.js';
import { logBlobs, readLogLeaf } from '../../../src/ports/content/log-reader.js';
import type { ContentReader } from '../../../src/ports/content/port.js';
import { type LeafKind, LOG_CHUNK_ITEMS, type LogLeaf, leafKey } from '../../../src/pure/engine/index.js';
import { MerkleMap } from '../../../src/state/map/index.js';
import { decodeNode, decodeRoot, wayOf } from '../../../src/state/map/node.js';
import { nodesIn } from '../../replay/verify/replay-law.js';
import { nativeHash } from '../../support/laws/run-schedule.js';

const LINK = Ref.fromHex('a'.repeat(64), 'value');
const BYTES = Uint8Array.of(1);
const leaf = (n: number): Value => [['cell', 'law/Map@1', `k${n}`], BYTES];
const leaves = (count: number): Value[] => Array.from({ length: count }, (_, n) => leaf(n));
const places = (...links: (Value | null)[]): Value[] => Array.from({ length: 16 }, (_, n) => links[n] ?? null);

describe('a node of a state map', () => {
  it('a node is a bucket of one to 32 leaves, or a branch of sixteen places over more than 32 leaves', () => {
    for (const count of [1, 32])
      expect(decodeNode(encode(['bucket', leaves(count)]))).toMatchObject({ type: 'bucket' });
    expect(decodeNode(encode(['bucket', [[['timer', 1, 'law/Map@1', -1], LINK]]]))).toMatchObject({ type: 'bucket' });
    expect(decodeNode(encode(['branch', places([LINK, 32], null, [LINK, 1])]))).toMatchObject({ type: 'branch' });
  });

  it.each<[string, Value, string]>([
    ['of another type', ['text', []], 'a node of type text'],
    ['that is no list', 7, 'not a list'],
    ['of a bucket that is no list', ['bucket', 7], 'not a list'],
    ['of no leaves', ['bucket', []], 'a bucket of 0 entries'],
    ['of 33 leaves', ['bucket', leaves(33)], 'a bucket of 33 entries'],
    ['of a leaf that is no list', ['bucket', [7]], 'not a list'],
    ['of a leaf whose path is no list', ['bucket', [[7, BYTES]]], 'not a list'],
    ['of a leaf without a kind', ['bucket', [[[7, 'a'], BYTES]]], 'a path that is not made of names and numbers'],
    ['of a leaf at a path with a map in it', ['bucket', [[['cell', {}], BYTES]]], 'a path that is not made of'],
    ['of a leaf at a path with a fraction in it', ['bucket', [[['cell', 0.5], BYTES]]], 'a path that is not made of'],
    ['of a leaf that is a text', ['bucket', [[['world'], 'text']]], 'a leaf that is neither bytes nor a link'],
    ['of 32 leaves below a branch', ['branch', places([LINK, 31], [LINK, 1])], 'a branch of 16 children and 32 leaves'],
    ['of fifteen places', ['branch', places([LINK, 33]).slice(0, 15)], 'a branch of 15 children'],
    ['of seventeen places', ['branch', [...places([LINK, 33]), null]], 'a branch of 17 children'],
    ['of a child that is no list', ['branch', places(7)], 'not a list'],
    [
      'of a child that is no link',
      ['branch', places(['text', 40])],
      'a child that is not a link and the number of its',
    ],
    ['of a child without a count', ['branch', places([LINK])], 'a child that is not a link and the number of its'],
    ['of a child of no leaves', ['branch', places([LINK, 40], [LINK, 0])], 'a child that is not a link and the number'],
    ['of a child of half a leaf', ['branch', places([LINK, 40.5])], 'a child that is not a link and the number of its'],
  ])('%s is refused, and says why [RPL-26]', (_, node, why) => {
    expect(() => decodeNode(encode(node))).toThrow(`not a node of a state map: ${why}`);
  });

  it.each<[string, Value, string]>([
    ['that is no list', 7, 'not a list'],
    ['of a trie that is no list', [7], 'not a list'],
    ['of a trie without a kind', [[7, LINK, 1]], 'a trie without a kind'],
    ['of a trie without a link', [['cell', 7, 1]], 'a child that is not a link'],
    ['of a trie without leaves', [['cell', LINK, 0]], 'a child that is not a link'],
  ])('a root %s is refused, and says why [RPL-26]', (_, root, why) => {
    expect(() => decodeRoot(encode(root))).toThrow(`not a node of a state map: ${why}`);
  });
});

describe('a state map of sound nodes', () => {
  const kept = new Map<string, Uint8Array>();
  const nodes = nodesIn(kept);
  const put = (node: Value) => nodes.putValue(encode(node));

  /** Why a walk over a kind is refused, or how many leaves it finds. */
  async function walk(root: Value, kind: LeafKind): Promise<string> {
    let found = 0;
    try {
      for await (const entry of new MerkleMap(nodes, nativeHash).entries(await put(root), kind)) {
        void entry;
        found++;
      }
      return `${found} leaves`;
    } catch (error) {
      if (!isRepriseError(error)) throw error;
      return `${error.code}: ${(error.cause as Error).message.slice('not a node of a state map: '.length)}`;
    }
  }

  it('a state map of sound nodes is read; it has no entries of a kind that it does not hold', async () => {
    const bucket = await put(['bucket', leaves(3)]);
    expect(await walk([['cell', bucket, 3]], 'cell')).toBe('3 leaves');
    expect(await walk([['cell', bucket, 3]], 'timer')).toBe('0 leaves');
  });

  it('a map that holds fewer leaves than it claims is refused as damage [RPL-26]', async () => {
    const root = [['cell', await put(['bucket', leaves(3)]), 4]];
    expect(await walk(root, 'cell')).toBe('blob_damaged: 4 leaves claimed, 3 found');
  });

  it('a map that claims the leaves of one branch for another is refused as damage [RPL-26]', async () => {
    const all = Array.from({ length: 40 }, (_, n) => ({
      key: leafKey(['cell', 'law/Map@1', `k${n}`]),
      bytes: encode(n),
    }));
    const { ref } = await new MerkleMap(nodes, nativeHash).update(null, all);
    const [[kind, link, count]] = decode(kept.get(ref.hex) as Uint8Array) as unknown as [[string, Ref, number]];
    const [, branch] = decode(kept.get(link.hex) as Uint8Array) as unknown as [string, ([Ref, number] | null)[]];
    const [one, other] = branch.flatMap((child, at) => (child === null ? [] : [at])) as [number, number];
    const more = (at: number) => (at === one ? 1 : at === other ? -1 : 0);
    const forged = branch.map((child, at) => child && [child[0], child[1] + more(at)]);
    const wanted = /^blob_damaged: \d+ leaves claimed, \d+ found$/;
    if (branch[other]?.[1] === 1) throw new Error('the second branch has one leaf: take another map');
    expect(await walk([[kind, await put(['branch', forged]), count]], 'cell')).toMatch(wanted);
  });

  it('a map with a leaf of one kind among those of another is refused as damage [RPL-26]', async () => {
    const root = [['timer', await put(['bucket', leaves(3)]), 3]];
    expect(await walk(root, 'timer')).toBe('blob_damaged: a leaf of kind cell among those of kind timer');
  });

  it('a map that links one bucket under sixteen branches is refused as damage at the first misplaced leaf [RPL-26]', async () => {
    const bucket = await put(['bucket', leaves(3)]);
    const branch = await put(['branch', Array.from({ length: 16 }, () => [bucket, 3])]);
    expect(await walk([['cell', branch, 48]], 'cell')).toBe('blob_damaged: a leaf stands where its key is not');
  });

  it('a map that goes deeper than the last digit of a key is refused as damage [RPL-26]', async () => {
    const path = ['cell', 'law/Map@1', 'k0'] as const;
    const way = wayOf(path, nativeHash);
    let child = await put(['bucket', leaves(1)]);
    for (const digit of `${way}0`.split('').toReversed()) {
      const at = Number.parseInt(digit, 16);
      child = await put(['branch', Array.from({ length: 16 }, (_, n) => (n === at ? [child, 40] : null))]);
    }
    expect(await walk([['cell', child, 40]], 'cell')).toBe('blob_damaged: a branch below the last digit of a key');
  });
});

/** Content that holds some values, by link. */
function holding(...values: readonly Value[]) {
  const kept = new Map<string, Uint8Array>();
  const refs = values.map((value) => {
    const bytes = encode(value);
    const hex = toHex(nativeHash(bytes));
    kept.set(hex, bytes);
    return Ref.fromHex(hex, 'value');
  });
  return { refs, content: { get: async (ref: Ref) => kept.get(ref.hex) } };
}

async function readingOf(get: ContentReader['get'], log: unknown): Promise<string> {
  const content = { get } as ContentReader;
  try {
    let count = 0;
    for await (const item of readLogLeaf(content, log as LogLeaf)) {
      void item;
      count++;
    }
    return `${count} items`;
  } catch (error) {
    return isRepriseError(error) ? error.code : String(error);
  }
}

describe('the leaf of a log', () => {
  const full = Array.from({ length: LOG_CHUNK_ITEMS }, (_, n) => n);
  const { refs, content } = holding(full, full.slice(1), [...full, 1], 'text');
  const [chunk, short, long, text] = refs as [Ref, Ref, Ref, Ref];
  const nodes = holding(
    full,
    full.map(() => chunk),
    full.slice(1).map(() => chunk),
    [...full.map(() => chunk), chunk],
    full.map((n) => (n === 0 ? chunk : n)),
  );
  const [, node, shortNode, longNode, mixed] = nodes.refs as [Ref, Ref, Ref, Ref, Ref];
  const deep = async (ref: Ref) => (await nodes.content.get(ref)) ?? content.get(ref);
  const size = LOG_CHUNK_ITEMS;
  const most = Array.from({ length: size - 1 }, () => chunk);

  it.each<[string, unknown, string]>([
    ['of nothing', { count: 0, levels: [], tail: [] }, '0 items'],
    ['of a tail', { count: 2, levels: [], tail: [1, 2] }, '2 items'],
    ['of a full chunk', { count: size + 1, levels: [[chunk]], tail: [1] }, `${size + 1} items`],
    [
      'of as many chunks as one level has',
      { count: size * (size - 1), levels: [most], tail: [] },
      `${size * (size - 1)} items`,
    ],
    ['of a node', { count: size * size, levels: [[], [node]], tail: [] }, `${size * size} items`],
    ['of ten levels', { count: 0, levels: Array.from({ length: 10 }, () => []), tail: [] }, '0 items'],
    ['of eleven levels', { count: 0, levels: Array.from({ length: 11 }, () => []), tail: [] }, 'blob_damaged'],
    ['of a level that is full', { count: size * size, levels: [[...most, chunk]], tail: [] }, 'blob_damaged'],
    ['of a level that is no list', { count: 0, levels: [7], tail: [] }, 'blob_damaged'],
    ['of a level with a number in it', { count: size, levels: [[7]], tail: [] }, 'blob_damaged'],
    ['of another count', { count: size + 2, levels: [[chunk]], tail: [1] }, 'blob_damaged'],
    ['of no tail', { count: 0, levels: [] }, 'blob_damaged'],
    ['that is a text', 'log', 'blob_damaged'],
    ['that is nothing', null, 'blob_damaged'],
    ['of a chunk with an item too few', { count: size, levels: [[short]], tail: [] }, 'blob_damaged'],
    ['of a chunk with an item too many', { count: size, levels: [[long]], tail: [] }, 'blob_damaged'],
    ['of a chunk that is a text', { count: size, levels: [[text]], tail: [] }, 'blob_damaged'],
    ['of a node with a chunk too few', { count: size * size, levels: [[], [shortNode]], tail: [] }, 'blob_damaged'],
    ['of a node with a chunk too many', { count: size * size, levels: [[], [longNode]], tail: [] }, 'blob_damaged'],
    ['of a node with numbers in it', { count: size * size, levels: [[], [mixed]], tail: [] }, 'blob_damaged'],
    ['of a node that is a text', { count: size * size, levels: [[], [text]], tail: [] }, 'blob_damaged'],
  ])('%s is read or refused as damage: %#', async (_, log, reads) => {
    expect(await readingOf(deep, log)).toBe(reads);
  });

  it('the leaf of a log lists its nodes and chunks, each once however often it occurs', async () => {
    const log = { count: size * size + 2 * size, levels: [[chunk, chunk], [node]], tail: [] };
    const found: string[] = [];
    for await (const ref of logBlobs({ get: deep } as ContentReader, log as LogLeaf)) found.push(ref.hex);
    expect(found).toEqual([chunk.hex, node.hex, chunk.hex].slice(0, 2));
  });
});
