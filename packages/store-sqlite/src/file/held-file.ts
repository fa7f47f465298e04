/**
 * A SQLite file that is open in its only writer process.
 *
 * Invariants
 * H1  The lock, the log and the blobs are named by the file's canonical path, so a link leads to the same lock.
 * H2  The file names its writer (`owner.ts`), in its main part and not only in the log. The name is checked before the
 *     file is opened for writing and inside each transaction: a writer that got past the lock is refused or detected.
 *     A main part that another process wrote is found after the commit at the latest, before anything is acknowledged.
 * H3  While the file is open, its main part notes that a log belongs to it, and the log, which is never empty then,
 *     notes that the file is whole with it. So any process can distinguish a main part without its log from one whose
 *     log was checkpointed. The notes are written again after every checkpoint, before anything more is acknowledged.
 * H4  Nothing is acknowledged into a file that is no longer the one under its name: the main part is looked at after each
 *     commit. Log and index are looked at before a commit, unless they were within the last {@link LOOK_MS}: so what
 *     begins later than that after they were taken away is never acknowledged. Three looks fewer a commit are a tenth of
 *     its time.
 * H5  Closing removes a log by its name (SQLite does), so it happens only while that name is still ours.
 */
import { type BigIntStats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { RepriseError } from '@reprise/contracts';
import type { Connection, Driver } from '../database/driver.js';
import { getNote, LOG_NEEDED, NOTES, noteReader, setNote } from '../database/notes.js';
import { MACHINE, type Ports, type StoreFs } from '../database/ports.js';
import { type Layout, prepareLayout, type Riders, transaction } from '../database/schema.js';
import { guarded, storeError } from '../database/sqlite-errors.js';
import { inspectFile } from './inspect.js';
import { holdLock } from './lock.js';
import { forgetOwner, holdsStill, newOwner, type Owner, ownerText, ownerWords, parseOwner } from './owner.js';
import { type Creation, linked, placeForWriting, requireOwnFile } from './place.js';

/** How long a look at a file, its log and the index of its log is believed, in milliseconds (H4, JRN-29). */
const LOOK_MS = 100;

/** Options of opening a file for writing. */
interface HoldOptions {
  readonly layout: Layout;
  /** The message of a failure. */
  readonly failed: string;
  readonly create?: Creation;
  readonly maxPageCount?: number;
  readonly ports?: Ports;
}

/**
 * Takes the lock, refuses a file that must not be written, and opens it; releases everything when `make` fails.
 *
 * @throws RepriseError `world_locked`, `world_linked`, `world_moved`, `world_incomplete`, `journal_damaged`,
 * `semantics_unknown`, and errors of the file system
 */
export async function openHeld<Opened>(
  given: string,
  options: HoldOptions,
  make: (held: HeldFile) => Opened | Promise<Opened>,
): Promise<Opened> {
  const { fs, monotonic, ...machine } = options.ports ?? MACHINE;
  const driver = await machine.driver();
  const path = await placeForWriting(given, options.create ?? 'file', fs);
  requireOwnFile(path); // before the lock: the lock of another name of this file would prove nothing
  const release = holdLock(driver, path, () => holderOf(driver, path));
  let held: HeldFile | undefined;
  try {
    held = guarded(options.failed, path, () => hold({ driver, fs, monotonic }, path, options, release));
    return await make(held);
  } catch (error) {
    if (held === undefined) release();
    else held.abandon();
    throw storeError(error, options.failed, path);
  }
}

/** A machine whose driver is loaded. */
interface Machine {
  readonly driver: Driver;
  readonly fs: StoreFs;
  monotonic(): number;
}

function hold(machine: Machine, path: string, options: HoldOptions, release: () => void): HeldFile {
  const { driver, fs, monotonic } = machine;
  requireOwnFile(path);
  const found = lookAt(path);
  // Nothing is written, not even a log moved into the file, before the file is known to be whole and ours.
  let guard = inspectFile(driver, path, options.layout);
  let db: Connection | undefined;
  try {
    if (guard !== undefined && found !== undefined) requireNoOwner(guard, path, idOf(found));
    db = driver.open(path, 'write');
    prepareLayout(db, path, options.layout, options.maxPageCount);
    guard ??= driver.open(path, 'read');
    getNote(guard, NOTES.owner); // the first read takes the lock of SQLite
    const opened = lookAt(path);
    if (opened === undefined || (found !== undefined && idOf(found) !== idOf(opened))) {
      throw moved(path, 'another file replaced it while it was opened');
    }
    if (found === undefined) fs.syncFolder(dirname(path));
    return new HeldFile({ driver, db, guard, path, owner: newOwner(idOf(opened)), monotonic, release });
  } catch (error) {
    db?.close();
    guard?.close();
    throw error;
  }
}

function requireNoOwner(db: Connection, path: string, file: string): void {
  const owner = parseOwner(getNote(db, NOTES.owner) ?? '');
  if (owner === undefined || !holdsStill(owner, file)) return;
  throw new RepriseError('world_locked', 'the world is already open for writing', {
    where: path,
    actual: ownerWords(owner),
    hint: 'The file names its writer, although the lock beside it is free: the lock was deleted, or the file is reached by another path. Close the writer, or end its process.',
  });
}

/** The writer that the file names, in words; undefined when it names none, or one that is known to be gone. */
function holderOf(driver: Driver, path: string): string | undefined {
  const found = lookAt(path);
  if (found === undefined) return undefined;
  let db: Connection | undefined;
  try {
    db = driver.open(path, 'read');
    const owner = parseOwner(getNote(db, NOTES.owner) ?? '');
    const isKnown = owner !== undefined && (holdsStill(owner, idOf(found)) || owner.boot === '');
    return isKnown ? ownerWords(owner) : undefined;
  } catch {
    return undefined; // the file cannot be read just now: the lock is what matters
  } finally {
    db?.close();
  }
}

function lookAt(path: string): BigIntStats | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false });
}

