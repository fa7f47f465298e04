/** A host's directory in one SQLite file: one row for each world, and an index of those that want to be woken. */
import { resolve } from 'node:path';
import { type KnownOptions, oneOf, RepriseError, requireKnownOptions } from '@reprise/contracts';
import type { HostDirectory, OpenDirectory, RowQuery, WorldRow } from '@reprise/kernel/host';
import type { Connection, Row } from './database/driver.js';
import { NOTES_TABLE } from './database/notes.js';
import type { Layout } from './database/schema.js';
import { guarded } from './database/sqlite-errors.js';
import { bytes, bytesSql, whole, wholeSql } from './database/values.js';
import { type HeldFile, openHeld } from './file/held-file.js';
import { requirePath } from './file/path-argument.js';
import { CREATIONS, type Creation } from './file/place.js';

/**
 * A world's id is stored as the bytes of its UTF-8, which is how ids are ordered. The index has the rows that a host
 * asks for again and again, and no others: of ten thousand worlds most are closed and have no wake, or are open.
 */
const LAYOUT: Layout = {
  applicationId: 0x52505244, // "RPRD"
  version: 2,
  tables: [
    'CREATE TABLE world (id BLOB PRIMARY KEY, wake INTEGER, open INTEGER NOT NULL) WITHOUT ROWID',
    'CREATE INDEX due ON world (wake, id) WHERE open = 0 AND wake IS NOT NULL',
    NOTES_TABLE,
  ],
  added: [],
};

interface DirectoryOptions {
  /** What may be created: the file alone (the default), or the folders above it as well. */
  readonly create?: Creation;
}

const DIRECTORY_OPTIONS: KnownOptions<DirectoryOptions> = { create: oneOf(...CREATIONS) };

const COLUMNS = 'id, wake, open';

/** An id is text of 1 to 256 bytes. */
const ID_BYTES_MAX = 256;

/** The type distinguishes an invalid wake-up from an absent one. */
const READ_COLUMNS = `${bytesSql('id', ID_BYTES_MAX)}, ${wholeSql('wake')}, ${wholeSql('open')}, typeof(wake) = 'null'`;

/**
 * A directory in a SQLite file, which is created when it is missing. Every change is durable when it returns, and the
 * operating system refuses a second host.
 *
 * @param path the file; not the file of a world
 * @example
 * const host = await openHost({ directory: sqliteDirectory('host.db'), store, open })
 */
export function sqliteDirectory(path: string, options: DirectoryOptions = {}): HostDirectory {
  requirePath(path, 'a directory of worlds', 'sqliteDirectory');
  requireKnownOptions(options, DIRECTORY_OPTIONS, 'sqliteDirectory');
  const file = resolve(path);
  const how = { layout: LAYOUT, failed: 'cannot open the directory', ...options };
  return { label: path, open: () => openHeld(file, how, (held) => new SqliteDirectory(held)) };
}

class SqliteDirectory implements OpenDirectory {
  readonly #held: HeldFile;
  readonly #statements = new Map<string, ReturnType<Connection['prepare']>>();
  #closed = false;

  constructor(held: HeldFile) {
    this.#held = held;
  }

  async get(world: string): Promise<WorldRow | undefined> {
    return this.#ask(`SELECT ${READ_COLUMNS} FROM world WHERE id = ?`, [bytesOf(world)])[0];
  }

  async set(rows: readonly WorldRow[]): Promise<void> {
    this.#guarded('cannot write the directory', () =>
      this.#held.commit(() => {
        const put = this.#prepare(`INSERT OR REPLACE INTO world (${COLUMNS}) VALUES (?, ?, ?)`);
        for (const { world, nextWakeAt, open } of rows) put.run(bytesOf(world), nextWakeAt, open ? 1 : 0);
      }),
    );
  }

  async remove(world: string): Promise<void> {
    this.#guarded('cannot write the directory', () =>
      this.#held.commit(() => this.#prepare('DELETE FROM world WHERE id = ?').run(bytesOf(world))),
    );
  }

  async list({ open, dueBefore, after, limit }: RowQuery): Promise<readonly WorldRow[]> {
    const conditions = [
      ...(open === undefined ? [] : [{ sql: 'open = ?', value: open ? 1 : 0 }]),
      ...(dueBefore === undefined ? [] : [{ sql: 'wake <= ?', value: dueBefore }]),
      ...(after === undefined ? [] : [{ sql: 'id > ?', value: bytesOf(after) }]),
    ];
    const where = conditions.length === 0 ? '' : ` WHERE ${conditions.map(({ sql }) => sql).join(' AND ')}`;
    const params = [...conditions.map(({ value }) => value), limit];
    return this.#ask(`SELECT ${READ_COLUMNS} FROM world${where} ORDER BY id LIMIT ?`, params);
  }

  async due(until: number, limit: number): Promise<readonly WorldRow[]> {
    const sql = `SELECT ${READ_COLUMNS} FROM world WHERE open = 0 AND wake IS NOT NULL AND wake <= ? ORDER BY wake, id LIMIT ?`;
    return this.#ask(sql, [until, limit]);
  }

  async nextDue(after: number): Promise<number | null> {
    const sql = `SELECT ${READ_COLUMNS} FROM world WHERE open = 0 AND wake IS NOT NULL AND wake > ? ORDER BY wake, id LIMIT 1`;
    return this.#ask(sql, [after])[0]?.nextWakeAt ?? null;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    guarded('cannot close the directory', this.#held.path, () => this.#held.close());
  }

  #ask(sql: string, params: readonly (number | Uint8Array)[]): WorldRow[] {
    return this.#guarded('cannot read the directory', () =>
      this.#prepare(sql)
        .all(...params)
        .map(rowOf),
    );
  }

  #prepare(sql: string): ReturnType<Connection['prepare']> {
    const statement = this.#statements.get(sql) ?? this.#held.db.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  #guarded<T>(what: string, body: () => T): T {
    if (!this.#closed) return guarded(what, this.#held.path, body);
    throw new RepriseError('world_closed', 'the directory was closed', { where: this.#held.path });
  }
}

const utf8 = { encoder: new TextEncoder(), decoder: new TextDecoder() };

function bytesOf(world: string): Uint8Array {
  return utf8.encoder.encode(world);
}

function rowOf([id, wake, open, asleep]: Row): WorldRow {
  const where = 'a row of the directory';
  const world = utf8.decoder.decode(bytes(id, where));
  return { world, nextWakeAt: asleep === 1 ? null : whole(wake, where), open: whole(open, where) === 1 };
}
