/**
 * Keys as files of a folder, one a key, named by the sha-256 of the name of the key.
 *
 * Invariants
 * K1  The file of a key is whole and durable before it has its name, and gets the name only when nobody has it: of two
 *     processes that make a key, both return the one that got the name.
 * K2  A key is returned after its folder is durable, also when another process has made it a moment ago.
 * K3  A key is overwritten in its file before the file loses its name, so that another name of the same file, which a
 *     crash may have left behind, holds nothing. A file of zeros is a key that is destroyed.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { type FileHandle, link, mkdir, open, readFile, unlink } from 'node:fs/promises';
import path from 'node:path';
import { isRepriseError, lineOfError, RepriseError, requireArgument } from '@reprise/contracts';
import { KEY_BYTES, type KeyService } from '@reprise/kernel';
import { requireKeyNames } from './names.js';

/** The letters of a digest that name the folder of a key: 256 folders, each with a part of the keys. */
const FOLDER_LETTERS = 2;

/** Files that are open at once. */
const FILES_MAX = 32;

/**
 * Keys in files of a folder, for one machine or a shared file system on which links are exclusive. The folder must not be
 * in the backups of the database, and needs backups of its own that expire soon: a lost key is lost content, and a key
 * that lies in a backup is not destroyed.
 *
 * @param folder is made when it is missing, for this user alone
 * @throws RepriseError `invalid_argument`
 * @example const database = postgres(url, { keys: fileKeys('/var/lib/agents/keys') });
 */
export function fileKeys(folder: string): KeyService {
  requireArgument(typeof folder === 'string' && folder !== '', 'fileKeys(folder)', 'the path of a folder', folder);
  const place = new KeyFolder(path.resolve(folder));
  const each = <T>(what: string, names: readonly string[], work: (name: string) => Promise<T>) =>
    failing(what, folder, () => limited(requireKeyNames(names), work));
  return {
    label: folder,
    keep: (names) => each('keep keys', names, (name) => place.keep(name)),
    find: (names) => each('read keys', names, (name) => place.find(name)),
    destroy: async (names) => void (await each('destroy keys', names, (name) => place.destroy(name))),
  };
}

class KeyFolder {
  /** Folders of keys whose own names are durable. */
  readonly #known = new Set<string>();
  /** What this process does with a file, one after another. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(private readonly root: string) {}

  #file(name: string): string {
    const digest = createHash('sha256').update(name).digest('hex');
    return path.join(this.root, digest.slice(0, FOLDER_LETTERS), digest.slice(FOLDER_LETTERS));
  }

  /** Runs work on a file after what this process has begun with it. */
  async #inTurn<T>(file: string, work: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(file) ?? Promise.resolve();
    const done = before.then(work, work);
    this.#turns.set(file, done);
    try {
      return await done;
    } finally {
      if (this.#turns.get(file) === done) this.#turns.delete(file);
    }
  }

  async find(name: string): Promise<Uint8Array | undefined> {
    return readKey(this.#file(name));
  }

  keep(name: string): Promise<Uint8Array> {
    const file = this.#file(name);
    return this.#inTurn(file, async () => {
      await this.#makeFolder(path.dirname(file));
      const key = (await readKey(file)) ?? (await makeKey(file));
      await syncFolder(path.dirname(file)); // K2
      return key;
    });
  }

  destroy(name: string): Promise<void> {
    const file = this.#file(name);
    return this.#inTurn(file, async () => {
      await removeKey(file);
      await syncFolder(path.dirname(file)).catch(unlessAbsent);
    });
  }

  async #makeFolder(folder: string): Promise<void> {
    if (this.#known.has(folder)) return;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await syncFolder(this.root);
    await syncFolder(path.dirname(this.root));
    this.#known.add(folder);
  }
}

/** The key of a file; undefined without one, and for one that is destroyed. @throws Error when the file is no key */
async function readKey(file: string): Promise<Uint8Array | undefined> {
  const found = await readFile(file).catch(unlessAbsent);
  if (found === undefined || found.every((byte) => byte === 0)) return undefined; // K3
  if (found.length === KEY_BYTES) return new Uint8Array(found);
  throw new Error(`${file} has ${found.length} bytes, and a key has ${KEY_BYTES}`);
}

// K1
async function makeKey(file: string): Promise<Uint8Array> {
  const fresh = `${file}.${randomUUID()}`;
  const key = new Uint8Array(randomBytes(KEY_BYTES));
  try {
    await written(fresh, 'wx', key);
    for (;;) {
      const isOurs = await link(fresh, file).then(() => true, unlessExists);
      if (isOurs) return key;
      const other = await readKey(file);
      if (other !== undefined) return other;
      await removeKey(file); // a crash came in the middle of its destruction
    }
  } finally {
    await unlink(fresh).catch(unlessAbsent);
  }
}

// K3
async function removeKey(file: string): Promise<void> {
  await written(file, 'r+', new Uint8Array(KEY_BYTES)).catch(unlessAbsent);
  await unlink(file).catch(unlessAbsent);
}

/** Writes the bytes of a key at the beginning of a file, durably. */
async function written(file: string, flags: 'wx' | 'r+', bytes: Uint8Array): Promise<void> {
  await opened(await open(file, flags, 0o600), async (handle) => {
    await handle.write(bytes, 0, bytes.length, 0);
    await handle.sync();
  });
}

async function syncFolder(folder: string): Promise<void> {
  await opened(await open(folder, 'r'), (handle) => handle.sync());
}

async function opened(handle: FileHandle, work: (handle: FileHandle) => Promise<void>): Promise<void> {
  try {
    await work(handle);
  } finally {
    await handle.close();
  }
}

function unlessAbsent(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error;
}

function unlessExists(error: unknown): false {
  if (codeOf(error) !== 'EEXIST') throw error;
  return false;
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown } | null)?.code;
}

/**
 * Runs work for each name, a few at a time. After a failure it begins no other, and rejects when nothing runs any more: a
 * caller that was told of a failed destruction may keep one of its names next.
 */
async function limited<T>(names: readonly string[], work: (name: string) => Promise<T>): Promise<readonly T[]> {
  const results: T[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let at = next++; at < names.length; at = next++) results[at] = await work(names[at] ?? '');
  };
  const stop = (error: unknown): never => {
    next = names.length;
    throw error;
  };
  const lanes = Array.from({ length: Math.min(FILES_MAX, names.length) }, () => lane().catch(stop));
  for (const ended of await Promise.allSettled(lanes)) if (ended.status === 'rejected') throw ended.reason;
  return results;
}

/** Converts errors of the file system into those of a store. */
async function failing<T>(what: string, where: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isRepriseError(error)) throw error;
    const isFull = codeOf(error) === 'ENOSPC' || codeOf(error) === 'EDQUOT';
    throw new RepriseError(isFull ? 'store_full' : 'store_failed', `cannot ${what}: ${lineOfError(error)}`, {
      ...{ where, cause: error },
      hint: isFull ? 'Free some space, then try again.' : 'Does the folder exist, and may this process write there?',
    });
  }
}
