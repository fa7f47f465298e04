/**
 * An open folder through which its entries are reached, so that what was judged is what is used.
 *
 * Node has no `openat`. On Linux `/proc/self/fd/N/name` is the same thing: it names an entry of the folder that is
 * open, wherever somebody moves that folder meanwhile, and `/proc/self/fd/N` tells where it really is. Elsewhere the
 * folder's path has to do and is compared before and after, which leaves a moment to whoever swaps folders for links.
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

/** How a file is opened for reading: no link is followed, and a pipe that nobody writes to does not hang the call. */
export const READ_FLAGS = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;

/** The first piece of a file that is read, in bytes, when its size says nothing: the files of `/proc` say 0. */
const PIECE_BYTES = 16 * 1024;

/** A folder held open. Close it. */
export class Anchor {
  /** Absent on Windows, which opens no folders. */
  readonly #fd: number | undefined;
  readonly #real: string;

  private constructor(fd: number | undefined, real: string) {
    this.#fd = fd;
    this.#real = real;
  }

  /**
   * Opens a folder that was judged by its real path.
   *
   * @param real absolute, free of symlinks when it was judged
   * @returns undefined when it is no longer there as a folder, or leads elsewhere now
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

  /** A path for the file system calls of this process that reaches an entry of this very folder. */
  path(name: string): string {
    return path.join(this.folder, name);
  }

  /** A path for the file system calls of this process that reaches this very folder. */
  get folder(): string {
    return OPEN_FILES === undefined ? this.#real : `${OPEN_FILES}/${this.#fd}`;
  }

  /** Opens a folder in this one. */
  enter(name: string): Anchor | undefined {
    return Anchor.#openAs(this.path(name), path.join(this.#real, name));
  }

  /** What stands under a name, a link as itself; undefined when nothing does. */
  stats(name: string): Stats | undefined {
    try {
      return lstatSync(this.path(name));
    } catch {
      return undefined;
    }
  }

  /**
   * The bytes of a regular file of this folder. Any reason not to read it is one word: a search over many files goes on.
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

  /** Makes what was renamed in this folder durable. */
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

/** A whole file, as far as it may go: one that grows meanwhile, or says nothing of its size, takes no more memory. */
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
