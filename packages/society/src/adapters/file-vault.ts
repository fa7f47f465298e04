/**
 * A vault in a folder: one file for each key, which only its owner reads.
 *
 * Each file is written under another name, flushed, and then gets its own, so that it is there whole or not at all, and
 * processes that use one folder need no lock: none of them changes a file that another one has made.
 */

import { createHash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { fieldsOf, isFilled, RepriseError, requireArgument } from '@reprise/contracts';
import { parseJson } from '@reprise/contracts/json';
import type { Head } from '@reprise/kernel';
import { base64Of, bytesOf } from './ed25519.js';
import { type KeptKey, type KeyVault, vaultOver } from './vault.js';

const KEY = '.key';
const READER = '.reader';
const FORMAT = 'reprise/society key 1';

/**
 * A vault in a folder, which is made when it is absent. Its files have the mode 0600.
 *
 * @param folder the path of the folder: beside the world's file, and never inside of what is shared or backed up with it
 * @throws RepriseError at the first use: `invalid_argument` when others may read the folder or a key
 * @example society({ keys: fileVault('world.keys') })
 */
export function fileVault(folder: string): KeyVault {
  requireArgument(isFilled(folder), 'fileVault(folder)', 'the path of a folder', folder);
  let isReady: Promise<void> | undefined;
  const ready = () => {
    isReady ??= prepare(folder).catch((error: unknown) => {
      isReady = undefined; // the folder may be put right while the process goes on
      throw error;
    });
    return isReady;
  };
  const at = (name: string) => path.join(folder, name);
  return vaultOver({
    label: folder,
    async put(key_ref, key) {
      await ready();
      await writeWhole(folder, `${key_ref}${KEY}`, textOf(key));
    },
    async get(key_ref) {
      await ready();
      const text = await readPrivate(at(`${key_ref}${KEY}`));
      return text === undefined ? undefined : keyOf(text, at(`${key_ref}${KEY}`));
    },
    async remove(key_ref) {
      await ready();
      await destroyFile(folder, `${key_ref}${KEY}`);
    },
    async list() {
      await ready();
      return (await readdir(folder)).filter((name) => name.endsWith(KEY)).map((name) => name.slice(0, -KEY.length));
    },
    async putReader(name, key) {
      await ready();
      await writeWhole(folder, `${digest(name)}${READER}`, base64Of(key));
    },
    async getReader(name) {
      await ready();
      const text = await readPrivate(at(`${digest(name)}${READER}`));
      return text === undefined ? undefined : bytesOf(text, 32);
    },
  });
}

/** Makes the folder, and removes what a process left half written when it died. */
async function prepare(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  requirePrivate(folder, await stat(folder));
  for (const name of await readdir(folder)) {
    const writer = /^\.new-(\d+)-[0-9a-f]+$/.exec(name)?.[1];
    if (writer !== undefined && !isAlive(Number(writer))) await destroyFile(folder, name);
  }
}

function isAlive(pid: number): boolean {
  if (pid === process.pid) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return fieldsOf(error).code === 'EPERM';
  }
}

async function writeWhole(folder: string, name: string, text: string): Promise<void> {
  const fresh = path.join(folder, `.new-${process.pid}-${randomBytes(8).toString('hex')}`);
  const file = await open(fresh, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await chmod(fresh, 0o600);
  await rename(fresh, path.join(folder, name));
  await syncFolder(folder);
}

/**
 * Overwrites a file before it goes: what a disk keeps of a file that was only unlinked can be read for a long time. Of a
 * link only the link goes: what it leads to is no file of the vault.
 */
async function destroyFile(folder: string, name: string): Promise<void> {
  const at = path.join(folder, name);
  const file = await openOwn(at, constants.O_RDWR);
  if (file !== undefined) await overwrite(file);
  await rm(at, { force: true });
  await syncFolder(folder);
}

async function overwrite(file: FileHandle): Promise<void> {
  try {
    const { size } = await file.stat();
    await file.write(Buffer.alloc(size), 0, size, 0);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Opens a regular file of the vault; undefined when it is absent, or a link, a pipe or anything else. */
async function openOwn(at: string, how: number): Promise<FileHandle | undefined> {
  let file: FileHandle;
  try {
    file = await open(at, how | NO_FOLLOW);
  } catch (error) {
    if (['ENOENT', 'ELOOP', 'EISDIR', 'ENXIO'].includes(String(fieldsOf(error).code))) return undefined;
    throw error;
  }
  if ((await file.stat()).isFile()) return file;
  await file.close();
  return undefined;
}

/** A link is not followed and a pipe is not waited for; Windows has neither flag. */
const NO_FOLLOW = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

async function syncFolder(folder: string): Promise<void> {
  const opened = await open(folder, 'r');
  try {
    await opened.sync();
  } finally {
    await opened.close();
  }
}

async function readPrivate(at: string): Promise<string | undefined> {
  const file = await openOwn(at, constants.O_RDONLY);
  try {
    if (file !== undefined) requirePrivate(at, await file.stat());
    return await file?.readFile('utf8');
  } finally {
    await file?.close();
  }
}

function requirePrivate(at: string, { mode }: { readonly mode: number }): void {
  if (process.platform === 'win32' || (mode & 0o077) === 0) return;
  throw new RepriseError('invalid_argument', 'the keys of a vault can be read by others', {
    where: at,
    expected: 'a mode for the owner alone, such as 0600 for a file and 0700 for the folder',
    actual: (mode & 0o777).toString(8),
  });
}

function textOf({ world, at, pair }: KeptKey): string {
  const keys = { public_key: base64Of(pair.publicKey), private_key: base64Of(pair.privateKey) };
  return `${JSON.stringify({ format: FORMAT, world, ...(at === undefined ? {} : { at }), ...keys })}\n`;
}

/** A file that a destruction has overwritten, and that a crash has left, is no key. */
function keyOf(text: string, at: string): KeptKey | undefined {
  if (text.startsWith('\0')) return undefined;
  const { format, world, at: made, public_key, private_key } = fieldsOf(parsed(text));
  const publicKey = bytesOf(String(public_key), 32);
  const privateKey = bytesOf(String(private_key), 32);
  if (format === FORMAT && typeof world === 'string' && publicKey !== undefined && privateKey !== undefined)
    return { world, at: headOf(made), pair: { publicKey, privateKey } };
  throw new RepriseError('invalid_argument', 'a file of the vault is not a key', { where: at, expected: FORMAT });
}

function headOf(made: unknown): Head | undefined {
  const { seq, digest } = fieldsOf(made);
  return typeof seq === 'number' && typeof digest === 'string' ? { seq, digest } : undefined;
}

/** The text of a key never stands in an error. */
function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function digest(name: string): string {
  return createHash('sha256').update(name).digest('hex');
}
