/** A host's directory in the database. */
import { RepriseError } from '@reprise/contracts';
import type { HostDirectory, OpenDirectory, RowQuery, WorldRow } from '@reprise/kernel/host';
import { bytes, whole } from './connection/columns.js';
import type { Row, SqlParameter } from './connection/driver.js';
import { fenced, type Taken, type TakeParts, takeRow } from './tenure/take.js';

/** The directory of a name. */
export function postgresDirectory(shared: () => Promise<TakeParts>, label: string, name: string): HostDirectory {
  const where = `${label}#${name}`;
  return {
    label: where,
    open: async () => {
      const parts = await shared();
      return new PostgresDirectory(parts, await takeRow(parts, 'directory', name, where), where);
    },
  };
}

const COLUMNS = 'r.world, r.wake, r.open';

/** Every statement compares the epoch: a host whose lease is over reads and writes nothing more (take/G1). */
const OWNED = 'd.id = $1 AND d.epoch = $2';

class PostgresDirectory implements OpenDirectory {
  #closed = false;

  constructor(
    private readonly parts: TakeParts,
    private readonly taken: Taken,
    private readonly where: string,
  ) {}

  async get(world: string): Promise<WorldRow | undefined> {
    return (await this.#ask('r.world = $3', '', [bytesOf(world)]))[0];
  }

  async set(rows: readonly WorldRow[]): Promise<void> {
    if (rows.length === 0) return;
    const unique = [...new Map(rows.map((row) => [row.world, row])).values()];
    await this.#write(
      `INSERT INTO reprise.directory_row (directory, world, wake, open)
       SELECT held.id, decode(g.world, 'hex'), g.wake, g.open = 1
       FROM held, unnest($3::text[], $4::bigint[], $5::int[]) AS g (world, wake, open)
       ON CONFLICT (directory, world) DO UPDATE SET wake = excluded.wake, open = excluded.open`,
      [
        unique.map(({ world }) => bytesOf(world).toString('hex')),
        unique.map(({ nextWakeAt }) => nextWakeAt),
        unique.map(({ open }) => (open ? 1 : 0)),
      ],
    );
  }

  async remove(world: string): Promise<void> {
    const sql = 'DELETE FROM reprise.directory_row r USING held WHERE r.directory = held.id AND r.world = $3';
    await this.#write(sql, [bytesOf(world)]);
  }

  async list({ open, dueBefore, after, limit }: RowQuery): Promise<readonly WorldRow[]> {
    const given: SqlParameter[] = [];
    const term = (sql: string, value: SqlParameter): string => `${sql} $${given.push(value) + 2}`;
    const terms = [
      ...(open === undefined ? [] : [term('r.open =', open)]),
      ...(dueBefore === undefined ? [] : [term('r.wake <=', dueBefore)]),
      ...(after === undefined ? [] : [term('r.world >', bytesOf(after))]),
    ];
    const order = `ORDER BY r.world LIMIT ${whole(limit, 'limit')}`;
    return this.#ask(terms.length === 0 ? 'true' : terms.join(' AND '), order, given);
  }

  due(until: number, limit: number): Promise<readonly WorldRow[]> {
    const order = `ORDER BY r.wake, r.world LIMIT ${whole(limit, 'limit')}`;
    return this.#ask('NOT r.open AND r.wake IS NOT NULL AND r.wake <= $3', order, [until]);
  }

  async nextDue(after: number): Promise<number | null> {
    const due = 'NOT r.open AND r.wake IS NOT NULL AND r.wake > $3';
    return (await this.#ask(due, 'ORDER BY r.wake, r.world LIMIT 1', [after]))[0]?.nextWakeAt ?? null;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.taken.release();
  }

  /** One row says that the directory is ours, also when no row of it fits. */
  async #ask(terms: string, order: string, parameters: readonly SqlParameter[]): Promise<WorldRow[]> {
    this.#requireOpen();
    const rows = await this.parts.connections.rows(
      'read the directory',
      `SELECT ${COLUMNS} FROM (SELECT d.id FROM reprise.directory d WHERE ${OWNED}) AS held
       LEFT JOIN LATERAL (SELECT * FROM reprise.directory_row r WHERE r.directory = held.id AND ${terms} ${order}) AS r ON true`,
      [this.taken.id, this.taken.epoch, ...parameters],
    );
    if (rows.length === 0) throw fenced(this.where);
    return rows.filter(([world]) => world !== null).map((row) => rowOf(row, this.where));
  }

  async #write(change: string, parameters: readonly SqlParameter[]): Promise<void> {
    this.#requireOpen();
    const rows = await this.parts.connections.rows(
      'write the directory',
      `WITH held AS MATERIALIZED (SELECT d.id FROM reprise.directory d WHERE ${OWNED} FOR SHARE), changed AS (${change})
       SELECT id FROM held`,
      [this.taken.id, this.taken.epoch, ...parameters],
    );
    if (rows.length === 0) throw fenced(this.where);
  }

  #requireOpen(): void {
    if (this.#closed) throw new RepriseError('world_closed', 'the directory was closed', { where: this.where });
    if (!this.taken.lease.holds()) throw fenced(this.where); // another host may have it, or take it at any moment
  }
}

function bytesOf(world: string): Buffer {
  return Buffer.from(world, 'utf8');
}

function rowOf([world, wake, open]: Row, where: string): WorldRow {
  return {
    world: Buffer.from(bytes(world, where)).toString('utf8'),
    nextWakeAt: wake === null ? null : whole(wake, where),
    open: open === true,
  };
}
