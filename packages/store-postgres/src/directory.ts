/**
 * A directory in the database, which several hosts share.
 *
 * Invariants
 * R1  A claim is one statement: it compares that nobody has the row, and says that it is open.
 * R2  A lease is closed, which is final, before a row of it changes hands (take/G3). What a statement compares is in the
 *     row alone: PostgreSQL reads a row again that another statement has changed meanwhile, but not the leases.
 * R3  A claim has a name of its own, and what ends it compares the name: a statement that arrives late, after the process
 *     gave it up, changes nothing of a later claim.
 */
import { randomUUID } from 'node:crypto';
import { RepriseError } from '@reprise/contracts';
import type { ClaimedRow, HostDirectory, OpenDirectory, RowQuery, SharedRows, WorldRow } from '@reprise/kernel/host';
import { bytes, one, text, whole } from './connection/columns.js';
import type { Row, SqlParameter, SqlValue } from './connection/driver.js';
import { Gathering } from './connection/gathering.js';
import { Reservations } from './reservations.js';
import { closeLease } from './tenure/lease.js';
import { hasDied } from './tenure/process.js';
import { directoryRow, locked, type TakeParts } from './tenure/take.js';

/** What the directories of a process share. */
export interface DirectoryParts extends TakeParts {
  /** The claims of this process that have not been released, by directory and world. */
  readonly claims: Map<string, string>;
}

/** The directory of a name. */
export function postgresDirectory(shared: () => Promise<DirectoryParts>, label: string, name: string): HostDirectory {
  const where = `${label}#${name}`;
  return {
    label: where,
    open: async () => {
      const parts = await shared();
      const { connections } = parts;
      const { id, epoch, owner } = await directoryRow(connections, name);
      if (owner !== null) {
        if (!(await closeLease(connections, owner))) throw locked(where, 'a host of an earlier release has it open');
        const take = 'UPDATE reprise.directory SET epoch = epoch + 1, owner = NULL WHERE id = $1 AND epoch = $2';
        await connections.rows('open the directory', take, [id, epoch]);
      }
      return new PostgresDirectory(parts, id, where);
    },
  };
}

const COLUMNS = 'r.world, r.wake, r.open';

/** A claim that ends, and what its row says then. */
interface Released {
  readonly world: string;
  readonly name: string;
  readonly nextWakeAt: number | null;
}

/** Tries, when several hosts want one row at the same time. */
const TRIES = 5;

class PostgresDirectory implements OpenDirectory {
  readonly shared: SharedRows;
  /** The claims of this opening that have not been released, by their keys. */
  readonly #own = new Map<string, string>();
  readonly #reservations: Reservations;
  /** Releases claims, many at once: a host that ends closes all its worlds. */
  readonly #releases = new Gathering<Released>((rows) => this.#writeReleased(rows));
  #closed = false;

  constructor(
    private readonly parts: DirectoryParts,
    private readonly id: number,
    private readonly where: string,
  ) {
    this.#reservations = new Reservations(parts, id, where);
    this.shared = {
      lookEvery: parts.hosts.ttlMs / 2,
      claim: (world) => this.#claim(world),
      adopt: (dueAt, limit) => this.#adopt(dueAt, limit),
      share: async (uses) => {
        this.#requireOpen();
        return this.#reservations.share(uses);
      },
    };
  }

  async get(world: string): Promise<WorldRow | undefined> {
    return (await this.#ask('r.world = $2', '', [bytesOf(world)]))[0];
  }

  async set(rows: readonly WorldRow[]): Promise<void> {
    const unique = [...new Map(rows.map((row) => [row.world, row])).values()];
    await this.#rows(
      'write the directory',
      `INSERT INTO reprise.directory_row AS r (directory, world, wake, open)
       SELECT $1, decode(g.world, 'hex'), g.wake, g.open = 1
       FROM unnest($2::text[], $3::bigint[], $4::int[]) AS g (world, wake, open) ORDER BY g.world
       ON CONFLICT (directory, world) DO UPDATE
         SET wake = excluded.wake, open = excluded.open, claim = NULL WHERE r.owner IS NULL`,
      [
        unique.map(({ world }) => bytesOf(world).toString('hex')),
        unique.map(({ nextWakeAt }) => nextWakeAt),
        unique.map(({ open }) => (open ? 1 : 0)),
      ],
    );
  }

  async remove(world: string): Promise<void> {
    const sql = `DELETE FROM reprise.directory_row r WHERE r.directory = $1 AND r.world = $2 AND r.owner IS NULL`;
    await this.#rows('write the directory', sql, [bytesOf(world)]);
  }

  async list({ open, dueBefore, after, limit }: RowQuery): Promise<readonly WorldRow[]> {
    const given: SqlParameter[] = [];
    const term = (sql: string, value: SqlParameter): string => `${sql} $${given.push(value) + 1}`;
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
    return this.#ask('NOT r.open AND r.wake IS NOT NULL AND r.wake <= $2', order, [until]);
  }

