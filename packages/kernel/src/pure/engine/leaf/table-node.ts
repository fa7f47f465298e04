/** The nodes of a table: sorted lists of at most 32 entries or children, and how they are searched, cut and joined. */
import type { Value } from '@reprise/contracts';
import { byteLength, compareText } from '../../codec/index.js';
import { TABLE_NODE_BYTES_MAX, TABLE_NODE_ENTRIES_MAX } from './bounds.js';
import { encodedValue } from './encoded-value.js';

/** A node that holds entries. */
export interface EntryNode {
  /** The size of its entries, so that cutting does not need to encode the whole node. */
  bytes: number;
  keys: string[];
  values: Value[];
}

/** A node that holds nodes. `keys[i]` is a lower bound of what is under `nodes[i]`, but under the first may be less. */
export interface BranchNode {
  keys: string[];
  nodes: number[];
}

/** A node of a table. */
export type TableNode = EntryNode | BranchNode;

/** Below this many a node looks for a neighbor to join. */
const JOIN_BELOW = TABLE_NODE_ENTRIES_MAX / 4;

/** The joint size at which two nodes are joined: half of a full node, or the next write would cut them again. */
const JOINED_MAX = TABLE_NODE_ENTRIES_MAX / 2;

/** A copy of a node that may be written into; its values are shared, since they are only ever replaced. */
export function ownNode(node: TableNode): TableNode {
  if (isBranch(node)) return { keys: [...node.keys], nodes: [...node.nodes] };
  return { bytes: node.bytes, keys: [...node.keys], values: [...node.values] };
}

/** Whether a node holds nodes. */
export function isBranch(node: TableNode): node is BranchNode {
  return 'nodes' in node;
}

/** The place of the first key that is not before `key`. */
export function placeOf(keys: readonly string[], key: string): number {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareText(keys[middle] as string, key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The child under which `key` belongs. */
export function childOf({ keys }: BranchNode, key: string): number {
  const place = placeOf(keys, key);
  return keys[place] === key ? place : Math.max(0, place - 1);
}

/** The size of an entry. */
export function entryBytes(key: string, value: Value): number {
  return byteLength(key) + encodedValue(value).length;
}

/** Whether a node must be cut. One entry alone always fits: its value is bounded. */
export function isFull(node: TableNode): boolean {
  if (node.keys.length > TABLE_NODE_ENTRIES_MAX) return true;
  return !isBranch(node) && node.bytes > TABLE_NODE_BYTES_MAX && node.keys.length > 1;
}

/**
 * Cuts a node in two and keeps the first part in place. A node that grew at its end is cut there, so that keys in
 * ascending order leave full nodes behind.
 *
 * @param written the place that made it full
 * @returns the second part
 */
export function cut(node: TableNode, written: number): TableNode {
  const last = node.keys.length - 1;
  if (isBranch(node)) {
    const at = written === last ? last : node.keys.length >> 1;
    return { keys: node.keys.splice(at), nodes: node.nodes.splice(at) };
  }
  const at = written === last ? last : middleOf(node);
  const [keys, values] = [node.keys.splice(at), node.values.splice(at)];
  const bytes = keys.reduce((sum, key, i) => sum + entryBytes(key, values[i] as Value), 0);
  node.bytes -= bytes;
  return { bytes, keys, values };
}

/** Where half of the bytes are passed; both parts have an entry. */
function middleOf({ bytes, keys, values }: EntryNode): number {
  let before = 0;
  for (let at = 0; at < keys.length - 1; at++) {
    before += entryBytes(keys[at] as string, values[at] as Value);
    if (before * 2 >= bytes) return at + 1;
  }
  return keys.length - 1;
}

/** Whether a node is so small that it looks for a neighbor. */
export function isSparse({ keys }: TableNode): boolean {
  return keys.length < JOIN_BELOW;
}

/**
 * Joins a node with its right neighbor when both are small.
 *
 * @param bound the lower bound of `right` as its parent holds it: its own first key may be higher
 * @returns whether `left` now holds both
 */
export function join(left: TableNode, right: TableNode, bound: string): boolean {
  if (left.keys.length + right.keys.length > JOINED_MAX) return false;
  if (isBranch(left) && isBranch(right)) {
    left.keys.push(bound, ...right.keys.slice(1));
    left.nodes.push(...right.nodes);
    return true;
  }
  if (isBranch(left) || isBranch(right) || left.bytes + right.bytes > TABLE_NODE_BYTES_MAX / 2) return false;
  left.keys.push(...right.keys);
  left.values.push(...right.values);
  left.bytes += right.bytes;
  return true;
}
