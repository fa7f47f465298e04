/**
 * The connections of one process to one PostgreSQL database. Owns everything that is particular to the library `pg`; the
 * rest of the package sees statements with parameters, and rows as lists.
 *
 * Every statement commits by itself and takes no lock that outlives it, so a pooler may give each one another
 * connection of the server (transaction pooling). Without one, a connection prepares each statement once, by a name.
 */
import { isFunction, lineOfError, RepriseError } from '@reprise/contracts';
import type { Client, CustomTypesConfig, Pool, PoolClient, QueryConfig } from 'pg';
import { databaseError } from './errors.js';

/** A value of a column, or of a parameter. Whole numbers of 64 bits are numbers: none here exceeds 2^53. */
export type SqlValue = null | boolean | number | string | Uint8Array;

/** A row: its columns in the order of the select. */
export type Row = readonly SqlValue[];

/** A parameter: lists become arrays of the database. */
export type SqlParameter = SqlValue | readonly (number | string | null)[];

/** Runs single statements, each of which commits by itself outside a transaction. */
export interface Sql {
  /**
   * Runs one statement.
   *
   * @param what what is done, for the error: `append`, `read frames`
   * @throws RepriseError `store_failed`, `store_full`
   */
  rows(what: string, text: string, parameters?: readonly SqlParameter[]): Promise<readonly Row[]>;
}

/** The connections of a process to a database. */
export interface Connections extends Sql {
  /** The database as shown to people: without its password. */
  readonly label: string;
  /** Runs statements as one transaction, on one connection. What the body throws takes them back. */
  transaction<T>(what: string, body: (sql: Sql) => Promise<T>): Promise<T>;
  /** Ends all connections; a second call waits for the first. */
  end(): Promise<void>;
}

/** How to connect, and how long to wait. */
interface ConnectOptions {
  readonly url: string;
  readonly connectionsMax: number;
  /** How long a statement may take, in milliseconds. It must end before a lease does. */
  readonly statementMs: number;
  /** Whether statements may have other connections of the server each time, so that none may be prepared. */
  readonly pooled: boolean;
}

/** The number of the type of 64-bit whole numbers. */
const INT8 = 20;

/** Statements that a connection prepares at most; there are some thirty. */
const NAMES_MAX = 100;

/** How long a connection may take at most, in milliseconds. */
const CONNECT_MS_MAX = 5_000;

/** How long a connection that listens may take to end, in milliseconds. */
const END_MS_MAX = 1_000;

/**
 * Opens connections on demand; nothing is connected yet.
 *
 * @throws RepriseError `runtime_unsupported` when the package `pg` is not installed
 */
export async function connect(options: ConnectOptions): Promise<Connections> {
  const { default: pg } = await loadPg();
  const label = labelOf(options.url);
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.connectionsMax,
    connectionTimeoutMillis: Math.min(CONNECT_MS_MAX, options.statementMs),
    query_timeout: options.statementMs,
    allowExitOnIdle: true,
    application_name: 'reprise',
    types: { getTypeParser: typeParsers(pg) },
  });
  pool.on('error', () => undefined); // an idle connection ended: the next statement takes another, or says why not
  return new PooledConnections(pool, label, options.pooled ? undefined : new Map());
}

/** 64-bit whole numbers are numbers here; everything else as the library has it. */
function typeParsers(pg: typeof import('pg').default): CustomTypesConfig['getTypeParser'] {
  return ((oid: number, format: 'text') =>
    oid === INT8 ? Number : pg.types.getTypeParser(oid, format)) as CustomTypesConfig['getTypeParser'];
}

/** A connection that hears notifications, until it breaks. */
export interface Listening {
  end(): Promise<void>;
}

/** What a listening connection is for. */
interface ListenOptions extends Pick<ConnectOptions, 'url' | 'statementMs'> {
  /** The channel: a name that needs no quotes. */
  readonly channel: string;
  heard(payload: string): void;
  /** Called once when the connection breaks: what is notified after that is not heard. */
  lost(): void;
}

/**
 * Listens on a connection of its own, which keeps no process running. It has to be one to the server itself: a pooler in
 * transaction mode forgets who listens.
 *
 * @throws RepriseError `store_failed`
 */
