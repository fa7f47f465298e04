/**
 * Reads and updates the Merkle map over a node store. Costs the changed paths, never the whole map.
 *
 * A stored map may be a forgery: each link fits its digest, yet a node need not be one that an update writes. A walk
 * therefore checks every node against its place: each entry stands where the hash of its key says, each count is the
 * number of leaves under it, and every node has the canonical shape. So a walk ends after as many steps as
 * there are leaves, even when a few bytes claim to be many (sixteen equal children, sixty levels deep).
 */
import { type Ref, RepriseError } from '@reprise/contracts';
import { compareBytes, encode, type Hash } from '../../pure/codec/index.js';
import { type LeafKey, type LeafKind, leafKey } from '../../pure/engine/index.js';
import {
  type Branch,
  BUCKET_ENTRIES_MAX,
  decodeNode,
  decodeRoot,
  encodeNode,
  INLINE_LEAF_BYTES_MAX,
  type LeafPath,
  type MapEntry,
  type MapLink,
  type MapNode,
  notAMap,
  WAY_DIGITS,
  wayOf,
} from './node.js';

/** Where nodes are read and written; a content store qualifies. */
export interface NodeStore {
  get(ref: Ref): Promise<Uint8Array | undefined>;
  /** Stores a node and returns its link as canonical content. */
  putValue(bytes: Uint8Array): Promise<Ref>;
}

/** A leaf's new bytes; undefined removes it. */
export interface MapChange {
  readonly key: LeafKey;
  readonly bytes: Uint8Array | undefined;
}

/** The root of a map and how many leaves it holds. */
export interface MapRoot {
  readonly ref: Ref;
  readonly leaves: number;
}

type Kinds = Map<LeafKind, MapLink>;

/** An entry or a change on its way down; the way is the hash of its key, computed when first needed. */
interface Routed<V> {
  readonly path: LeafPath;
  readonly id: string;
  readonly value: V;
  way?: string;
}

type Change = Routed<Uint8Array | Ref | undefined>;
type Entry = Routed<Uint8Array | Ref>;

/** Nodes kept decoded: enough for the upper levels of a large map and the buckets in use. */
const CACHED_NODES_MAX = 1_024;

/** The map of all leaves of a world. */
export class MerkleMap {
  readonly #cached = new Map<string, MapNode>();
  #lastRoot: { readonly hex: string; readonly kinds: Kinds } | undefined;

  constructor(
    private readonly nodes: NodeStore,
    private readonly hash: Hash,
  ) {}

  /**
   * The map with these changes applied.
   *
   * @param root the map before; null for the empty map
   * @throws RepriseError `blob_missing` when a node is gone
   */
  async update(root: Ref | null, changes: readonly MapChange[]): Promise<MapRoot> {
    const kinds = root === null ? new Map<LeafKind, MapLink>() : await this.#kinds(root);
    for (const [kind, routed] of await this.#route(changes)) {
      const link = await this.#updateLink(kinds.get(kind) ?? null, routed, 0);
      if (link === null) kinds.delete(kind);
      else kinds.set(kind, link);
    }
    const listed = [...kinds].sort(([a], [b]) => (a < b ? -1 : 1)).map(([kind, { ref, count }]) => [kind, ref, count]);
    const leaves = [...kinds.values()].reduce((sum, { count }) => sum + count, 0);
    return { ref: await this.nodes.putValue(encode(listed)), leaves };
  }

