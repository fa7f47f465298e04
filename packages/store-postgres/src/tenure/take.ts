/**
 * Takes the row of a world, which one process owns at a time.
 *
 * Invariants
 * G1  Every write of an owner compares the incarnation of the database and the epoch of its row. After a restore epochs come
 *     again; an incarnation never does.
 * G2  An epoch is of one opening: it rises with each, also when the same process opens again, since a statement of the
 *     opening before may still be under way.
 * G3  A lease that lives is never taken from its owner. The lease is closed first, which is final; then the row changes
 *     hands, if it still has the epoch that was looked at.
 * G4  A row changes hands only on the server that was looked at, in an incarnation that an operator has admitted there.
 */
import { RepriseError } from '@reprise/contracts';
import { one, text, uuid, whole } from '../connection/columns.js';
import type { Connections, Row } from '../connection/driver.js';
import { Gathering } from '../connection/gathering.js';
import { refusedTake, requireAdmitted } from './admission.js';
import { mayHaveDiedOf } from './folds.js';
import type { Hosts } from './hosts.js';
import { addressOf, closeLease, type Lease } from './lease.js';

/** A row that this process owns from now on. */
export interface Taken {
  readonly id: number;
  readonly epoch: number;
  /** The incarnation of the database. */
  readonly incarnation: string;
  /** How the opening before ended: `died` only when the death of its process was seen. */
  readonly before: 'clean' | 'died' | 'lost';
  readonly lease: Lease;
  /** Gives the row back; what another process has taken meanwhile stays its own. */
  release(): Promise<void>;
  /** Gives the row back as it was found: the next opening is told how the one before this one ended. */
  refuse(): Promise<void>;
}

/** The database as a process is about to take a world of it. */
export interface Ground {
  /** Which start of which server answers. */
  readonly server: string;
  readonly incarnation: string;
  /** The id of the lease of this process. */
  readonly lease: string;
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
  /** Compares the database with the heads of a witness, before a row changes hands. */
  readonly witness?: { compare(ground: Ground): Promise<void> };
}

/** Tries, when several processes want one row at the same time. */
const TRIES = 5;

/**
 * Takes the row of a world, and makes it when it is missing.
 *
 * @param name the name of the row
 * @param where the place as shown to people
 * @throws RepriseError `world_locked` while another opening has it, `not_admitted` after a restore, `head_mismatch` for a world
 *   that has lost acknowledged frames, `store_failed`
 */
