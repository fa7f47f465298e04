/**
 * An open folder through which its entries are reached, so that the checked entry is the one that is used.
 *
 * Node has no `openat`. On Linux, `/proc/self/fd/N/name` does the same: it names an entry of the open folder, even if
 * the folder is moved meanwhile, and `/proc/self/fd/N` shows where the folder really is. On other systems the folder's
 * path is compared before and after, which leaves a short moment for an attacker who replaces folders with links.
 */
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

const OPEN_FILES = process.platform === 'linux' && existsSync('/proc/self/fd') ? '/proc/self/fd' : undefined;

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** Flags for reading a file: no link is followed, and a pipe without a writer does not block the call. */
export const READ_FLAGS = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;

/** The first piece of a file to read, in bytes, when its size is unknown: the files of `/proc` report 0. */
const PIECE_BYTES = 16 * 1024;

/** An open folder. The caller closes it. */
export class Anchor {
  /** Absent on Windows, where folders cannot be opened. */
  readonly #fd: number | undefined;
  readonly #real: string;

  private constructor(fd: number | undefined, real: string) {
    this.#fd = fd;
    this.#real = real;
  }

  /**
   * Opens a folder by the real path that was checked.
   *
   * @param real absolute, and free of symlinks when it was checked
   * @returns undefined when the folder is gone, or the path leads elsewhere now
   * @throws the system's error when it cannot be opened
   */
  static open(real: string): Anchor | undefined {
    return Anchor.#openAs(real, real);
  }

  static #openAs(where: string, real: string): Anchor | undefined {
    const fd = process.platform === 'win32' ? undefined : openSync(where, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    const anchor = new Anchor(fd, real);
    if (anchor.#isThere()) return anchor;
    anchor.close();
    return undefined;
  }

  /** A path for this process's file system calls that reaches an entry of exactly this folder. */
  path(name: string): string {
    return path.join(this.folder, name);
  }

  /** A path for this process's file system calls that reaches exactly this folder. */
  get folder(): string {
    return OPEN_FILES === undefined ? this.#real : `${OPEN_FILES}/${this.#fd}`;
  }

  /** Opens a folder inside this one. */
  enter(name: string): Anchor | undefined {
    return Anchor.#openAs(this.path(name), path.join(this.#real, name));
  }

  /** The stats of an entry, without following a link; undefined when it does not exist. */
  stats(name: string): Stats | undefined {
    try {
      return lstatSync(this.path(name));
    } catch {
      return undefined;
    }
  }

  /**
   * Reads a regular file of this folder. A failure is returned as one word, so that a search over many files
   * continues.
   *
   * @param bytesMax files above this are `large`
   */
  read(name: string, bytesMax: number): Uint8Array | 'large' | 'unreadable' {
    try {
      const fd = openSync(this.path(name), READ_FLAGS);
      try {
        if (!fstatSync(fd).isFile() || (OPEN_FILES === undefined && !this.#isThere())) return 'unreadable';
        return readBounded(fd, bytesMax);
      } finally {
        closeSync(fd);
      }
    } catch {
      return 'unreadable';
    }
  }

  /** Makes renames in this folder durable. */
  async sync(): Promise<void> {
    if (this.#fd !== undefined) await promisify(fsync)(this.#fd);
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
  }

  #isThere(): boolean {
    try {
      if (OPEN_FILES !== undefined) return readlinkSync(this.folder) === this.#real;
      const opened = this.#fd === undefined ? undefined : fstatSync(this.#fd);
      const now = realpathSync(this.#real) === this.#real ? statSync(this.#real) : undefined;
      return now !== undefined && (opened === undefined || (now.dev === opened.dev && now.ino === opened.ino));
    } catch {
      return false;
    }
  }
}

/** Reads a whole file up to a bound: a file that grows meanwhile, or has no known size, takes no more memory. */
export function readBounded(fd: number, bytesMax: number): Uint8Array | 'large' {
  const { size } = fstatSync(fd);
  if (size > bytesMax) return 'large';
  let buffer = Buffer.allocUnsafe(Math.min(bytesMax + 1, size === 0 ? PIECE_BYTES : size + 1));
  for (let length = 0; ; ) {
    const count = readSync(fd, buffer, length, buffer.length - length, null);
    if (count === 0) return buffer.subarray(0, length);
    length += count;
    if (length > bytesMax) return 'large';
    if (length < buffer.length) continue;
    const more = Buffer.allocUnsafe(Math.min(bytesMax + 1, buffer.length * 2));
    buffer.copy(more);
    buffer = more;
  }
}
