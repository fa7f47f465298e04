/**
 * Confinement: resolves a path from a model to a file inside one real folder, or refuses it.
 *
 * Invariants
 * C1  Nothing outside the root is read or written.
 * C2  The real target of a path counts: symlinks are followed first, and the result is checked, including parent
 *     folders.
 * C3  The opened file is the checked one: no symlink is followed on opening, and entries are reached through their
 *     open folder (`anchor.ts` says what that means outside Linux).
 * C4  A refusal shows the path as the model wrote it and never the host's own folders.
 */
import type { Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { lstat, open, realpath } from 'node:fs/promises';
import path from 'node:path';
import { isRepriseError, RepriseError, startOfText } from '@reprise/contracts';
import { Anchor, READ_FLAGS, readBounded } from './anchor.js';
import { isGitPath } from './names.js';
import { isSecretPath } from './secret-names.js';

/** The target of a path: its real path, its names from the root, and the path in its displayed form. */
export interface Place {
  /** The absolute path, with all symlinks resolved. */
  readonly real: string;
  /** Names from the root; empty for the root itself. */
  readonly names: readonly string[];
  /** The path from the root with `/`; `.` for the root itself. */
  readonly shown: string;
}

/** What a tool is about to do with a path. */
type Purpose = 'read' | 'write';

/** A folder that no path can leave. */
export class Confinement {
  readonly #root: string;
  #realRoot: string | undefined;

  /** @param root the folder; it may be created later, and is resolved on first use */
  constructor(root: string) {
    this.#root = path.resolve(root);
  }

  /** The real path of the root. */
  async root(): Promise<string> {
    this.#realRoot ??= await realpath(this.#root).catch(() => {
      throw refusal('.', 'the workspace folder does not exist');
    });
    return this.#realRoot;
  }

  /**
   * Resolves a path. When it does not exist, `missing` holds the names after its deepest existing folder; a reader
   * treats such a path as absent.
   *
   * @throws RepriseError `path_refused`
   */
  async resolve(given: string, purpose: Purpose): Promise<Place & { readonly missing: readonly string[] }> {
    const names = namesOf(given);
    judge(names, given, purpose, 'folder'); // the type is checked at the real target
    const root = await this.root();
    const { ancestor, missing } = await deepestExisting(root, names, given);
    const real = path.join(ancestor, ...missing);
    const inside = this.#inside(root, real, given);
    judge(inside, given, purpose, missing.length === 0 && (await isFolder(real)) ? 'folder' : 'file');
    return { real, names: inside, shown: inside.length === 0 ? '.' : inside.join('/'), missing };
  }

  /**
   * Opens a regular file for reading.
   *
   * @throws RepriseError `path_refused` when it is absent, not a regular file, or no longer the checked one
   */
  async open(given: string): Promise<{ place: Place; file: FileHandle; stats: Stats }> {
    const place = await this.resolve(given, 'read');
    if (place.missing.length > 0) throw refusal(given, 'there is no such file');
    if (place.names.length === 0) throw refusal(given, 'it is a folder');
    const folder = await this.anchor(path.dirname(place.real), given);
    try {
      return { place, ...(await openIn(folder, path.basename(place.real), given)) };
    } finally {
      folder.close();
    }
  }

  /**
   * Opens a checked folder and keeps it open.
   *
   * @throws RepriseError `path_refused` when it is gone or leads elsewhere now
   */
  async anchor(real: string, given: string): Promise<Anchor> {
    const anchor = anchorAt(real, given);
    if (anchor === undefined) throw refusal(given, 'it changed while it was being opened');
    return anchor;
  }

  /**
   * Reads a regular file. A failure is returned as one word, so that a search over many files continues.
   *
   * @param bytesMax files above this are `large`
   */
  async readWhole(given: string, bytesMax: number): Promise<Uint8Array | 'large' | 'unreadable'> {
    const opened = await this.open(given).catch(() => undefined);
    if (opened === undefined) return 'unreadable';
    try {
      return readBounded(opened.file.fd, bytesMax);
    } catch {
      return 'unreadable';
    } finally {
      await opened.file.close();
    }
  }

  /** Whether a path leads to a regular file. */
  async isFile(place: Place): Promise<boolean> {
    return (await lstat(place.real).catch(() => undefined))?.isFile() ?? false;
  }

  #inside(root: string, real: string, given: string): string[] {
    const relative = path.relative(root, real);
    if (relative === '') return [];
    if (relative === '..' || relative.startsWith(`..${path.sep}`) || path.isAbsolute(relative)) {
      throw refusal(given, 'it leads out of the workspace');
    }
    return relative.split(path.sep);
  }
}

