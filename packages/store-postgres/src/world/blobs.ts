/** How content lies in the tables: small blobs in one row, large ones in pieces, each in a row or an object that it names. */
import { randomBytes } from 'node:crypto';
import { bytes, DIGEST_BYTES, one, whole } from '../connection/columns.js';
import { fenced, ownedBy } from '../tenure/take.js';
import { held, NOTE_GONE, OBJECT_BYTES, removeGone, requireObjects, writeObject } from './objects.js';
import { packedBlob, removePacks } from './packed-blobs.js';
import type { OwnedPlace, WorldPlace } from './place.js';
import { openSeal, PieceSeal } from './seals.js';

/** The bytes of a piece of a large blob. */
const PIECE_BYTES = 1024 * 1024;

/** The most blobs that one statement lists. */
const LIST_PAGE = 1_000;

/** The bytes of a piece that this place writes. */
export function pieceBytes({ objects }: WorldPlace): number {
  return objects === undefined ? PIECE_BYTES : OBJECT_BYTES;
}

/**
 * The bytes of a blob; undefined without one. They are not checked against its digest: an object that is missing is left
 * out of them.
 *
 * @param anew whether to read a pack of blobs that is kept
 * @throws RepriseError `store_failed`
 */
export async function storedBytes(
  place: WorldPlace,
  hex: string,
  anew = false,
): Promise<Uint8Array | undefined | 'its key is destroyed'> {
  const { connections, id, where, tables } = place;
  const digest = Buffer.from(hex, 'hex');
  const named = `bytes${tables.packs ? ', pack, at' : ', NULL, NULL'}${tables.seals ? ', seal' : ''}`;
  const row = one(
    await connections.rows('read content', `SELECT ${named} FROM reprise.blob WHERE world = $1 AND digest = $2`, [
      id,
      digest,
    ]),
  );
  if (row === undefined) return undefined;
  const [own, pack, at, seal] = row;
  if (own != null) return bytes(own, where);
  if (seal != null) {
    const opened = await openSeal(place, hex, seal);
    if (opened === 'its key is destroyed') return opened;
    return 'plain' in opened ? opened.plain : piecesOf(place, digest, opened.piece);
  }
  if (pack == null) return piecesOf(place, digest);
  return packedBlob(place, { pack: whole(pack, where), at: whole(at, where) }, anew);
}

async function piecesOf(
  place: WorldPlace,
  digest: Uint8Array,
  opened = (_n: number, stored: Uint8Array): Uint8Array => stored,
): Promise<Uint8Array> {
  const { connections, id, where, tables } = place;
  const pieces: Uint8Array[] = [];
  for (;;) {
    // One at a time: a result of many would be in memory twice.
    const columns = tables.objects ? 'bytes, object' : 'bytes, NULL';
    const piece = one(
      await connections.rows(
        'read content',
        `SELECT ${columns} FROM reprise.part WHERE world = $1 AND digest = $2 AND n = $3`,
        [id, digest, pieces.length],
      ),
    );
    if (piece === undefined) return new Uint8Array(Buffer.concat(pieces));
    const [stored, object] = piece;
    if (stored === null && !tables.objects) await tables.requireSame(where);
    const found =
      object == null ? bytes(stored, where) : await requireObjects(place.objects, where).get(String(object));
    pieces.push(opened(pieces.length, found ?? new Uint8Array()));
  }
}

/** Whether a blob is stored. */
export async function isStored({ connections, id }: WorldPlace, hex: string): Promise<boolean> {
  const found = await connections.rows(
    'look for content',
    'SELECT FROM reprise.blob WHERE world = $1 AND digest = $2',
    [id, Buffer.from(hex, 'hex')],
  );
  return found.length > 0;
}

/** The digests of all blobs from one on, as hex, in their order. */
export async function* storedDigests(
  { connections, id, where }: WorldPlace,
  range: { readonly from: string; readonly to?: string },
): AsyncGenerator<string> {
  const to = range.to === undefined ? null : Buffer.from(range.to, 'hex');
  for (let after = Buffer.alloc(0), first = true; ; first = false) {
    const from = first ? Buffer.from(range.from, 'hex') : after;
    const page = await connections.rows(
      'list content',
      `SELECT digest FROM reprise.blob WHERE world = $1 AND digest ${first ? '>=' : '>'} $2 AND ($3::bytea IS NULL OR digest < $3)
       ORDER BY digest LIMIT ${LIST_PAGE}`,
      [id, from, to],
    );
    for (const [digest] of page) {
      after = Buffer.from(bytes(digest, where));
      yield after.toString('hex');
    }
    if (page.length < LIST_PAGE) return;
  }
}

