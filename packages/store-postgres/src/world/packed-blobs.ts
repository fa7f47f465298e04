/**
 * Packs of small blobs, deflated together. A pack never changes, and its number is never used again: an erasure moves what
 * is left of it into rows, which are packed again later, and removes it.
 *
 * Invariants
 * B1  One statement moves blobs into a pack, and compares the epoch under a lock of the world's row (committer/M1).
 * B2  A blob that was put again has bytes of its own beside its place; its bytes count. They leave when its pack still
 *     holds it, which repairs what a damaged pack has lost.
 * B3  An erasure removes the packs of all that it erases, whether they can still be read or not.
 */

import { hostSha256 } from '@reprise/kernel/driver';
import { blobAt, blobStarts, deflatedAside, inflated, joinBlobs, LENGTH_BYTES } from '@reprise/packs';
import { bytes, DIGEST_BYTES, digest, one, whole } from '../connection/columns.js';
import type { Row, Sql, SqlValue } from '../connection/driver.js';
import { ownedBy } from '../tenure/take.js';
import type { OwnedPlace, WorldPlace } from './place.js';

/** The largest blob that may be in a pack. */
const PACKED_BLOB_BYTES_MAX = 64 * 1024;

/** The blobs of a pack at most, those that were put again included. */
const PACK_BLOBS_MAX = 4096;

const hash = hostSha256();

const NEXT = `
  SELECT digest, bytes, pack, at FROM (
    SELECT *, sum(length(bytes) + ${LENGTH_BYTES}) OVER (ROWS UNBOUNDED PRECEDING) AS through FROM (
      SELECT digest, bytes, pack, at FROM reprise.blob
      WHERE world = $1 AND bytes IS NOT NULL AND length(bytes) <= ${PACKED_BLOB_BYTES_MAX} LIMIT ${PACK_BLOBS_MAX}
    ) AS page
  ) AS sized WHERE through - length(bytes) - ${LENGTH_BYTES} <= $2`;

const GIVEN = `
  SELECT substr($3::bytea, (i::int - 1) * ${DIGEST_BYTES} + 1, ${DIGEST_BYTES}) AS digest, at
  FROM unnest($4::int[]) WITH ORDINALITY AS g (at, i)`;

const heldForUpdate = (place: OwnedPlace): string =>
  `SELECT id, packs FROM reprise.world WHERE ${ownedBy(place)} FOR UPDATE`;

const packing = (place: OwnedPlace): string => `
  WITH held AS MATERIALIZED (${heldForUpdate(place)}), given AS (${GIVEN}), moved AS (
    UPDATE reprise.blob b SET bytes = NULL, pack = held.packs + 1, at = given.at FROM held, given
    WHERE b.world = $1 AND b.digest = given.digest AND b.bytes IS NOT NULL AND b.pack IS NULL RETURNING true
  ), counted AS (
    UPDATE reprise.world w SET packs = w.packs + 1 FROM held WHERE w.id = held.id
  )
  INSERT INTO reprise.blob_pack (world, id, size, bytes, blobs, moved)
  SELECT id, packs + 1, $5, $6, $7, (SELECT count(*) FROM moved) FROM held RETURNING true`;

/** Gives up the rows' own bytes of blobs that were put again; the place that was looked at is compared. */
const givingUp = (place: OwnedPlace): string => `
  WITH held AS MATERIALIZED (${heldForUpdate(place)}), given AS (${GIVEN})
  UPDATE reprise.blob b SET bytes = NULL FROM held, given
  WHERE b.world = $1 AND b.digest = given.digest AND b.pack = $5 AND b.at = given.at RETURNING true`;

interface Waiting {
  readonly digest: string;
  readonly bytes: Uint8Array;
  readonly place: { readonly pack: number; readonly at: number } | undefined;
}

/**
 * Makes one pack of blobs that wait.
 *
 * @param least the plain bytes from which a pack is made
 * @param most the plain bytes of a pack
 * @returns the bytes that wait now, where nothing is to be done before more come; undefined after a pack
 * @throws RepriseError `store_failed`
 */
export async function packBlobs(
  place: OwnedPlace,
  { least, most }: { readonly least: number; readonly most: number },
): Promise<number | undefined> {
  const { connections, id, epoch, where } = place;
  const found = (await connections.rows('pack content', NEXT, [id, most])).map((row) => waiting(row, where));
  await giveUpAgain(place, found);
  // One that is damaged stays, for the reader that finds it, and to be put again.
  const sound = found.filter((blob) => blob.place === undefined && hexOf(hash(blob.bytes)) === blob.digest);
  const run = runOf(sound, most);
  const isFull = run.length < sound.length || found.length === PACK_BLOBS_MAX;
  const { plain, starts } = joinBlobs(run.map((blob) => blob.bytes));
  if (run.length === 0 || (!isFull && plain.length < least)) return plain.length;
  const stored = await deflatedAside(plain);
  const packed = await connections.rows('pack content', packing(place), [
    ...[id, epoch, digestsOf(run), starts, stored.size, stored.bytes, run.length],
  ]);
  return packed.length === 0 ? 0 : undefined;
}

/** The blobs of one pack: as many of the first ones as fit. */
function runOf(all: readonly Waiting[], most: number): readonly Waiting[] {
  let size = 0;
  const end = all.findIndex((blob) => {
    size += LENGTH_BYTES + blob.bytes.length;
    return size > most;
  });
  return end === -1 ? all : all.slice(0, Math.max(end, 1));
}

