import type { Value } from '@reprise/contracts';
import type * as z from '@reprise/contracts/schema';
import type { RowKey } from '../codec/ordered.js';
import { compileSchema, type SchemaNode, schemaDigest, schemaValue } from '../schema/index.js';
import { requireFunction, requireObject, requireOwnName } from './parts.js';
import {
  type CompiledSources,
  compileSources,
  type Entry,
  type EntryOf,
  type Sources,
  sourcesValue,
} from './sources.js';

/** The rows of a view, as its fold reads and writes them. Keys are text, safe integers, or lists of both. */
export interface Rows<Row> {
  /** The current row, the caller's own copy; undefined without one. */
  get(key: RowKey): Row | undefined;
  /** Writes a row, replacing the one with this key. */
  put(key: RowKey, row: Row): void;
  /** Deletes a row, if there is one. */
  remove(key: RowKey): void;
}

/** A row's place in an index: a key, or undefined for rows outside the index. Pure. */
export type IndexOf<Row> = (row: Row, key: RowKey) => RowKey | undefined;

/** A projection in the form that the runtime uses. */
export interface ProjectionDefinition<Row = unknown> {
  readonly type: 'projection';
  readonly name: string;
  readonly row: SchemaNode;
  readonly from: CompiledSources;
  readonly indexes: ReadonlyMap<string, IndexOf<unknown>>;
  /** The digest of the schemas, the names and the text of the code: a view with another digest is rebuilt. */
  readonly digest: string;
  fold(rows: Rows<unknown>, entry: Entry): void;
  /** Carries the row's type; never present. */
  readonly $row?: Row;
}

/** The parts of a projection that an author writes. */
export interface ProjectionSpec<R extends z.AnySchema, F extends Sources> {
  /** The wire name, `ns/Name@v`. Raise the version when code that `fold` calls changes: only its own text is seen. */
  readonly name: string;
  /** The schema of a row. */
  readonly row: R;
  /** The records it is folded from. */
  readonly from: F;
  /** Orders in which rows can be read, besides that of their keys. */
  readonly indexes?: Readonly<Record<string, IndexOf<z.output<R>>>>;
  /** Folds one record into the rows. Pure: it reads the rows and the entry, and nothing else. */
  readonly fold: (rows: Rows<z.output<R>>, entry: EntryOf<F>) => void;
}

/**
 * Defines a projection: a table that is folded from the records of durable frames, stored outside the journal, and
 * rebuilt from it whenever it is lost or its definition changes. Open it with `openViews`.
 *
 * @throws RepriseError `invalid_name`, `invalid_schema`, `invalid_definition`
 * @example
 * const orders = defineProjection({
 *   name: 'shop/Orders@1',
 *   row: z.strictObject({ status: z.string(), cents: z.int() }),
 *   from: { 'event:shop/Placed@1': z.strictObject({ cents: z.int() }) },
 *   indexes: { status: (row) => [row.status, row.cents] },
 *   fold(rows, { cell, value }) { rows.put(cell[1], { status: 'placed', cents: value.cents }) },
 * })
 */
export function defineProjection<R extends z.AnySchema, const F extends Sources>(
  spec: ProjectionSpec<R, F>,
): ProjectionDefinition<z.output<R>> {
  requireObject(spec, 'a projection');
  requireOwnName(spec.name, 'a projection');
  requireFunction(spec.fold, `fold of ${spec.name}`);
  requireObject(spec.indexes ?? {}, `the indexes of ${spec.name}`);
  const indexes = new Map(Object.entries((spec.indexes ?? {}) as Readonly<Record<string, IndexOf<unknown>>>));
  for (const [name, index] of indexes) requireFunction(index, `the index ${name} of ${spec.name}`);
  const row = compileSchema(spec.row);
  const from = compileSources(spec.from, spec.name);
  const code: Value = [String(spec.fold), [...indexes].map(([name, index]) => [name, String(index)])];
  const digest = schemaDigest({ type: 'literal', values: [spec.name, schemaValue(row), sourcesValue(from), code] });
  return Object.freeze({
    type: 'projection',
    name: spec.name,
    row,
    from,
    indexes,
    digest,
    fold: spec.fold as unknown as ProjectionDefinition['fold'],
  });
}
