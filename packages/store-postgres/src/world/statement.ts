/** The one statement that appends, for any number of worlds: parameters that the database takes apart again. */
import type { Head, StoredFrame } from '@reprise/kernel';
import { DIGEST_BYTES } from '../connection/columns.js';
import type { SqlParameter } from '../connection/driver.js';
import type { RowContent } from './seals.js';

/** What one world appends in one step. */
export interface Append {
  readonly world: number;
  readonly epoch: number;
  readonly incarnation: string;
  readonly expected: Head;
  readonly frames: readonly StoredFrame[];
  /** Content that becomes durable with the frames, by digest. */
  readonly blobs: readonly RowContent[];
}

/**
 * Bytes travel as one parameter for all rows, with the place of each, since the library sends a list of bytes as text,
 * which is twice as long. `held` locks the worlds that may be written in the order of their numbers.
 */
export const APPEND = `
  WITH given AS (
    SELECT world, epoch, seq, last,
      substr($5::bytea, (i::int - 1) * ${2 * DIGEST_BYTES} + 1, ${DIGEST_BYTES}) AS head,
      substr($5::bytea, (i::int - 1) * ${2 * DIGEST_BYTES} + ${DIGEST_BYTES + 1}, ${DIGEST_BYTES}) AS next
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) WITH ORDINALITY AS g (world, epoch, seq, last, i)
  ), held AS MATERIALIZED (
    SELECT w.id, g.last, g.next FROM reprise.world w JOIN given g ON g.world = w.id
    WHERE w.epoch = g.epoch AND w.seq = g.seq AND w.head = g.head
      AND EXISTS (SELECT FROM reprise.cell c WHERE c.incarnation = $21) ORDER BY w.id FOR UPDATE OF w
  ), moved AS (
    UPDATE reprise.world w SET seq = held.last, head = held.next FROM held WHERE w.id = held.id
    RETURNING w.id, w.followed_until > clock_timestamp() AS followed
  ), frames AS (
    INSERT INTO reprise.frame (world, seq, at, kind, head, key, bytes)
    SELECT f.world, f.seq, f.at, f.kind, substr($13::bytea, (f.i::int - 1) * ${DIGEST_BYTES} + 1, ${DIGEST_BYTES}),
      substr($14::bytea, f.keyed, ${DIGEST_BYTES}), substr($12::bytea, f.start, f.size)
    FROM unnest($6::bigint[], $7::bigint[], $8::bigint[], $9::text[], $10::int[], $11::int[], $15::int[])
      WITH ORDINALITY AS f (world, seq, at, kind, start, size, keyed, i) JOIN moved ON moved.id = f.world
  ), blobs AS (
    INSERT INTO reprise.blob (world, digest, bytes, seal)
    SELECT b.world, substr($20::bytea, (b.i::int - 1) * ${DIGEST_BYTES} + 1, ${DIGEST_BYTES}),
      CASE WHEN b.sealed = 0 THEN substr($19::bytea, b.start, b.size) END,
      CASE WHEN b.sealed = 1 THEN substr($19::bytea, b.start, b.size) END
    FROM unnest($16::bigint[], $17::int[], $18::int[], $22::int[]) WITH ORDINALITY AS b (world, start, size, sealed, i)
      JOIN moved ON moved.id = b.world
    ON CONFLICT (world, digest) DO UPDATE SET bytes = excluded.bytes, seal = excluded.seal
      WHERE blob.bytes IS DISTINCT FROM excluded.bytes OR blob.seal IS DISTINCT FROM excluded.seal
  )
  SELECT id, followed FROM moved`;

/** The parameters of {@link APPEND}, in their order. All appends are of one incarnation. */
export function appendParameters(appends: readonly Append[]): readonly SqlParameter[] {
  const frames = appends.flatMap(({ world, frames: all }) => all.map((frame) => ({ world, frame })));
  const blobs = appends.flatMap(({ world, blobs: all }) => all.map((blob) => ({ world, ...blob })));
  const frameBytes = placed(frames.map(({ frame }) => frame.bytes));
  const blobBytes = placed(blobs.map(({ bytes }) => bytes));
  const keys = frames.flatMap(({ frame }) => (frame.key === undefined ? [] : [frame.key]));
  let keyed = 0;
  return [
    appends.map(({ world }) => world),
    appends.map(({ epoch }) => epoch),
    appends.map(({ expected }) => expected.seq),
    appends.map(({ expected, frames: all }) => all.at(-1)?.seq ?? expected.seq),
    Buffer.from(
      appends.map(({ expected, frames: all }) => expected.digest + (all.at(-1)?.head ?? expected.digest)).join(''),
      'hex',
    ),
    frames.map(({ world }) => world),
    frames.map(({ frame }) => frame.seq),
    frames.map(({ frame }) => frame.at),
    frames.map(({ frame }) => frame.kind),
    frameBytes.starts,
    frameBytes.sizes,
    frameBytes.all,
    Buffer.from(frames.map(({ frame }) => frame.head).join(''), 'hex'),
    Buffer.from(keys.join(''), 'hex'),
    frames.map(({ frame }) => (frame.key === undefined ? null : keyed++ * DIGEST_BYTES + 1)),
    blobs.map(({ world }) => world),
    blobBytes.starts,
    blobBytes.sizes,
    blobBytes.all,
    Buffer.from(blobs.map(({ hex }) => hex).join(''), 'hex'),
    appends[0]?.incarnation ?? null,
    blobs.map(({ isSealed }) => (isSealed ? 1 : 0)),
  ];
}

interface Placed {
  readonly all: Uint8Array;
  /** Where each part begins, from 1. */
  readonly starts: readonly number[];
  readonly sizes: readonly number[];
}

function placed(parts: readonly Uint8Array[]): Placed {
  let next = 1;
  const starts = parts.map(({ length }) => {
    const start = next;
    next += length;
    return start;
  });
  return { all: Buffer.concat(parts), starts, sizes: parts.map(({ length }) => length) };
}

/** The bytes that an append brings. */
export function bytesOf({ frames, blobs }: Append): number {
  const ofFrames = frames.reduce((sum, { bytes }) => sum + bytes.length, 0);
  return blobs.reduce((sum, { bytes }) => sum + bytes.length, ofFrames);
}
