/** A world as it was: read-only state at a frame. */
import { type Address, RepriseError, type Value } from '@reprise/contracts';
import { decode, portableSha256 } from '../codec/index.js';
import { readLogLeaf } from '../content/log-reader.js';
import type { ContentReader } from '../content/port.js';
import type { App, TableRange } from '../define/index.js';
import { type CellLeaf, cellKey, type LogLeaf, logKey, readTable } from '../engine/index.js';
import { readInputs } from '../journal/frame.js';
import { EMPTY_HEAD, type Head } from '../journal/port.js';
import { MerkleMap } from '../map/index.js';
import { LeafTable } from '../state/leaf-table.js';
import { loaded } from '../state/loaded.js';
import { ComputedNodes } from '../state/value-nodes.js';
import type { ReadonlyStore } from '../store/store.js';
import { requireAddress, requireApp, requireLeafName, requirePosition, requireReadable } from './arguments.js';
import { followChain, Replayer } from './replayer.js';

/** The state of a world at one frame. */
export interface WorldAt {
  readonly head: Head;
  /** A cell's state; undefined when it did not exist. */
  state(address: Address): Promise<Value | undefined>;
  /** The items of a cell's log. */
  log(address: Address, name: string, from?: number): AsyncGenerator<Value>;
  /** Entries of a cell's table, in the order of their keys; at most 256 at once. */
  table(address: Address, name: string, range?: TableRange): Promise<[key: string, value: Value][]>;
}

/**
 * Performs a journal up to a frame, from the newest snapshot before it.
 *
 * @param seq the last frame to perform
 * @throws RepriseError `invalid_argument` when there is no such frame; what {@link Replayer.step} throws
 */
export async function worldAt(
  store: Pick<ReadonlyStore, 'journal' | 'content' | 'hash'>,
  app: App,
  seq: number,
): Promise<WorldAt> {
  requireReadable(store);
  requireApp(app);
  const last = (await store.journal.head()).seq;
  if (!Number.isSafeInteger(seq) || seq < 0 || seq > last) {
    throw new RepriseError('invalid_argument', 'there is no such frame', { expected: `0 to ${last}`, actual: seq });
  }
  const replayer = await replayTo(store, app, seq);
  return {
    head: replayer.head,
    state: (address) => readState(replayer.table, address),
    log: (address, name, from) => readCellLog(replayer.table, store.content, address, name, from),
    table: (address, name, range) => readCellTable(replayer.table, address, name, range),
  };
}

/** A replayer that has performed the journal up to `seq`, starting at the newest snapshot at or before it. */
export async function replayTo(
  store: Pick<ReadonlyStore, 'journal' | 'content' | 'hash'>,
  app: App,
  seq: number,
): Promise<Replayer> {
  const hash = store.hash ?? portableSha256;
  const table = new LeafTable(new MerkleMap(new ComputedNodes(store.content, hash), hash));
  const start = await startFrom(store, table, seq);
  const replayer = new Replayer({ app, hash }, table, start);
  for await (const stored of store.journal.read(start.seq + 1, seq)) await replayer.step(stored);
  return replayer;
}

/** Loads the newest snapshot at or before `seq`. @returns the head after it, or the empty head */
export async function startFrom(
  store: Pick<ReadonlyStore, 'journal' | 'hash'>,
  table: LeafTable,
  seq: number,
): Promise<Head & { readonly at?: number }> {
  const stored = await store.journal.findLast('snapshot', seq);
  if (stored === undefined) return EMPTY_HEAD;
  for await (const before of store.journal.read(stored.seq - 1, stored.seq - 1)) {
    followChain({ seq: before.seq, digest: before.head }, stored, store.hash ?? portableSha256);
  }
  const { ingress } = readInputs(stored.bytes, stored.seq);
  if (ingress.kind !== 'snapshot') return EMPTY_HEAD;
  await table.openAt(ingress.root);
  return { seq: stored.seq, digest: stored.head, at: stored.at };
}

/** A cell's state from a leaf table. */
export async function readState(table: LeafTable, address: Address): Promise<Value | undefined> {
  requireAddress(address);
  const bytes = await table.read(cellKey(address));
  if (bytes === undefined) return undefined;
  const cell = decode(bytes) as unknown as CellLeaf;
  return cell.live ? cell.state : undefined;
}

/** Entries of a cell's table from the resident leaves; what is not resident is loaded. */
export async function readCellTable(
  leaves: LeafTable,
  address: Address,
  name: string,
  range?: TableRange,
): Promise<[key: string, value: Value][]> {
  requireAddress(address);
  requireLeafName(name, 'table');
  return loaded(leaves, () => readTable(leaves, address, name, range));
}

/** A cell's log from a leaf table. */
export async function* readCellLog(
  table: LeafTable,
  content: ContentReader,
  address: Address,
  name: string,
  from = 0,
): AsyncGenerator<Value> {
  requireAddress(address);
  requireLeafName(name, 'log');
  requirePosition(from, 'the index of an item');
  const leaf = await table.read(logKey(address, name));
  if (leaf !== undefined) yield* readLogBytes(content, leaf, from);
}

/** The items of a log of which the leaf's bytes are at hand. */
export async function* readLogBytes(content: ContentReader, leaf: Uint8Array, from = 0): AsyncGenerator<Value> {
  yield* readLogLeaf(content, decode(leaf) as unknown as LogLeaf, from);
}
