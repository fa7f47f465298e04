/**
 * The tables of one cell during one delivery: nodes are read when needed, changed in memory, and written to the frame
 * when the delivery ends well. A delivery that faults leaves nothing behind.
 */
import type { Address, Value } from '@reprise/contracts';
import { copyNormal, inKeyOrder, type NormalValue, normalValue } from '../../codec/index.js';
import type { ReducerDefinition, Table, TableRange } from '../../define/index.js';
import { check, type SchemaNode } from '../../schema/index.js';
import type { FrameFold } from '../frame/frame-fold.js';
import { TABLE_VALUE_BYTES_MAX } from '../leaf/bounds.js';
import { damagedLeaves } from '../leaf/damage.js';
import { isCellKey, type LeafKey, tableKey } from '../leaf/leaf-key.js';
import type { CellLeaf } from '../leaf/leaves.js';
import { Fault } from '../leaf/signals.js';
import { ownNode, type TableNode } from '../leaf/table-node.js';
import { rangeProblem, spanOf } from '../leaf/table-range.js';
import { emptyTable, entriesIn, lookUp, type NodeWriter, type TableHead, TableTree } from '../leaf/table-tree.js';

/** What the tables need from the context of a delivery. */
interface TableGate {
  /** Refuses calls after the delivery is over. */
  inside(): void;
  /** Counts a write, and copies its value; `bytes` is its size, and `fits` that the schema need not look at it. */
  write(given: unknown, schema?: SchemaNode): NormalValue & { readonly fits: boolean };
}

/** All tables of the cell of a delivery. */
export class CellTables {
  readonly #open = new Map<string, CellTable>();

  constructor(
    private readonly fold: FrameFold,
    private readonly reducer: ReducerDefinition,
    private readonly cell: CellLeaf,
    private readonly address: Address,
    private readonly gate: TableGate,
  ) {}

  /** The table of this name: the same object during the whole delivery. */
  open(name: string): Table<Value> {
    const known = this.#open.get(name);
    if (known !== undefined) return known;
    const schema = this.reducer.tables.get(name);
    if (schema === undefined) throw new Fault('table_unknown', `${this.reducer.name} declares no table ${name}`);
    const head = { ...(this.cell.tables?.[name] ?? emptyTable()) };
    const keyOf = (id: number) => tableKey(this.address, name, this.cell.inc, id);
    const nodes = new LeafNodes(this.fold, keyOf, head.next);
    const table = new CellTable(name, schema, head, nodes, this.gate);
    this.#open.set(name, table);
    return table;
  }

  /** The heads of all tables that were ever written, in the canonical order of their names; undefined without any. */
  get heads(): Record<string, TableHead> | undefined {
    const written = [...this.#open.values()].filter(({ head }) => head.next > 1);
    if (written.length === 0) return this.cell.tables;
    const heads = Object.fromEntries(written.map(({ name, head }) => [name, { ...head }]));
    return inKeyOrder({ ...this.cell.tables, ...heads });
  }

  /** The delivery ended well: its changes go into the frame. */
  takePlace(): void {
    for (const { nodes } of this.#open.values()) nodes.takePlace();
  }
}

/** One table, as a reducer uses it. */
class CellTable implements Table<Value> {
  readonly #tree: TableTree;

  constructor(
    readonly name: string,
    private readonly schema: SchemaNode,
    readonly head: TableHead,
    readonly nodes: LeafNodes,
    private readonly gate: TableGate,
  ) {
    this.#tree = new TableTree(head, nodes);
  }

  get size(): number {
    this.gate.inside();
    return this.head.size;
  }

  get(key: string): Value | undefined {
    this.gate.inside();
    const found = lookUp(this.head, this.nodes, this.#key(key));
    return found === undefined ? undefined : copyNormal(found);
  }

  set(key: string, value: Value): void {
    this.#tree.set(this.#key(key), this.#checked(this.gate.write(value, this.schema)));
  }

  delete(key: string): boolean {
    this.gate.write(null);
    return this.#tree.delete(this.#key(key));
  }

  range(range: TableRange = {}): [string, Value][] {
    this.gate.inside();
    const problem = rangeProblem(range);
    if (problem !== undefined) throw new Fault('value_invalid', `table ${this.name}: ${problem}`);
    return entriesIn(this.head, this.nodes, spanOf(range)).map(([key, value]) => [key, copyNormal(value)]);
  }

  first(): [string, Value] | undefined {
    return this.range({ limit: 1 })[0];
  }

  #key(key: unknown): string {
    if (isCellKey(key)) return key;
    throw new Fault('value_invalid', `table ${this.name}: a key is text of 1 to 256 bytes`);
  }

  /** The value in normal form, though a default was filled in. */
  #checked(given: ReturnType<TableGate['write']>): Value {
    const { value } = given;
    const checked = given.fits ? { ok: true as const, value } : check(this.schema, value);
    if (!checked.ok) {
      const { path, expected, actual } = checked;
      throw new Fault('value_invalid', `table ${this.name} ${path}: expected ${expected}, got ${actual}`);
    }
    const { value: normal, bytes } = checked.value === value ? given : normalValue(checked.value);
    if (bytes <= TABLE_VALUE_BYTES_MAX) return normal;
    throw new Fault(
      'record_too_large',
      `table ${this.name}: a value of ${bytes} bytes; at most ${TABLE_VALUE_BYTES_MAX} fit`,
    );
  }
}

/** Nodes as leaves: each that is read is a copy, changed in memory only until the delivery ends. */
class LeafNodes implements NodeWriter {
  readonly #read = new Map<number, TableNode>();
  readonly #written = new Map<number, TableNode | undefined>();

  /** @param firstNew from this number on, nodes are of this delivery */
  constructor(
    private readonly fold: FrameFold,
    private readonly keyOf: (id: number) => LeafKey<TableNode>,
    private readonly firstNew: number,
  ) {}

  read(id: number, ahead: readonly number[] = []): TableNode {
    const known = this.#written.get(id) ?? this.#read.get(id);
    if (known !== undefined) return known;
    const leaf = this.fold.overlay.get(this.keyOf(id), ahead.map(this.keyOf));
    if (leaf === undefined) throw damagedLeaves('a node of a table is missing', `node ${id}`);
    const node = ownNode(leaf);
    this.#read.set(id, node);
    return node;
  }

  write(id: number, node: TableNode): void {
    this.#written.set(id, node);
  }

  drop(id: number): void {
    this.#written.set(id, undefined);
  }

  takePlace(): void {
    for (const [id, node] of this.#written) {
      if (id < this.firstNew) this.fold.overlay.set(this.keyOf(id), node);
      else if (node !== undefined) this.fold.overlay.add(this.keyOf(id), node);
    }
  }
}
