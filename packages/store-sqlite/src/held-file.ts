/**
 * A SQLite file that is open in its single writer process.
 *
 * Invariants
 * H1  The lock, the log and the blobs are named by the file's canonical path, so a link leads to the same lock.
 * H2  The file names its writer (`owner.ts`), in its main part and not only in the log. It is checked before the
 *     file is opened for writing and inside each transaction: a writer that got past the lock is refused or detected.
 * H3  While it is open, the main part says that a log belongs to it, and the log, which is never empty then, says that
 *     with it the file is whole. So a main part without its log is distinguishable from one whose log was checkpointed,
 *     by any process. The marks are written again after every checkpoint, before anything more is acknowledged.
 * H4  Nothing is acknowledged into a file that is no longer the one under its name: file, log and index of the log are
 *     looked for after each commit.
 * H5  Closing removes a log by its name (SQLite does), so only where that name is still ours.
 */
import { type BigIntStats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { RepriseError } from '@reprise/contracts';
import type { Connection, Driver } from './driver.js';
import { inspectFile } from './inspect.js';
import { holdLock } from './lock.js';
import { getNote, LOG_NEEDED, NOTES, noteReader, setNote } from './notes.js';
import { forgetOwner, holdsStill, newOwner, type Owner, ownerText, parseOwner } from './owner.js';
import { type Creation, linked, placeForWriting, requireOwnFile } from './place.js';
import { MACHINE, type Ports, type StoreFs } from './ports.js';
import { type Layout, prepareLayout, type Riders, transaction } from './schema.js';
import { guarded, storeError } from './sqlite-errors.js';

/** How a file is opened for writing. */
interface HoldOptions {
  readonly layout: Layout;
  /** The message of a failure. */
  readonly failed: string;
  readonly create?: Creation;
  readonly maxPageCount?: number;
  readonly ports?: Ports;
}

/**
 * Takes the lock, refuses what should not be written, and opens the file; when `make` fails, all is given back.
 *
 * @throws RepriseError `world_locked`, `world_linked`, `world_moved`, `world_incomplete`, `journal_damaged`,
 *   `semantics_unknown`, and what the file system says
 */
export async function openHeld<Opened>(
  given: string,
  options: HoldOptions,
  make: (held: HeldFile) => Opened | Promise<Opened>,
): Promise<Opened> {
  const { fs, ...machine } = options.ports ?? MACHINE;
  const driver = await machine.driver();
  const path = await placeForWriting(given, options.create ?? 'file', fs);
  requireOwnFile(path); // before the lock: the lock of another name of this file would tell nothing
  const release = holdLock(driver, path);
  let held: HeldFile | undefined;
  try {
    held = guarded(options.failed, path, () => hold(driver, fs, path, options, release));
    return await make(held);
  } catch (error) {
    if (held === undefined) release();
    else held.abandon();
    throw storeError(error, options.failed, path);
  }
}

function hold(driver: Driver, fs: StoreFs, path: string, options: HoldOptions, release: () => void): HeldFile {
  requireOwnFile(path);
  const found = lookAt(path);
  // Nothing is written, not even a log moved into the file, before it is known to be whole and ours to write.
  let guard = inspectFile(driver, path, options.layout);
  let db: Connection | undefined;
  try {
    if (guard !== undefined && found !== undefined) requireNoOwner(guard, path, idOf(found));
    db = driver.open(path, 'write');
    prepareLayout(db, path, options.layout, options.maxPageCount);
    guard ??= driver.open(path, 'read');
    getNote(guard, NOTES.owner); // from its first read on it holds the file
    const opened = lookAt(path);
    if (opened === undefined || (found !== undefined && idOf(found) !== idOf(opened))) {
      throw moved(path, 'another file replaced it while it was opened');
    }
    if (found === undefined) fs.syncFolder(dirname(path));
    return new HeldFile({ driver, db, guard, path, owner: newOwner(idOf(opened)), release });
  } catch (error) {
    db?.close();
    guard?.close();
    throw error;
  }
}

function requireNoOwner(db: Connection, path: string, file: string): void {
  const owner = parseOwner(getNote(db, NOTES.owner) ?? '');
  if (owner === undefined || !holdsStill(owner, file)) return;
  throw new RepriseError('world_locked', 'another opener holds this world', {
    where: path,
    actual: `process ${owner.pid}`,
    hint: 'The file names its writer, although the lock beside it is free: the lock was deleted, or the file is reached by another path. Close the writer, or end its process.',
  });
}

function lookAt(path: string): BigIntStats | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false });
}

