/** Holds the tree of a table to a plain sorted list: what it gives back, its shape, and what it leaves behind. */
import type { Value } from '@reprise/contracts';
import { LEAF_BYTES_MAX } from '../../../../src/index.js';
import { compareBytes, decode, encode, equalBytes, FRAME_DEPTH_MAX } from '../../../../src/pure/codec/index.js';
import { TABLE_NODE_ENTRIES_MAX } from '../../../../src/pure/engine/leaf/bounds.js';
import { isBranch, type TableNode } from '../../../../src/pure/engine/leaf/table-node.js';
import {
  emptyTable,
  entriesIn,
  lookUp,
  type NodeWriter,
  type Span,
  type TableHead,
  TableTree,
} from '../../../../src/pure/engine/leaf/table-tree.js';

/** One operation on a table. */
export type TableOp =
  | { readonly do: 'set'; readonly key: string; readonly value: Value }
  | { readonly do: 'delete'; readonly key: string };

/** How a table is written; what a mutant replaces. */
export interface TableParts {
  readonly write: (tree: TableTree, op: TableOp) => boolean | undefined;
  readonly nodes: () => StoredNodes;
}

/** The parts as they are. */
export const WHOLE: TableParts = {
  write: (tree, op) => (op.do === 'set' ? void tree.set(op.key, op.value) : tree.delete(op.key)),
  nodes: () => new StoredNodes(),
};

/** Nodes as a world keeps them: bytes, decoded when a delivery first reads them, written when it ends. */
export class StoredNodes implements NodeWriter {
  readonly stored = new Map<number, Uint8Array>();
  readonly #open = new Map<number, TableNode | undefined>();
  /** Nodes that were read from bytes. */
  loads = 0;

  read(id: number): TableNode {
    const open = this.#open.get(id);
    if (open !== undefined) return open;
    const bytes = this.stored.get(id);
    if (bytes === undefined || this.#open.has(id)) throw new Error(`node ${id} is gone and was read`);
    this.loads++;
    const node = decode(bytes) as unknown as TableNode;
    this.#open.set(id, node);
    return node;
  }

  write(id: number, node: TableNode): void {
    this.#open.set(id, node);
  }

  drop(id: number): void {
    this.#open.set(id, undefined);
  }

  /** A delivery ends. */
  flush(): void {
    for (const [id, node] of this.#open) {
      if (node === undefined) this.stored.delete(id);
      else this.stored.set(id, encode(node, FRAME_DEPTH_MAX));
    }
    this.#open.clear();
  }
}

/** A table after its operations, as bytes. */
export interface WrittenTable {
  readonly head: TableHead;
  readonly nodes: StoredNodes;
}

/**
 * Performs operations in deliveries of these lengths.
 *
 * @throws Error when an operation answers otherwise than a plain map
 */
export function writeTable(ops: readonly TableOp[], runs: readonly number[], parts: TableParts): WrittenTable {
  const nodes = parts.nodes();
  const model = new Set<string>();
  let head = emptyTable();
  let [turn, left] = [0, runs[0] ?? 1];
  for (const op of ops) {
    const answered = parts.write(new TableTree(head, nodes), op);
    if (op.do === 'delete' && answered !== model.delete(op.key)) throw new Error(`delete ${op.key} said ${answered}`);
    if (op.do === 'set') model.add(op.key);
    if (head.size !== model.size) throw new Error(`the size is ${head.size} instead of ${model.size}`);
    if (--left > 0) continue;
    nodes.flush();
    head = decode(encode(head)) as unknown as TableHead;
    left = runs[++turn % runs.length] ?? 1;
  }
  nodes.flush();
  return { head, nodes };
}

/** What a plain map holds after these operations, in the order of the keys' bytes. */
export function modelOf(ops: readonly TableOp[]): [string, Value][] {
  const map = new Map<string, Value>();
  for (const op of ops) {
    if (op.do === 'set') map.set(op.key, op.value);
    else map.delete(op.key);
  }
  return [...map].sort(([a], [b]) => compareBytes(utf8(a), utf8(b)));
}

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The entries of a span as a plain list has them. */
export function spanOfModel(entries: readonly [string, Value][], { low, open, before, limit }: Span) {
  const order = (a: string, b: string) => compareBytes(utf8(a), utf8(b));
  return entries
    .filter(([key]) => low === undefined || order(key, low) > (open ? 0 : -1))
    .filter(([key]) => before === undefined || order(key, before) < 0)
    .slice(0, limit);
}

/**
 * Holds a table to its model: every entry, the shape of its nodes, and that nothing else is left.
 *
 * @throws Error naming the first thing wrong
 */
export function holdTable({ head, nodes }: WrittenTable, model: readonly [string, Value][]): void {
  const all = entriesIn(head, nodes, { low: undefined, open: false, before: undefined, limit: model.length + 1 });
  if (!equalBytes(encode(all), encode(model))) throw new Error('the entries differ from those of a plain map');
  for (const [key, value] of model.filter((_, i) => i % 7 === 0)) {
    const found = lookUp(head, nodes, key);
    if (found === undefined || !equalBytes(encode(found), encode(value))) throw new Error(`${key} is not found`);
  }
  const reached = head.root === 0 ? 0 : holdShape(head.root, nodes, true).nodes;
  nodes.flush();
  if (reached !== nodes.stored.size) throw new Error(`${nodes.stored.size - reached} nodes are left behind`);
  for (const [id, bytes] of nodes.stored) {
    if (bytes.length > LEAF_BYTES_MAX) throw new Error(`node ${id} has ${bytes.length} bytes`);
  }
}

function holdShape(id: number, nodes: StoredNodes, root: boolean): { readonly depth: number; readonly nodes: number } {
  const node = nodes.read(id);
  const count = node.keys.length;
  if (count === 0 || count > TABLE_NODE_ENTRIES_MAX) throw new Error(`node ${id} has ${count} entries`);
  if (!isBranch(node)) {
    const bytes = node.keys.reduce((sum, key, i) => sum + encode(key).length + encode(node.values[i]).length, 0);
    if (bytes !== node.bytes) throw new Error(`node ${id} says ${node.bytes} bytes and has ${bytes}`);
    return { depth: 0, nodes: 1 };
  }
  if (root && count === 1) throw new Error('the root has one child');
  const below = node.nodes.map((child) => holdShape(child, nodes, false));
  const depths = new Set(below.map(({ depth }) => depth));
  if (depths.size !== 1) throw new Error(`the children of node ${id} are not equally deep`);
  return { depth: (below[0]?.depth ?? 0) + 1, nodes: below.reduce((sum, child) => sum + child.nodes, 1) };
}
