/**
 * Erases blobs so that no file of the store contains their bytes, and stores their tombstones.
 *
 * Invariants
 * E1  A row is filled with zeros in its place and never deleted. Deletion makes SQLite merge pages and leave copies of
 *     the rows that it moved, which `secure_delete` does not reach: measured, 6 of some 17,000 erased blobs remained in
 *     the file, and none of 5,700 when overwritten. The price is that a blob's length stays known. Splitting a page
 *     also leaves copies; `secure_delete` reaches those, so it is on for a writer's connection.
 *     Blobs of a pack are zeros only together, so its other blobs move out first (blob-packs/B2).
 * E2  Bytes remain in the WAL until it is truncated, so an erasure ends with a checkpoint that empties it.
 * E3  The note that an erasure is finished is written last. A crash before it is repaired by doing all of it again.
 */
import { RepriseError } from '@reprise/contracts';
import type { ContentReader, ErasableContentStore } from '@reprise/kernel';
import type { Connection } from '../database/driver.js';
import { noteReader, setNote } from '../database/notes.js';
import { hasTombstones } from '../database/schema.js';
import { guarded } from '../database/sqlite-errors.js';
import { illegal, whole, wholeSql } from '../database/values.js';
import type { HeldFile } from '../file/held-file.js';
import type { BlobFiles } from './blob-files.js';
import type { Packer } from './packer.js';

/** The name of the note with the frame of the last finished erasure. */
const FINISHED = 'erased_through';

/** The reading half: the tombstones, and the frame through which erasing is finished. */
export function tombstones(db: Connection, path: string): Pick<ContentReader, 'erasedBy' | 'erasedThrough'> {
  const select = hasTombstones(db) ? db.prepare(`SELECT ${wholeSql('seq')} FROM erased WHERE digest = ?`) : undefined;
  const note = noteReader(db);
  const query = <T>(body: () => T): T => guarded('cannot look for a tombstone', path, body);
  return {
    erasedBy: async ({ hex }) =>
      query(() => {
        const row = select?.get(Buffer.from(hex, 'hex'));
        return row && whole(row[0], `${path}, the tombstone of ${hex}`);
      }),
    erasedThrough: async () =>
      query(() => {
        const seq = note(FINISHED) ?? '-1';
        if (/^(-1|\d{1,15})$/.test(seq)) return Number(seq);
        throw illegal(`${path}, the note of the last erasure`, 'a whole number');
      }),
  };
}

/** Erases blobs, in rows and in files; blobs that wait for an append are not included. */
export function blobEraser(held: HeldFile, files: BlobFiles, packer: Packer): ErasableContentStore['erase'] {
  const { db, path } = held;
  const bury = db.prepare(
    `INSERT OR REPLACE INTO erased (digest, seq, hollow)
     VALUES (?, ?, EXISTS (SELECT 1 FROM blob WHERE digest = ?))`,
  );
  const overwrite = db.prepare('UPDATE blob SET bytes = zeroblob(length(bytes)) WHERE digest = ?');
  const write = (body: () => void): void => guarded('cannot erase', path, () => held.commit(body));

  return async (refs, by) => {
    packer.recount();
    const digests = refs.map(({ hex }) => Buffer.from(hex, 'hex'));
    write(() => {
      packer.blobs.erase(digests);
      for (const digest of digests) {
        bury.run(digest, by, digest);
        overwrite.run(digest);
      }
    });
    for (const { hex } of refs) await files.remove(hex);
    guarded('cannot erase', path, () => emptyWal(held)); // E2
    write(() => setNote(db, FINISHED, String(by))); // E3
  };
}

/** @throws store_failed while a reader still uses older pages */
function emptyWal(held: HeldFile): void {
  if (held.emptyLog()) return;
  throw new RepriseError('store_failed', 'erased content is still in the write-ahead log', {
    where: held.path,
    hint: 'Another reader has this world open. Let it end, then erase again under the same id, or open the world again.',
  });
}
