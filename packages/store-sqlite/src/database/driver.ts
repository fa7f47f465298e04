/**
 * SQLite, from whichever of two places this Node has it: `node:sqlite` (Node 22.13 and later), else libsql.
 * Owns every difference between the two; the rest of the package sees positional parameters and rows as lists.
 *
 * Traps of libsql 0.5.29 that this file keeps away: a lone Buffer as the only parameter aborts the process
 * (always a list here); rows of `get()` carry a `_metadata` with a timing (raw mode); blobs come back as Buffer
 * or ArrayBuffer (made plain); `get()` does not reset a statement before it binds, so after an `all()`, or after an error,
 * it would answer for the parameters before (a statement of its own, prepared again after an error); there is no
 * read-only option (a URI instead); `close()` may leave the connection to the garbage collector while a prepared
 * statement lives (so nothing here counts on it to release a lock).
 */
import { pathToFileURL } from 'node:url';
import { lineOfError, RepriseError } from '@reprise/contracts';

/** The values of a row. Integers beyond ±(2^53−1) do not occur: sequence numbers and milliseconds fit. */
export type SqlValue = null | number | string | Uint8Array;

/** A row: its columns in the order of the select. */
export type Row = readonly SqlValue[];

interface Statement {
  /** Returns how many rows it changed, those changed by triggers not included. */
  run(...params: readonly SqlValue[]): number;
  get(...params: readonly SqlValue[]): Row | undefined;
  all(...params: readonly SqlValue[]): readonly Row[];
}

