/**
 * An open folder through which its entries are reached, so that what was judged is what is used.
 *
 * Node has no `openat`. On Linux `/proc/self/fd/N/name` is the same thing: it names an entry of the folder that is
 * open, wherever somebody moves that folder meanwhile, and `/proc/self/fd/N` tells where it really is. Elsewhere the
 * folder's path has to do and is compared before and after, which leaves a moment to whoever swaps folders for links.
 */
import { constants, existsSync } from 'node:fs';
import { type FileHandle, open, readlink, realpath, stat } from 'node:fs/promises';
import path from 'node:path';

const OPEN_FILES = process.platform === 'linux' && existsSync('/proc/self/fd') ? '/proc/self/fd' : undefined;

/** A folder held open. Close it. */
export class Anchor {
  /** Absent on Windows, which opens no folders. */
  readonly #handle: FileHandle | undefined;
  readonly #real: string;

  private constructor(handle: FileHandle | undefined, real: string) {
    this.#handle = handle;
    this.#real = real;
  }

  /**
   * Opens a folder that was judged by its real path.
   *
   * @param real absolute, free of symlinks when it was judged
   * @returns undefined when it is no longer there as a folder, or leads elsewhere now
   * @throws the system's error when it cannot be opened
   */
  static async open(real: string): Promise<Anchor | undefined> {
    return Anchor.#openAs(real, real);
  }

  static async #openAs(where: string, real: string): Promise<Anchor | undefined> {
    const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
    const windows = process.platform === 'win32';
    const anchor = new Anchor(windows ? undefined : await open(where, O_RDONLY | O_DIRECTORY | O_NOFOLLOW), real);
    if (await anchor.#isThere().catch(() => false)) return anchor;
    await anchor.close();
    return undefined;
  }

  /** A path for the file system calls of this process that reaches an entry of this very folder. */
  path(name: string): string {
    return path.join(this.folder, name);
  }

  /** A path for the file system calls of this process that reaches this very folder. */
  get folder(): string {
    return OPEN_FILES === undefined ? this.#real : `${OPEN_FILES}/${this.#handle?.fd}`;
  }

  /** Opens a folder in this one. */
  async enter(name: string): Promise<Anchor | undefined> {
    return Anchor.#openAs(this.path(name), path.join(this.#real, name));
  }

  /** Makes what was renamed in this folder durable. */
  async sync(): Promise<void> {
    await this.#handle?.sync();
  }

  async close(): Promise<void> {
    await this.#handle?.close();
  }

  async #isThere(): Promise<boolean> {
    if (OPEN_FILES !== undefined) return (await readlink(this.folder)) === this.#real;
    const opened = await this.#handle?.stat();
    const now = (await realpath(this.#real)) === this.#real ? await stat(this.#real) : undefined;
    return now !== undefined && (opened === undefined || (now.dev === opened.dev && now.ino === opened.ino));
  }
}
