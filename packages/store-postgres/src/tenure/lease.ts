/**
 * The lease of this process in a database: one row, which it extends while it runs, for all worlds that it owns.
 *
 * Invariants
 * G6  A lease that is over is never extended: its row is closed, here or by the process that takes a world over, and a
 *     process whose row is closed makes another one with another id.
 * G7  The clock of the database alone decides whether a lease is over. This process believes in its lease for a tenth
 *     less, counted from the moment before it asked for the extension: on its monotonic clock, and on its wall clock, since
 *     the first one stands still while the machine sleeps. A wall clock that leaps ahead ends the lease too early, which is
 *     safe; one that is set back changes nothing.
 */
import { randomUUID } from 'node:crypto';
import { one } from '../connection/columns.js';
import type { Connections } from '../connection/driver.js';
import { Folds } from './folds.js';
import { hasDied, thisProcess } from './process.js';

/** The part of a lease for which a process believes in it. */
const BELIEVED = 0.9;

/** Extensions in the time of one lease, and those that follow one that was not answered. */
const BEATS = 4;
const RETRIES = 20;

/** A moment on both clocks of this machine, in milliseconds. */
interface Moment {
  readonly monotonic: number;
  readonly wall: number;
}

function moment(): Moment {
  return { monotonic: performance.now(), wall: Date.now() };
}

function later({ monotonic, wall }: Moment, ms: number): Moment {
  return { monotonic: monotonic + ms, wall: wall + ms };
}

/** The milliseconds to a moment, by the clock that is nearer to it; 0 when it has passed. */
function msTo({ monotonic, wall }: Moment): number {
  return Math.max(0, Math.min(monotonic - performance.now(), wall - Date.now()));
}

/** The lease of a process, from its first beat to its end. */
export class Lease {
  #until: Moment;
  #isOver = false;
  #end: () => void = () => undefined;
  /** Resolves when the lease is over, but not when it was given up. */
  readonly lost: Promise<void>;
  /** Called once, when an operator has asked this process to give its worlds away. */
  onLeaving: () => void = () => undefined;
  #next: NodeJS.Timeout | undefined;
  /** Whether the database did not say whether the lease was extended: then it is asked again soon. */
  #retries = false;
  #isLeaving = false;
  readonly folds: Folds;

  private constructor(
    readonly id: string,
    private readonly connections: Connections,
    private readonly ttlMs: number,
    began: Moment,
  ) {
    this.#until = later(began, BELIEVED * ttlMs);
    this.folds = new Folds(id);
    this.lost = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.#beatLater();
  }

  /** Makes the row of this process. @param address how others reach it @throws RepriseError `store_failed` */
  static async begin(connections: Connections, ttlMs: number, address: string | null): Promise<Lease> {
    const began = moment();
    const id = randomUUID();
    await connections.rows(
      'begin a lease',
      `INSERT INTO reprise.host (id, process, expires, address)
       VALUES ($1, $2, clock_timestamp() + $3 * interval '1 ms', $4)`,
      [id, thisProcess(), ttlMs, address],
    );
    await forgetOld(connections).catch(() => undefined); // the next process does it
    return new Lease(id, connections, ttlMs, began);
  }

  /** Whether this process certainly has the lease. */
  holds(): boolean {
    return !this.#isOver && msTo(this.#until) > 0;
  }

  /** Asks the database whether it still has the lease, where a statement found that it has not. */
  async ask(): Promise<void> {
    if (!this.#isOver && (await this.#extend()) === false && !this.#isOver) this.#over();
  }

  /** Gives the lease up: its worlds were released. */
  async giveUp(): Promise<void> {
    this.folds.remove();
    clearTimeout(this.#next);
    if (this.#isOver) return;
    this.#isOver = true;
    await this.connections.rows('end a lease', 'UPDATE reprise.host SET closed = true WHERE id = $1', [this.id]);
  }

  #beatLater(): void {
    const wait = Math.min(this.#retries ? this.ttlMs / RETRIES : this.ttlMs / BEATS, msTo(this.#until));
    this.#next = setTimeout(() => void this.#beat(), wait).unref();
  }

  async #beat(): Promise<void> {
    if (this.#isOver) return;
    if (!this.holds()) return this.#over();
    // A beat that does not come back must not keep the end of the lease from being noticed.
    const watch = setTimeout(() => this.#noticeEnd(), msTo(this.#until) + 1).unref();
    const extended = await this.#extend();
    clearTimeout(watch);
    if (this.#isOver) return;
    if (extended === false || !this.holds()) return this.#over();
    this.#retries = extended === undefined;
    this.#beatLater();
  }

  /** @returns whether the lease was extended; undefined when the database did not say */
  async #extend(): Promise<boolean | undefined> {
    const asked = moment();
    try {
      const row = one(
        await this.connections.rows(
          'extend a lease',
          `UPDATE reprise.host SET expires = clock_timestamp() + $2 * interval '1 ms'
           WHERE id = $1 AND NOT closed AND expires > clock_timestamp() RETURNING leaving`,
          [this.id, this.ttlMs],
        ),
      );
      // The answer may have waited for this process: what was over is not extended (G6).
      if (row === undefined || !this.holds()) return false;
      this.#until = later(asked, BELIEVED * this.ttlMs);
      if (row[0] === true && !this.#isLeaving) {
        this.#isLeaving = true;
        this.onLeaving();
      }
      return true;
    } catch {
      return undefined; // the next beat asks again, while the lease lasts
    }
  }

  #noticeEnd(): void {
    if (!this.#isOver && !this.holds()) this.#over();
  }

  #over(): void {
    clearTimeout(this.#next);
    this.#isOver = true;
    this.#end();
  }
}

/** How a process that has a lease is reached, for an error that names it; undefined when it did not say. */
export async function addressOf(connections: Connections, id: string): Promise<string | undefined> {
  const row = one(await connections.rows('look at a lease', 'SELECT address FROM reprise.host WHERE id = $1', [id]));
  return row?.[0] == null ? undefined : String(row[0]);
}

/** Rows of leases that have been over for a day, and that no world or directory names: each start of a process makes one. */
async function forgetOld(connections: Connections): Promise<void> {
  await connections.rows(
    'remove old leases',
    `DELETE FROM reprise.host h WHERE h.expires < clock_timestamp() - interval '1 day'
       AND NOT EXISTS (SELECT FROM reprise.world w WHERE w.owner = h.id)
       AND NOT EXISTS (SELECT FROM reprise.directory_row r WHERE r.open AND r.owner = h.id)
       AND NOT EXISTS (SELECT FROM reprise.reservation v WHERE v.host = h.id)`,
  );
}

/**
 * Closes the lease of another process when it is over, or when its process has died on this machine. After that it
 * cannot be extended.
 *
 * @returns whether it is closed now
 */
export async function closeLease(connections: Connections, id: string): Promise<boolean> {
  const found = one(
    await connections.rows('look at a lease', 'SELECT process, closed FROM reprise.host WHERE id = $1', [id]),
  );
  if (found === undefined || found[1] === true) return true;
  const died = hasDied(String(found[0]));
  const closed = await connections.rows(
    'close a lease',
    `UPDATE reprise.host SET closed = true, died = died OR $2
     WHERE id = $1 AND (closed OR $2 OR expires <= clock_timestamp()) RETURNING true`,
    [id, died],
  );
  return closed.length > 0;
}