/** A connection to one database file. Everything throws the engine's own error; see `sqlite-errors.ts`. */
export interface Connection {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

/** How to open a file: `immutable` promises that no process writes it, so no lock and no side file is needed. */
export type OpenMode = 'write' | 'read' | 'immutable';

/** Opens connections to a file, by Node's SQLite or libsql. */
export interface Driver {
  readonly name: 'node:sqlite' | 'libsql';
  open(path: string, mode: OpenMode): Connection;
}

let loaded: Promise<Driver> | undefined;

/**
 * The driver of this process. Loaded on first use, so that importing the package costs nothing.
 *
 * @throws runtime_unsupported when neither exists
 */
export function sqliteDriver(): Promise<Driver> {
  loaded ??= loadDriver();
  return loaded;
}

async function loadDriver(): Promise<Driver> {
  const builtin = builtinDriver();
  if (builtin !== undefined) return builtin;
  try {
    return await installedDriver();
  } catch (cause) {
    throw noSqlite(cause);
  }
}

/** The error for a runtime without SQLite: libsql is absent, or it is there and does not load, as in a bundle. */
export function noSqlite(cause: unknown): RepriseError {
  const { code, message } = cause as { readonly code?: unknown; readonly message?: unknown };
  const isAbsent = code === 'ERR_MODULE_NOT_FOUND' && /package 'libsql'/.test(String(message));
  if (isAbsent)
    return new RepriseError('runtime_unsupported', 'no SQLite in this runtime', {
      actual: process.version,
      hint: 'Install the package libsql beside this one (npm install libsql), or use Node 22.13 or later, which has SQLite. A bundle needs it beside itself, too.',
      cause,
    });
  return new RepriseError('runtime_unsupported', 'the package libsql does not load in this runtime', {
    actual: `${process.version}: ${lineOfError(cause)}`,
    hint: 'It is a native module: leave it out of a bundle (esbuild --external:libsql) and install it beside the bundle, for this platform. Or use Node 22.13 or later, which has SQLite.',
    cause,
  });
}

/** The driver that Node includes; undefined on Node versions without one. */
export function builtinDriver(): Driver | undefined {
  // Not an import: a bundler or Node 20 would fail on the name. Before 22.13 it is hidden behind a flag: undefined.
  const builtin = process.getBuiltinModule?.('node:sqlite') as NodeSqlite | undefined;
  return builtin && nodeDriver(builtin);
}

/** The driver of the package libsql. */
export async function installedDriver(): Promise<Driver> {
  const { default: Database } = (await import('libsql')) as unknown as { default: LibsqlConstructor };
  return libsqlDriver(Database);
}

/** The part of `node:sqlite` that is used here; the types of Node 20 do not know the module. */
interface NodeSqlite {
  readonly DatabaseSync: new (path: string, options: { readOnly: boolean }) => NodeDatabase;
}

interface NodeDatabase {
  exec(sql: string): void;
  prepare(sql: string): NodeStatement;
  close(): void;
}

/** What both drivers return of a statement that writes. */
interface Written {
  readonly changes: number | bigint;
}

interface NodeStatement {
  run(...params: readonly SqlValue[]): Written;
  get(...params: readonly SqlValue[]): NodeRow | undefined;
  all(...params: readonly SqlValue[]): NodeRow[];
  /** Rows as lists; Node 22.13 to 22.15 does not have it. */
  setReturnArrays?(on: boolean): void;
}

type NodeRow = Record<string, SqlValue> | SqlValue[];

function nodeDriver({ DatabaseSync }: NodeSqlite): Driver {
  return {
    name: 'node:sqlite',
    open: (path, mode) => {
      const db = new DatabaseSync(mode === 'immutable' ? uri(path, mode) : path, { readOnly: mode !== 'write' });
      return {
        exec: (sql) => db.exec(sql),
        prepare: (sql) => nodeStatement(db.prepare(sql)),
        close: () => db.close(),
      };
    },
  };
}

/**
 * Rows are lists. Where this Node has them as objects alone, two columns of one name would be one value: each statement names
 * its columns once, which a test asks of all of them.
 */
function nodeStatement(statement: NodeStatement): Statement {
  statement.setReturnArrays?.(true);
  return {
    run: (...params) => Number(statement.run(...params).changes),
    get: (...params) => {
      const row = statement.get(...params);
      return row === undefined ? undefined : listOf(row);
    },
    all: (...params) => statement.all(...params).map(listOf),
  };
}

function listOf(row: NodeRow): Row {
  return Array.isArray(row) ? row : Object.values(row);
}

/** The part of libsql that is used here; its own types are `any`. */
type LibsqlConstructor = new (path: string) => LibsqlDatabase;

interface LibsqlDatabase {
  exec(sql: string): void;
  prepare(sql: string): LibsqlStatement;
  close(): void;
}

interface LibsqlStatement {
  raw(on: boolean): LibsqlStatement;
  run(params: readonly LibsqlValue[]): Written;
  get(params: readonly LibsqlValue[]): LibsqlValue[] | undefined;
  all(params: readonly LibsqlValue[]): LibsqlValue[][];
}

type LibsqlValue = SqlValue | ArrayBuffer;

function libsqlDriver(Database: LibsqlConstructor): Driver {
  return {
    name: 'libsql',
    open: (path, mode) => {
      const db = new Database(mode === 'write' ? path : uri(path, mode));
      return {
        exec: (sql) => db.exec(sql),
        prepare: (sql) => libsqlStatement(() => db.prepare(sql)),
        close: () => db.close(),
      };
    },
  };
}

function libsqlStatement(prepare: () => LibsqlStatement): Statement {
  const statement = prepare();
  // A statement that returns no rows refuses the raw mode, so it is switched on when rows are first asked for.
  let raw: LibsqlStatement | undefined;
  let one: LibsqlStatement | undefined;
  return {
    run: (...params) => Number(statement.run(params).changes),
    get: (...params) => {
      one ??= prepare().raw(true);
      try {
        return one.get(params)?.map(plain);
      } catch (error) {
        one = undefined;
        throw error;
      }
    },
    all: (...params) => {
      raw ??= statement.raw(true);
      return raw.all(params).map((row) => row.map(plain));
    },
  };
}

/** A Buffer is made a plain array: its `slice` shares memory where a Uint8Array's copies. */
function plain(value: LibsqlValue): SqlValue {
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (Buffer.isBuffer(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  return value;
}

function uri(path: string, mode: Exclude<OpenMode, 'write'>): string {
  return `${pathToFileURL(path).href}?${mode === 'read' ? 'mode=ro' : 'immutable=1'}`;
}
