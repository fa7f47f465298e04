/**
 * Where a witness is kept: a place that a restore of the database does not take back, such as a bucket of another account.
 * A process of the database writes one object again and again; all of them are read after a restore.
 */
import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fieldsOf, isFilled, isFunction, lineOfError, RepriseError, requireArgument } from '@reprise/contracts';

/** The place of a witness. An object store, such as `s3()`, is one as it is. */
export interface WitnessPlace {
  /** The place as shown to people, without secrets. */
  readonly label: string;
  /**
   * Stores an object in place of the one before.
   *
   * Contract: durable when it resolves, and read by whatever asks later. After it rejected, either one may be there.
   *
   * @param name letters, digits, `-` and `/`
   */
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** The bytes of an object, the caller's own; undefined without one. Rejects when it cannot tell. */
  get(name: string): Promise<Uint8Array | undefined>;
}

/** How an option is checked that is a {@link WitnessPlace}. */
export const WITNESS_PLACE = {
  expected: 'a place with put() and get(), such as witnessFolder() makes',
  fits: (thing: unknown): boolean => ['put', 'get'].every((name) => isFunction(fieldsOf(thing)[name])),
};

/**
 * A witness in a folder, which is not in the folder of the database: for tests, and for a fleet on one machine with a disk
 * that a restore leaves alone.
 *
 * @throws RepriseError `invalid_argument`
 * @example
 * const fleet = await openFleet({ ...options, witness: witnessFolder('/mnt/other-disk/witness') })
 */
export function witnessFolder(folder: string): WitnessPlace {
  requireArgument(isFilled(folder), 'witnessFolder(folder)', 'the path of a folder', folder);
  const failed = (cause: unknown): RepriseError =>
    new RepriseError('store_failed', `the folder of a witness failed: ${lineOfError(cause)}`, { where: folder, cause });
  return {
    label: folder,
    put: async (name, bytes) => {
      const file = join(folder, name);
      try {
        await mkdir(dirname(file), { recursive: true });
        await replaceFile(file, bytes);
      } catch (error) {
        throw failed(error);
      }
    },
    get: async (name) => {
      try {
        return new Uint8Array(await readFile(join(folder, name)));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw failed(error);
      }
    },
  };
}

/** Each put writes a file of its own: a late one of a process before may write at the same time. */
async function replaceFile(file: string, bytes: Uint8Array): Promise<void> {
  const fresh = `${file}.${randomUUID()}.new`;
  try {
    await synced(fresh, 'w', (handle) => handle.writeFile(bytes));
    await rename(fresh, file);
  } catch (error) {
    await rm(fresh, { force: true }).catch(() => undefined); // the put has failed, whatever else does
    throw error;
  }
  await synced(dirname(file), 'r', async () => undefined); // the name is durable, too
}

async function synced(file: string, flags: 'w' | 'r', work: (handle: FileHandle) => Promise<void>): Promise<void> {
  const handle = await open(file, flags);
  try {
    await work(handle);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
