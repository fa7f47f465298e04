/**
 * The status of an open world, beside its file, for commands of other processes: `x.db-status`. It exists only while there
 * is something to say. Where it cannot be written, on a disk that is full or read-only, the user's folder for temporary
 * files has it.
 *
 * A post names the opening that made it, and counts: what an earlier opening left is never taken for one of this one.
 */
import { createHash } from 'node:crypto';
import { lstatSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { StoreStatus } from '@reprise/kernel';
import type { Connection } from '../database/driver.js';
import { getNote, NOTES } from '../database/notes.js';
import type { StoreFs } from '../database/ports.js';
import { holdsStill, isKnown, parseOwner } from './owner.js';
import { fileAt } from './place.js';

/** The longest status that is read. */
const STATUS_BYTES_MAX = 1024 * 1024;

/** The status file of an opening. */
export class StatusFile {
  #count = 0;
  readonly #written = new Set<string>();
  /** One post at a time. */
  #posting: Promise<void> = Promise.resolve();

  /** @param owner the text that names the opening */
  constructor(
    private readonly path: string,
    private readonly owner: string,
    private readonly fs: StoreFs,
  ) {}

  /** Takes the place of the post before; null removes it. */
  post(text: string | null): Promise<void> {
    const posted = this.#posting.then(() => (text === null ? this.#remove() : this.#post(text)));
    this.#posting = posted.catch(() => undefined);
    return posted;
  }

  /** Removes what was posted. A file that cannot be removed names an opening that has ended. */
  async clear(): Promise<void> {
    await this.#posting;
    await this.#remove();
  }

  async #post(text: string): Promise<void> {
    this.#count++;
    const bytes = `${this.owner}\n${this.#count}\n${text}`;
    try {
      await this.#write(besideOf(this.path), bytes);
    } catch (error) {
      const elsewhere = await this.#elsewhere();
      if (elsewhere === undefined) throw error;
      await this.#write(elsewhere, bytes);
    }
  }

  async #remove(): Promise<void> {
    for (const file of this.#written) await this.fs.rm(file, { force: true }).catch(() => undefined);
    this.#written.clear();
  }

  /** A reader sees the whole post or the one before. */
  async #write(file: string, bytes: string): Promise<void> {
    const part = `${file}.part`;
    this.#written.add(part);
    const handle = await this.fs.open(part, 'w');
    try {
      await handle.writeFile(bytes);
    } finally {
      await handle.close();
    }
    await this.fs.rename(part, file);
    this.#written.delete(part);
    this.#written.add(file);
  }

  async #elsewhere(): Promise<string | undefined> {
    const file = elsewhereOf(this.path);
    if (file !== undefined) await this.fs.mkdir(dirname(file), { recursive: true, mode: 0o700 });
    return file !== undefined && isPrivate(dirname(file)) ? file : undefined;
  }
}

/** The last opening of a file, as its notes and its status tell. */
export function statusOf(db: Connection, path: string): StoreStatus {
  const text = getNote(db, NOTES.owner);
  const owner = parseOwner(text ?? '');
  if (owner === undefined || text === undefined) {
    return { writer: getNote(db, NOTES.clean) === 'no' ? 'unknown' : 'closed' };
  }
  const { dev, ino } = lstatSync(path, { bigint: true });
  const file = `${dev}:${ino}`;
  const isOpen = holdsStill(owner, file);
  if (!isOpen && isKnown(owner, file)) return { writer: 'died' };
  const posted = postedBy(text, path);
  return { writer: isOpen ? 'open' : 'unknown', ...(posted === undefined ? {} : { posted }) };
}

/** The newest post of an opening. */
function postedBy(owner: string, path: string): string | undefined {
  const posts = [besideOf(path), elsewhereOf(path)].flatMap((file) => (file === undefined ? [] : readPost(file)));
  return posts.filter((post) => post.owner === owner).sort((a, b) => b.count - a.count)[0]?.text;
}

function readPost(file: string): { readonly owner: string; readonly count: number; readonly text: string }[] {
  if (dirname(file) === temporary() && !isPrivate(dirname(file))) return [];
  try {
    const found = fileAt(file);
    if (found === undefined || !found.isFile() || found.size > STATUS_BYTES_MAX) return [];
    const [owner = '', count = '', ...lines] = readFileSync(file, 'utf8').split('\n');
    return [{ owner, count: Number(count), text: lines.join('\n') }];
  } catch {
    return []; // it was removed just now, or another user's
  }
}

function besideOf(path: string): string {
  return `${path}-status`;
}

/** On a system that has users: elsewhere a folder of one's own cannot be told from another's. */
function elsewhereOf(path: string): string | undefined {
  const folder = temporary();
  return folder && join(folder, `${createHash('sha256').update(path).digest('hex').slice(0, 32)}.status`);
}

function temporary(): string | undefined {
  const user = process.getuid?.();
  return user === undefined ? undefined : join(tmpdir(), `reprise-${user}`);
}

/** Whether a folder is this user's alone: in a shared one another user could write a status, or read ours. */
function isPrivate(folder: string): boolean {
  try {
    const found = lstatSync(folder);
    return found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o077) === 0;
  } catch {
    return false;
  }
}
