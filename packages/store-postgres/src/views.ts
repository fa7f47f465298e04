/** Views of worlds in the database. They need no lease: they are made of frames alone, and can be made again. */
import { RepriseError } from '@reprise/contracts';
import { assertMark } from '@reprise/kernel/driver';
import type { OpenViewStore, ViewCommit, ViewEntry, ViewMark, ViewStore } from '@reprise/kernel/views';
import { bytes, one, text, whole } from './connection/columns.js';
import type { Connections, Row, Sql } from './connection/driver.js';

/** The most rows of one query. */
const LIMIT_MAX = 2 ** 31 - 1;

const FIND = 'SELECT id, seq, head, digest FROM reprise.view WHERE place = $1 AND name = $2';

/** The views of a place, by custom the name of their world. */
export function postgresViews(connections: () => Promise<Connections>, label: string, place: string): ViewStore {
  const where = `${label}#${place} views`;
  return { label: where, open: async () => new PostgresViews(await connections(), place, where) };
}

class PostgresViews implements OpenViewStore {
  readonly #place: Buffer;
  #closed = false;

  constructor(
    private readonly connections: Connections,
    place: string,
    private readonly where: string,
  ) {
    this.#place = Buffer.from(place, 'utf8');
  }

  async mark(view: string): Promise<ViewMark | null> {
    return markOf(await this.#find(this.#sql(), view), this.where);
  }

  async get(view: string, key: Uint8Array): Promise<Uint8Array | undefined> {
    const sql = this.#sql();
    const row = one(
      await sql.rows(
        'read an entry',
        `SELECT e.value FROM reprise.view v JOIN reprise.view_entry e ON e.view = v.id
         WHERE v.place = $1 AND v.name = $2 AND e.key = $3`,
        [this.#place, view, key],
      ),
    );
    return row && bytes(row[0], this.where);
  }

  async scan(view: string, range: Parameters<OpenViewStore['scan']>[1]): Promise<readonly ViewEntry[]> {
    const { from, to, limit, reverse = false } = range;
    const rows = await this.#sql().rows(
      'read entries',
      `SELECT e.key, e.value FROM reprise.view v JOIN reprise.view_entry e ON e.view = v.id
       WHERE v.place = $1 AND v.name = $2 AND e.key >= $3 AND ($4::bytea IS NULL OR e.key < $4)
       ORDER BY e.key ${reverse ? 'DESC' : 'ASC'} LIMIT $5`,
      [this.#place, view, from, to, Math.min(limit, LIMIT_MAX)],
    );
    return rows.map(([key, value]): ViewEntry => [bytes(key, this.where), bytes(value, this.where)]);
  }

  async commit(commits: readonly ViewCommit[]): Promise<void> {
    this.#sql();
    await this.connections.transaction('write views', async (sql) => {
      // Two processes that fold the same frames: the second finds the marks of the first.
      await sql.rows('write views', "SELECT pg_advisory_xact_lock(hashtextextended(encode($1, 'hex'), 0))", [
        this.#place,
      ]);
      for (const commit of commits) await this.#write(sql, commit);
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  async #write(sql: Sql, { view, expected, clear, changes, mark }: ViewCommit): Promise<void> {
    assertMark(view, markOf(await this.#find(sql, view), this.where), expected);
    const row = one(
      await sql.rows(
        'write a mark',
        `INSERT INTO reprise.view (place, name, seq, head, digest) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (place, name) DO UPDATE SET seq = excluded.seq, head = excluded.head, digest = excluded.digest
         RETURNING id`,
        [this.#place, view, mark.seq, mark.head, mark.digest],
      ),
    );
    const id = whole(row?.[0], this.where);
    if (clear) await sql.rows('clear a view', 'DELETE FROM reprise.view_entry WHERE view = $1', [id]);
    const last = [...new Map(changes.map(([key, value]) => [hexOf(key), value]))]; // what comes later wins
    const gone = last.flatMap(([key, value]) => (value === null ? [key] : []));
    const kept = last.flatMap(([key, value]) => (value === null ? [] : [[key, hexOf(value)] as const]));
    if (gone.length > 0)
      await sql.rows(
        'remove entries',
        `DELETE FROM reprise.view_entry e USING unnest($2::text[]) AS g (key) WHERE e.view = $1 AND e.key = decode(g.key, 'hex')`,
        [id, gone],
      );
    if (kept.length > 0)
      await sql.rows(
        'write entries',
        `INSERT INTO reprise.view_entry (view, key, value)
         SELECT $1, decode(g.key, 'hex'), decode(g.value, 'hex') FROM unnest($2::text[], $3::text[]) AS g (key, value)
         ON CONFLICT (view, key) DO UPDATE SET value = excluded.value`,
        [id, kept.map(([key]) => key), kept.map(([, value]) => value)],
      );
  }

  async #find(sql: Sql, view: string): Promise<Row | undefined> {
    return one(await sql.rows('read a mark', FIND, [this.#place, view]));
  }

  #sql(): Connections {
    if (!this.#closed) return this.connections;
    throw new RepriseError('world_closed', 'the views were closed', { where: this.where });
  }
}

function markOf(row: Row | undefined, where: string): ViewMark | null {
  if (row === undefined) return null;
  return { seq: whole(row[1], where), head: text(row[2], where), digest: text(row[3], where) };
}

function hexOf(value: Uint8Array): string {
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex');
}
