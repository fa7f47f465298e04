/**
 * Pieces of large content as objects of a bucket. The tables alone know which objects there are: nothing is listed.
 *
 * Invariants
 * O1  The name of an object is used once, so what was removed never comes again by a late request of an owner before.
 * O2  A row says that an object may be there before it is stored (`object_try`), as long as a piece names it (`part`), and
 *     until it is removed (`object_gone`): each follows the other in one statement. So no object is without a row.
 * O3  A piece names an object only after the object is durable.
 */
import { randomUUID } from 'node:crypto';
import { RepriseError } from '@reprise/contracts';
import type { ObjectStore } from '@reprise/kernel';
import type { Connections, Sql } from '../connection/driver.js';
import { fenced, ownedBy } from '../tenure/take.js';
import type { OwnedPlace } from './place.js';

/** The bytes of a piece that is an object: few requests, and little memory. */
export const OBJECT_BYTES = 8 * 1024 * 1024;

/** The row of a world, while this opening owns it: nobody takes it over before the statement has committed. */
export function held(place: Pick<OwnedPlace, 'incarnation'>): string {
  return `SELECT id FROM reprise.world WHERE ${ownedBy(place)} FOR SHARE`;
}

/** The statement that moves what a deletion of pieces returns to the objects that are to be removed. */
export const NOTE_GONE = `INSERT INTO reprise.object_gone (object, world)
  SELECT object, world FROM dead WHERE object IS NOT NULL ON CONFLICT (object) DO NOTHING`;

/** The content that a piece belongs to, and its place in it. */
interface PieceOf {
  /** The digest of the whole, or the name of an upload. */
  readonly digest: Uint8Array;
  readonly n: number;
}

/** Stores a piece as an object. @throws RepriseError `fenced`, `store_failed` */
export async function writeObject(
  place: OwnedPlace,
  objects: ObjectStore,
  { digest, n }: PieceOf,
  bytes: Uint8Array,
): Promise<void> {
  const { connections, id, epoch, where } = place;
  const object = `${id}/${epoch}/${randomUUID()}`; // O1
  const what = 'store content';
  const announced = await connections.rows(
    what,
    `WITH held AS MATERIALIZED (${held(place)}), tried AS (
       INSERT INTO reprise.object_try (object, world) SELECT $3, id FROM held
     ) SELECT id FROM held`,
    [id, epoch, object],
  );
  if (announced.length === 0) throw fenced(where);
  try {
    await objects.put(object, bytes);
    await nameObject(place, { object, digest, n }, objects.label);
  } catch (error) {
    await noteAgain(place, object).catch(() => undefined); // what failed is told, whatever else does
    throw error;
  }
}

/** Makes a stored object a piece (O3). */
async function nameObject(
  place: OwnedPlace,
  { object, digest, n }: PieceOf & { readonly object: string },
  label: string,
): Promise<void> {
  const { connections, id, epoch, where } = place;
  const named = await connections.rows(
    'store content',
    `WITH held AS MATERIALIZED (${held(place)}), tried AS (
       DELETE FROM reprise.object_try t USING held WHERE t.object = $3 RETURNING t.object
     ), named AS (
       INSERT INTO reprise.part (world, digest, n, object) SELECT held.id, $4, $5, tried.object FROM held, tried
     ) SELECT held.id, tried.object IS NOT NULL FROM held LEFT JOIN tried ON true`,
    [id, epoch, object, digest, n],
  );
  const [row] = named;
  if (row === undefined) throw fenced(where);
  if (row[1] !== true) throw tooLate(label);
}

/** A sweep may have given the object up and found nothing to remove, before it was stored: then it has no row any more (O2). */
async function noteAgain({ connections, id }: OwnedPlace, object: string): Promise<void> {
  await connections.rows(
    'note an object',
    `INSERT INTO reprise.object_gone (object, world)
     SELECT $1, $2 WHERE NOT EXISTS (SELECT FROM reprise.object_try WHERE object = $1)
       AND NOT EXISTS (SELECT FROM reprise.part WHERE world = $2 AND object = $1) ON CONFLICT (object) DO NOTHING`,
    [object, id],
  );
}

/** Removes the objects of a world that no piece names any more. @throws RepriseError `store_failed` */
export async function removeGone({ connections, id }: OwnedPlace, objects: ObjectStore): Promise<void> {
  const gone = await connections.rows('look for objects', 'SELECT object FROM reprise.object_gone WHERE world = $1', [
    id,
  ]);
  for (const [object] of gone) await removeOne(connections, objects, String(object));
}

/** What a sweep has done. */
export interface SweepReport {
  /** The objects that were removed. */
  readonly removed: number;
  /** Those whose removal failed: the next sweep tries again. */
  readonly left: number;
}

/** Objects that one sweep removes at most, so that it ends. */
const SWEEP_MAX = 10_000;

/**
 * Removes objects that no content needs: those of content that was replaced or erased, and those of uploads that did not
 * come to their end. Any process may do so at any time, several at once.
 *
 * @param how `orphansAfter`: how long an upload may take, in milliseconds: then what it has stored is given up; `isOver`:
 *   whether the database was closed, which ends the sweep
 */
export async function sweepObjects(
  sql: Sql,
  objects: ObjectStore,
  { orphansAfter, isOver }: { readonly orphansAfter: number; isOver(): boolean },
): Promise<SweepReport> {
  const what = 'sweep objects';
  await sql.rows(
    what,
    `WITH dead AS (
       DELETE FROM reprise.object_try WHERE at < clock_timestamp() - $1 * interval '1 ms' RETURNING object, world
     ) ${NOTE_GONE}`,
    [orphansAfter],
  );
  const gone = await sql.rows(what, `SELECT object FROM reprise.object_gone ORDER BY at LIMIT ${SWEEP_MAX}`);
  let removed = 0;
  for (const [object] of gone) {
    if (isOver()) break;
    const isRemoved = await removeOne(sql, objects, String(object)).then(
      () => true,
      () => false,
    );
    if (isRemoved) removed++;
  }
  return { removed, left: gone.length - removed };
}

async function removeOne(sql: Sql, objects: ObjectStore, object: string): Promise<void> {
  await objects.remove(object);
  await sql.rows('forget an object', 'DELETE FROM reprise.object_gone WHERE object = $1', [object]);
}

/** The objects of a place, for content that has some. @throws RepriseError `store_failed` without them */
export function requireObjects(objects: ObjectStore | undefined, where: string): ObjectStore {
  if (objects !== undefined) return objects;
  throw new RepriseError('store_failed', 'this content is in an object store, which is not named here', {
    where,
    hint: 'Open the database with the option `objects`; for the command set REPRISE_OBJECTS.',
  });
}

/** A later sweep has given the upload up. */
function tooLate(where: string): RepriseError {
  return new RepriseError('store_failed', 'an object was stored so slowly that it was taken for abandoned', {
    where,
    hint: 'Store the content again.',
  });
}

/** Sweeps from time to time, as long as a database is open. */
export class Sweeper {
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(
    private readonly connections: Connections,
    private readonly objects: ObjectStore,
    private readonly everyMs: number,
    private readonly orphansAfter: number,
  ) {
    this.#later();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #later(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => void this.#sweep(), this.everyMs).unref();
  }

  async #sweep(): Promise<void> {
    const how = { orphansAfter: this.orphansAfter, isOver: () => this.#stopped };
    await sweepObjects(this.connections, this.objects, how).catch(() => undefined); // the next one does it
    this.#later();
  }
}
