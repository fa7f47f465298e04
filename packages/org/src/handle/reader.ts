/** Reads the cells of organizations by the types of their reducers, live or as they stood at a frame. */
import type { Address, Value } from '@reprise/contracts';
import type * as z from '@reprise/contracts/schema';
import type { TableRange, WorldAt, WorldFrame } from '@reprise/kernel';
import type { NoTables, TableSchemas } from '@reprise/kernel/define';

/** The value of an entry: as the reducer declares it, and any value where its tables are not known. */
type RowIn<T extends TableSchemas, N extends string> = N extends keyof T ? z.output<T[N]> : Value;

/** What cells are read from: a world, or one of its frames. */
export type CellSource = Pick<WorldAt, 'state' | 'table'>;

/**
 * One cell, to be read. The reducer's own schemas checked all of it before it was stored.
 *
 * @typeParam S the state of its reducer
 * @typeParam T the tables that its reducer declares
 * @example const cell = new CellReader<TreeState, typeof treeTables>(world, ['tree/Tree@1', 'survey'])
 */
export class CellReader<S = unknown, T extends TableSchemas = NoTables> {
  constructor(
    private readonly source: CellSource,
    readonly address: Address,
  ) {}

  /** The durable state; undefined for a cell that nothing has made. */
  async state(): Promise<S | undefined> {
    return (await this.source.state(this.address)) as S | undefined;
  }

  /** A page of a table, at most 256 entries; empty for a cell that nothing has made. */
  async rows<N extends string>(table: N, range: TableRange = {}): Promise<readonly (readonly [string, RowIn<T, N>])[]> {
    return (await this.source.table(this.address, table, range)) as [string, RowIn<T, N>][];
  }

  /** All entries of a table or of a range of it, page by page. */
  async *each<N extends string>(
    table: N,
    { from, before }: Pick<TableRange, 'from' | 'before'> = {},
  ): AsyncGenerator<readonly [string, RowIn<T, N>]> {
    const until = before === undefined ? {} : { before };
    for (let page = await this.rows(table, from === undefined ? until : { from, ...until }); page.length > 0; ) {
      yield* page;
      page = await this.rows(table, { after: page.at(-1)?.[0] ?? '', ...until });
    }
  }

  /** All entries of a table, in the order of their keys. */
  async all<N extends string>(table: N): Promise<readonly (readonly [string, RowIn<T, N>])[]> {
    const found: (readonly [string, RowIn<T, N>])[] = [];
    for await (const entry of this.each(table)) found.push(entry);
    return found;
  }

  /** All entries of a table whose keys are numbers, in their order. */
  async numbered<N extends string>(table: N): Promise<readonly (readonly [number, RowIn<T, N>])[]> {
    return (await this.all(table)).map(([at, row]) => [Number(at), row] as const);
  }

  /** One entry of a table; undefined when none has this key. */
  async row<N extends string>(table: N, at: string): Promise<RowIn<T, N> | undefined> {
    const [first] = await this.rows(table, { from: at, limit: 1 });
    return first?.[0] === at ? first[1] : undefined;
  }
}

/** A record of the journal that states a fact. */
export type FactRecord = Extract<WorldFrame['records'][number], { readonly kind: 'fact' }>;

type Facts = Readonly<Record<string, z.AnySchema>>;

/** The value of a record that is a fact of this name; undefined for another record. @param facts those of the reducer */
export function factIn<F extends Facts, N extends keyof F & string>(
  record: WorldFrame['records'][number],
  [, name]: readonly [facts: F, name: N],
): z.output<F[N]> | undefined {
  return record.kind === 'fact' && record.name === name ? (record.value as z.output<F[N]>) : undefined;
}

/** Whether a record is a fact of a cell. */
export function isFactOf(record: WorldFrame['records'][number], [reducer, key]: Address): record is FactRecord {
  return record.kind === 'fact' && record.from?.[0] === reducer && record.from[1] === key;
}
