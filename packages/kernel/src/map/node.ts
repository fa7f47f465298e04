/**
 * The canonical Merkle map of a world's leaves: its nodes.
 *
 * Shape: one root lists a trie per leaf kind. A trie node is a bucket of at most 32 entries in key order, or,
 * beyond that, a branch of 16 children chosen by the next half-byte of sha-256(key). So the shape, and with it
 * the root, is a function of the set of leaves alone: never of the order in which they came.
 */
import type { Ref, Value } from '@reprise/contracts';
import { decode, encode, type Hash, toHex } from '../codec/index.js';
import type { LeafKind, PathPart } from '../engine/index.js';

/** A path as a bucket holds it. */
export type LeafPath = readonly [LeafKind, ...PathPart[]];

/** One leaf in a bucket. Bytes up to a bound stand inline; larger ones are a blob of their own. */
export interface MapEntry {
  readonly path: LeafPath;
  readonly value: Uint8Array | Ref;
}

/** At most 32 leaves, in key order. */
export interface Bucket {
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

/** A leaf above this stands beside its bucket, so that one large leaf does not make its neighbours costly. */
export const INLINE_LEAF_BYTES_MAX = 1024;

/** Writes a node. */
export function encodeNode(node: MapNode): Uint8Array {
  return node.type === 'bucket'
    ? encode(['bucket', node.entries.map(({ path, value }) => [path, value])])
    : encode(['branch', node.children.map((child) => (child === null ? null : [child.ref, child.count]))]);
}

/** Reads a node that a content store has checked against its digest. */
export function decodeNode(bytes: Uint8Array): MapNode {
  const [type, items] = decode(bytes) as unknown as [MapNode['type'], readonly Value[]];
  if (type === 'bucket') {
    const entries = items as unknown as readonly (readonly [LeafPath, Uint8Array | Ref])[];
    return { type, entries: entries.map(([path, value]) => ({ path, value })) };
  }
  const children = items as unknown as readonly (readonly [Ref, number] | null)[];
  return { type, children: children.map((child) => (child === null ? null : { ref: child[0], count: child[1] })) };
}

/** The sha-256 of a key, one half-byte per hex digit: the way down the trie. */
export function wayOf(path: LeafPath, hash: Hash): string {
  return toHex(hash(encode(path)));
}
