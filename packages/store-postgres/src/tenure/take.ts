/**
 * Takes the row of a world, which one process owns at a time.
 *
 * Invariants
 * G1  Every write of an owner compares the epoch of its row.
 * G2  An epoch is of one opening: it rises with each, also when the same process opens again, since a statement of the
 *     opening before may still be under way.
 * G3  A lease that lives is never taken from its owner. The lease is closed first, which is final; then the row changes
 *     hands, if it still has the epoch that was looked at.
 */
import { RepriseError } from '@reprise/contracts';
import { one, whole } from '../connection/columns.js';
import type { Connections, SqlValue } from '../connection/driver.js';
import { Gathering } from '../connection/gathering.js';
import type { Hosts } from './hosts.js';
import { addressOf, closeLease, type Lease } from './lease.js';

/** The tables whose rows are found by a name, and made when they are missing. */
type NamedTable = 'world' | 'directory';

/** A row that this process owns from now on. */
export interface Taken {
  readonly id: number;
  readonly epoch: number;
  /** How the opening before ended: `died` only when the death of its process was seen. */
  readonly before: 'clean' | 'died' | 'lost';
  readonly lease: Lease;
  /** Gives the row back; what another process has taken meanwhile stays its own. */
  release(): Promise<void>;
}

/** What taking a row needs, and what all rows of a process share. */
export interface TakeParts {
  readonly connections: Connections;
  readonly hosts: Hosts;
  /** The rows that this process has open or is opening. */
  readonly open: Set<string>;
  /** Gives rows back, many at once. */
  readonly giving: Gathering<Owned>;
  /** Whether keys are named, so that the worlds of this process are sealed. */
  readonly hasKeys: boolean;
}

/** Tries, when several processes want one row at the same time. */
const TRIES = 5;

/**
 * Takes the row of a world, and makes it when it is missing.
 *
 * @param name the name of the row
 * @param where the place as shown to people
 * @throws RepriseError `world_locked` while another opening has it, `store_failed`
 */
export async function takeWorld(parts: TakeParts, name: string, where: string): Promise<Taken> {
  for (let tries = 0; tries < TRIES; tries++) {
    const lease = await parts.hosts.current();
    const { id, epoch, owner } = await namedRow(parts.connections, 'world', name);
    const key = `world ${id}`;
    if (parts.open.has(key)) throw locked(where, 'this process has it open');
    parts.open.add(key); // before the row changes hands: two openings of one process have one lease
    try {
      const before = await whyFree(parts, { owner, lease, where });
      const taken: Owned = { id, epoch: epoch + 1, lease, key };
      if (await changeHands(parts, taken, owner))
        return { id, epoch: taken.epoch, before, lease, release: releaseOf(parts, taken) };
      parts.open.delete(key);
    } catch (error) {
      parts.open.delete(key);
      throw error;
    }
  }
  throw locked(where, 'other processes open it at the same time');
}

/** A row as this process owns it, or tries to. */
interface Owned {
  readonly id: number;
  readonly epoch: number;
  readonly lease: Lease;
  readonly key: string;
}

/** @returns false when the row has changed since it was looked at */
async function changeHands(parts: TakeParts, taken: Owned, before: string | null): Promise<boolean> {
  const { id, epoch, lease } = taken;
  try {
    const rows = await parts.connections.rows(
      'open the world',
      `UPDATE reprise.world SET epoch = $3, owner = $1, packs_known_by = $3,
         seals_known_by = $3, sealed = sealed OR $5
       WHERE id = $2 AND epoch = $3 - 1 AND owner IS NOT DISTINCT FROM $4
         AND EXISTS (SELECT FROM reprise.host h WHERE h.id = $1 AND NOT h.closed AND h.expires > clock_timestamp())
       RETURNING true`,
      [lease.id, id, epoch, before, parts.hasKeys],
    );
    return rows.length > 0;
  } catch (error) {
    giveBackLater(parts, taken); // the row may be ours, and only the answer is lost
    throw error;
  }
}

interface Found {
  readonly owner: string | null;
  readonly lease: Lease;
  readonly where: string;
}

