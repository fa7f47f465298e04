/**
 * The leaves of a world while it is open: resident values over the map of the last snapshot.
 *
 * Invariants
 * T1  `get` answers from memory or throws `Miss`; it never guesses.
 * T2  Effects, open questions, faults, plans, timers, the pending cascade and the world's rules are resident: recovery,
 *     timers and watchers list them.
 *     Cells, logs and nodes of tables are loaded when first read, so opening costs the tail and not the world's age.
 * T3  `dirty` is what may differ from the map of `root`. A leaf that came and went since then does not: most effects and
 *     plans do, and a snapshot is due when the dirty leaves are worth one.
 * T4  A resident leaf is never written into: a change replaces it. A part of it that leaves the kernel is a copy.
 */
import type { Address, Ref } from '@reprise/contracts';
import { PassingMap } from '../ports/time/passing-map.js';
import { encode, FRAME_DEPTH_MAX } from '../pure/codec/index.js';
import type { KeyedLeaf, LeafChange, LeafKey, LeafKind, LeafOf, LeafReader, ListedKind } from '../pure/engine/index.js';
import { Miss, namedIn } from '../pure/engine/index.js';
import { readLeaf } from './leaf-shapes.js';
import type { MapChange, MapRoot, MerkleMap } from './map/index.js';

const LOADED_ON_DEMAND: ReadonlySet<LeafKind> = new Set(['account', 'cell', 'log', 'rights', 'settled', 'table']);

/** Bytes of leaves kept in memory; after a snapshot, clean leaves beyond this are dropped, the longest unchanged first. */
const RESIDENT_BYTES_MAX = 64 * 1024 * 1024;

/** What a resident leaf costs beside its value: its key and its map entries. */
const LEAF_OVERHEAD_BYTES = 400;

/** Undoes speculative frames: the leaves as they were. */
export type UndoLog = Map<string, { readonly key: LeafKey; readonly leaf: unknown }>;

interface Resident extends KeyedLeaf {
  /** The size of its bytes; known once it was read or written as bytes, 0 before. */
  size: number;
}

/** The leaves that are resident; the others stay in the content store until they are read. */
export class LeafTable implements LeafReader {
  readonly #resident = new PassingMap<string, Resident>();
  /** Those that are listed (T2), by kind: a change of rights lists the open effects, however large the world is. */
  readonly #listed = new Map<LeafKind, PassingMap<string, Resident>>();
  /** Those of them that name a cell, by kind and cell: what ends with a cell is found without listing all. */
  readonly #naming = new Map<string, PassingMap<string, Resident>>();
  /** Keys known to be absent although the map of the last snapshot could hold their kind. */
  readonly #absent = new Set<string>();
  readonly #dirty = new Map<string, LeafKey>();
  /** Dirty keys that are known not to be in the map of the last snapshot. */
  readonly #fresh = new Set<string>();
  #root: Ref | null = null;
  #residentBytes = 0;

  constructor(private readonly map: MerkleMap) {}

  /** Starts from a snapshot: loads what must be resident. */
  async openAt(root: Ref): Promise<void> {
    this.#root = root;
    for (const kind of await this.map.kinds(root)) {
      if (LOADED_ON_DEMAND.has(kind)) continue;
      for await (const { key, bytes } of this.map.entries(root, kind)) this.#keepBytes(key, bytes);
    }
  }

