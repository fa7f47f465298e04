/**
 * A directory in the memory of its process: for tests, and for programs whose worlds need not outlive them. Hosts that
 * share one are several hosts of one process; claims, leases and parts of limits follow the rules of a directory in a
 * database (HOST-13 to HOST-18), and the suite of the port holds both to them.
 */
import {
  aFlag,
  type KnownOptions,
  RepriseError,
  requireKnownOptions,
  requireMethods,
  wholeFrom,
} from '@reprise/contracts';
import { type Clock, systemClock } from '../../ports/time/clock.js';
import { compareBytes } from '../../pure/codec/index.js';
import type {
  ClaimedRow,
  HostDirectory,
  LimitParts,
  LimitUse,
  OpenDirectory,
  RowQuery,
  SharedRows,
  WorldRow,
} from './directory.js';
import { divideLimit } from './limit-parts.js';

/** How a directory in memory is held. */
export interface MemoryDirectoryOptions {
  /** Whether several hosts of this process may have it open at the same time; false when absent. */
  readonly shared?: boolean;
  /** How long a host that shares it counts as living without being heard of, in milliseconds; 10,000 when absent. */
  readonly ttl?: number;
  /** The clock of leases; the system's when absent. */
  readonly clock?: Clock;
}

const OPTIONS: KnownOptions<MemoryDirectoryOptions> = { shared: aFlag, ttl: wholeFrom(2), clock: true };

const TTL_MS = 10_000;

/**
 * A directory in this process's memory, for tests and for hosts whose worlds also live in memory. Every query scans
 * all rows. A host that shares it lives for `ttl` after each of its calls, of which a running host makes two in that time.
 *
 * @throws RepriseError `invalid_argument`
 * @example
 * const directory = memoryDirectory({ shared: true });
 * const hosts = [await openHost({ directory, store, open }), await openHost({ directory, store, open })];
 */
export function memoryDirectory(options: MemoryDirectoryOptions = {}): HostDirectory {
  requireKnownOptions(options, OPTIONS, 'memoryDirectory');
  const { shared = false, ttl = TTL_MS, clock = systemClock } = options;
  requireMethods(clock, ['monotonic'], 'memoryDirectory(options.clock)', 'a clock');
  const place: Place = { rows: new Map(), claims: new Map(), ttl, clock, hosts: new Set(), reserved: [] };
  return {
    label: 'memory',
    open: async () => {
      if (shared) return new SharedMemoryDirectory(place);
      if (place.hosts.size > 0)
        throw new RepriseError('world_locked', 'the directory is already open', { where: 'memory' });
      return new MemoryDirectory(place);
    },
  };
}

/** The rows, and who has them. */
interface Place {
  readonly rows: Map<string, WorldRow>;
  /** The claims that have not been released; that of a dead host stays until it is adopted. */
  readonly claims: Map<string, Claim>;
  readonly ttl: number;
  readonly clock: Clock;
  readonly hosts: Set<MemoryDirectory>;
  /** What hosts have reserved of the limits that they share. */
  reserved: readonly Reservation[];
}

interface Reservation {
  readonly limit: string;
  readonly by: Lease;
  readonly count: number;
  readonly countsFor: number;
}

/** A claim is an object of its own: one that has ended is never taken for a later one of the same host. */
interface Claim {
  readonly by: Lease;
}

/** The time in which a host counts as living. One that is over is never extended: the host begins another. */
interface Lease {
  until: number;
}

class MemoryDirectory implements OpenDirectory {
  #closed = false;

  constructor(protected readonly place: Place) {
    place.hosts.add(this);
  }

  async get(world: string): Promise<WorldRow | undefined> {
    return this.open().get(world);
  }

  async set(rows: readonly WorldRow[]): Promise<void> {
    const all = this.open();
    for (const { world, nextWakeAt, open } of rows)
      if (!this.isClaimed(world)) all.set(world, { world, nextWakeAt, open });
  }

  async remove(world: string): Promise<void> {
    const all = this.open();
    if (!this.isClaimed(world)) all.delete(world);
  }

  async list({ open, dueBefore = Number.POSITIVE_INFINITY, after, limit }: RowQuery): Promise<readonly WorldRow[]> {
    const asked = [...this.open().values()].filter(
      (row) =>
        (open === undefined || row.open === open) &&
        (dueBefore === Number.POSITIVE_INFINITY || isDue(row, dueBefore)) &&
        (after === undefined || byId(row.world, after) > 0),
    );
    return asked.sort((a, b) => byId(a.world, b.world)).slice(0, limit);
  }

  async due(until: number, limit: number): Promise<readonly WorldRow[]> {
    const due = [...this.open().values()].filter((row) => !row.open && isDue(row, until));
    return due.sort((a, b) => timeOf(a) - timeOf(b) || byId(a.world, b.world)).slice(0, limit);
  }

  async nextDue(after: number): Promise<number | null> {
    let next = Number.POSITIVE_INFINITY;
    for (const row of this.open().values()) if (!row.open && timeOf(row) > after) next = Math.min(next, timeOf(row));
    return next === Number.POSITIVE_INFINITY ? null : next;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.place.hosts.delete(this);
  }

