/**
 * The open worlds of a host: never more than the maximum, none twice, and further callers wait in line.
 *
 * Invariants
 * H1  A world has at most one resident, from before it opens until after it closed; never more residents than `max`.
 * H2  Callers are served in order. A caller for a world that is already open may pass, and so may one who finds room while
 *     those before it wait for the end of a world: each of them gets the place of that world.
 * H3  Only an idle world without users is closed to make room; the one unused for longest first.
 * H4  A world that broke down is closed when its last user leaves, and gets no new users.
 * H9  Callers share openings, and get the error only of one that began after they asked: what refused an earlier one may be
 *     over, as when an operator has admitted the database meanwhile.
 */
import { RepriseError } from '@reprise/contracts';
import { Alarm } from '../../ports/time/alarm.js';
import type { Clock } from '../../ports/time/clock.js';

/** How residents are opened, watched and closed. */
interface ResidentsParts<W> {
  /** The maximum number of open worlds. */
  readonly max: number;
  /** How long an unused world stays open, in milliseconds. */
  readonly idleMs: number;
  readonly clock: Clock;
  open(id: string): Promise<W>;
  /** Closes the world, and never rejects. */
  close(id: string, world: W): Promise<void>;
  /** Whether closing it would interrupt nothing. */
  atRest(world: W): boolean;
  /** Resolves when it may have become idle. Never rejects. */
  rest(world: W): Promise<void>;
  /** Whether it can do nothing any more. */
  broken(world: W): boolean;
}

/** A world that is open or being opened. */
interface Resident<W> {
  readonly id: string;
  /** Rejects when the world could not be opened; then the resident is removed. */
  readonly opening: Promise<W>;
  world: W | undefined;
  users: number;
  /** Since when nobody uses it, in milliseconds of the monotonic clock. */
  idleSince: number;
  closing: Promise<void> | undefined;
  watched: boolean;
  /** Called when the last user leaves. */
  left(): void;
}

interface Waiter<W> {
  readonly id: string;
  enter(resident: Resident<W>): void;
  leave(error: RepriseError): void;
}

/** How often a condition is checked that reports no change by itself, in milliseconds. */
const LOOK_AGAIN_MS = 250;

/** The longest line. Beyond it the host does not keep up, and waiting longer does not help. */
const HOST_LINE_MAX = 10_000;

/** The open worlds of a host. */
export class Residents<W> {
  /** Unused worlds stand in the order in which their last users left. */
  readonly #byId = new Map<string, Resident<W>>();
  readonly #idle: Alarm;
  #line: Waiter<W>[] = [];
  #ended: RepriseError | undefined;

  constructor(private readonly parts: ResidentsParts<W>) {
    const { clock } = parts;
    this.#idle = new Alarm({ clock, now: () => clock.monotonic(), ring: () => this.#sweep() });
  }

  /** The number of worlds that are open, being opened or being closed. */
  get size(): number {
    return this.#byId.size;
  }

  /**
   * Takes a world for a user, who returns it with {@link Residents.giveBack}.
   *
   * @param waitMs how long to wait for room
   * @throws RepriseError `host_busy`, `host_closed`, and the error of opening
   */
  async take(id: string, waitMs = Number.POSITIVE_INFINITY): Promise<Resident<W>> {
    const begun = this.#byId.get(id);
    const resident = await this.#place(id, waitMs);
    try {
      await resident.opening;
      return resident;
    } catch (error) {
      if (resident !== begun) throw error; // H9
    }
    const again = await this.#place(id, waitMs);
    await again.opening;
    return again;
  }

  /** The world, which may still be opening. @throws RepriseError `host_busy`, `host_closed` */
  async #place(id: string, waitMs: number): Promise<Resident<W>> {
    if (this.#ended !== undefined) throw this.#ended;
    return this.#enter(id, !this.#line.some((one) => this.#wantsRoom(one))) ?? (await this.#waitFor(id, waitMs));
  }

