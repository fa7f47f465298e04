/** The newest snapshot of a file as it was written: its leaves, read without an app and without a replay. */
import type { Address, Value } from '@reprise/contracts';
import type { ReadonlyStore } from '../../ports/store/store.js';
import { copyValue, portableSha256 } from '../../pure/codec/index.js';
import type { TableRange } from '../../pure/define/index.js';
import { cellKey, type EffectLeaf } from '../../pure/engine/index.js';
import { LeafTable } from '../../state/leaf-table.js';
import { MerkleMap } from '../../state/map/index.js';
import { type CellTrouble, failedCellsIn } from '../../state/trouble.js';
import { ComputedNodes } from '../../state/value-nodes.js';
import { readCellTable } from '../verify/era/read-leaves.js';
import { startFrom } from '../verify/era/start-from.js';

type Source = Pick<ReadonlyStore, 'journal' | 'content' | 'hash'>;

/** A cell as a snapshot holds it. */
export interface SnapshotCell {
  readonly address: Address;
  /** The cell that made it; null when it was made from outside. */
  readonly maker: Address | null;
  /** Its state as it was written: of the version of its reducer that wrote it. */
  readonly state: Value;
}

/** The leaves of a world at its newest snapshot before a frame. */
export interface SnapshotLeaves {
  /** The frame of the snapshot; -1 for a world without one, which has no leaf yet. */
  readonly seq: number;
  /** The open effects, by id. */
  readonly effects: ReadonlyMap<string, EffectLeaf>;
  /** Settled effects whose adapter may still report what they used, by id. */
  readonly late: ReadonlyMap<string, EffectLeaf>;
  /** The cells that had failed, the oldest first. */
  readonly failed: readonly CellTrouble[];
  /** The living cells of some reducers. The price is that of all cells of the world. */
  cells(reducers: readonly string[]): AsyncGenerator<SnapshotCell>;
  /** The addresses of all living cells, in no order. The price is that of all cells of the world. */
  addresses(): AsyncGenerator<Address>;
  /** One living cell; undefined when the snapshot has none at the address. */
  cell(address: Address): Promise<SnapshotCell | undefined>;
  /** Entries of a cell's table, in the order of their keys; at most 256 at once. */
  table(address: Address, name: string, range?: TableRange): Promise<[key: string, value: Value][]>;
}

/**
 * Reads the newest snapshot at or before a frame. What happened since then stands in the frames behind it.
 *
 * @throws RepriseError `journal_damaged`, `blob_missing`, `blob_damaged` for a snapshot that cannot be read
 */
export async function snapshotBefore(store: Source, seq: number): Promise<SnapshotLeaves> {
  const hash = store.hash ?? portableSha256;
  const table = new LeafTable(new MerkleMap(new ComputedNodes(store.content, hash), hash));
  const start = await startFrom(store, table, seq);
  const effects = [...table.list('effect')]
    .sort(({ leaf: a }, { leaf: b }) => a.queued[0] - b.queued[0] || a.queued[1] - b.queued[1])
    .map(({ key, leaf }) => [String(key.path[1]), leaf] as const);
  return {
    seq: start.seq,
    effects: new Map(effects.filter(([, { late }]) => late === undefined)),
    late: new Map(effects.filter(([, { late }]) => late !== undefined)),
    failed: failedCellsIn(table),
    cells: (reducers) => cellsIn(table, new Set(reducers)),
    addresses: () => addressesIn(table),
    cell: (address) => cellIn(table, address),
    table: (address, name, range) => readCellTable(table, address, name, range),
  };
}

async function* cellsIn(table: LeafTable, reducers: ReadonlySet<string>): AsyncGenerator<SnapshotCell> {
  for await (const { key, leaf } of table.all('cell')) {
    const [, reducer, name] = key.path;
    if (!leaf.live || !reducers.has(String(reducer))) continue;
    yield { address: [String(reducer), String(name)], maker: leaf.parent, state: copyValue(leaf.state) };
  }
}

async function* addressesIn(table: LeafTable): AsyncGenerator<Address> {
  for await (const { key, leaf } of table.all('cell')) if (leaf.live) yield [String(key.path[1]), String(key.path[2])];
}

async function cellIn(table: LeafTable, address: Address): Promise<SnapshotCell | undefined> {
  const leaf = await table.read(cellKey(address));
  return leaf?.live === true ? { address, maker: leaf.parent, state: copyValue(leaf.state) } : undefined;
}
