/**
 * Where the owner of a world listens, and what stands beside its socket: files of this user only.
 *
 * Invariants
 * P1  The folder belongs to this user and is closed to all others; a folder that is not is refused.
 * P2  The path follows from the world's real path: every process of this user finds it.
 */
import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import path from 'node:path';
import { RepriseError } from '@reprise/contracts';

/** The most bytes of a socket's path that every system takes. */
const SOCKET_PATH_BYTES_MAX = 100;

/** What the owner of a world has beside its socket. */
export interface Place {
  /** The path of its socket. */
  readonly socket: string;
  /** The folder for files about programs; it exists once {@link prepare} was called. */
  readonly folder: string;
}

/**
 * The place of a world.
 *
 * @param world the path of the world's file; a place of its own when absent
 */
export function placeOf(world?: string): Place {
  const name = world === undefined ? freshDoor() : nameOf(world);
  return { socket: path.join(ground(), `${name}.sock`), folder: path.join(ground(), name) };
}

/** A name for a door that cannot be guessed from the world. */
export function freshDoor(): string {
  return randomBytes(8).toString('hex');
}

/** The place of a door with a name of its own: its socket alone in its folder. */
export function doorPlace(name: string): Place {
  const folder = path.join(ground(), name);
  return { socket: path.join(folder, 'door'), folder };
}

/** The folder with the sockets of this user. */
function ground(): string {
  return path.join(roomy(process.env.XDG_RUNTIME_DIR ?? tmpdir()), `reprise-${userInfo().uid}`);
}

/**
 * Makes the folders of a place (P1).
 *
 * @throws RepriseError `invalid_argument` when a folder belongs to another user or is open to others
 */
export function prepare({ folder }: Place): void {
  for (const one of [path.dirname(folder), folder]) {
    mkdirSync(one, { recursive: true, mode: 0o700 });
    requireOwn(one);
  }
}

/** Writes a file that only this user can read. */
export function writeOwn(file: string, value: unknown): void {
  rmSync(file, { force: true });
  writeFileSync(file, JSON.stringify(value), { mode: 0o600, flag: 'wx' });
  chmodSync(file, 0o600);
}

/**
 * Refuses a folder that is another user's, or open to others.
 *
 * @throws RepriseError `invalid_argument`
 */
export function requireOwn(folder: string): void {
  const { uid } = userInfo();
  const stat = lstatSync(folder);
  if (!stat.isDirectory() || (uid >= 0 && stat.uid !== uid)) throw refused(folder, 'not a folder of this user');
  if (uid >= 0 && (stat.mode & 0o077) !== 0) throw refused(folder, `mode ${(stat.mode & 0o777).toString(8)}`);
}

function refused(folder: string, actual: string): RepriseError {
  return new RepriseError('invalid_argument', 'the folder for sockets is not safe to use', {
    where: folder,
    expected: 'a folder of this user with mode 700',
    actual,
    hint: 'Remove it, or set XDG_RUNTIME_DIR and XDG_STATE_HOME to folders of your own.',
  });
}

/** The name of a world among those of this user (P2). */
export function nameOf(world: string): string {
  return createHash('sha256')
    .update(realPath(path.resolve(world)))
    .digest('hex')
    .slice(0, 16);
}

/** The real path of a file that may not exist yet. */
function realPath(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    const folder = path.dirname(file);
    return folder === file ? file : path.join(realPath(folder), path.basename(file));
  }
}

/** The folder, or a shorter one when a socket's path in it would be too long. */
function roomy(folder: string): string {
  const longest = path.join(folder, 'reprise-4294967295', `${'x'.repeat(16)}.sock.${'x'.repeat(8)}`);
  return Buffer.byteLength(longest) > SOCKET_PATH_BYTES_MAX ? '/tmp' : folder;
}