  giveBack(resident: Resident<W>): void {
    resident.users--;
    if (resident.users > 0 || this.#byId.get(resident.id) !== resident) return;
    resident.left();
    resident.idleSince = this.parts.clock.monotonic();
    this.#byId.delete(resident.id);
    this.#byId.set(resident.id, resident); // H3: behind the worlds that were left earlier
    this.look();
  }

  /** Checks again which worlds may be closed. */
  look(): void {
    for (const resident of this.#byId.values()) if (this.#brokenAndLeft(resident)) void this.#close(resident); // H4
    this.#makeRoom();
    this.#sweep();
  }

  /** Accepts no more users, and closes all worlds when they are unused or the signal aborts. */
  async end(error: RepriseError, signal: AbortSignal): Promise<void> {
    this.#ended = error;
    this.#idle.stop();
    for (const waiter of this.#line.splice(0)) waiter.leave(error);
    await Promise.all([...this.#byId.values()].map((resident) => this.#endOne(resident, signal)));
  }

  async #endOne(resident: Resident<W>, signal: AbortSignal): Promise<void> {
    await resident.opening.catch(() => undefined);
    if (resident.users > 0 && !signal.aborted) await whenLeft(resident, signal);
    if (this.#byId.get(resident.id) === resident) await this.#close(resident);
  }

  /** Enters an open world, or opens it when there is room and it is this caller's turn. */
  #enter(id: string, turn: boolean): Resident<W> | undefined {
    const known = this.#byId.get(id);
    if (known !== undefined) {
      if (known.closing !== undefined || this.#isBroken(known)) return undefined; // H1, H4
      known.users++;
      return known;
    }
    if (!turn || this.#byId.size >= this.parts.max) return undefined;
    return this.#admit(id);
  }

  #admit(id: string): Resident<W> {
    const opening = this.parts.open(id).then(
      (world) => {
        resident.world = world;
        return world;
      },
      (error: unknown) => {
        this.#byId.delete(id);
        this.#serve();
        throw error;
      },
    );
    opening.catch(() => undefined); // its users, if any, get the error
    const resident: Resident<W> = {
      id,
      opening,
      world: undefined,
      users: 1,
      idleSince: 0,
      closing: undefined,
      watched: false,
      left: () => undefined,
    };
    this.#byId.set(id, resident);
    return resident;
  }

  #waitFor(id: string, waitMs: number): Promise<Resident<W>> {
    if (this.#line.length >= HOST_LINE_MAX) throw busy(this.parts.max, `${HOST_LINE_MAX} callers wait already`);
    return new Promise((resolve, reject) => {
      const served = new AbortController();
      const waiter: Waiter<W> = {
        id,
        enter: (resident) => {
          served.abort();
          resolve(resident);
        },
        leave: (error) => {
          served.abort();
          reject(error);
        },
      };
      this.#line.push(waiter);
      this.#makeRoom();
      if (waitMs !== Number.POSITIVE_INFINITY) void this.#giveUp(waiter, waitMs, served.signal);
    });
  }

  async #giveUp(waiter: Waiter<W>, waitMs: number, served: AbortSignal): Promise<void> {
    await this.parts.clock.sleep(waitMs, served);
    if (served.aborted) return;
    this.#line = this.#line.filter((one) => one !== waiter);
    waiter.leave(this.#notIn(waiter, waitMs));
    this.#serve(); // the next caller may be first now
  }

  #notIn(waiter: Waiter<W>, waitMs: number): RepriseError {
    if (this.#wantsRoom(waiter)) return busy(this.parts.max, `no room within ${waitMs} ms`);
    return new RepriseError('host_busy', 'the world has not been closed yet, and cannot be opened again before that', {
      where: waiter.id,
      actual: `it has failed or is being closed, and its users have kept it for ${waitMs} ms`,
      hint: 'Leases of a world that has failed have to be released; then try again.',
    });
  }

  /** Lets in as many callers as possible (H2). */
  #serve(): void {
    const still: Waiter<W>[] = [];
    let isTurn = true; // H2
    for (const waiter of this.#line) {
      const resident = this.#enter(waiter.id, isTurn);
      if (resident === undefined) still.push(waiter);
      else waiter.enter(resident);
      if (resident === undefined && this.#wantsRoom(waiter)) isTurn = false;
    }
    this.#line = still;
    this.#makeRoom();
  }

  /** Whether a caller waits for room, and not for the end of its own world. */
  #wantsRoom({ id }: Waiter<W>): boolean {
    return !this.#byId.has(id);
  }

  /** Closes as many worlds as the callers in line need (H3). */
  #makeRoom(): void {
    const closing = [...this.#byId.values()].filter((resident) => resident.closing !== undefined).length;
    let wanted = this.#line.length - (this.parts.max - this.#byId.size) - closing;
    for (const resident of [...this.#byId.values()]) {
      if (wanted <= 0) return;
      if (!this.#isLeft(resident)) continue;
      if (this.#atRest(resident)) {
        void this.#close(resident);
        wanted--;
      } else this.#watch(resident);
    }
  }

  /** Closes worlds that have been unused for long enough, and sleeps until the next. */
  #sweep(): void {
    if (this.#ended !== undefined) return;
    const { clock, idleMs } = this.parts;
    const now = clock.monotonic();
    let next: number | undefined;
    for (const resident of [...this.#byId.values()]) {
      if (!this.#isLeft(resident)) continue;
      if (now - resident.idleSince < idleMs)
        next = Math.min(next ?? Number.POSITIVE_INFINITY, resident.idleSince + idleMs);
      else if (this.#atRest(resident)) void this.#close(resident);
      else this.#watch(resident);
    }
    this.#idle.set(next === Number.POSITIVE_INFINITY ? undefined : next);
  }

  /** Checks again when an unused world may have become idle. */
  #watch(resident: Resident<W>): void {
    if (resident.watched || resident.world === undefined) return;
    resident.watched = true;
    const { clock } = this.parts;
    void this.parts.rest(resident.world).then(async () => {
      if (!this.#atRest(resident)) await clock.sleep(LOOK_AGAIN_MS, new AbortController().signal);
      resident.watched = false;
      if (this.#byId.get(resident.id) === resident) this.look();
    });
  }

  #close(resident: Resident<W>): Promise<void> {
    const { id, world } = resident;
    if (world === undefined) return Promise.resolve();
    resident.closing ??= this.parts.close(id, world).then(() => {
      this.#byId.delete(id);
      this.#serve();
    });
    return resident.closing;
  }

  #isLeft({ world, users, closing }: Resident<W>): boolean {
    return world !== undefined && users === 0 && closing === undefined;
  }

  #isBroken({ world }: Resident<W>): boolean {
    return world !== undefined && this.parts.broken(world);
  }

  #brokenAndLeft(resident: Resident<W>): boolean {
    return this.#isLeft(resident) && this.#isBroken(resident);
  }

  #atRest({ world }: Resident<W>): boolean {
    return world !== undefined && (this.parts.broken(world) || this.parts.atRest(world));
  }
}

function whenLeft<W>(resident: Resident<W>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    resident.left = resolve;
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function busy(max: number, why: string): RepriseError {
  return new RepriseError('host_busy', 'the host has no room for another open world', {
    expected: `at most ${max} open at once`,
    actual: why,
    hint: 'Release worlds sooner, or raise maxOpen; then try again.',
  });
}
