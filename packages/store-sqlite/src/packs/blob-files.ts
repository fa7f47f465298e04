/**
 * Large blobs, as files beside the database: `<path>.blobs/<two digits>/<digest>`. SQLite would write a mebibyte
 * twice (WAL, then checkpoint), measured 3.5 to 5 times slower than a file.
 *
 * Invariants
 * F1  A file with a digest as its name is complete: it is written and fsynced under another name, then renamed.
 * F2  `put` resolves after the fsync of the directory that holds the name, also when the file was there before:
 *     a process that was killed may have renamed it without that fsync.
 * F3  No file is read into memory unless it has the digest of its name: that of a large one is computed piece by piece.
 */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isDigest, RepriseError } from '@reprise/contracts';
import { nodeFs, type StoreFs } from '../database/ports.js';
import { storeError } from '../database/sqlite-errors.js';

const UNFINISHED = '.part';

/** The largest blob that can be read: the most bytes of one read of a file. */
const BLOB_BYTES_MAX = 2_147_483_647;

/** The largest file that is read at once; the digest of a larger one is computed first, piece by piece (F3). */
const READ_AT_ONCE_BYTES_MAX = 16 * 1024 * 1024;

const PIECE_BYTES = 1024 * 1024;

/** The files of one store. */
export class BlobFiles {
  readonly #root: string;
  /** Directories that were durable, with every name in them, at some moment since the opening. */
  readonly #synced = new Set<string>();
  /** A second put of the same bytes must not see the renamed file and overtake the fsync of its directory. */
  readonly #writing = new Map<string, Promise<void>>();
  readonly #streaming = new Set<Promise<unknown>>();
  #parts = 0;

  constructor(
    path: string,
    private readonly fs: StoreFs = nodeFs,
  ) {
    this.#root = `${path}.blobs`;
  }