/** The row of a name, which is made when it is missing. @throws RepriseError `store_failed` */
export async function namedRow(
  connections: Connections,
  table: NamedTable,
  name: string,
): Promise<{ readonly id: number; readonly epoch: number; readonly owner: string | null }> {
  const named = Buffer.from(name, 'utf8');
  const find = (): Promise<readonly (readonly SqlValue[])[]> =>
    connections.rows(`open the ${table}`, `SELECT id, epoch, owner::text FROM reprise.${table} WHERE name = $1`, [
      named,
    ]);
  let row = one(await find());
  if (row === undefined) {
    const make = `INSERT INTO reprise.${table} (name) VALUES ($1) ON CONFLICT (name) DO NOTHING`;
    await connections.rows(`make the ${table}`, make, [named]);
    row = one(await find());
  }
  const where = `reprise.${table}`;
  return { id: whole(row?.[0], where), epoch: whole(row?.[1], where), owner: row?.[2] == null ? null : String(row[2]) };
}

/** @returns how the opening before ended @throws RepriseError `world_locked` when it has not */
async function whyFree(parts: TakeParts, found: Found): Promise<Taken['before']> {
  const { owner, lease, where } = found;
  if (owner === null) return 'clean';
  if (owner === lease.id) return 'lost'; // an opening of this process that could not give it back
  if (!(await closeLease(parts.connections, owner)))
    throw locked(where, 'another process has it open', await addressOf(parts.connections, owner));
  const seen = one(
    await parts.connections.rows('look at a lease', 'SELECT died FROM reprise.host WHERE id = $1', [owner]),
  );
  return seen?.[0] === true ? 'died' : 'lost';
}

function releaseOf(parts: TakeParts, taken: Owned): () => Promise<void> {
  let released: Promise<void> | undefined;
  return () => {
    released ??= parts.giving
      .add(taken)
      .catch((error: unknown) => {
        giveBackLater(parts, taken);
        throw error;
      })
      .finally(() => parts.open.delete(taken.key));
    return released;
  };
}

/** Gives rows back, all in one statement; they are locked in the order of their numbers, as by appends. */
export function givingBack(connections: Connections): Gathering<Owned> {
  return new Gathering(async (rows) => {
    await connections.rows(
      'close worlds',
      // A process whose lease another one has closed was taken for dead: its end is not known to be a clean one.
      `WITH given AS MATERIALIZED (
         SELECT w.id FROM unnest($1::bigint[], $2::bigint[], $3::text[]) AS g (id, epoch, lease)
           JOIN reprise.world w ON w.id = g.id AND w.epoch = g.epoch AND w.owner = g.lease::uuid
           JOIN reprise.host h ON h.id = w.owner AND NOT h.closed
         ORDER BY w.id FOR UPDATE OF w
       )
       UPDATE reprise.world w SET owner = NULL, posted = NULL FROM given WHERE w.id = given.id`,
      [rows.map(({ id }) => id), rows.map(({ epoch }) => epoch), rows.map(({ lease }) => lease.id)],
    );
  });
}

/** Between two tries to give a row back, in milliseconds. */
const GIVE_BACK_MS = 500;

/** A row that could not be given back would stay locked for other processes as long as this one lives. */
function giveBackLater(parts: TakeParts, taken: Owned): void {
  const again = (): void => {
    if (!taken.lease.holds()) return; // the end of the lease gives it back
    parts.giving.add(taken).catch(() => giveBackLater(parts, taken));
  };
  setTimeout(again, GIVE_BACK_MS).unref();
}

/** The refusal of what another opening has. */
export function locked(where: string, actual: string, address?: string): RepriseError {
  return new RepriseError('world_locked', 'it is already open for writing', {
    ...{ where, actual },
    ...(address === undefined ? {} : { by: { address } }),
    hint: 'Close it there, or wait until the lease of that process is over.',
  });
}

/** The refusal of an opening whose row another one has taken. */
export function fenced(where: string): RepriseError {
  return new RepriseError('fenced', 'another process has taken this over', {
    where,
    hint: 'Send the request again: the process that owns it now answers.',
  });
}