/** Writes a blob of one row, now. @throws RepriseError `fenced` when another opening has the world */
export async function writeBlob(place: OwnedPlace, hex: string, plain: Uint8Array): Promise<void> {
  const write = (column: 'bytes' | 'seal', stored: Uint8Array): Promise<void> => {
    const insert = `INSERT INTO reprise.blob (world, digest, ${column}) SELECT id, $3, $4 FROM held`;
    return whileOwned(place, insert, [Buffer.from(hex, 'hex'), stored]);
  };
  if (place.sealer === undefined) return write('bytes', plain);
  await place.sealer.write(place, [[hex, plain]], async (rows) => {
    for (const { bytes: seal } of rows) await write('seal', seal);
  });
}

/** The pieces of a large blob, while its digest is not known yet. */
export class Upload {
  readonly #name = randomBytes(DIGEST_BYTES);
  readonly #seal: PieceSeal | undefined;
  #pieces = 0;

  constructor(private readonly place: OwnedPlace) {
    this.#seal = place.sealer && new PieceSeal();
  }

  /** Writes a piece of {@link pieceBytes} at most. */
  async write(plain: Uint8Array): Promise<void> {
    const { objects } = this.place;
    const n = this.#pieces++;
    const piece = this.#seal?.sealed(n, plain) ?? plain;
    if (objects !== undefined) return writeObject(this.place, objects, { digest: this.#name, n }, piece);
    const sql = 'INSERT INTO reprise.part (world, digest, n, bytes) SELECT id, $3, $4, $5 FROM held';
    await whileOwned(this.place, sql, [this.#name, n, piece]);
  }

  /** Gives the pieces the digest of the whole, in place of what was stored under it. */
  async finish(hex: string): Promise<void> {
    const { sealer } = this.place;
    if (sealer === undefined || this.#seal === undefined) return this.#nameThem(hex, null);
    await sealer.writePieces(this.place, hex, this.#seal, (seal) => this.#nameThem(hex, seal));
  }

  async #nameThem(hex: string, seal: Uint8Array | null): Promise<void> {
    const { connections, id, epoch, where } = this.place;
    const digest = Buffer.from(hex, 'hex');
    await connections.transaction('store content', async (sql) => {
      if ((await sql.rows('store content', held(this.place), [id, epoch])).length === 0) throw fenced(where);
      // First, so that two uploads of the same bytes finish one after the other: the second waits for this row.
      await sql.rows(
        'store content',
        `INSERT INTO reprise.blob (world, digest, seal) VALUES ($1, $2, $3)
         ON CONFLICT (world, digest) DO UPDATE SET bytes = NULL, seal = excluded.seal`,
        [id, digest, seal],
      );
      await sql.rows('store content', removing('world = $1 AND digest = $2'), [id, digest]);
      await sql.rows('store content', 'UPDATE reprise.part SET digest = $2 WHERE world = $1 AND digest = $3', [
        ...[id, digest, this.#name],
      ]);
    });
  }

  /** Removes the pieces: the content did not come to its end. */
  async remove(): Promise<void> {
    const { connections, id } = this.place;
    await connections.rows('remove content', removing('world = $1 AND digest = $2'), [id, this.#name]);
  }
}

/**
 * Removes the pieces of uploads that a process before has not finished. One that comes late, after another opening has taken
 * the world, removes nothing: what is unfinished then is under way there.
 *
 * @throws RepriseError `fenced`
 */
export async function removeUnfinished(place: OwnedPlace): Promise<void> {
  const { connections, id, epoch, where } = place;
  const unfinished = `p.world = held.id
    AND NOT EXISTS (SELECT FROM reprise.blob b WHERE b.world = p.world AND b.digest = p.digest)`;
  const rows = await connections.rows(
    'remove unfinished content',
    `WITH held AS MATERIALIZED (${held(place)}),
       dead AS (DELETE FROM reprise.part p USING held WHERE ${unfinished} RETURNING p.object, p.world),
       gone AS (${NOTE_GONE})
     SELECT id FROM held`,
    [id, epoch],
  );
  if (rows.length === 0) throw fenced(where);
}

/** Removes pieces; the objects that they name are noted, and leave with the next sweep. */
function removing(which: string): string {
  return `WITH dead AS (DELETE FROM reprise.part p WHERE ${which} RETURNING p.object, p.world) ${NOTE_GONE}`;
}

/**
 * Erases blobs: their keys first, where they are sealed; then their rows, which leaves their tombstones, as one step; their
 * objects are removed after it, and only then is the erasure finished. The world is locked by a statement of its own: what an upload that
 * the lock has waited for has finished is seen by the next statement only.
 *
 * @returns the bytes of other blobs that were in packs with erased ones, and have moved into rows
 * @throws RepriseError `fenced`, `store_failed` when an object could not be removed
 */
export async function eraseBlobs(place: OwnedPlace, hexes: readonly string[], by: number): Promise<number> {
  const { connections, id, epoch, where, sealer } = place;
  const remove = (): Promise<Removed> => removeRows(place, hexes, by);
  const { moved, isLeft } = await (sealer === undefined ? remove() : sealer.erase(place, hexes, remove));
  if (!isLeft) return moved;
  await removeGone(place, requireObjects(place.objects, where));
  if ((await connections.rows('erase content', finished(place), [id, epoch, by])).length === 0) throw fenced(where);
  return moved;
}

interface Removed {
  /** The bytes of other blobs that have moved into rows. */
  readonly moved: number;
  /** Whether objects may be left, so that the erasure is not finished. */
  readonly isLeft: boolean;
}

/** Removes the rows of blobs and counts their erasures. */
async function removeRows(place: OwnedPlace, hexes: readonly string[], by: number): Promise<Removed> {
  const { connections, id, epoch, where } = place;
  const what = 'erase content';
  return connections.transaction(what, async (sql) => {
    const lock = `SELECT FROM reprise.world WHERE ${ownedBy(place)} FOR UPDATE`;
    if ((await sql.rows(what, lock, [id, epoch])).length === 0) throw fenced(where);
    const moved = await removePacks(sql, place, hexes);
    await sql.rows(
      what,
      `WITH dead AS MATERIALIZED (
         SELECT DISTINCT substr($2::bytea, (i - 1) * ${DIGEST_BYTES} + 1, ${DIGEST_BYTES}) AS digest
         FROM generate_series(1, $3::int) AS i
       ),
       blobs AS (DELETE FROM reprise.blob b USING dead WHERE b.world = $1 AND b.digest = dead.digest),
       parts AS (
         DELETE FROM reprise.part p USING dead WHERE p.world = $1 AND p.digest = dead.digest RETURNING p.object
       ),
       gone AS (
         INSERT INTO reprise.object_gone (object, world) SELECT object, $1 FROM parts WHERE object IS NOT NULL
           ON CONFLICT (object) DO NOTHING
       )
       INSERT INTO reprise.tombstone (world, digest, seq) SELECT $1, digest, $4::bigint FROM dead
         ON CONFLICT (world, digest) DO UPDATE SET seq = excluded.seq, times = tombstone.times + 1`,
      [id, Buffer.from(hexes.join(''), 'hex'), hexes.length, by],
    );
    const gone = 'SELECT FROM reprise.object_gone WHERE world = $1 LIMIT 1';
    if (place.objects !== undefined || (await sql.rows(what, gone, [id])).length > 0) return { moved, isLeft: true };
    await sql.rows(what, finished(place), [id, epoch, by]);
    return { moved, isLeft: false };
  });
}

function finished(place: OwnedPlace): string {
  return `UPDATE reprise.world SET erased_through = $3 WHERE ${ownedBy(place)} RETURNING true`;
}

/** The newest erasure that named a blob; undefined without one. */
export async function tombstoneOf({ connections, id, where }: WorldPlace, hex: string): Promise<number | undefined> {
  const row = one(
    await connections.rows(
      'look for a tombstone',
      'SELECT seq FROM reprise.tombstone WHERE world = $1 AND digest = $2',
      [...[id, Buffer.from(hex, 'hex')]],
    ),
  );
  return row && whole(row[0], where);
}

/** The frame of the newest finished erasure, −1 without one. */
export async function erasedThrough({ connections, id, where }: WorldPlace): Promise<number> {
  const row = one(
    await connections.rows('look for erasures', 'SELECT erased_through FROM reprise.world WHERE id = $1', [id]),
  );
  return whole(row?.[0], where);
}

/** Runs an insertion that reads `held`; its parameters begin at $3. */
async function whileOwned(
  place: OwnedPlace,
  insert: string,
  parameters: readonly (Uint8Array | number)[],
): Promise<void> {
  const { connections, id, epoch, where } = place;
  const conflict = insert.includes('reprise.blob')
    ? ' ON CONFLICT (world, digest) DO UPDATE SET bytes = excluded.bytes, seal = excluded.seal'
    : '';
  const rows = await connections.rows(
    'store content',
    `WITH held AS MATERIALIZED (${held(place)}), added AS (${insert}${conflict}) SELECT id FROM held`,
    [id, epoch, ...parameters],
  );
  if (rows.length === 0) throw fenced(where);
}
