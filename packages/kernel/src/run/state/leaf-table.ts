/**
 * The leaves of a world while it is open: resident bytes over the map of the last snapshot.
 *
 * Invariants
 * T1  `get` answers from memory or throws `Miss`; it never guesses.
 * T2  Effects, plans, timers, the pending cascade and the world's rules are resident: recovery and timers list them.
 *     Cells, logs and nodes of tables are loaded when first read, so opening costs the tail and not the world's age.
 * T3  `dirty` is exactly what differs from the map of `root`.
 */
import type { Ref } from '@reprise/contracts';
import type { LeafChange, LeafKey, LeafKind, LeafReader } from '../../pure/engine/index.js';
import { Miss } from '../../pure/engine/index.js';
import type { MapChange, MapRoot, MerkleMap } from '../map/index.js';
import { requireLeaf } from './leaf-shapes.js';

const LOADED_ON_DEMAND: ReadonlySet<LeafKind> = new Set(['account', 'cell', 'log', 'rights', 'settled', 'table']);

/** Bytes of leaves kept in memory; after a snapshot, clean leaves beyond this are dropped, the longest unchanged first. */
const RESIDENT_BYTES_MAX = 128 * 1024 * 1024;

/** What a resident leaf costs beside its bytes: its key, map entries and the array itself. */
const LEAF_OVERHEAD_BYTES = 400;

/** Undoes speculative frames: the leaves as they were. */
export type UndoLog = Map<string, { readonly key: LeafKey; readonly bytes: Uint8Array | undefined }>;

/** The resident leaves. */
export class LeafTable implements LeafReader {
  readonly #resident = new Map<string, { readonly key: LeafKey; readonly bytes: Uint8Array }>();
  /** Keys known to be absent although the map of the last snapshot could hold their kind. */
  readonly #absent = new Set<string>();
  readonly #dirty = new Map<string, LeafKey>();
  #root: Ref | null = null;
  #residentBytes = 0;

  constructor(private readonly map: MerkleMap) {}

  /** Starts from a snapshot: loads what must be resident. */
  async openAt(root: Ref): Promise<void> {
    this.#root = root;
    for (const kind of await this.map.kinds(root)) {
      if (LOADED_ON_DEMAND.has(kind)) continue;
      for await (const { key, bytes } of this.map.entries(root, kind)) this.#keep(key, requireLeaf(key, bytes));
    }
  }

  get(key: LeafKey): Uint8Array | undefined {
    const resident = this.#resident.get(key.id);
    if (resident !== undefined) return resident.bytes;
    if (this.#root === null || !LOADED_ON_DEMAND.has(key.path[0])) return undefined;
    if (this.#dirty.has(key.id) || this.#absent.has(key.id)) return undefined;
    throw new Miss(key);
  }

  /** Loads a leaf that `get` missed. */
  async load(key: LeafKey): Promise<void> {
    if (this.#root === null) return;
    const bytes = await this.map.lookup(this.#root, key);
    if (bytes === undefined) this.#absent.add(key.id);
    else this.#keep(key, requireLeaf(key, bytes));
  }

  /** Reads a leaf, loading it when it is not resident. */
  async read(key: LeafKey): Promise<Uint8Array | undefined> {
    try {
      return this.get(key);
    } catch (thrown) {
      if (!(thrown instanceof Miss)) throw thrown;
      await this.load(key);
      return this.get(key);
    }
  }

  /** Takes a frame's changes in. With an undo log they can be taken back. */
  apply(changes: readonly LeafChange[], undo?: UndoLog): void {
    for (const { key, before, after } of changes) {
      if (undo !== undefined && !undo.has(key.id)) undo.set(key.id, { key, bytes: before });
      this.#set(key, after);
    }
  }

  /** Takes speculative changes back. The leaves stay dirty: at worst a snapshot rewrites what it need not. */
  undo(log: UndoLog): void {
    for (const { key, bytes } of log.values()) this.#set(key, bytes);
  }

  /** The leaves of one resident kind. */
  *list(
    kind: Exclude<LeafKind, 'account' | 'cell' | 'log' | 'rights' | 'settled' | 'table'>,
  ): Generator<{ key: LeafKey; bytes: Uint8Array }> {
    for (const leaf of this.#resident.values()) if (leaf.key.path[0] === kind) yield leaf;
  }

  /** Every leaf of a kind, resident or not; none becomes resident. Call it only while nothing is being folded. */
  async *all(kind: LeafKind): AsyncGenerator<{ key: LeafKey; bytes: Uint8Array }> {
    for (const leaf of this.#resident.values()) if (leaf.key.path[0] === kind) yield leaf;
    if (this.#root === null) return;
    for await (const leaf of this.map.entries(this.#root, kind)) {
      if (this.#resident.has(leaf.key.id) || this.#dirty.has(leaf.key.id)) continue;
      requireLeaf(leaf.key, leaf.bytes);
      yield leaf;
    }
  }

  /** How many leaves differ from the map of the last snapshot. */
  get dirtyLeaves(): number {
    return this.#dirty.size;
  }

  /** Adds the digest of every blob of a snapshot's map. */
  collectBlobs(root: Ref, into: Set<string>): Promise<void> {
    return this.map.collectBlobs(root, into);
  }

  /** The map with everything that changed since the last snapshot. Writes nodes; changes nothing here. */
  async snapshot(): Promise<MapRoot> {
    const changes: MapChange[] = [];
    for (const [id, key] of this.#dirty) changes.push({ key, bytes: this.#resident.get(id)?.bytes });
    return this.map.update(this.#root, changes);
  }

  /** Called when the map at `root` is durable: its leaves are clean and may be dropped. */
  rebase(root: Ref): void {
    this.#root = root;
    this.#dirty.clear();
    this.#absent.clear();
    for (const [id, { key }] of this.#resident) {
      if (this.#residentBytes <= RESIDENT_BYTES_MAX) break;
      if (LOADED_ON_DEMAND.has(key.path[0])) this.#drop(id);
    }
  }

  #set(key: LeafKey, bytes: Uint8Array | undefined): void {
    this.#dirty.set(key.id, key);
    this.#absent.delete(key.id);
    this.#drop(key.id);
    if (bytes !== undefined) this.#keep(key, bytes); // at the end: the last to change is the last to be dropped
  }

  #keep(key: LeafKey, bytes: Uint8Array): void {
    this.#resident.set(key.id, { key, bytes });
    this.#residentBytes += bytes.length + LEAF_OVERHEAD_BYTES;
  }

  #drop(id: string): void {
    const resident = this.#resident.get(id);
    if (resident === undefined) return;
    this.#resident.delete(id);
    this.#residentBytes -= resident.bytes.length + LEAF_OVERHEAD_BYTES;
  }
}