  get<L>(key: LeafKey<L>): L | undefined {
    const resident = this.#resident.get(key.id);
    if (resident !== undefined) return resident.leaf as L;
    if (this.#root === null || !LOADED_ON_DEMAND.has(key.path[0])) return undefined;
    if (this.#dirty.has(key.id) || this.#absent.has(key.id)) return undefined;
    throw new Miss(key);
  }

  /** Loads a leaf that `get` missed. */
  async load(key: LeafKey): Promise<void> {
    if (this.#root === null) return;
    const bytes = await this.map.lookup(this.#root, key);
    if (bytes === undefined) this.#absent.add(key.id);
    else this.#keepBytes(key, bytes);
  }

  /** Reads a leaf, loading it when it is not resident. */
  async read<L>(key: LeafKey<L>): Promise<L | undefined> {
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
      if (undo !== undefined && !undo.has(key.id)) undo.set(key.id, { key, leaf: before });
      this.#set(key, after);
    }
  }

  /** Takes speculative changes back. Known leaves stay dirty: at worst a snapshot rewrites what it need not. */
  undo(log: UndoLog): void {
    for (const { key, leaf } of log.values()) this.#set(key, leaf);
  }

  /** The leaves of one resident kind. */
  *list<K extends 'asked' | 'effect' | 'failed' | 'pending' | 'plan' | 'timer' | 'world'>(
    kind: K,
  ): Generator<KeyedLeaf<LeafOf[K]>> {
    for (const { key, leaf } of this.#listed.get(kind)?.values() ?? []) yield { key, leaf: leaf as LeafOf[K] };
  }

  *naming<K extends ListedKind>(kind: K, cell: Address): Generator<KeyedLeaf<LeafOf[K]>> {
    for (const { key, leaf } of this.#naming.get(nameOf(kind, cell))?.values() ?? []) {
      yield { key, leaf: leaf as LeafOf[K] };
    }
  }

  /** Every leaf of a kind, resident or not; none becomes resident. Call it only while nothing is being folded. */
  async *all<K extends LeafKind>(kind: K): AsyncGenerator<KeyedLeaf<LeafOf[K]>> {
    for (const { key, leaf } of this.#resident.values()) {
      if (key.path[0] === kind) yield { key, leaf: leaf as LeafOf[K] };
    }
    if (this.#root === null) return;
    for await (const { key, bytes } of this.map.entries(this.#root, kind)) {
      if (this.#resident.has(key.id) || this.#dirty.has(key.id)) continue;
      yield { key, leaf: readLeaf(key, bytes) as unknown as LeafOf[K] };
    }
  }

  /** How many leaves may differ from the map of the last snapshot. */
  get dirtyLeaves(): number {
    return this.#dirty.size;
  }

  /** Adds the digest of every blob of a snapshot's map. */
  collectBlobs(root: Ref, into: Set<string>): Promise<void> {
    return this.map.collectBlobs(root, into);
  }

  /** The map with everything that changed since the last snapshot. Writes nodes; the leaves stay dirty. */
  async snapshot(): Promise<MapRoot> {
    const changes: MapChange[] = [];
    for (const [id, key] of this.#dirty) changes.push({ key, bytes: this.#bytesOf(id) });
    return this.map.update(this.#root, changes);
  }

  /** Called when the map at `root` is durable: its leaves are clean and may be dropped. */
  rebase(root: Ref): void {
    this.#root = root;
    this.#dirty.clear();
    this.#fresh.clear();
    this.#absent.clear();
    for (const { key } of this.#resident.values()) {
      const { id } = key;
      if (this.#residentBytes <= RESIDENT_BYTES_MAX) break;
      if (LOADED_ON_DEMAND.has(key.path[0])) this.#drop(id);
    }
  }

  #bytesOf(id: string): Uint8Array | undefined {
    const resident = this.#resident.get(id);
    if (resident === undefined) return undefined;
    const bytes = encode(resident.leaf, FRAME_DEPTH_MAX);
    this.#residentBytes += bytes.length - resident.size;
    resident.size = bytes.length;
    return bytes;
  }

  #set(key: LeafKey, leaf: unknown): void {
    const { id } = key;
    const isOnDemand = LOADED_ON_DEMAND.has(key.path[0]);
    const isKnown = this.#dirty.has(id) || this.#resident.has(id);
    if (!isKnown && (this.#root === null || !isOnDemand || this.#absent.has(id))) this.#fresh.add(id);
    this.#dirty.set(id, key);
    this.#absent.delete(id);
    this.#drop(id);
    if (leaf !== undefined)
      this.#keep(key, leaf, 0); // at the end: the last to change is the last to be dropped
    else if (this.#fresh.delete(id)) {
      this.#dirty.delete(id); // it came and went (T3)
      if (isOnDemand) this.#absent.add(id);
    }
  }

  #keepBytes(key: LeafKey, bytes: Uint8Array): void {
    this.#keep(key, readLeaf(key, bytes), bytes.length);
  }

  #keep(key: LeafKey, leaf: unknown, size: number): void {
    const resident = { key, leaf, size };
    const [kind] = key.path;
    this.#resident.set(key.id, resident);
    if (!LOADED_ON_DEMAND.has(kind)) setIn(this.#listed, kind, key.id, resident);
    for (const cell of namedIn(key, leaf)) {
      const name = nameOf(kind, cell);
      setIn(this.#naming, name, key.id, resident);
    }
    this.#residentBytes += size + LEAF_OVERHEAD_BYTES;
  }

  #drop(id: string): void {
    const resident = this.#resident.get(id);
    if (resident === undefined) return;
    this.#resident.delete(id);
    const [kind] = resident.key.path;
    this.#listed.get(kind)?.delete(id);
    for (const cell of namedIn(resident.key, resident.leaf)) {
      const name = nameOf(kind, cell);
      const naming = this.#naming.get(name);
      naming?.delete(id);
      if (naming?.size === 0) this.#naming.delete(name);
    }
    this.#residentBytes -= resident.size + LEAF_OVERHEAD_BYTES;
  }
}

function setIn<K>(maps: Map<K, PassingMap<string, Resident>>, name: K, id: string, resident: Resident): void {
  const map = maps.get(name) ?? new PassingMap();
  maps.set(name, map);
  map.set(id, resident);
}

function nameOf(kind: LeafKind, cell: Address): string {
  return `${kind} ${cell[0]} ${cell[1]}`;
}
