/**
 * Tables: sorted maps of a cell whose cost per operation does not depend on their size.
 *
 * Owns: the tree over numbered nodes. Does not own: the storage of nodes, the right to write, the bounds of values.
 *
 * Invariants
 * B1  The shape is a function of the sequence of operations alone: never of how they were divided into deliveries,
 *     of snapshots, or of what was in memory.
 * B2  Keys are in the order of their code points, which is the order of their bytes. All entries are equally deep.
 * B3  No node is empty, and the root has more than one child: removed entries leave nothing behind.
 * B4  An operation reads the nodes on one way down, and a neighbor of each that has become sparse; a range also the
 *     nodes that hold it. A number is never given to two nodes.
 */
import type { Value } from '@reprise/contracts';
import { compareText } from '../../codec/index.js';
import { TABLE_NODE_ENTRIES_MAX } from './bounds.js';
import { damagedLeaves } from './damage.js';
import {
  type BranchNode,
  childOf,
  cut,
  type EntryNode,
  entryBytes,
  isBranch,
  isFull,
  isSparse,
  join,
  placeOf,
  type TableNode,
} from './table-node.js';

/** The part of a table stored with its cell: all else is in nodes. */
export interface TableHead {
  size: number;
  /** The root's number; 0 when there is no entry. */
  root: number;
  /** The number of the next node. */
  next: number;
}

/** Reads nodes. A node is not written in place unless the reader is a {@link NodeWriter}. */
interface NodeReader {
  /** @param ahead nodes that are likely to be read next: a reader that must load one loads these with it */
  read(id: number, ahead?: readonly number[]): TableNode;
}

/** Receives changed nodes, which may be written in place. */
export interface NodeWriter extends NodeReader {
  write(id: number, node: TableNode): void;
  drop(id: number): void;
}

/** A range of entries, and the maximum number. */
export interface Span {
  readonly low: string | undefined;
  /** Whether `low` itself is left out. */
  readonly open: boolean;
  readonly before: string | undefined;
  readonly limit: number;
}

/** An entry of a table; its value belongs to the node. */
type Entry = [key: string, value: Value];

export function emptyTable(): TableHead {
  return { size: 0, root: 0, next: 1 };
}

/** The value under a key. */
export function lookUp(head: TableHead, nodes: NodeReader, key: string): Value | undefined {
  if (head.root === 0) return undefined;
  const reader = bounded(nodes, 1);
  let node = reader.read(head.root);
  while (isBranch(node)) node = reader.read(node.nodes[childOf(node, key)] as number);
  const place = placeOf(node.keys, key);
  return node.keys[place] === key ? node.values[place] : undefined;
}

/** The entries of a span, in order. */
export function entriesIn(head: TableHead, nodes: NodeReader, span: Span): Entry[] {
  const found: Entry[] = [];
  const reader = bounded(nodes, span.limit + 2);
  if (head.root !== 0) collect(reader, reader.read(head.root), span, found);
  return found;
}

/** A level is added only when a root of 32 children is cut in two, so 2⁵³ writes make fewer levels than these. */
const TABLE_LEVELS_MAX = 18;

/**
 * A reader for a bounded number of nodes on the way to an entry (B4). A table written by operations never exhausts
 * it; in a forged one a node may be its own descendant.
 */
function bounded(nodes: NodeReader, ways: number): NodeReader {
  let left = ways * TABLE_LEVELS_MAX;
  return {
    read: (id, ahead) => {
      if (left-- > 0) return nodes.read(id, ahead);
      throw damagedLeaves('the nodes of a table are not a tree', `node ${id}`);
    },
  };
}

/** @returns whether the span has ended */
function collect(nodes: NodeReader, node: TableNode, span: Span, found: Entry[]): boolean {
  if (!isBranch(node)) return collectEntries(node, span, found);
  for (let at = span.low === undefined ? 0 : childOf(node, span.low); at < node.nodes.length; at++) {
    // The first child may hold keys below its bound.
    if (at > 0 && isBeyond(span, node.keys[at] as string)) return true;
    const more = at + 1 + Math.floor((2 * (span.limit - found.length)) / TABLE_NODE_ENTRIES_MAX);
    const child = nodes.read(node.nodes[at] as number, node.nodes.slice(at + 1, more));
    if (collect(nodes, child, span, found)) return true;
  }
  return false;
}

function collectEntries({ keys, values }: EntryNode, span: Span, found: Entry[]): boolean {
  for (let at = span.low === undefined ? 0 : placeOf(keys, span.low); at < keys.length; at++) {
    const key = keys[at] as string;
    if (found.length === span.limit || isBeyond(span, key)) return true;
    if (!span.open || key !== span.low) found.push([key, values[at] as Value]);
  }
  return found.length === span.limit;
}

function isBeyond({ before }: Span, key: string): boolean {
  return before !== undefined && compareText(key, before) >= 0;
}

