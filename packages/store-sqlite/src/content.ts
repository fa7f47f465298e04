import { Ref, RepriseError } from '@reprise/contracts';
import type { ContentReader, ContentStore, ErasableContentStore, KeptStream } from '@reprise/kernel';
import type { BlobFiles } from './blob-files.js';
import type { Connection, SqlValue } from './driver.js';
import { blobEraser, standingSql, tombstones } from './erasure.js';
import { nodeSha256 } from './hash.js';
import type { HeldFile } from './held-file.js';
import type { Riders } from './schema.js';
import { guarded } from './sqlite-errors.js';
import { bytes as bytesOf, bytesSql, digestSql, illegal } from './values.js';

/**
 * The largest blob that is written in the transaction of the next append, without another sync; a larger one is a file.
 */
export const INLINE_BYTES_MAX = 64 * 1024;

/** The bytes that may wait for an append before they are written without one: a bound on memory. */
const STAGED_BYTES_MAX = 16 * 1024 * 1024;

const LIST_PAGE = 1024;

/** The blobs that are not written yet, as the reading half sees them. */
type Staged = ReadonlyMap<string, Uint8Array>;

/** The reading half of the content store, over any connection. */
export function contentReader(
  db: Connection,
  files: BlobFiles,
  path: string,
  staged: Staged = new Map(),
): ContentReader & Pick<ContentStore, 'list'> {
  const standing = standingSql(db);
  const select = db.prepare(`SELECT ${bytesSql('bytes', INLINE_BYTES_MAX)} FROM blob WHERE digest = ? AND ${standing}`);
  const exists = db.prepare(`SELECT 1 FROM blob WHERE digest = ? AND ${standing}`);
  // Filtered here and not in SQL: in a file whose pages lead back to earlier ones, such a query might never end.
  const page = db.prepare(
    `SELECT ${digestSql('digest')}, ${standing} FROM blob WHERE digest > ? ORDER BY digest LIMIT ?`,
  );
  const query = <T>(hex: string, body: (digest: Uint8Array) => T): T =>
    guarded('cannot read a blob', `${path}, sha256:${hex}`, () => body(Buffer.from(hex, 'hex')));

  async function* list(): AsyncGenerator<Ref> {
    const seen = new Set<string>(staged.keys());
    for (const hex of seen) yield Ref.fromHex(hex);
    for (let last = '', size = LIST_PAGE; size === LIST_PAGE; ) {
      const rows = query(last, (digest) => page.all(digest, LIST_PAGE));
      for (const [name, stands] of rows) {
        const hex = hexOf(bytesOf(name, `${path}, the blob after ${last}`));
        if (hex <= last) throw illegal(`${path}, the blob after ${last}`, 'blobs in order');
        if (stands === 1 && !seen.has(hex)) yield Ref.fromHex(hex);
        last = hex;
      }
      size = rows.length;
    }
    for await (const hex of files.list()) yield Ref.fromHex(hex);
  }

  return {
    get: async (ref) => {
      const waiting = staged.get(ref.hex);
      if (waiting !== undefined) return new Uint8Array(waiting);
      const row = query(ref.hex, (digest) => select.get(digest));
      const bytes = row === undefined ? await files.get(ref.hex) : inlineBytes(row[0], ref, path);
      if (bytes !== undefined) assertDigest(bytes, ref, path);
      return bytes;
    },
    has: async (ref) =>
      staged.has(ref.hex) || query(ref.hex, (digest) => exists.get(digest)) !== undefined || files.has(ref.hex),
    ...tombstones(db, path),
    list,
  };
}

/** The content store of a writer, and the blobs that wait for its next append. */
interface StagingContent {
  readonly content: ErasableContentStore;
  readonly staged: Riders;
}