  /** The bytes of one leaf; undefined when the map does not hold it. */
  async lookup(root: Ref, key: LeafKey): Promise<Uint8Array | undefined> {
    let link = (await this.#kinds(root)).get(key.path[0]) ?? null;
    const way = wayOf(key.path, this.hash);
    for (let depth = 0; link !== null; depth++) {
      const node = await this.#node(link.ref);
      if (node.type === 'branch') {
        link = node.children[Number.parseInt(way.charAt(depth), 16)] ?? null;
        continue;
      }
      const entry = node.entries.find((candidate) => leafKey(candidate.path).id === key.id);
      return entry === undefined ? undefined : this.#bytesOf(entry);
    }
    return undefined;
  }

  /** Every leaf of one kind, in the trie's order. */
  async *entries(root: Ref, kind: LeafKind): AsyncGenerator<{ key: LeafKey; bytes: Uint8Array }> {
    const link = (await this.#kinds(root)).get(kind);
    if (link === undefined) return;
    const found = yield* this.#entriesUnder(link, { kind, way: '' });
    if (found !== link.count) throw damaged(link.ref, notAMap(`${link.count} leaves claimed, ${found} found`));
  }

  /**
   * Adds the digest of every blob of the map: its nodes, and the leaves stored beside them. A blob already in the set is
   * not walked again, so the maps of many snapshots cost only their differences.
   */
  async collectBlobs(root: Ref, into: Set<string>): Promise<void> {
    if (into.has(root.hex)) return;
    into.add(root.hex);
    const open = [...(await this.#kinds(root)).values()].map(({ ref }) => ref);
    for (let ref = open.pop(); ref !== undefined; ref = open.pop()) {
      if (into.has(ref.hex)) continue;
      into.add(ref.hex);
      const node = await this.#node(ref);
      if (node.type === 'branch') open.push(...node.children.flatMap((child) => (child === null ? [] : [child.ref])));
      else for (const { value } of node.entries) if (!(value instanceof Uint8Array)) into.add(value.hex);
    }
  }

  /** The leaf kinds that the map holds. */
  async kinds(root: Ref): Promise<LeafKind[]> {
    return [...(await this.#kinds(root)).keys()];
  }

  /** Walks the nodes under a link. @returns how many leaves were found, which must equal the link's count */
  async *#entriesUnder(link: MapLink, place: Place): AsyncGenerator<{ key: LeafKey; bytes: Uint8Array }, number> {
    const node = await this.#node(link.ref);
    if (node.type === 'bucket') {
      this.#requirePlaced(link.ref, node.entries, place);
      for (const entry of node.entries) yield { key: leafKey(entry.path), bytes: await this.#bytesOf(entry) };
      return node.entries.length;
    }
    let found = 0;
    for (const [child, below] of childrenOf(link.ref, node, place)) {
      const under = yield* this.#entriesUnder(child, below);
      if (under !== child.count) throw damaged(child.ref, notAMap(`${child.count} leaves claimed, ${under} found`));
      found += under;
    }
    return found;
  }

  /** Refuses a bucket with entries from elsewhere: if one bucket stands under two branches, one of them is a forgery. */
  #requirePlaced(ref: Ref, entries: readonly MapEntry[], { kind, way }: Place): void {
    for (const { path } of entries) {
      if (path[0] !== kind) throw damaged(ref, notAMap(`a leaf of kind ${path[0]} among those of kind ${kind}`));
      if (!wayOf(path, this.hash).startsWith(way)) throw damaged(ref, notAMap('a leaf stands where its key is not'));
    }
  }

  /** Changes by kind, each with its way down; large leaves become blobs here. */
  async #route(changes: readonly MapChange[]): Promise<Map<LeafKind, Change[]>> {
    const byKind = new Map<LeafKind, Change[]>();
    for (const { key, bytes } of changes) {
      const large = bytes !== undefined && bytes.length > INLINE_LEAF_BYTES_MAX;
      const value = large ? await this.nodes.putValue(bytes) : bytes;
      const list = byKind.get(key.path[0]) ?? [];
      list.push({ path: key.path, id: key.id, value });
      byKind.set(key.path[0], list);
    }
    return byKind;
  }

  async #updateLink(link: MapLink | null, changes: readonly Change[], depth: number): Promise<MapLink | null> {
    if (changes.length === 0) return link;
    const node: MapNode = link === null ? { type: 'bucket', entries: [] } : await this.#node(link.ref);
    return node.type === 'bucket'
      ? this.#build(merge(node.entries, changes), depth)
      : this.#updateBranch(node, changes, depth);
  }

  async #updateBranch(branch: Branch, changes: readonly Change[], depth: number): Promise<MapLink | null> {
    const children: (MapLink | null)[] = [];
    const byDigit = this.#fanOut(changes, depth);
    for (const [digit, child] of branch.children.entries()) {
      children.push(await this.#updateLink(child, byDigit[digit] ?? [], depth + 1));
    }
    const count = children.reduce((sum, child) => sum + (child?.count ?? 0), 0);
    if (count > BUCKET_ENTRIES_MAX) return this.#put({ type: 'branch', children }, count);
    const left: MapEntry[] = [];
    for (const child of children) if (child !== null) left.push(...(await this.#gather(child)));
    return this.#build(merge(left, []), depth);
  }

  /** The canonical node for exactly these entries. */
  async #build(entries: readonly Entry[], depth: number): Promise<MapLink | null> {
    if (entries.length === 0) return null;
    if (entries.length <= BUCKET_ENTRIES_MAX) {
      const plain = entries.map(({ path, value }) => ({ path, value }));
      return this.#put({ type: 'bucket', entries: plain }, entries.length);
    }
    const children: (MapLink | null)[] = [];
    for (const mine of this.#fanOut(entries, depth)) children.push(await this.#build(mine, depth + 1));
    return this.#put({ type: 'branch', children }, entries.length);
  }

  /** Sixteen lists, by the half-byte of the way at this depth; order within each is kept. */
  #fanOut<V>(routed: readonly Routed<V>[], depth: number): Routed<V>[][] {
    const lists: Routed<V>[][] = Array.from({ length: 16 }, () => []);
    for (const one of routed) {
      one.way ??= wayOf(one.path, this.hash);
      lists[Number.parseInt(one.way.charAt(depth), 16)]?.push(one);
    }
    return lists;
  }

  /** The entries under a child that fits a bucket. An update never writes a branch over so few. */
  async #gather({ ref }: MapLink): Promise<readonly MapEntry[]> {
    const node = await this.#node(ref);
    if (node.type === 'bucket') return node.entries;
    throw damaged(ref, notAMap('a branch above as few leaves as fit a bucket'));
  }

  async #put(node: MapNode, count: number): Promise<MapLink> {
    return { ref: await this.nodes.putValue(encodeNode(node)), count };
  }

  async #kinds(root: Ref): Promise<Kinds> {
    if (this.#lastRoot?.hex === root.hex) return new Map(this.#lastRoot.kinds);
    const kinds: Kinds = new Map(await this.#decoded(root, decodeRoot));
    this.#lastRoot = { hex: root.hex, kinds };
    return new Map(kinds);
  }

  /** A node; nodes never change, so a cached one is as good as the stored one. */
  async #node(ref: Ref): Promise<MapNode> {
    const cached = this.#cached.get(ref.hex);
    if (cached !== undefined) return cached;
    const node = await this.#decoded(ref, decodeNode);
    if (this.#cached.size >= CACHED_NODES_MAX) this.#cached.delete(this.#cached.keys().next().value as string);
    this.#cached.set(ref.hex, node);
    return node;
  }

  async #bytesOf(entry: MapEntry): Promise<Uint8Array> {
    return entry.value instanceof Uint8Array ? entry.value : this.#read(entry.value);
  }

  async #decoded<T>(ref: Ref, decoder: (bytes: Uint8Array) => T): Promise<T> {
    const bytes = await this.#read(ref);
    try {
      return decoder(bytes);
    } catch (cause) {
      throw damaged(ref, cause);
    }
  }

  async #read(ref: Ref): Promise<Uint8Array> {
    const bytes = await this.nodes.get(ref);
    if (bytes !== undefined) return bytes;
    throw new RepriseError('blob_missing', 'a node of the state map is gone', { where: ref.toString() });
  }
}