export async function listen({ url, statementMs, channel, heard, lost }: ListenOptions): Promise<Listening> {
  const { default: pg } = await loadPg();
  const client = new pg.Client({
    ...{ connectionString: url, application_name: 'reprise listens', keepAlive: true },
    ...{ connectionTimeoutMillis: Math.min(CONNECT_MS_MAX, statementMs), query_timeout: statementMs },
  });
  let isOver = false;
  const over = (): void => {
    if (!isOver) lost();
    isOver = true;
  };
  client.on('notification', ({ payload }) => heard(payload ?? ''));
  client.on('error', over);
  client.on('end', over);
  try {
    await client.connect();
    (client as unknown as { unref(): void }).unref(); // the types of the library lack it
    await client.query(`LISTEN ${channel}`);
  } catch (error) {
    isOver = true;
    await endListening(client);
    throw databaseError(error, 'listen', labelOf(url));
  }
  return {
    end: () => {
      isOver = true;
      return endListening(client);
    },
  };
}

/** Ends a connection in good form, or cuts it where the other side does not answer: its network may be gone. */
async function endListening(client: Client): Promise<void> {
  const { stream } = (client as unknown as { connection: { stream: { destroy(): void } } }).connection;
  const cut = setTimeout(() => stream.destroy(), END_MS_MAX);
  await client.end().catch(() => undefined);
  clearTimeout(cut);
}

class PooledConnections implements Connections {
  /** It has the address with its password. */
  readonly #pool: Pool;
  #ended: Promise<void> | undefined;

  constructor(
    pool: Pool,
    readonly label: string,
    /** The names of prepared statements, by their texts; undefined to prepare none. */
    private readonly names: Map<string, string> | undefined,
  ) {
    this.#pool = pool;
  }

  rows(what: string, text: string, parameters: readonly SqlParameter[] = []): Promise<readonly Row[]> {
    return rowsOf(this.#pool, { what, where: this.label, text, parameters, name: this.#nameOf(text) });
  }

  #nameOf(text: string): string | undefined {
    const { names } = this;
    if (names === undefined) return undefined;
    const known = names.get(text);
    if (known !== undefined || names.size >= NAMES_MAX) return known;
    const name = `reprise ${names.size}`;
    names.set(text, name);
    return name;
  }

  async transaction<T>(what: string, body: (sql: Sql) => Promise<T>): Promise<T> {
    const where = this.label;
    const client = await this.#pool.connect().catch((error: unknown) => {
      throw databaseError(error, what, where);
    });
    let broken: boolean | undefined;
    const breaks = (): void => {
      broken = true; // the library tells it by an event, which nobody else hears while a transaction has the connection
    };
    client.on('error', breaks);
    const sql: Sql = {
      rows: (doing, text, parameters = []) => rowsOf(client, { what: doing, where, text, parameters, name: undefined }),
    };
    try {
      await sql.rows(what, 'BEGIN');
      const result = await body(sql);
      await sql.rows(what, 'COMMIT');
      return result;
    } catch (error) {
      await sql.rows(what, 'ROLLBACK').catch(breaks); // its state is unknown: nobody else may get it
      throw error;
    } finally {
      client.off('error', breaks);
      client.release(broken);
    }
  }

  end(): Promise<void> {
    this.#ended ??= this.#pool.end();
    return this.#ended;
  }
}

interface Asked {
  readonly what: string;
  readonly where: string;
  readonly text: string;
  readonly parameters: readonly SqlParameter[];
  readonly name: string | undefined;
}

async function rowsOf(on: Pool | PoolClient, { what, where, text, parameters, name }: Asked): Promise<readonly Row[]> {
  const config: QueryConfig & { rowMode: 'array' } = {
    ...{ text, values: parameters.map(asParameter), rowMode: 'array' as const },
    ...(name === undefined ? {} : { name }),
  };
  try {
    return (await on.query(config)).rows as Row[];
  } catch (error) {
    throw databaseError(error, what, where);
  }
}

/** The library sends a Buffer as its bytes, and any other array of bytes as text. */
function asParameter(value: SqlParameter): unknown {
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value;
}

async function loadPg(): Promise<typeof import('pg')> {
  try {
    const loaded = await import('pg');
    if (isFunction(loaded.default?.Pool)) return loaded;
    throw new TypeError('it has no Pool');
  } catch (cause) {
    throw new RepriseError('runtime_unsupported', 'the package pg does not load', {
      actual: lineOfError(cause),
      hint: 'Install it beside this one: npm install pg',
      cause,
    });
  }
}

/** The address of a database without what is secret in it. */
export function labelOf(url: string): string {
  const parts = new URL(url);
  return `postgres://${parts.host}${parts.pathname}`;
}