/** The writing half. */
export function stagingContent(held: HeldFile, files: BlobFiles): StagingContent {
  const { db, path } = held;
  const staged = new Map<string, Uint8Array>();
  let stagedBytes = 0;
  // Same digest, other bytes: the stored ones are damaged, and readers must get the new ones.
  const insert = db.prepare(
    `INSERT INTO blob (digest, bytes) VALUES (?, ?)
     ON CONFLICT (digest) DO UPDATE SET bytes = excluded.bytes WHERE bytes <> excluded.bytes`,
  );

  const fill = db.prepare('UPDATE erased SET hollow = 0 WHERE digest = ? AND hollow = 1');
  const eraseStored = blobEraser(held, files);

  const riders: Riders = {
    write: () => {
      for (const [hex, bytes] of staged) {
        const digest = Buffer.from(hex, 'hex');
        insert.run(digest, bytes);
        fill.run(digest);
      }
    },
    written: () => {
      staged.clear();
      stagedBytes = 0;
    },
  };

  async function put(bytes: Uint8Array): Promise<Ref> {
    const copy = new Uint8Array(bytes); // the caller may change its bytes before they are written
    const hex = hexOf(nodeSha256(copy));
    if (copy.length > INLINE_BYTES_MAX) {
      await files.put(hex, copy);
      return Ref.fromHex(hex);
    }
    if (!staged.has(hex)) {
      staged.set(hex, copy);
      stagedBytes += copy.length;
    }
    if (stagedBytes > STAGED_BYTES_MAX) guarded('cannot store blobs', path, () => held.commit(() => {}, riders));
    return Ref.fromHex(hex);
  }

  /** A small stream is stored as a whole; of a larger one only the beginning is in memory. */
  async function putStream(pieces: AsyncIterable<Uint8Array>): Promise<KeptStream> {
    const source = pieces[Symbol.asyncIterator]();
    const { start, ended } = await startOf(source, INLINE_BYTES_MAX);
    if (ended) return { ref: await put(start), bytes: start.length };
    const { hex, bytes } = await files.putStream(rest(start, source));
    return { ref: Ref.fromHex(hex), bytes };
  }

  async function erase(refs: readonly Ref[], by: number): Promise<void> {
    for (const { hex } of refs) {
      stagedBytes -= staged.get(hex)?.length ?? 0;
      staged.delete(hex);
    }
    await eraseStored(refs, by);
  }

  return { content: { ...contentReader(db, files, path, staged), put, putStream, erase }, staged: riders };
}

/** Reads a stream until it ends or exceeds a length. */
async function startOf(
  source: AsyncIterator<Uint8Array>,
  bytes: number,
): Promise<{ readonly start: Uint8Array; readonly ended: boolean }> {
  const copies: Uint8Array[] = [];
  for (let length = 0; length <= bytes; ) {
    const next = await source.next();
    if (next.done === true) return { start: Buffer.concat(copies), ended: true };
    copies.push(new Uint8Array(next.value)); // the source may reuse its buffer
    length += next.value.length;
  }
  return { start: Buffer.concat(copies), ended: false };
}

async function* rest(start: Uint8Array, source: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield start;
    for (let next = await source.next(); next.done !== true; next = await source.next()) yield next.value;
  } finally {
    await source.return?.();
  }
}

function inlineBytes(value: SqlValue | undefined, ref: Ref, path: string): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw new RepriseError('blob_damaged', 'a blob is stored in an unknown form', {
    where: path,
    expected: `${ref}, at most ${INLINE_BYTES_MAX} bytes`,
    hint: 'Restore the blob from a copy of the store; the journal itself is not affected.',
  });
}

function assertDigest(bytes: Uint8Array, ref: Ref, path: string): void {
  const actual = hexOf(nodeSha256(bytes));
  if (actual === ref.hex) return;
  throw new RepriseError('blob_damaged', 'a blob does not have the digest it is named by', {
    where: path,
    expected: ref.toString(),
    actual: `sha256:${actual}`,
    hint: 'Restore the blob from a copy of the store; the journal itself is not affected.',
  });
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}
