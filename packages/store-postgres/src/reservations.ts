/**
 * Limits that the hosts of a directory share: what each opening of it has reserved.
 *
 * Invariants
 * V1  Hosts divide limits one after the other: each locks the row of the directory until its division has committed. So a
 *     transaction whose commit arrives late is still before the next one.
 * V2  A lease that is over is never extended, so what it had reserved counts for a known time only.
 */
import { randomUUID } from 'node:crypto';
import { divideLimit, type LimitParts, type LimitUse } from '@reprise/kernel/host';
import { one, text, whole } from './connection/columns.js';
import type { Row, Sql } from './connection/driver.js';
import { fenced, type TakeParts } from './tenure/take.js';

/** Tries, when the lease of this process was over. */
const TRIES = 2;

/** The reservations of one opening of a directory. */
export class Reservations {
  readonly #opening = randomUUID();

  constructor(
    private readonly parts: TakeParts,
    private readonly directory: number,
    private readonly where: string,
  ) {}

  /** Divides limits with the other openings. @throws RepriseError `fenced` when the lease is over, `store_failed` */
  async share(uses: readonly LimitUse[]): Promise<LimitParts> {
    for (let tries = 0; tries < TRIES; tries++) {
      const lease = await this.parts.hosts.current();
      const allowed = await this.parts.connections.transaction('divide limits', async (sql) => {
        const turn = await this.#begin(sql, lease.id);
        return turn === undefined ? undefined : this.#divide(sql, { uses, lease: lease.id, turn });
      });
      if (allowed !== undefined) return { allowed, holds: () => lease.holds() };
      await lease.ask(); // it is over, and this process did not know: the next one begins
    }
    throw fenced(this.where);
  }

  /** What this opening had reserved counts from now on only for as long as its use does. */
  async close(): Promise<void> {
    await this.parts.connections.rows(
      'end reservations',
      `UPDATE reprise.reservation SET until = clock_timestamp() + counts_for * interval '1 ms'
       WHERE directory = $1 AND opening = $2`,
      [this.directory, this.#opening],
    );
  }

  /** Locks the directory and forgets what no longer counts. @returns the number of the turn; undefined without a lease */
  async #begin(sql: Sql, lease: string): Promise<number | undefined> {
    await sql.rows('divide limits', 'SELECT FROM reprise.directory WHERE id = $1 FOR UPDATE', [this.directory]);
    await sql.rows(
      'divide limits',
      `DELETE FROM reprise.reservation v WHERE v.directory = $1 AND (v.until <= clock_timestamp() OR NOT EXISTS (
         SELECT FROM reprise.host h WHERE h.id = v.host AND (NOT h.closed OR v.counts_for > 0)
         AND h.expires + v.counts_for * interval '1 ms' > clock_timestamp()))`,
      [this.directory],
    );
    const row = one(
      await sql.rows(
        'divide limits',
        `SELECT floor(extract(epoch FROM clock_timestamp()) * 1000 / $2)::bigint FROM reprise.host h
         WHERE h.id = $1 AND NOT h.closed AND h.expires > clock_timestamp()`,
        [lease, this.parts.hosts.ttlMs],
      ),
    );
    return row && whole(row[0], this.where);
  }

  async #divide(
    sql: Sql,
    { uses, lease, turn }: { readonly uses: readonly LimitUse[]; readonly lease: string; readonly turn: number },
  ): Promise<readonly number[]> {
    const reserved = await sql.rows(
      'divide limits',
      `SELECT v.name, v.opening::text, v.count, v.until IS NULL AND NOT h.closed AND h.expires > clock_timestamp()
       FROM reprise.reservation v JOIN reprise.host h ON h.id = v.host
       WHERE v.directory = $1 AND v.name = ANY ($2::text[]) ORDER BY v.opening`,
      [this.directory, uses.map(({ limit }) => limit)],
    );
    const parts = uses.map((use) => this.#partOf(use, reserved, turn));
    await sql.rows(
      'divide limits',
      `INSERT INTO reprise.reservation (directory, name, opening, host, count, counts_for)
       SELECT $1, g.name, $2, $3, g.count, g.counts_for
       FROM unnest($4::text[], $5::bigint[], $6::bigint[]) AS g (name, count, counts_for)
       ON CONFLICT (directory, name, opening) DO UPDATE
         SET host = excluded.host, count = excluded.count, counts_for = excluded.counts_for, until = NULL`,
      [
        ...[this.directory, this.#opening, lease],
        uses.map(({ limit }) => limit),
        parts.map((part) => part.reserved),
        uses.map(({ countsFor }) => countsFor),
      ],
    );
    return parts.map(({ allowed }) => allowed);
  }

  #partOf({ limit, max, held }: LimitUse, reserved: readonly Row[], turn: number): ReturnType<typeof divideLimit> {
    const [openings, isOwn]: [string[], (row: Row) => boolean] = [[], (row) => row[1] === this.#opening];
    let [others, before] = [0, 0];
    for (const row of reserved.filter(([name]) => name === limit)) {
      if (row[3] === true || isOwn(row)) openings.push(text(row[1], this.where));
      if (isOwn(row)) before = whole(row[2], this.where);
      else others += whole(row[2], this.where);
    }
    if (!openings.includes(this.#opening)) openings.push(this.#opening);
    const place = openings.sort().indexOf(this.#opening) + (turn % openings.length);
    return divideLimit({ max, held: Math.min(held, before), others, hosts: openings.length, place });
  }
}
