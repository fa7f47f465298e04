/** What an operator sees of the processes that share a database, and the one thing that it asks of them. */
import { bytes, one, text, whole } from './connection/columns.js';
import type { Connections, Row } from './connection/driver.js';
import { WAITING } from './posts/statements.js';

/** A process that has worlds in a database, or had some. */
export interface FleetHost {
  readonly id: string;
  /** How others reach it; undefined when it did not say. */
  readonly address: string | undefined;
  /** The milliseconds that are left of its lease, by the clock of the database; negative once it is over. */
  readonly leaseMs: number;
  /** Whether it was asked to give its worlds away. */
  readonly leaving: boolean;
  /** Worlds that it has open. */
  readonly open: number;
}

/** What waits in a directory. */
export interface FleetDirectory {
  readonly name: string;
  /** Worlds that say `open`; those of a dead host do until another one adopts them. */
  readonly open: number;
  /** Closed worlds that want to wake, at any time. */
  readonly waiting: number;
  /** Closed worlds whose time has come, and that no host has opened yet. */
  readonly due: number;
  /** How late the latest of them is, in milliseconds; 0 without one. */
  readonly lateMs: number;
  /** Posted calls that have no answer yet. */
  readonly posted: number;
  /** How long the first of them has waited, in milliseconds; 0 without one. */
  readonly postedMs: number;
  /** Those of them whose operation no living process knows. They are given up after an hour of that. */
  readonly unknown: number;
}

/** The processes of a database and its directories. */
export interface FleetRows {
  /** Those that live, and dead ones that still have open worlds. */
  readonly hosts: readonly FleetHost[];
  readonly directories: readonly FleetDirectory[];
}

const HOSTS = `
  SELECT h.id::text, h.address, floor(extract(epoch FROM h.expires - clock_timestamp()) * 1000)::bigint, h.leaving,
    h.closed, (SELECT count(*) FROM reprise.directory_row r WHERE r.open AND r.owner = h.id)
  FROM reprise.host h
  WHERE (NOT h.closed AND h.expires > clock_timestamp())
    OR EXISTS (SELECT FROM reprise.directory_row r WHERE r.open AND r.owner = h.id)
  ORDER BY h.address, h.id`;

const DIRECTORIES = `
  SELECT d.name, count(*) FILTER (WHERE r.open), count(*) FILTER (WHERE NOT r.open AND r.wake IS NOT NULL),
    count(*) FILTER (WHERE NOT r.open AND r.wake <= t.now),
    coalesce(max(t.now - r.wake) FILTER (WHERE NOT r.open AND r.wake <= t.now), 0), d.id
  FROM reprise.directory d LEFT JOIN reprise.directory_row r ON r.directory = d.id,
    (SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now) t
  GROUP BY d.id, d.name ORDER BY d.name`;

/**
 * Reads each in one statement: they may differ by what happened between them.
 *
 * @param hasPosts whether the tables have posted calls, and what processes know
 */
export async function fleetRows(connections: Connections, where: string, hasPosts: boolean): Promise<FleetRows> {
  const hosts = await connections.rows('look at the hosts', HOSTS);
  const directories = await connections.rows('look at the directories', DIRECTORIES);
  const posted = hasPosts ? await connections.rows('look at the posted calls', WAITING) : [];
  return {
    hosts: hosts.map((row) => hostOf(row, where)),
    directories: directories.map((row) =>
      directoryOf(
        row,
        posted.find(([directory]) => directory === row[5]),
        where,
      ),
    ),
  };
}

/** @returns whether a process with this id lives */
export async function askToLeave(connections: Connections, host: string): Promise<boolean> {
  const sql = `UPDATE reprise.host SET leaving = true
    WHERE id = $1 AND NOT closed AND expires > clock_timestamp() RETURNING true`;
  return one(await connections.rows('ask a host to leave', sql, [host])) !== undefined;
}

function hostOf([id, address, left, leaving, closed, open]: Row, where: string): FleetHost {
  const leaseMs = whole(left, where);
  return {
    id: text(id, where),
    address: address === null ? undefined : text(address, where),
    leaseMs: closed === true ? Math.min(leaseMs, 0) : leaseMs,
    leaving: leaving === true,
    open: whole(open, where),
  };
}

function directoryOf(
  [name, open, waiting, due, late]: Row,
  [, posted, postedMs, unknown]: Row = [0, 0, 0, 0],
  where: string,
): FleetDirectory {
  return {
    name: Buffer.from(bytes(name, where)).toString('utf8'),
    open: whole(open, where),
    waiting: whole(waiting, where),
    due: whole(due, where),
    lateMs: whole(late, where),
    posted: whole(posted, where),
    postedMs: Math.max(0, whole(postedMs, where)),
    unknown: whole(unknown, where),
  };
}