/** A node on the way down. */
interface Step<N extends TableNode = TableNode> {
  readonly id: number;
  readonly node: N;
  /** The place of the way's next node, or of the key. */
  readonly at: number;
}

/** Writes a table; `head` and the nodes are changed in place. */
export class TableTree {
  constructor(
    private readonly head: TableHead,
    private readonly nodes: NodeWriter,
  ) {}

  /** Puts a value under a key. */
  set(key: string, value: Value): void {
    const { head, nodes } = this;
    if (head.root === 0) {
      head.root = this.#add({ bytes: entryBytes(key, value), keys: [key], values: [value] });
      head.size = 1;
      return;
    }
    const { branches, leaf } = this.#wayTo(key);
    const { node, at } = leaf;
    const known = node.keys[at] === key;
    if (known) node.bytes -= entryBytes(key, node.values[at] as Value);
    else head.size++;
    node.keys.splice(at, known ? 1 : 0, key);
    node.values.splice(at, known ? 1 : 0, value);
    node.bytes += entryBytes(key, value);
    nodes.write(leaf.id, node);
    this.#cutUp(branches, leaf);
  }

  /** Removes a key. @returns whether it was there */
  delete(key: string): boolean {
    const { head } = this;
    if (head.root === 0) return false;
    const { branches, leaf } = this.#wayTo(key);
    const { node, at } = leaf;
    if (node.keys[at] !== key) return false;
    node.bytes -= entryBytes(key, node.values[at] as Value);
    node.keys.splice(at, 1);
    node.values.splice(at, 1);
    head.size--;
    this.#repairUp(branches, leaf);
    return true;
  }

  #wayTo(key: string): { readonly branches: Step<BranchNode>[]; readonly leaf: Step<EntryNode> } {
    const branches: Step<BranchNode>[] = [];
    const reader = bounded(this.nodes, 1);
    let id = this.head.root;
    let node = reader.read(id);
    while (isBranch(node)) {
      const at = childOf(node, key);
      branches.push({ id, node, at });
      id = node.nodes[at] as number;
      node = reader.read(id);
    }
    return { branches, leaf: { id, node, at: placeOf(node.keys, key) } };
  }

  /** Cuts nodes that have become too full, from the leaf up. */
  #cutUp(branches: Step<BranchNode>[], leaf: Step): void {
    let { id, node, at } = leaf;
    while (isFull(node)) {
      const right = cut(node, at);
      this.nodes.write(id, node);
      const added = this.#add(right);
      const above = branches.pop();
      if (above === undefined) {
        const keys = [node.keys[0] as string, right.keys[0] as string];
        this.head.root = this.#add({ keys, nodes: [id, added] });
        return;
      }
      // The bound of a first child may be above the place of the cut: it is lowered with it.
      if (above.at === 0) above.node.keys[0] = node.keys[0] as string;
      above.node.keys.splice(above.at + 1, 0, right.keys[0] as string);
      above.node.nodes.splice(above.at + 1, 0, added);
      this.nodes.write(above.id, above.node);
      ({ id, node } = above);
      at = above.at + 1;
    }
  }

  /** Removes nodes that have become empty and joins sparse ones, from the leaf up (B3). */
  #repairUp(branches: Step<BranchNode>[], leaf: Step): void {
    let { id, node } = leaf;
    for (;;) {
      if (node.keys.length === 0) this.nodes.drop(id);
      else this.nodes.write(id, node);
      const above = branches.pop();
      if (above === undefined) return this.#repairRoot(node);
      if (node.keys.length === 0) removeChild(above.node, above.at);
      else if (!isSparse(node) || !this.#joinAt(above)) return;
      ({ id, node } = above);
    }
  }

  /** Joins a child with its neighbor on the left, or on the right when it is the first. */
  #joinAt({ node, at }: Step<BranchNode>): boolean {
    const right = Math.max(1, at);
    if (node.nodes.length < 2) return false;
    const [leftId, rightId] = [node.nodes[right - 1] as number, node.nodes[right] as number];
    const left = this.nodes.read(leftId);
    if (!join(left, this.nodes.read(rightId), node.keys[right] as string)) return false;
    this.nodes.write(leftId, left);
    this.nodes.drop(rightId);
    removeChild(node, right);
    return true;
  }

  #repairRoot(root: TableNode): void {
    const { head, nodes } = this;
    if (root.keys.length === 0) head.root = 0;
    for (let node = root; isBranch(node) && node.nodes.length === 1; node = nodes.read(head.root)) {
      nodes.drop(head.root);
      head.root = node.nodes[0] as number;
    }
  }

  #add(node: TableNode): number {
    const id = this.head.next++;
    this.nodes.write(id, node);
    return id;
  }
}

function removeChild(node: BranchNode, at: number): void {
  node.keys.splice(at, 1);
  node.nodes.splice(at, 1);
}