export async function takeWorld(parts: TakeParts, name: string, where: string): Promise<Taken> {
  for (let tries = 0; tries < TRIES; tries++) {
    const lease = await parts.hosts.current();
    const looked = await lookAtWorld(parts.connections, name, where);
    const { id, epoch, owner, incarnation, server } = looked;
    await parts.witness?.compare({ server, incarnation, lease: lease.id });
    const key = `world ${id}`;
    if (parts.open.has(key)) throw locked(where, 'this process has it open');
    parts.open.add(key); // before the row changes hands: two openings of one process have one lease
    try {
      const before = await whyFree(parts, { id, owner, lease, where });
      const taken: Owned = { id, epoch: Math.max(epoch, looked.epochsBefore) + 1, lease, key, to: null };
      if (await changeHands(parts, taken, looked)) {
        // A lease of this process lives: a row that names it would be locked for others.
        const asFound = { ...taken, to: owner === lease.id ? null : owner };
        const [release, refuse] = [releaseOf(parts, taken), releaseOf(parts, asFound)];
        return { id, epoch: taken.epoch, incarnation, before, lease, release, refuse };
      }
      parts.open.delete(key);
      await lease.ask(); // an admission closes every lease
    } catch (error) {
      parts.open.delete(key);
      throw await refusedTake(parts.connections, error, { id, where });
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
  /** The lease that the row names after it was given back: none, or the closed one of an opening that did not end well. */
  readonly to: string | null;
}

/** A world as it was looked at. */
interface Looked {
  readonly id: number;
  readonly epoch: number;
  readonly owner: string | null;
  readonly incarnation: string;
  /** Epochs up to this one belong to incarnations before. */
  readonly epochsBefore: number;
  /** Which start of which server has answered. */
  readonly server: string;
}

/** Which start of a server answers. The files of a database change places only while its server stands still. */
const SERVER = 'extract(epoch FROM pg_postmaster_start_time())::text';

const LOOK = `
  SELECT w.id, w.epoch, w.owner::text, c.incarnation::text, c.epochs_before, ${SERVER}, reprise.why_not_admitted()
  FROM reprise.cell c LEFT JOIN reprise.world w ON w.name = $1`;

/** The row of a world, which is made when it is missing, and the database around it. @throws RepriseError `not_admitted` */
async function lookAtWorld(connections: Connections, name: string, where: string): Promise<Looked> {
  const named = Buffer.from(name, 'utf8');
  const look = async (): Promise<Row> => {
    const row = one(await connections.rows('open the world', LOOK, [named])) ?? [];
    await requireAdmitted(connections, row[6] ?? null, where);
    return row;
  };
  let row = await look();
  if (row[0] === null) {
    await connections.rows('make the world', MAKE('world'), [named]);
    row = await look();
  }
  const [id, epoch, owner, incarnation, before, server] = row;
  return {
    ...{
      id: whole(id, 'reprise.world'),
      epoch: whole(epoch, 'reprise.world'),
      owner: owner == null ? null : String(owner),
    },
    ...{ incarnation: uuid(incarnation, 'reprise.cell'), epochsBefore: whole(before, 'reprise.cell') },
    server: text(server, where),
  };
}

const MAKE = (table: 'world' | 'directory'): string =>
  `INSERT INTO reprise.${table} (name) VALUES ($1) ON CONFLICT (name) DO NOTHING`;

/**
 * The condition that a row of `reprise.world` is that of an opening (G1); $1 is its id and $2 its epoch.
 *
 * @param incarnation of the opening, as the database has written it
 */
export function ownedBy({ incarnation }: { readonly incarnation: string }): string {
  return `id = $1 AND epoch = $2 AND EXISTS (SELECT FROM reprise.cell c WHERE c.incarnation = '${incarnation}')`;
}

/** @returns false when the row, or the server, has changed since it was looked at */
async function changeHands(parts: TakeParts, taken: Owned, looked: Looked): Promise<boolean> {
  const { id, epoch, lease } = taken;
  try {
    const rows = await parts.connections.rows(
      'open the world',
      `UPDATE reprise.world SET epoch = $3, owner = $1, packs_known_by = $3,
         seals_known_by = $3, sealed = sealed OR $8
       WHERE id = $2 AND epoch = $5 AND owner IS NOT DISTINCT FROM $4
         AND EXISTS (SELECT FROM reprise.host h WHERE h.id = $1 AND NOT h.closed AND h.expires > clock_timestamp())
         AND EXISTS (SELECT FROM reprise.cell c WHERE c.incarnation = $6) AND ${SERVER} = $7
       RETURNING true`,
      [lease.id, id, epoch, looked.owner, looked.epoch, looked.incarnation, looked.server, parts.hasKeys],
    );
    return rows.length > 0;
  } catch (error) {
    giveBackLater(parts, taken); // the row may be ours, and only the answer is lost
    throw error;
  }
}

interface Found {
  readonly id: number;
  readonly owner: string | null;
  readonly lease: Lease;
  readonly where: string;
}

/** The row of a directory, which is made when it is missing. @throws RepriseError `store_failed` */
export async function directoryRow(
  connections: Connections,
  name: string,
): Promise<{ readonly id: number; readonly epoch: number; readonly owner: string | null }> {
  const named = Buffer.from(name, 'utf8');
  const find = (): Promise<readonly Row[]> =>
    connections.rows('open the directory', 'SELECT id, epoch, owner::text FROM reprise.directory WHERE name = $1', [
      named,
    ]);
  let row = one(await find());
  if (row === undefined) {
    await connections.rows('make the directory', MAKE('directory'), [named]);
    row = one(await find());
  }
  const where = 'reprise.directory';
  return { id: whole(row?.[0], where), epoch: whole(row?.[1], where), owner: row?.[2] == null ? null : String(row[2]) };
}

/** @returns how the opening before ended @throws RepriseError `world_locked` when it has not */
async function whyFree(parts: TakeParts, found: Found): Promise<Taken['before']> {
  const { id, owner, lease, where } = found;
  if (owner === null) return 'clean';
  if (owner === lease.id) return 'lost'; // an opening of this process that could not give it back
  if (!(await closeLease(parts.connections, owner)))
    throw locked(where, 'another process has it open', await addressOf(parts.connections, owner));
  const seen = one(
    await parts.connections.rows('look at a lease', 'SELECT died FROM reprise.host WHERE id = $1', [owner]),
  );
  return seen?.[0] === true && mayHaveDiedOf(owner, id) ? 'died' : 'lost';
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
         SELECT w.id, g.next FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[]) AS g (id, epoch, lease, next)
           JOIN reprise.world w ON w.id = g.id AND w.epoch = g.epoch AND w.owner = g.lease::uuid
           JOIN reprise.host h ON h.id = w.owner AND NOT h.closed
         ORDER BY w.id FOR UPDATE OF w
       )
       UPDATE reprise.world w SET owner = given.next::uuid, posted = NULL
       FROM given WHERE w.id = given.id`,
      [
        rows.map(({ id }) => id),
        rows.map(({ epoch }) => epoch),
        rows.map(({ lease }) => lease.id),
        rows.map(({ to }) => to),
      ],
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