/** What tells a file from every other on this machine. */
function idOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

/** Changes with each write. */
function stateOf({ size, mtimeNs }: BigIntStats): string {
  return `${size} ${mtimeNs}`;
}

function moved(path: string, how: string): RepriseError {
  return new RepriseError('world_moved', 'the file of an open world was moved or replaced', {
    where: path,
    expected: 'the file that was opened',
    actual: how,
    hint: 'It was moved, replaced or deleted while the world was open, which was closed. What was acknowledged before is in the file that was moved: put that one back.',
  });
}

interface HeldParts {
  readonly driver: Driver;
  readonly db: Connection;
  /** Reads; while it is open, closing the other one leaves the log where it is. */
  readonly guard: Connection;
  readonly path: string;
  readonly owner: Owner;
  readonly release: () => void;
}

/** The file, open for writing. */
export class HeldFile {
  readonly db: Connection;
  readonly path: string;
  /** Whether its last holder closed it properly; also of a new one. */
  readonly cleanlyClosed: boolean;
  readonly #parts: HeldParts;
  readonly #ownerText: string;
  readonly #note: (name: string) => string | undefined;
  /** File, log and index of the log, as they were opened. */
  #opened: readonly (readonly [path: string, id: string])[] = [];
  /** The identity of the main part after our last write. */
  #left = '';
  /** Whether the main part says that a log belongs to it. */
  #marked = false;