/** The identity of a file on this machine. */
function idOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

/** A text that changes with each write. */
function stateOf({ size, mtimeNs }: BigIntStats): string {
  return `${size} ${mtimeNs}`;
}

function moved(path: string, how: string): RepriseError {
  return new RepriseError('world_moved', 'the file of an open world was moved or replaced', {
    where: path,
    expected: 'the file that was opened',
    actual: how,
    hint: 'It was moved, replaced or deleted while the world was open, so the world was closed. Everything acknowledged before is in the moved file: put that file back.',
  });
}

interface HeldParts {
  readonly driver: Driver;
  readonly db: Connection;
  /** For reading; while it is open, closing the other connection leaves the log in place. */
  readonly guard: Connection;
  readonly path: string;
  readonly owner: Owner;
  readonly monotonic: () => number;
  readonly release: () => void;
}

/** The file, open for writing. */
export class HeldFile {
  readonly db: Connection;
  readonly path: string;
  /** Whether its last owner closed it properly; true for a new file. */
  readonly cleanlyClosed: boolean;
  readonly #parts: HeldParts;
  /** What names this opening in the file. */
  readonly ownerText: string;
  readonly #note: (name: string) => string | undefined;
  /** The identities of file, log and index of the log at the opening. */
  #opened: ReadonlyMap<string, string> = new Map();
  /** The identity of the main part after our last write. */
  #left = '';
  /** The time of the last look at all three. */
  #looked = Number.NEGATIVE_INFINITY;
  /** Whether the main part notes that a log belongs to it. */
  #marked = false;