  async nextDue(after: number): Promise<number | null> {
    const due = 'NOT r.open AND r.wake IS NOT NULL AND r.wake > $2';
    return (await this.#ask(due, 'ORDER BY r.wake, r.world LIMIT 1', [after]))[0]?.nextWakeAt ?? null;
  }

  /** What it has not released is adopted when the lease of this process is over, or by another directory of it. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    for (const [key, name] of this.#own) this.#forget(key, name);
    await this.#reservations.close().catch(() => undefined); // they end with the lease
  }

  async #claim(world: string): Promise<ClaimedRow> {
    this.#requireOpen();
    const { claims, hosts } = this.parts;
    const key = this.#keyOf(world);
    if (claims.has(key)) throw locked(this.#whereIs(world), 'this process has it open');
    const name = randomUUID();
    claims.set(key, name); // before the row says so: two hosts of one process have one lease
    this.#own.set(key, name);
    try {
      for (let tries = 0; tries < TRIES; tries++) {
        const current = await hosts.current();
        const { id: lease } = current;
        const before = (await this.#claimFree(world, lease, name)) ?? (await this.#claimOther(world, lease, name));
        if (before !== undefined)
          return { before: before === 'none' ? undefined : before, release: (row) => this.#release(world, name, row) };
        await current.ask(); // the row is free now: is this lease over?
      }
      throw locked(this.#whereIs(world), 'other hosts claim it at the same time');
    } catch (error) {
      this.#forget(key, name);
      throw error;
    }
  }

  /** Claims a row that nobody has (R1). The inner query locks it and tells what it was. */
  async #claimFree(world: string, lease: string, name: string): Promise<WorldRow | undefined> {
    const row = one(
      await this.#rows(
        'claim a world',
        `UPDATE reprise.directory_row r SET open = true, owner = $3, claim = $4
         FROM (SELECT * FROM reprise.directory_row WHERE directory = $1 AND world = $2 FOR UPDATE) AS b
         WHERE r.directory = $1 AND r.world = $2 AND r.owner IS NULL AND ${living('$3')}
         RETURNING r.world, b.wake, b.open`,
        [bytesOf(world), lease, name],
      ),
    );
    return row && rowOf(row, this.where);
  }

  /** Claims a world that has no row. */
  async #claimNew(world: string, lease: string, name: string): Promise<'none' | undefined> {
    const rows = await this.#rows(
      'claim a world',
      `INSERT INTO reprise.directory_row (directory, world, open, owner, claim)
       SELECT $1, $2, true, $3::uuid, $4 WHERE ${living('$3::uuid')}
       ON CONFLICT (directory, world) DO NOTHING RETURNING true`,
      [bytesOf(world), lease, name],
    );
    return rows.length > 0 ? 'none' : undefined;
  }

  /**
   * Claims a world that is not free: makes its row, or takes it from a lease that is over (R2). Callers ask again and again
   * for a world that a living host has, so that is said by one statement more.
   *
   * @returns undefined when the row is free now @throws RepriseError `world_locked`
   */
  async #claimOther(world: string, own: string, name: string): Promise<'none' | undefined> {
    const [found] = await this.#rows(
      'look at a claim',
      `SELECT r.owner::text, r.claim::text, h.process, h.address,
         h.id IS NOT NULL AND NOT h.closed AND h.expires > clock_timestamp()
       FROM reprise.directory_row r LEFT JOIN reprise.host h ON h.id = r.owner WHERE r.directory = $1 AND r.world = $2`,
      [bytesOf(world)],
    );
    if (found === undefined) return this.#claimNew(world, own, name);
    const [owner = null, claim = null, process = null, address = null, lives] = found;
    if (owner === null) return undefined;
    const by = address === null ? undefined : text(address, this.where);
    const isHeld = (): RepriseError => locked(this.#whereIs(world), 'another host has it open', by);
    // This process is claiming the world, so it has no other claim: the answer to an earlier one was lost.
    if (owner !== own) {
      if (lives === true && !hasDied(text(process, this.where))) throw isHeld();
      if (!(await closeLease(this.parts.connections, text(owner, this.where)))) throw isHeld();
    }
    const free = `UPDATE reprise.directory_row r SET owner = NULL, claim = NULL
      WHERE r.directory = $1 AND r.world = $2 AND r.owner = $3 AND r.claim = $4`;
    await this.#rows('take over a claim', free, [bytesOf(world), owner, claim]);
    return undefined;
  }

  async #release(world: string, name: string, row: WorldRow | undefined): Promise<void> {
    try {
      await this.#end(world, name, row);
    } finally {
      this.#forget(this.#keyOf(world), name);
    }
  }

  #forget(key: string, name: string): void {
    for (const claims of [this.parts.claims, this.#own]) if (claims.get(key) === name) claims.delete(key);
  }

  /** Ends a claim, if the row still has it (R3). */
  async #end(world: string, name: string, row: WorldRow | undefined): Promise<void> {
    if (row !== undefined) return this.#releases.add({ world, name, nextWakeAt: row.nextWakeAt });
    const own = 'r.directory = $1 AND r.world = $2 AND r.claim = $3';
    await this.#rows('release a world', `DELETE FROM reprise.directory_row r WHERE ${own}`, [bytesOf(world), name]);
  }

  async #writeReleased(rows: readonly Released[]): Promise<void> {
    await this.#rows(
      'release worlds',
      `WITH ended AS MATERIALIZED (
         SELECT r.world, g.wake FROM unnest($2::text[], $3::text[], $4::bigint[]) AS g (world, claim, wake)
           JOIN reprise.directory_row r
             ON r.directory = $1 AND r.world = decode(g.world, 'hex') AND r.claim = g.claim::uuid
         ORDER BY r.world FOR UPDATE OF r
       )
       UPDATE reprise.directory_row r SET open = false, wake = ended.wake, owner = NULL, claim = NULL
       FROM ended WHERE r.directory = $1 AND r.world = ended.world`,
      [
        rows.map(({ world }) => bytesOf(world).toString('hex')),
        rows.map(({ name }) => name),
        rows.map(({ nextWakeAt }) => nextWakeAt),
      ],
    );
  }

  async #adopt(dueAt: number, limit: number): Promise<number> {
    const adopted = await this.#rows(
      'adopt worlds',
      `WITH gone AS MATERIALIZED (
         SELECT r.world FROM reprise.directory_row r
         WHERE r.directory = $1 AND r.open AND (r.owner IS NULL OR r.owner = ANY ($3::uuid[]))
         ORDER BY r.world LIMIT ${whole(limit, 'limit')} FOR UPDATE SKIP LOCKED
       )
       UPDATE reprise.directory_row r SET open = false, wake = $2, owner = NULL, claim = NULL
       FROM gone WHERE r.directory = $1 AND r.world = gone.world RETURNING true`,
      [dueAt, await this.#deadHosts()],
    );
    return adopted.length + (await this.#adoptOwn(dueAt));
  }

  /** The closed leases that have open worlds; those that are over, or whose process died on this machine, are closed. */
  async #deadHosts(): Promise<readonly string[]> {
    const found = await this.#rows(
      'look for dead hosts',
      `SELECT h.id::text, h.process, h.closed, h.expires <= clock_timestamp() FROM reprise.host h
       WHERE EXISTS (SELECT FROM reprise.directory_row r WHERE r.directory = $1 AND r.open AND r.owner = h.id)`,
      [],
    );
    const dead: string[] = [];
    for (const [id, process, isClosed, isOver] of found) {
      const lease = text(id, this.where);
      const mayBeDead = isClosed === true || isOver === true || hasDied(text(process, this.where));
      if (mayBeDead && (await closeLease(this.parts.connections, lease))) dead.push(lease);
    }
    return dead;
  }

  /** Adopts what this process has and knows nothing of: the answer to a claim was lost, or a release did not arrive. */
  async #adoptOwn(dueAt: number): Promise<number> {
    const { claims, hosts } = this.parts;
    const { id: lease } = await hosts.current();
    const own =
      'SELECT r.world, r.claim::text FROM reprise.directory_row r WHERE r.directory = $1 AND r.open AND r.owner = $2';
    let adopted = 0;
    for (const [stored, found] of await this.#rows('look for own worlds', own, [lease])) {
      const [world, name] = [worldOf(stored, this.where), text(found, this.where)];
      if (claims.get(this.#keyOf(world)) === name) continue;
      await this.#end(world, name, { world, nextWakeAt: dueAt, open: false });
      adopted++;
    }
    return adopted;
  }

  #ask(terms: string, order: string, parameters: readonly SqlParameter[]): Promise<WorldRow[]> {
    const sql = `SELECT ${COLUMNS} FROM reprise.directory_row r WHERE r.directory = $1 AND ${terms} ${order}`;
    return this.#rows('read the directory', sql, parameters).then((rows) => rows.map((row) => rowOf(row, this.where)));
  }

  /** Runs a statement whose first parameter is the number of this directory. */
  async #rows(what: string, sql: string, parameters: readonly SqlParameter[]): Promise<readonly Row[]> {
    this.#requireOpen();
    return this.parts.connections.rows(what, sql, [this.id, ...parameters]);
  }

  #keyOf(world: string): string {
    return `${this.id} ${world}`;
  }

  #whereIs(world: string): string {
    return `${this.where}, ${world}`;
  }

  #requireOpen(): void {
    if (this.#closed) throw new RepriseError('world_closed', 'the directory was closed', { where: this.where });
  }
}

/** Whether a lease is certainly not over. */
function living(id: string): string {
  return `EXISTS (SELECT FROM reprise.host m WHERE m.id = ${id} AND NOT m.closed AND m.expires > clock_timestamp())`;
}

function bytesOf(world: string): Buffer {
  return Buffer.from(world, 'utf8');
}

function worldOf(stored: SqlValue | undefined, where: string): string {
  return Buffer.from(bytes(stored, where)).toString('utf8');
}

function rowOf([world, wake, open]: Row, where: string): WorldRow {
  return {
    world: worldOf(world, where),
    nextWakeAt: wake === null ? null : whole(wake, where),
    open: open === true,
  };
}
