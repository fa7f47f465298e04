import { Ref, RepriseError } from '@reprise/contracts';
import type { BlobShare, ErasableContentStore, KeptStream, ReadonlyStore } from '@reprise/kernel';
import { LENGTH_BYTES } from '@reprise/packs';
import type { Connection, SqlValue } from '../database/driver.js';
import { nodeSha256 } from '../database/hash.js';
import { standingSql } from '../database/schema.js';
import { guarded } from '../database/sqlite-errors.js';
import { bytesSql, wholeSql } from '../database/values.js';
import type { HeldFile } from '../file/held-file.js';
import type { BlobFiles } from './blob-files.js';
import { isInShare, listRows } from './blob-list.js';
import { type BlobPacks, INLINE_BYTES_MAX, type Place } from './blob-packs.js';
import { blobEraser, tombstones } from './erasure.js';
import type { Packer, StagedBlobs } from './packer.js';

/** The bytes that may wait for an append before they are written without one: a bound on memory. */
const STAGED_BYTES_MAX = 16 * 1024 * 1024;

/** The blobs that are not written yet, as the reading half sees them. */
type Staged = ReadonlyMap<string, Uint8Array>;

/** The share that has every blob. */
const ALL_BLOBS: BlobShare = { part: 0, of: 1 };

/** Where content is read from. */
interface Sources {
  readonly db: Connection;
  readonly files: BlobFiles;
  readonly packs: BlobPacks;
  /** The path of the world, for the words of errors. */
  readonly path: string;
  readonly staged?: Staged;
}

/** The reading half of the content store, over any connection. */
export function contentReader(sources: Sources): ReadonlyStore['content'] {
  const { db, files, packs, path, staged = new Map() } = sources;
  const standing = standingSql(db);
  // One query each: a blob that is moved between two queries would be in neither place.
  const select = db.prepare(
    `SELECT ${bytesSql('bytes', INLINE_BYTES_MAX)} AS bytes, NULL AS pack, NULL AS at FROM blob WHERE digest = ? AND ${standing}
     UNION ALL SELECT NULL, ${wholeSql('pack')}, ${wholeSql('at')} FROM packed WHERE digest = ? LIMIT 1`,
  );
  const exists = db.prepare(
    `SELECT 1 FROM blob WHERE digest = ? AND ${standing} UNION ALL SELECT 1 FROM packed WHERE digest = ? LIMIT 1`,
  );
  const query = <T>(hex: string, body: (digest: Uint8Array) => T): T =>
    guarded('cannot read a blob', `${path}, sha256:${hex}`, () => body(Buffer.from(hex, 'hex')));

  /** Undefined when the blob is neither in a row nor in a pack. */
  function stored(ref: Ref): Uint8Array | undefined {
    let failure: { readonly place: Place; readonly cause: unknown } | undefined;
    for (;;) {
      const row = query(ref.hex, (digest) => select.get(digest, digest));
      if (row === undefined) return undefined;
      const [bytes, pack, at] = row;
      if (typeof pack !== 'number' || typeof at !== 'number') return inlineBytes(bytes, ref, path);
      // The pack was damaged, not emptied by an erasure that moved this blob: its place is still the same.
      if (failure?.place.pack === pack && failure.place.at === at) throw damagedPack(ref, path, failure.cause);
      try {
        return packs.get({ pack, at });
      } catch (cause) {
        failure = { place: { pack, at }, cause };
      }
    }
  }

  async function* listShare(share: BlobShare): AsyncGenerator<Ref> {
    for (const hex of staged.keys()) if (isInShare(hex, share)) yield Ref.fromHex(hex);
    for (const hex of listRows({ db, packs, path, share })) if (!staged.has(hex)) yield Ref.fromHex(hex);
    for await (const hex of files.list()) if (isInShare(hex, share)) yield Ref.fromHex(hex);
  }

  return {
    get: async (ref) => {
      const waiting = staged.get(ref.hex);
      if (waiting !== undefined) return new Uint8Array(waiting);
      const bytes = stored(ref) ?? (await files.get(ref.hex));
      if (bytes !== undefined) assertDigest(bytes, ref, path);
      return bytes;
    },
    has: async (ref) =>
      staged.has(ref.hex) || query(ref.hex, (digest) => exists.get(digest, digest)) !== undefined || files.has(ref.hex),
    ...tombstones(db, path),
    list: () => listShare(ALL_BLOBS),
    listShare,
  };
}

/** The content store of a writer, and the blobs that wait for its next append. */
interface StagingContent {
  readonly content: ErasableContentStore;
  readonly staged: StagedBlobs;
}

/** The writing half of a content store: it stages what is put. */
export function stagingContent(held: HeldFile, files: BlobFiles, packs: BlobPacks, packer: Packer): StagingContent {
  const { db, path } = held;
  const staged = new Map<string, Uint8Array>();
  let stagedBytes = 0;
  // Same digest, other bytes: the stored ones are damaged, and readers must get the new ones.
  const insert = db.prepare(
    `INSERT INTO blob (digest, bytes) VALUES (?, ?)
     ON CONFLICT (digest) DO UPDATE SET bytes = excluded.bytes WHERE bytes <> excluded.bytes`,
  );

  const fill = db.prepare('UPDATE erased SET hollow = 0 WHERE digest = ? AND hollow = 1');
  const anyHollow = db.prepare('SELECT 1 FROM erased WHERE hollow = 1 LIMIT 1');
  /** Whether a row may be filled with zeros; undefined until it is asked for. Only an erasure makes such rows. */
  let mayBeHollow: boolean | undefined;
  const eraseStored = blobEraser(held, files, packer);

  const riders: StagedBlobs = {
    bytes: () => stagedBytes + staged.size * LENGTH_BYTES,
    write: () => {
      mayBeHollow ??= anyHollow.get() !== undefined;
      for (const [hex, bytes] of staged) {
        const digest = Buffer.from(hex, 'hex');
        if (packer.blobs.holds(digest, bytes)) continue;
        insert.run(digest, bytes);
        if (mayBeHollow) fill.run(digest);
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
    if (stagedBytes > STAGED_BYTES_MAX) guarded('cannot store blobs', path, () => packer.commit(() => {}, riders, []));
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
    mayBeHollow = true; // also when it fails on the way
    await eraseStored(refs, by);
  }

  const reader = contentReader({ db, files, packs, path, staged });
  return { content: { ...reader, put, putStream, erase }, staged: riders };
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

function damagedPack(ref: Ref, path: string, cause: unknown): RepriseError {
  return new RepriseError('blob_damaged', 'the pack that holds a blob cannot be read', {
    where: path,
    expected: ref.toString(),
    hint: 'Restore the blob from a copy of the store; the journal itself is not affected.',
    cause,
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