function waiting([hex, own, pack, at]: Row, where: string): Waiting {
  return {
    digest: digest(hex, where),
    bytes: bytes(own, where),
    place: pack == null ? undefined : { pack: whole(pack, where), at: whole(at, where) },
  };
}

// B2
async function giveUpAgain(place: OwnedPlace, found: readonly Waiting[]): Promise<void> {
  const { connections, id, epoch } = place;
  const packs = new Set(found.flatMap(({ place: known }) => known?.pack ?? []));
  for (const pack of packs) {
    const plain = await plainPack(connections, id, pack);
    const sound = found.filter(
      ({ place: known, digest: name }) => known?.pack === pack && plain !== undefined && holds(plain, known.at, name),
    );
    if (sound.length === 0) continue;
    const ats = sound.map(({ place: known }) => known?.at ?? 0);
    await connections.rows('pack content', givingUp(place), [id, epoch, digestsOf(sound), ats, pack]);
  }
}

function holds(plain: Uint8Array, at: number, hex: string): boolean {
  try {
    return hexOf(hash(blobAt(plain, at))) === hex;
  } catch {
    return false;
  }
}

/**
 * The bytes of a blob in a pack; empty ones when the pack is damaged or was removed meanwhile. They are not checked against
 * the digest.
 *
 * @param anew whether to read a pack that is kept
 */
export async function packedBlob(
  place: WorldPlace,
  { pack, at }: { readonly pack: number; readonly at: number },
  anew: boolean,
): Promise<Uint8Array> {
  const name = `${place.id} ${pack}`;
  const known = anew ? undefined : place.kept.get(name);
  const plain = known ?? (await plainPack(place.connections, place.id, pack));
  if (plain === undefined) return new Uint8Array();
  place.kept.keep(name, plain);
  try {
    return new Uint8Array(blobAt(plain, at));
  } catch {
    return new Uint8Array();
  }
}

/** The plain bytes of a pack; undefined when it is damaged or missing. */
async function plainPack(sql: Sql, id: number, pack: number): Promise<Uint8Array | undefined> {
  const text = 'SELECT bytes, size FROM reprise.blob_pack WHERE world = $1 AND id = $2';
  const [stored, size] = one(await sql.rows('read content', text, [id, pack])) ?? [];
  try {
    return stored instanceof Uint8Array ? inflated({ bytes: stored, size: Number(size) }) : undefined;
  } catch {
    return undefined;
  }
}

const PACKS_OF = `
  SELECT DISTINCT pack FROM reprise.blob WHERE world = $1 AND pack IS NOT NULL AND digest IN (
    SELECT substr($2::bytea, (i - 1) * ${DIGEST_BYTES} + 1, ${DIGEST_BYTES}) FROM generate_series(1, $3::int) AS i
  )`;

const MOVE_OUT = `
  UPDATE reprise.blob b SET bytes = COALESCE(b.bytes, substr($5::bytea, at + 1 + ${LENGTH_BYTES}, given.size)), pack = NULL, at = NULL
  FROM (
    SELECT substr($2::bytea, (i::int - 1) * ${DIGEST_BYTES} + 1, ${DIGEST_BYTES}) AS digest, start, size
    FROM unnest($3::int[], $4::int[]) WITH ORDINALITY AS g (start, size, i)
  ) AS given
  WHERE b.world = $1 AND b.digest = given.digest AND b.pack = $6 AND b.at = given.start`;

/**
 * Removes the packs of blobs that are erased, within the transaction that erases them and has locked the world; what else
 * is in them moves into rows (B3).
 *
 * @returns the bytes that have moved
 */
export async function removePacks(sql: Sql, place: OwnedPlace, doomed: readonly string[]): Promise<number> {
  const { id, where } = place;
  const what = 'erase content';
  const found = await sql.rows(what, PACKS_OF, [id, Buffer.from(doomed.join(''), 'hex'), doomed.length]);
  const erased = new Set(doomed);
  let moved = 0;
  for (const [number] of found) {
    const pack = whole(number, where);
    const plain = (await plainPack(sql, id, pack)) ?? new Uint8Array();
    const left = startsOf(plain)
      .map((at) => ({ at, digest: hexOf(hash(blobAt(plain, at))), size: blobAt(plain, at).length }))
      .filter((blob) => !erased.has(blob.digest));
    moved += left.reduce((sum, { size }) => sum + size, 0);
    if (left.length > 0)
      await sql.rows(what, MOVE_OUT, [
        ...[id, digestsOf(left), left.map(({ at }) => at), left.map(({ size }) => size), plain, pack],
      ]);
    await sql.rows(what, 'DELETE FROM reprise.blob_pack WHERE world = $1 AND id = $2', [id, pack]);
    place.kept.forget(`${id} ${pack}`);
  }
  return moved;
}

/** Nothing of a damaged pack, which is then lost as it was before. */
function startsOf(plain: Uint8Array): readonly number[] {
  try {
    return blobStarts(plain);
  } catch {
    return [];
  }
}

function digestsOf(blobs: readonly { readonly digest: string }[]): SqlValue {
  return Buffer.from(blobs.map((blob) => blob.digest).join(''), 'hex');
}

function hexOf(all: Uint8Array): string {
  return Buffer.from(all.buffer, all.byteOffset, all.byteLength).toString('hex');
}
