/** The nodes that a delivery reads and changes. Each changed one is stored, and stated as a fact, once: at its end. */

import { present } from '@reprise/contracts';
import type { Table } from '@reprise/kernel/define';
import { key } from '@reprise/org/contracts';
import { ENDED } from '../../contracts/names.js';
import { type NodeRow, nodeRow } from '../../contracts/node.js';
import { treeFacts } from '../../contracts/tree.js';
import type { TreeContext } from './delivery.js';

export type ReadNode = Readonly<NodeRow>;

export class Nodes {
  readonly #ctx: TreeContext;
  readonly #table: Table<NodeRow>;
  readonly #known = new Map<number, NodeRow>();
  /** The changed nodes as they were stored. */
  readonly #before = new Map<number, ReadNode>();
  /** Those of them that are new. */
  readonly #added = new Set<number>();
  /** Those whose launch was stated, and what that says of them. */
  readonly #launched = new Map<number, Pick<NodeRow, 'session' | 'run'>>();

  constructor(ctx: TreeContext) {
    this.#ctx = ctx;
    this.#table = ctx.table('nodes');
  }

  /** The number of nodes, those added in this delivery included. */
  get size(): number {
    return this.#table.size;
  }

  /** A node, to be read. */
  get(n: number): ReadNode | undefined {
    const known = this.#known.get(n) ?? this.#table.get(key(n));
    if (known !== undefined) this.#known.set(n, known);
    return known;
  }

  /** A node that exists, to be read. */
  at(n: number): ReadNode {
    return this.get(n) ?? this.#ctx.reject('unknown_node');
  }

  /** A node that exists, to be changed. */
  change(n: number): NodeRow {
    const row = this.at(n);
    if (!this.#before.has(n)) this.#before.set(n, { ...row });
    return row as NodeRow;
  }

  add(row: NodeRow): NodeRow {
    this.#known.set(row.n, row);
    this.#before.set(row.n, { ...row });
    this.#added.add(row.n);
    // Stored at once, so that the number of nodes and pages over them are right within this delivery.
    this.#table.set(key(row.n), row);
    return row;
  }

  /** A node and those above it, upwards to the root. */
  *upFrom(n: number | null): Generator<ReadNode> {
    for (let at = n; at !== null; ) {
      const row = this.at(at);
      yield row;
      at = row.parent;
    }
  }

  /** Nodes in the order of their numbers. */
  page(after: number, limit: number): readonly ReadNode[] {
    const page = this.#table.range({ after: key(after), limit });
    return page.map(([, row]) => this.#known.get(row.n) ?? row);
  }

  /**
   * A fact of its own states that the run of a node has begun, in which session: together with what it had before, that is
   * all that others see of the change, and no `tree/NodeChanged@1` repeats it.
   */
  launched({ n, session, run }: ReadNode): void {
    this.#launched.set(n, { session, run });
  }

  /** Stores the changed nodes, and states as facts what others see of them. */
  flush(): void {
    for (const [n, before] of [...this.#before].sort(([a], [b]) => a - b)) {
      const row = this.#known.get(n);
      if (row === undefined) continue;
      if (!isSame(row, before, KEYS)) this.#table.set(key(n), row);
      const known = { ...before, ...this.#launched.get(n) };
      if (this.#added.has(n) || !isSame(row, known, STATED)) this.#ctx.record('tree/NodeChanged@1', stated(row));
    }
    this.#before.clear();
    this.#added.clear();
    this.#launched.clear();
  }
}

const STATED = Object.keys(treeFacts['tree/NodeChanged@1'].shape) as (keyof NodeRow)[];
const KEYS = Object.keys(nodeRow.shape) as (keyof NodeRow)[];

/** Parts that are objects are replaced, never changed in place. */
function isSame(a: ReadNode, b: ReadNode, keys: readonly (keyof NodeRow)[]): boolean {
  return keys.every((name) => a[name] === b[name]);
}

/** Whether a node has ended. */
export function isEnded({ status }: ReadNode): boolean {
  return ENDED.includes(status);
}

/** Whether a node is above another. */
export function isAbove(nodes: Nodes, above: number, n: number): boolean {
  for (const row of nodes.upFrom(n)) if (row.parent === above) return true;
  return false;
}

function stated(row: NodeRow): object {
  return present(Object.fromEntries(STATED.map((name) => [name, row[name]])));
}