function anchorAt(real: string, given: string): Anchor | undefined {
  try {
    return Anchor.open(real);
  } catch (error) {
    throw refusal(given, systemReason(error));
  }
}

async function openIn(folder: Anchor, name: string, given: string): Promise<{ file: FileHandle; stats: Stats }> {
  const file = await open(folder.path(name), READ_FLAGS).catch((error: unknown) => {
    throw refusal(given, systemReason(error));
  });
  const stats = await file.stat();
  if (stats.isFile()) return { file, stats };
  await file.close();
  throw refusal(given, stats.isDirectory() ? 'it is a folder' : 'it is not a regular file');
}

/** A refusal that the model receives as data. */
export function refusal(given: string, why: string): RepriseError {
  return new RepriseError('path_refused', why, { where: JSON.stringify(startOfText(given, 300)) });
}

/** The refusal as one line for the model; undefined for any other error. */
export function refusalText(error: unknown): string | undefined {
  if (!isRepriseError(error, 'path_refused')) return undefined;
  return `Refused: ${error.message.replace(/^path_refused: /, '').replace(/; at /, ': ')}.`;
}

/** The reason of a file system error, without the host's paths (C4). */
export function systemReason(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: 'there is no such file or folder',
    ENOTDIR: 'a part of the path is not a folder',
    EISDIR: 'it is a folder',
    EEXIST: 'a part of the path is not a folder',
    EACCES: 'the system does not permit it (EACCES)',
    EPERM: 'the system does not permit it (EPERM)',
    ELOOP: 'its symbolic links lead in a circle or were swapped',
    ENAMETOOLONG: 'the name is too long',
    ENOSPC: 'the disk is full (ENOSPC)',
    EROFS: 'the file system is read-only (EROFS)',
    ENXIO: 'it is not a regular file',
  };
  return typeof code === 'string' ? (reasons[code] ?? `the system answered ${code}`) : 'the system failed';
}

function namesOf(given: string): string[] {
  if (given.includes('\0')) throw refusal(given, 'a path must not contain a NUL character');
  if (path.isAbsolute(given) || path.win32.isAbsolute(given) || /^[a-zA-Z]:/.test(given)) {
    throw refusal(given, 'a path must be relative to the workspace folder');
  }
  const names = given.split(path.sep === '\\' ? /[\\/]/ : '/').filter((name) => name !== '' && name !== '.');
  if (names.includes('..')) throw refusal(given, 'a path must not contain ..');
  return names;
}

async function isFolder(real: string): Promise<boolean> {
  return (await lstat(real).catch(() => undefined))?.isDirectory() ?? false;
}

function judge(names: readonly string[], given: string, purpose: Purpose, last: 'file' | 'folder'): void {
  if (isSecretPath(names, last)) throw refusal(given, 'files that usually hold secrets are neither read nor written');
  if (purpose === 'write' && isGitPath(names)) throw refusal(given, 'nothing is written into a .git folder');
}

/** The real path of the longest existing prefix, and the remaining names. */
async function deepestExisting(
  root: string,
  names: readonly string[],
  given: string,
): Promise<{ ancestor: string; missing: readonly string[] }> {
  for (let kept = names.length; kept >= 0; kept--) {
    const prefix = path.join(root, ...names.slice(0, kept));
    const real = await realpath(prefix).catch((error: unknown) => absentOrThrow(error, given));
    if (real !== undefined) return { ancestor: real, missing: names.slice(kept) };
    await refuseDangling(prefix, given);
  }
  throw refusal(given, 'the workspace folder does not exist');
}

/** Refuses a symlink without a target: writing to it would create a file where it points. */
async function refuseDangling(prefix: string, given: string): Promise<void> {
  const link = await lstat(prefix).catch(() => undefined);
  if (link?.isSymbolicLink()) throw refusal(given, 'a symbolic link in it leads nowhere');
}

function absentOrThrow(error: unknown, given: string): undefined {
  const code = (error as { code?: unknown } | null)?.code;
  if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
  throw refusal(given, systemReason(error));
}
