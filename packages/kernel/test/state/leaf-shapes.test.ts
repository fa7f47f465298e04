/** Leaves of a snapshot that an attacker changed: the shape of each is checked wherever it is read. */
import { describe, expect, it } from 'vitest';
import { memory } from '../../src/index.js';
import { encode, portableSha256 } from '../../src/pure/codec/index.js';
import { type LeafKey, type LeafKind, leafKey } from '../../src/pure/engine/index.js';
import { LeafTable } from '../../src/state/leaf-table.js';
import { MerkleMap } from '../../src/state/map/index.js';
import { storedNodes } from '../../src/state/value-nodes.js';

/** A path that a leaf of each kind may have. */
const PATHS: Readonly<Record<LeafKind, LeafKey['path']>> = {
  account: ['account', 'a'],
  asked: ['asked', 'r', 'c'],
  cell: ['cell', 'r', 'c'],
  effect: ['effect', 'e'],
  failed: ['failed', 'r', 'c'],
  log: ['log', 'r', 'c', 'l'],
  pending: ['pending'],
  plan: ['plan', 'r', 0, 'c'],
  rights: ['rights', 'c'],
  settled: ['settled', 'e'],
  table: ['table', 'r', 't', 0, 0, 'c'],
  timer: ['timer', 0, 'r', 0, 'c', 't'],
  world: ['world'],
};

const KINDS = Object.keys(PATHS) as LeafKind[];

/** Leaves that are read as soon as a snapshot is; the others when they are asked for. */
const RESIDENT: readonly LeafKind[] = ['asked', 'effect', 'failed', 'pending', 'plan', 'timer', 'world'];

/** A table over a snapshot that holds this one leaf. */
async function over(path: LeafKey['path'], bytes: Uint8Array) {
  const { content, hash = portableSha256 } = await memory().open();
  const map = new MerkleMap(storedNodes(content), hash);
  const key = leafKey(path);
  const { ref } = await map.update(null, [{ key, bytes }]);
  return { table: new LeafTable(map), key, ref };
}

/** Reads the leaf as an opened world does. */
async function read(path: LeafKey['path'], bytes: Uint8Array): Promise<unknown> {
  const { table, key, ref } = await over(path, bytes);
  await table.openAt(ref);
  return table.read(key);
}

const damaged = { code: 'journal_damaged', what: 'a leaf of the snapshot does not have the shape of its kind' };

describe('a leaf of a snapshot', () => {
  it.each(KINDS.filter((kind) => kind !== 'timer'))(
    'a leaf of kind %s with unknown fields is refused [JRN-33]',
    async (kind) => {
      await expect(read(PATHS[kind], encode({ wrong: 1 }))).rejects.toMatchObject(damaged);
      await expect(read(PATHS[kind], encode([]))).rejects.toMatchObject(damaged);
    },
  );

  it.each(KINDS)('a leaf of kind %s that is not a value is refused [JRN-33]', async (kind) => {
    await expect(read(PATHS[kind], new Uint8Array([0xff]))).rejects.toMatchObject(damaged);
    await expect(read(PATHS[kind], new Uint8Array())).rejects.toMatchObject(damaged);
  });

  it.each(KINDS)('a leaf of kind %s under a path of another kind is refused [JRN-33]', async (kind) => {
    const path = [...PATHS[kind], 'more', 'more'] as unknown as LeafKey['path'];
    await expect(read(path, encode({ count: 0, levels: [], tail: [] }))).rejects.toMatchObject(damaged);
  });

  it.each(KINDS.filter((kind) => !RESIDENT.includes(kind)))(
    'a malformed leaf of kind %s is refused also in a list of its kind [JRN-33]',
    async (kind) => {
      const { table, ref } = await over(PATHS[kind], encode({ wrong: 1 }));
      await table.openAt(ref);
      const listed = async () => {
        for await (const _ of table.all(kind));
      };
      await expect(listed()).rejects.toMatchObject(damaged);
    },
  );

  it('a leaf of the right shape is read unchanged', async () => {
    const leaf = { count: 0, levels: [], tail: [] };
    expect(await read(PATHS.log, encode(leaf))).toEqual(leaf);
  });
});