  /** Stores bytes under their digest; durable when it resolves. */
  put(hex: string, bytes: Uint8Array): Promise<void> {
    const running = this.#writing.get(hex);
    if (running !== undefined) return running;
    const writing = this.#put(hex, bytes)
      .catch((error: unknown) => {
        this.#synced.delete(dirname(this.#pathOf(hex))); // the name may exist without being durable
        throw storeError(error, 'cannot store a blob', this.#pathOf(hex));
      })
      .finally(() => this.#writing.delete(hex));
    this.#writing.set(hex, writing);
    return writing;
  }

  /**
   * Stores a stream of bytes with one piece in memory at a time; durable when it resolves. When the stream ends in an
   * error, nothing is stored.
   */
  async putStream(pieces: AsyncIterable<Uint8Array>): Promise<{ readonly hex: string; readonly bytes: number }> {
    const streaming = this.#putStream(pieces);
    this.#streaming.add(streaming);
    try {
      return await streaming;
    } finally {
      this.#streaming.delete(streaming);
    }
  }

  /** The bytes, unchecked; undefined when the file does not exist. */
  async get(hex: string): Promise<Uint8Array | undefined> {
    const path = this.#pathOf(hex);
    return this.#orAbsent(
      withRegular(this.fs, path, async (file, size) => {
        if (size > BLOB_BYTES_MAX) throw damaged('a blob is larger than the bound', path, size);
        if (size > READ_AT_ONCE_BYTES_MAX && (await digestOf(file, size)) !== hex)
          throw damaged('a blob does not have the digest it is named by', path, size);
        return readPart(file, size);
      }),
      hex,
    );
  }

  /** Removes a file; durable when it resolves. */
  async remove(hex: string): Promise<void> {
    await this.#writing.get(hex)?.catch(() => undefined);
    const path = this.#pathOf(hex);
    try {
      await this.fs.rm(path, { force: true });
      await this.#orAbsent(this.#syncNames(dirname(path)), hex);
    } catch (error) {
      throw storeError(error, 'cannot erase a blob', path);
    }
  }

  async has(hex: string): Promise<boolean> {
    return (await this.#orAbsent(this.fs.stat(this.#pathOf(hex)), hex))?.isFile() === true;
  }

  /** Every digest that has a file. */
  async *list(): AsyncGenerator<string> {
    for (const group of (await this.#orAbsent(this.fs.readdir(this.#root), '')) ?? []) {
      if (!/^[0-9a-f]{2}$/.test(group)) continue; // files of others, such as .DS_Store
      const names = this.#orAbsent(this.fs.readdir(join(this.#root, group)), group, ['ENOENT', 'ENOTDIR']);
      for (const name of (await names) ?? []) {
        if (isDigest(name)) yield name;
      }
    }
  }

  /** Resolves when no write is running: the lock may be released only then. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#writing.values(), ...this.#streaming]);
  }

  /** Removes the unfinished files of a killed writer. Only for the owner of the lock. */
  async removeUnfinished(): Promise<void> {
    for (const name of (await this.#orAbsent(this.fs.readdir(this.#root), '')) ?? []) {
      if (name.endsWith(UNFINISHED)) await this.fs.rm(join(this.#root, name), { force: true });
    }
  }

  async #put(hex: string, bytes: Uint8Array): Promise<void> {
    const path = this.#pathOf(hex);
    const group = dirname(path);
    // Compared, not trusted: a damaged file must not stay in the place of good bytes that were just stored.
    const isThere = withRegular(this.fs, path, async (file, size) => {
      return size === bytes.length && Buffer.compare(await readPart(file, size), bytes) === 0;
    });
    if (await this.#orAbsent(isThere, hex)) {
      if (!this.#synced.has(group)) await this.#syncGroup(group);
      return;
    }
    if (!this.#synced.has(this.#root)) await this.fs.mkdir(this.#root, { recursive: true });
    const part = this.#newPart(hex);
    try {
      await writeDurably(this.fs, part, bytes);
      await this.#place(part, hex);
    } catch (error) {
      await this.fs.rm(part, { force: true });
      throw error;
    }
  }

  async #putStream(pieces: AsyncIterable<Uint8Array>): Promise<{ readonly hex: string; readonly bytes: number }> {
    const part = this.#newPart('stream');
    await this.#io(part, () => this.fs.mkdir(this.#root, { recursive: true }));
    try {
      const kept = await this.#writePieces(part, pieces);
      await this.#writing.get(kept.hex)?.catch(() => undefined);
      await this.#io(part, () => this.#place(part, kept.hex));
      return kept;
    } catch (error) {
      await this.fs.rm(part, { force: true });
      throw error;
    }
  }

  /** Errors of the source pass unchanged; those of the disk become errors of the store. */
  async #writePieces(part: string, pieces: AsyncIterable<Uint8Array>): Promise<{ hex: string; bytes: number }> {
    const hash = createHash('sha256');
    let bytes = 0;
    const file = await this.#io(part, () => this.fs.open(part, 'w'));
    await withFile(file, async () => {
      for await (const piece of pieces) {
        hash.update(piece);
        bytes += piece.length;
        await this.#io(part, () => file.writeFile(piece));
      }
      await this.#io(part, () => file.sync());
    });
    return { hex: hash.digest('hex'), bytes };
  }

  async #place(part: string, hex: string): Promise<void> {
    const path = this.#pathOf(hex);
    const group = dirname(path);
    if (!this.#synced.has(group)) await this.fs.mkdir(group, { recursive: true });
    await this.fs.rename(part, path);
    await this.#syncGroup(group);
  }

  #newPart(name: string): string {
    return join(this.#root, `${name}.${this.#parts++}${UNFINISHED}`);
  }

  async #io<T>(path: string, body: () => Promise<T>): Promise<T> {
    try {
      return await body();
    } catch (error) {
      throw storeError(error, 'cannot store a blob', path);
    }
  }

  /** Once for each directory also the ones above, which contain its name: it may have just been created. */
  async #syncGroup(group: string): Promise<void> {
    await this.#syncNames(group);
    if (this.#synced.has(group)) return;
    await this.#syncNames(this.#root);
    if (!this.#synced.has(this.#root)) await this.#syncNames(dirname(this.#root));
    this.#synced.add(group).add(this.#root);
  }

  /** Not with `syncFolder`, which would block everything else meanwhile. */
  async #syncNames(folder: string): Promise<void> {
    if (process.platform === 'win32') return;
    const directory = await this.fs.open(folder, constants.O_RDONLY);
    await withFile(directory, () => directory.sync());
  }

  #pathOf(hex: string): string {
    return join(this.#root, hex.slice(0, 2), hex);
  }

  async #orAbsent<T>(work: Promise<T>, name: string, absent = ['ENOENT']): Promise<T | undefined> {
    try {
      return await work;
    } catch (error) {
      if (absent.includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
      throw storeError(error, 'cannot read a blob', join(this.#root, name));
    }
  }
}

/** Opens without blocking: reading a pipe would block for ever. */
async function withRegular<T>(
  fs: StoreFs,
  path: string,
  body: (file: FileHandle, size: number) => Promise<T>,
): Promise<T> {
  const file = await fs.open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw damaged('a blob is not a regular file', path);
    return await body(file, stats.size);
  } finally {
    await file.close();
  }
}

/** The first bytes of a file, at most the requested number even when it grows meanwhile. */
async function readPart(file: FileHandle, size: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(size);
  let at = 0;
  for (;;) {
    const { bytesRead } = await file.read(bytes, at, size - at, at);
    at += bytesRead;
    if (bytesRead === 0 || at === size) return bytes.subarray(0, at);
  }
}

/** The digest of the first bytes of a file, with one piece in memory at a time. */
async function digestOf(file: FileHandle, size: number): Promise<string> {
  const hash = createHash('sha256');
  const piece = new Uint8Array(PIECE_BYTES);
  for (let at = 0; at < size; ) {
    const { bytesRead } = await file.read(piece, 0, Math.min(PIECE_BYTES, size - at), at);
    if (bytesRead === 0) break;
    hash.update(piece.subarray(0, bytesRead));
    at += bytesRead;
  }
  return hash.digest('hex');
}

function damaged(what: string, path: string, actual?: number): RepriseError {
  return new RepriseError('blob_damaged', what, {
    where: path,
    ...(actual === undefined ? {} : { actual: `${actual} bytes` }),
    hint: 'Restore the blob from a copy of the store; the journal itself is not affected.',
  });
}

async function writeDurably(fs: StoreFs, path: string, bytes: Uint8Array): Promise<void> {
  const file = await fs.open(path, 'w');
  await withFile(file, async () => {
    await file.writeFile(bytes);
    await file.sync();
  });
}

/** Makes a directory and those above it, each durable in its parent. */
export async function makeDirectory(path: string, fs: StoreFs): Promise<void> {
  const first = await fs.mkdir(path, { recursive: true });
  if (first === undefined) return;
  for (let made = path; made.length >= first.length; made = dirname(made)) fs.syncFolder(dirname(made));
}

/** Whether a name is that of a blob: its digest. */
export function isBlobName(name: string): boolean {
  return isDigest(name);
}

async function withFile(file: FileHandle, body: () => Promise<void>): Promise<void> {
  try {
    await body();
  } finally {
    await file.close();
  }
}