  constructor(parts: HeldParts) {
    const { db, path, owner } = parts;
    this.#parts = parts;
    this.db = db;
    this.path = path;
    this.#ownerText = ownerText(owner);
    this.#note = noteReader(db);
    this.cleanlyClosed = this.#note(NOTES.clean) !== 'no';
    try {
      transaction(db, () => {
        setNote(db, NOTES.owner, this.#ownerText);
        setNote(db, NOTES.clean, 'no');
        setNote(db, NOTES.log, LOG_NEEDED);
      });
      this.#opened = [path, `${path}-wal`, `${path}-shm`].map((name) => [name, idOf(requireThere(name))]);
      if (!this.#mark()) throw cannotMark(path);
      this.#requireInPlace();
    } catch (error) {
      this.#disown();
      throw error;
    }
  }

  /**
   * Runs a body, and the riders, as one transaction. When this returns, all of it is durable, in the file that the path
   * names; when it throws, see {@link transaction}.
   *
   * @throws RepriseError `fenced`, `world_moved`, `world_linked`
   */
  commit<T>(body: () => T, riders?: Riders): T {
    this.#requireUntouched();
    const done = this.#transaction(body, riders);
    // SQLite moves the log into the main part by itself when it has grown.
    if (stateOf(requireThere(this.path)) !== this.#left) this.#marked = false;
    if (!this.#marked) {
      this.#transaction(() => setNote(this.db, NOTES.log, LOG_NEEDED));
      this.#mark();
    }
    this.#requireInPlace();
    return done;
  }

  #transaction<T>(body: () => T, riders?: Riders): T {
    return transaction(
      this.db,
      () => {
        if (this.#note(NOTES.owner) !== this.#ownerText) throw fenced(this.path);
        return body();
      },
      riders,
    );
  }

  /**
   * Moves the log into the main part and empties it.
   *
   * @returns false while a reader stands on the pages as they were
   */
  emptyLog(): boolean {
    this.#marked = false; // H3: the next commit says it again
    return this.#checkpoint('TRUNCATE');
  }

  /**
   * Closes it properly.
   *
   * @throws RepriseError as {@link commit}; connection and lock are given up all the same
   */
  close(): void {
    try {
      this.commit(() => {
        setNote(this.db, NOTES.owner, null);
        setNote(this.db, NOTES.clean, 'yes');
      });
      this.#checkpoint('TRUNCATE'); // makes the one file whole; a reader only delays it to the next opener
    } finally {
      this.abandon();
    }
  }

  /** Gives connection and lock up, and leaves the file as a crash would, but for the name of its writer. */
  abandon(): void {
    const { db, guard, release } = this.#parts;
    this.#disown();
    const [first, second] = this.#isInPlace() ? [guard, db] : [db, guard]; // H5
    first.close();
    second.close();
    release();
  }

  /** Others would be refused for as long as this process lives, were it named still; so its name is taken out if it can be. */
  #disown(): void {
    forgetOwner(this.#parts.owner);
    if (this.#opened.length === 0 || !this.#isInPlace()) return;
    try {
      if (this.#note(NOTES.owner) !== this.#ownerText) return;
      this.#transaction(() => setNote(this.db, NOTES.owner, null));
    } catch {
      // A full disk, perhaps. The file names this process until that ends, or opens it again.
    }
  }

  /**
   * H3: brings what the log says into the main part, and has the log say otherwise.
   *
   * @returns false while a reader stands on the pages as they were
   */
  #mark(): boolean {
    const isMarked = this.#checkpoint('FULL');
    transaction(this.db, () => setNote(this.db, NOTES.log, null));
    this.#marked = true; // or nearly so: to try again at each commit would make each wait for that reader
    return isMarked;
  }

  #checkpoint(how: 'FULL' | 'TRUNCATE'): boolean {
    const [busy] = this.db.prepare(`PRAGMA wal_checkpoint(${how})`).all()[0] ?? [];
    this.#left = stateOf(requireThere(this.path));
    return busy === 0;
  }

  /** H4 */
  #requireInPlace(): void {
    for (const [path, id] of this.#opened) {
      const found = requireThere(path);
      if (idOf(found) !== id) throw moved(path, 'another file is at its path');
      if (found.nlink > 1n) throw linked(path, found.nlink);
      if (path === this.path) this.#left = stateOf(found);
    }
  }

  #isInPlace(): boolean {
    try {
      this.#requireInPlace();
      return true;
    } catch {
      return false;
    }
  }

  /**
   * H2: only we write the main part. When another process did, its owner is looked up past our own log: a copy that was
   * put back into the same file, or a writer with a log of its own, leaves another; `touch` changes nothing.
   */
  #requireUntouched(): void {
    const found = requireThere(this.path);
    if (stateOf(found) === this.#left) return;
    if (this.#ownerInMainPart() !== this.#ownerText) throw moved(this.path, 'another writer wrote into it');
    this.#left = stateOf(found);
    this.#marked = false; // SQLite may have moved the log in a commit that failed
  }

  #ownerInMainPart(): string | undefined {
    const db = this.#parts.driver.open(this.path, 'immutable');
    try {
      return getNote(db, NOTES.owner);
    } catch {
      return undefined; // not even a database any more
    } finally {
      db.close();
    }
  }
}

function requireThere(path: string): BigIntStats {
  const found = lookAt(path);
  if (found === undefined) throw moved(path, 'it no longer exists');
  return found;
}

function cannotMark(path: string): RepriseError {
  return new RepriseError('store_failed', 'the file cannot be marked as open', {
    where: path,
    hint: 'Another program reads this file in one long transaction. Let it end, then open the world again.',
  });
}

function fenced(path: string): RepriseError {
  return new RepriseError('fenced', 'another writer has taken this file over', {
    where: path,
    hint: 'Find the other writer; a world has one.',
  });
}
