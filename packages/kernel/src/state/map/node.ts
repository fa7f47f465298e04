/**
 * The canonical Merkle map of a world's leaves: its nodes.
 *
 * Shape: one root lists a trie per leaf kind. A trie node is a bucket of at most 32 entries in key order, or,
 * beyond that, a branch of 16 children chosen by the next half-byte of sha-256(key). So the shape, and with it
 * the root, is a function of the set of leaves alone: never of the order in which they came.
 */
import { isWhole, Ref, type Value } from '@reprise/contracts';
import { decode, encode, type Hash, toHex } from '../../pure/codec/index.js';
import type { LeafKind, PathPart } from '../../pure/engine/index.js';

/** A path in the form stored in a bucket. */
export type LeafPath = readonly [LeafKind, ...PathPart[]];

/** One leaf in a bucket. Bytes up to a bound stand inline; larger ones are a blob of their own. */
export interface MapEntry {
  readonly path: LeafPath;
  readonly value: Uint8Array | Ref;
}

/** At most 32 leaves, in key order. */
interface Bucket {
  readonly type: 'bucket';
  readonly entries: readonly MapEntry[];
}

/** Sixteen children and how many leaves are under each. */
export interface Branch {
  readonly type: 'branch';
  readonly children: readonly (MapLink | null)[];
}

/** A node of a trie. */
export type MapNode = Bucket | Branch;

/** A child: its node and its number of leaves. */
export interface MapLink {
  readonly ref: Ref;
  readonly count: number;
}

/** A bucket splits above this and a branch folds at or below it. */
export const BUCKET_ENTRIES_MAX = 32;

/** Half-bytes of a key's hash, and so the deepest that a trie goes. */
export const WAY_DIGITS = 64;

/** A leaf larger than this is stored beside its bucket, so that one large leaf does not make its neighbors costly. */
export const INLINE_LEAF_BYTES_MAX = 1024;

export function encodeNode(node: MapNode): Uint8Array {
  return node.type === 'bucket'
    ? encode(['bucket', node.entries.map(({ path, value }) => [path, value])])
    : encode(['branch', node.children.map((child) => (child === null ? null : [child.ref, child.count]))]);
}

/**
 * Reads a node that a content store has checked against its digest.
 *
 * @throws TypeError when the bytes are not such a node, as with a forged link
 */
export function decodeNode(bytes: Uint8Array): MapNode {
  const [type, items] = listIn(decode(bytes));
  if (type === 'bucket') return bucketOf(listIn(items).map(entryIn));
  if (type !== 'branch') throw notAMap(`a node of type ${String(type)}`);
  return branchOf(listIn(items).map((child) => (child === null ? null : linkIn(listIn(child)))));
}

/** Checks a bucket: not empty, not over its bound. */
function bucketOf(entries: readonly MapEntry[]): Bucket {
  if (entries.length >= 1 && entries.length <= BUCKET_ENTRIES_MAX) return { type: 'bucket', entries };
  throw notAMap(`a bucket of ${entries.length} entries`);
}

/** Checks a branch: sixteen places, and more leaves under them than fit a bucket. */
function branchOf(children: readonly (MapLink | null)[]): Branch {
  const leaves = children.reduce((sum, child) => sum + (child?.count ?? 0), 0);
  if (children.length === BRANCH_CHILDREN && leaves > BUCKET_ENTRIES_MAX) return { type: 'branch', children };
  throw notAMap(`a branch of ${children.length} children and ${leaves} leaves`);
}

/**
 * Reads a root: the trie of each kind of leaf.
 *
 * @throws TypeError as {@link decodeNode}
 */
export function decodeRoot(bytes: Uint8Array): [LeafKind, MapLink][] {
  return listIn(decode(bytes)).map((trie) => {
    const [kind, ...link] = listIn(trie);
    if (typeof kind !== 'string') throw notAMap('a trie without a kind');
    return [kind as LeafKind, linkIn(link)];
  });
}

const BRANCH_CHILDREN = 16;

function entryIn(entry: Value): MapEntry {
  const [path, value] = listIn(entry);
  if (!isPath(listIn(path))) throw notAMap('a path that is not made of names and numbers');
  if (!(value instanceof Uint8Array || value instanceof Ref)) throw notAMap('a leaf that is neither bytes nor a link');
  return { path: path as unknown as LeafPath, value };
}

function isPath([kind, ...parts]: readonly Value[]): boolean {
  return typeof kind === 'string' && parts.every((part) => typeof part === 'string' || Number.isSafeInteger(part));
}

function linkIn([ref, count]: readonly Value[]): MapLink {
  if (ref instanceof Ref && isWhole(count, 1)) return { ref, count: count as number };
  throw notAMap('a child that is not a link and the number of its leaves');
}

function listIn(value: Value | undefined): readonly Value[] {
  if (!Array.isArray(value)) throw notAMap('not a list');
  return value as readonly Value[];
}

/** An error that says why the bytes are not a node. */
export function notAMap(what: string): TypeError {
  return new TypeError(`not a node of a state map: ${what}`);
}

/** The sha-256 of a key, one half-byte per hex digit: the way down the trie. */
export function wayOf(path: LeafPath, hash: Hash): string {
  return toHex(hash(encode(path)));
}
