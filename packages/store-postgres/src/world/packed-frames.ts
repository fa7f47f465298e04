/**
 * Packs older frames of a world: their rows become one, which holds them deflated together.
 *
 * Invariants
 * F1  One statement removes the rows of a pack and adds it, so that any other statement finds each frame in exactly one
 *     of the two tables.
 * F2  It compares the epoch and the last packed frame under a lock of the world's row, as an append does (committer/M1):
 *     what a deposed owner still sends changes nothing.
 * F3  The tables refuse a pack that would not replace exactly the rows that it was made of (`schema.ts`).
 */
import { deflatedAside, type FrameRow, joinRows, packedBytes } from '@reprise/packs';
import { bytes, digestBytes, text, whole } from '../connection/columns.js';
import type { Row } from '../connection/driver.js';
import { ownedBy } from '../tenure/take.js';
import { keyHash, packKeys } from './packed-keys.js';
import type { OwnedPlace } from './place.js';

/** The frames of a pack at most: their keys stand in one row, and its index. */
const PACK_FRAMES_MAX = 1024;

/** The bytes of a chunk of a long value (`TOAST_MAX_CHUNK_SIZE` of PostgreSQL). */
const CHUNK_BYTES = 1996;

const NEXT = `
  SELECT seq, at, kind, head, key, bytes, through FROM (
    SELECT *, sum(length(bytes)) OVER (ORDER BY seq) - length(bytes) AS before FROM (
      SELECT f.*, w.packed_through AS through FROM reprise.frame f, reprise.world w
      WHERE w.id = $1 AND f.world = $1 AND f.seq > w.packed_through ORDER BY f.seq LIMIT ${PACK_FRAMES_MAX}
    ) AS page
  ) AS sized WHERE before <= $2 ORDER BY seq`;

const heldAt = (place: OwnedPlace): string =>
  `SELECT id FROM reprise.world WHERE ${ownedBy(place)} AND packed_through = $3 FOR UPDATE`;

const packing = (place: OwnedPlace): string => `
  WITH held AS MATERIALIZED (${heldAt(place)}), gone AS (
    DELETE FROM reprise.frame WHERE world = $1 AND seq BETWEEN $4 AND $5 AND EXISTS (SELECT FROM held)
    RETURNING seq, kind
  ), landmarks AS (
    INSERT INTO reprise.landmark (world, kind, seq) SELECT $1, kind, max(seq) FROM gone GROUP BY kind
  ), counted AS (
    UPDATE reprise.world w SET packs = packs + 1, packed_through = $5 FROM held WHERE w.id = held.id
  )
  INSERT INTO reprise.pack (world, first, seq, at, size, kind, head, stored, keys, bytes, tail, frames)
  SELECT id, $4, $5, $6, $7, $8, $9, $10, $11::bigint[], $12, $13, (SELECT count(*) FROM gone) FROM held RETURNING true`;

/** A frame that is too large for a pack stays a row. */
const passing = (place: OwnedPlace): string => `
  WITH held AS MATERIALIZED (${heldAt(place)})
  UPDATE reprise.world w SET packed_through = $4 FROM held WHERE w.id = held.id RETURNING true`;

/** A frame that waits, and the key of its request. */
interface Waiting {
  readonly row: FrameRow;
  readonly key: Uint8Array | undefined;
  /** The bytes that it takes in a pack. */
  readonly cost: number;
}

/**
 * Makes one pack of the oldest frames that wait.
 *
 * @param least the plain bytes from which a pack is made that is not full
 * @param most the plain bytes of a pack
 * @returns the bytes that wait now, where nothing is to be done before more come; undefined after a pack
 * @throws RepriseError `store_failed`, `journal_damaged` for rows that are not what an append writes
 */
export async function packFrames(
  place: OwnedPlace,
  { least, most }: { readonly least: number; readonly most: number },
): Promise<number | undefined> {
  const { connections, id, epoch, where } = place;
  const found = await connections.rows('pack frames', NEXT, [id, most]);
  const through = found[0] === undefined ? -1 : whole(found[0][6], where);
  const all = found.map((row) => waiting(row, where));
  const first = all[0];
  if (first === undefined || first.row.seq !== through + 1) return 0; // nothing, or a hole, which its reader finds
  if (first.cost > most) {
    const passed = await connections.rows('pack frames', passing(place), [id, epoch, through, first.row.seq]);
    return passed.length === 0 ? 0 : undefined;
  }
  const { run, size } = runOf(all, most);
  if (run.length === all.length && run.length < PACK_FRAMES_MAX && size < least) return size;
  const last = (run.at(-1) as Waiting).row;
  const stored = await deflatedAside(
    joinRows(
      run.map(({ row }) => row),
      where,
    ).bytes,
  );
  const keys = run.flatMap(({ key }, n) => (key === undefined ? [] : [[n, key] as const]));
  const packed = await connections.rows('pack frames', packing(place), [
    ...[id, epoch, through, first.row.seq, last.seq, last.at, stored.size, last.kind, last.head, stored.bytes.length],
    keys.map(([, key]) => keyHash(id, key)),
    ...inChunks(Buffer.concat([stored.bytes, packKeys(keys)])),
  ]);
  return packed.length === 0 ? 0 : undefined;
}

/** Whole chunks of the database, and the rest. */
function inChunks(all: Uint8Array): readonly [Uint8Array, Uint8Array] {
  const end = all.length - (all.length % CHUNK_BYTES);
  return [all.subarray(0, end), all.subarray(end)];
}

function waiting([seq, at, kind, head, key, stored]: Row, place: string): Waiting {
  const where = `${place}, frame ${String(seq)}`;
  const plain = bytes(stored, where);
  const number = whole(seq, where);
  const row = {
    ...{ seq: number, first: number, at: whole(at, where), kind: text(kind, where) },
    ...{ head: digestBytes(head, where), bytes: plain, size: plain.length },
  };
  return {
    row,
    key: key == null ? undefined : digestBytes(key, where),
    cost: packedBytes(row, Buffer.byteLength(row.kind), plain.length),
  };
}

/** The frames of a pack: one after another, as many as fit. */
function runOf(all: readonly Waiting[], most: number): { readonly run: readonly Waiting[]; readonly size: number } {
  let size = 0;
  const end = all.findIndex(({ row, cost }, n) => {
    if (n > 0 && row.seq !== (all[n - 1] as Waiting).row.seq + 1) return true;
    if (size + cost > most) return true;
    size += cost;
    return false;
  });
  return { run: end === -1 ? all : all.slice(0, end), size };
}