/** Where a node stands: every leaf under it has this kind, and a key whose hash begins with this way. */
interface Place {
  readonly kind: LeafKind;
  readonly way: string;
}

/** The children of a branch and where they stand, if an update would have written the branch there. */
function childrenOf(ref: Ref, { children }: Branch, { kind, way }: Place): (readonly [MapLink, Place])[] {
  if (way.length >= WAY_DIGITS) throw damaged(ref, notAMap('a branch below the last digit of a key'));
  const found: (readonly [MapLink, Place])[] = [];
  for (const [digit, child] of children.entries()) {
    if (child !== null) found.push([child, { kind, way: way + digit.toString(16) }]);
  }
  return found;
}

function damaged(ref: Ref, cause: unknown): RepriseError {
  return new RepriseError('blob_damaged', 'the linked content is not a node of a state map', {
    where: ref.toString(),
    hint: 'The content that links it was changed after it was written. Restore the store from a copy.',
    cause,
  });
}

/** Entries with the changes applied, in key order. */
function merge(entries: readonly MapEntry[], changes: readonly Change[]): Entry[] {
  const merged = new Map<string, Entry>();
  for (const { path, value } of entries) {
    const { id } = leafKey(path);
    merged.set(id, { path, id, value });
  }
  for (const change of changes) {
    if (change.value === undefined) merged.delete(change.id);
    else merged.set(change.id, change as Entry);
  }
  return [...merged.values()]
    .map((entry) => ({ entry, sort: encode(entry.path) }))
    .sort((a, b) => compareBytes(a.sort, b.sort))
    .map(({ entry }) => entry);
}
