/**
 * The worlds that are open: never more than there is room for, none twice, and who wants one more waits in line.
 *
 * Invariants
 * H1  A world has at most one resident, from before it opens until after it closed; never more residents than `max`.
 * H2  Who waits is served in the order of coming; only who wants a world that is open passes by.
 * H3  Only a world that nobody uses and that is at rest is closed to make room; the one unused for longest first.
 * H4  A world that broke down is closed when its last user leaves, and nobody new gets it.
 */
import { RepriseError } from '@reprise/contracts';
import { Alarm } from '../../ports/time/alarm.js';
import type { Clock } from '../../ports/time/clock.js';

/** How residents are opened, watched and closed. */
export interface ResidentsParts<W> {
  /** How many may be open at once. */
  readonly max: number;
  /** How long one that nobody uses stays open, in milliseconds. */
  readonly idleMs: number;
  readonly clock: Clock;
  open(id: string): Promise<W>;
  /** Closes it. Never rejects. */
  close(id: string, world: W): Promise<void>;
  /** Whether closing it would interrupt nothing. */
  atRest(world: W): boolean;
  /** Resolves when it may be at rest. Never rejects. */
  rest(world: W): Promise<void>;
  /** Whether it can do nothing any more. */
  broken(world: W): boolean;
}

/** A world that is open, or on its way. */
export interface Resident<W> {
  readonly id: string;
  /** Rejects when the world could not be opened; then the resident is gone. */
  readonly opening: Promise<W>;
  world: W | undefined;
  users: number;
  /** By the monotonic clock. */
  idleSince: number;
  closing: Promise<void> | undefined;
  watched: boolean;
  /** Told when the last user leaves. */
  left(): void;
}

interface Waiter<W> {
  readonly id: string;
  enter(resident: Resident<W>): void;
  leave(error: RepriseError): void;
}

/** How long until something is looked at again that tells of no change by itself. */
const LOOK_AGAIN_MS = 250;

/** How many may wait in line: beyond it a host does not keep up, and waiting longer helps nobody. */
const HOST_LINE_MAX = 10_000;

/** The open worlds of a host. */
export class Residents<W> {
  /** Those that nobody uses stand in the order in which they were left. */
  readonly #byId = new Map<string, Resident<W>>();
  readonly #idle: Alarm;
  #line: Waiter<W>[] = [];
  #ended: RepriseError | undefined;

  constructor(private readonly parts: ResidentsParts<W>) {
    const { clock } = parts;
    this.#idle = new Alarm({ clock, now: () => clock.monotonic(), ring: () => this.#sweep() });
  }

  /** How many are open, or on their way, or being closed. */
  get size(): number {
    return this.#byId.size;
  }

  /**
   * Takes a world for a user, who gives it back by {@link Residents.giveBack}.
   *
   * @param waitMs how long to wait for room
   * @throws RepriseError `host_busy`, `host_closed`, and what opening throws
   */
  async take(id: string, waitMs = Number.POSITIVE_INFINITY): Promise<Resident<W>> {
    if (this.#ended !== undefined) throw this.#ended;
    const resident = this.#enter(id, this.#line.length === 0) ?? (await this.#waitFor(id, waitMs));
    await resident.opening;
    return resident;
  }

  /** A user leaves. */
  giveBack(resident: Resident<W>): void {
    resident.users--;
    if (resident.users > 0 || this.#byId.get(resident.id) !== resident) return;
    resident.left();
    resident.idleSince = this.parts.clock.monotonic();
    this.#byId.delete(resident.id);
    this.#byId.set(resident.id, resident); // H3: behind those that were left before
    this.look();
  }

  /** Looks again at what may be closed. */
  look(): void {
    for (const resident of this.#byId.values()) if (this.#brokenAndLeft(resident)) void this.#close(resident); // H4
    this.#makeRoom();
    this.#sweep();
  }

  /** Serves nobody any more, and closes all when they were given back or the signal aborts. */
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

  /** Enters a world that is open, or opens it when there is room and it is this one's turn. */
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
    opening.catch(() => undefined); // its users are told; it may have none
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
    if (this.#line.length >= HOST_LINE_MAX) throw busy(this.parts.max, `${HOST_LINE_MAX} wait already`);
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
    waiter.leave(busy(this.parts.max, `no room within ${waitMs} ms`));
    this.#serve(); // who stood behind it may be first now
  }

  /** Lets in who can be let in (H2). */
  #serve(): void {
    const still: Waiter<W>[] = [];
    for (const waiter of this.#line) {
      const resident = this.#enter(waiter.id, still.length === 0);
      if (resident === undefined) still.push(waiter);
      else waiter.enter(resident);
    }
    this.#line = still;
    this.#makeRoom();
  }

  /** Closes as many as are wanted by those in line (H3). */
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

  /** Closes what was left for long enough, and sleeps until the next was. */
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

  /** Looks again when a world that nobody uses may have come to rest. */
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
  return new RepriseError('host_busy', 'there is no room for one more open world', {
    expected: `at most ${max} open at once`,
    actual: why,
    hint: 'Give worlds back sooner, or raise maxOpen; then ask again.',
  });
}