  protected isClaimed(_world: string): boolean {
    return false;
  }

  /** The rows, for a directory that is open. */
  protected open(): Map<string, WorldRow> {
    if (!this.#closed) return this.place.rows;
    throw new RepriseError('world_closed', 'the directory was closed', { where: 'memory' });
  }
}

class SharedMemoryDirectory extends MemoryDirectory {
  #lease: Lease;
  readonly #calls = new Set<() => void>();
  readonly shared: SharedRows;

  constructor(place: Place) {
    super(place);
    this.#lease = { until: place.clock.monotonic() + place.ttl };
    this.shared = {
      lookEvery: place.ttl / 2,
      claim: async (world) => this.#claim(world),
      adopt: async (dueAt, limit) => this.#adopt(dueAt, limit),
      share: async (uses) => this.#share(uses),
      changed: (call) => {
        this.#calls.add(call);
        return () => void this.#calls.delete(call);
      },
    };
  }

  override async set(rows: readonly WorldRow[]): Promise<void> {
    await super.set(rows);
    this.#tellOthers();
  }

  override async close(): Promise<void> {
    await super.close();
    this.#lease.until = this.place.clock.monotonic(); // what it has not released is adopted
    this.#calls.clear();
  }

  #claim(world: string): ClaimedRow {
    const all = this.open();
    if (this.isClaimed(world))
      throw new RepriseError('world_locked', 'another host has the world', {
        where: `memory, ${world}`,
        hint: 'Ask that host, or wait until it has released the world.',
      });
    const before = all.get(world);
    const claim: Claim = { by: this.#lease };
    this.place.claims.set(world, claim);
    all.set(world, { world, nextWakeAt: before?.nextWakeAt ?? null, open: true });
    return { before, release: async (row) => this.#release(world, claim, row) };
  }

  #release(world: string, claim: Claim, row: WorldRow | undefined): void {
    const all = this.open();
    if (this.place.claims.get(world) !== claim) return;
    this.place.claims.delete(world);
    if (row === undefined) all.delete(world);
    else all.set(world, { world, nextWakeAt: row.nextWakeAt, open: false });
    this.#tellOthers();
  }

  #adopt(dueAt: number, limit: number): number {
    const all = this.open();
    const left = [...all.values()].filter(({ world, open }) => open && !this.isClaimed(world)).slice(0, limit);
    for (const { world } of left) {
      this.place.claims.delete(world);
      all.set(world, { world, nextWakeAt: dueAt, open: false });
    }
    if (left.length > 0) this.#tellOthers();
    return left.length;
  }

  #share(uses: readonly LimitUse[]): LimitParts {
    this.open();
    const { place } = this;
    const [lease, now] = [this.#lease, place.clock.monotonic()];
    place.reserved = place.reserved.filter(({ by, countsFor }) => by.until + countsFor > now);
    const allowed = uses.map(({ limit, max, held, countsFor }) => {
      const others = place.reserved.filter((one) => one.limit === limit && one.by !== lease);
      const living = place.reserved.filter((one) => one.limit === limit && one.by.until > now).map(({ by }) => by);
      const before = place.reserved.find((one) => one.limit === limit && one.by === lease)?.count ?? 0;
      const leases = living.includes(lease) ? living : [...living, lease];
      const part = divideLimit({
        ...{ max, held: Math.min(held, before), hosts: leases.length },
        others: others.reduce((sum, { count }) => sum + count, 0),
        place: leases.indexOf(lease) + Math.floor(now / place.ttl),
      });
      const own: Reservation = { limit, by: lease, count: part.reserved, countsFor };
      const isOwn = (one: Reservation): boolean => one.limit === limit && one.by === lease;
      place.reserved = living.includes(lease)
        ? place.reserved.map((one) => (isOwn(one) ? own : one))
        : [...place.reserved, own];
      return part.allowed;
    });
    return { allowed, holds: () => lease.until > place.clock.monotonic() };
  }

  protected override isClaimed(world: string): boolean {
    const claim = this.place.claims.get(world);
    return claim !== undefined && claim.by.until > this.place.clock.monotonic();
  }

  /** Every call shows that this host lives; a lease that was over stays over. */
  protected override open(): Map<string, WorldRow> {
    const rows = super.open();
    const { clock, ttl } = this.place;
    const now = clock.monotonic();
    if (this.#lease.until > now) this.#lease.until = now + ttl;
    else this.#lease = { until: now + ttl };
    return rows;
  }

  #tellOthers(): void {
    for (const host of this.place.hosts)
      if (host !== this && host instanceof SharedMemoryDirectory) for (const call of host.#calls) call();
  }
}

function timeOf({ nextWakeAt }: WorldRow): number {
  return nextWakeAt ?? Number.POSITIVE_INFINITY;
}

function isDue(row: WorldRow, until: number): boolean {
  return timeOf(row) <= until;
}

const utf8 = new TextEncoder();

function byId(a: string, b: string): number {
  return compareBytes(utf8.encode(a), utf8.encode(b));
}