  constructor(parts: HeldParts) {
    const { db, path, owner } = parts;
    this.#parts = parts;
    this.db = db;
    this.path = path;
    this.ownerText = ownerText(owner);
    this.#note = noteReader(db);
    this.cleanlyClosed = this.#note(NOTES.clean) !== 'no';
    try {
      transaction(db, () => {
        setNote(db, NOTES.owner, this.ownerText);
        setNote(db, NOTES.clean, 'no');
        setNote(db, NOTES.log, LOG_NEEDED);
      });
      const files = [path, `${path}-wal`, `${path}-shm`];
      this.#opened = new Map(files.map((name) => [name, idOf(requireThere(name))]));
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
    this.#look();
    const done = this.#transaction(body, riders);
    this.#settle();
    return done;
  }

  /**
   * Runs one statement that is a transaction by itself, and writes a row only where the note of the owner is
   * {@link ownerText}. It costs half of what {@link commit} costs.
   *
   * @param write runs it and returns how many rows it wrote
   * @returns whether it wrote a row; if not, a {@link commit} finds out why
   * @throws RepriseError `world_moved`, `world_linked`
   */
  commitRow(write: () => number): boolean {
    this.#look();
    if (write() === 0) return false;
    this.#settle();
    return true;
  }

  /** H4, before a commit: what was looked at a moment ago is believed. */
  #look(): void {
    const now = this.#parts.monotonic();
    if (now - this.#looked < LOOK_MS) return;
    this.#requireUntouched();
    this.#requireInPlace();
    this.#looked = now;
  }

  // H4, after a commit
  #settle(): void {
    const found = requireThere(this.path);
    this.#requireSame(this.path, found);
    if (this.#marked && stateOf(found) === this.#left) return;
    // SQLite moves the log into the main part by itself when the log has grown; another writer leaves another owner.
    this.#requireUntouched();
    this.#transaction(() => setNote(this.db, NOTES.log, LOG_NEEDED));
    this.#mark();
    this.#requireInPlace();
  }

  #transaction<T>(body: () => T, riders?: Riders): T {
    return transaction(
      this.db,
      () => {
        if (this.#note(NOTES.owner) !== this.ownerText) throw fenced(this.path);
        return body();
      },
      riders,
    );
  }

  /**
   * Moves the log into the main part and empties it.
   *
   * @returns false while a reader uses older pages
   */
  emptyLog(): boolean {
    this.#marked = false; // H3: the next commit writes the notes again
    return this.#checkpoint('TRUNCATE');
  }

  /**
   * Closes it properly.
   *
   * @throws RepriseError as {@link commit}; connection and lock are released in every case
   */
  close(): void {
    try {
      this.commit(() => {
        setNote(this.db, NOTES.owner, null);
        setNote(this.db, NOTES.clean, 'yes');
      });
      this.#checkpoint('TRUNCATE'); // makes the one file whole; a reader only delays that to the next opening
    } finally {
      this.abandon();
    }
  }

  /** Releases connection and lock, and leaves the file as a crash would, except for the name of its writer. */
  abandon(): void {
    const { db, guard, release } = this.#parts;
    this.#disown();
    const [first, second] = this.#isInPlace() ? [guard, db] : [db, guard]; // H5
    first.close();
    second.close();
    release();
  }

  /**
   * Removes the owner's name if possible: with it, other openings would be refused for as long as this process lives.
   */
  #disown(): void {
    forgetOwner(this.#parts.owner);
    if (this.#opened.size === 0 || !this.#isInPlace()) return;
    try {
      if (this.#note(NOTES.owner) !== this.ownerText) return;
      this.#transaction(() => setNote(this.db, NOTES.owner, null));
    } catch {
      // A full disk, perhaps. The file names this process until that ends, or opens it again.
    }
  }

  /**
   * H3: moves the notes of the log into the main part, and writes other ones into the log.
   *
   * @returns false while a reader uses older pages
   */
  #mark(): boolean {
    const isMarked = this.#checkpoint('FULL');
    transaction(this.db, () => setNote(this.db, NOTES.log, null));
    // Also when a reader was in the way: another attempt at each commit would make each wait for that reader.
    this.#marked = true;
    return isMarked;
  }

  #checkpoint(how: 'FULL' | 'TRUNCATE'): boolean {
    const [busy] = this.db.prepare(`PRAGMA wal_checkpoint(${how})`).all()[0] ?? [];
    this.#left = stateOf(requireThere(this.path));
    return busy === 0;
  }

  // H4
  #requireInPlace(): void {
    for (const path of this.#opened.keys()) {
      const found = requireThere(path);
      this.#requireSame(path, found);
      if (path === this.path) this.#left = stateOf(found);
    }
  }

  #requireSame(path: string, found: BigIntStats): void {
    if (idOf(found) !== this.#opened.get(path)) throw moved(path, 'another file is at its path');
    if (found.nlink > 1n) throw linked(path, found.nlink);
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
   * H2: only we write the main part. When another process did, the owner is read from the main part, past our own log:
   * a restored copy in the same file, or a writer with another log, leaves another owner; `touch` changes nothing.
   */
  #requireUntouched(): void {
    const found = requireThere(this.path);
    if (stateOf(found) === this.#left) return;
    if (this.#ownerInMainPart() !== this.ownerText) throw moved(this.path, 'another writer changed it');
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
