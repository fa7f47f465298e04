/**
 * Machines that share a directory and fenced stores in memory, on one virtual time: each may die, stand still, be slow, or
 * have a storage that fails, also when it has done what was asked.
 */
import { isRepriseError, RepriseError } from '@reprise/contracts';
import { VirtualClock } from '@reprise/testkit';
import { type Clock, memory, type OpenStore, openKernelWorld, type Store, type World } from '../../../src/index.js';
import {
  type ClaimedRow,
  type Host,
  type HostDirectory,
  type HostFailure,
  type HostOptions,
  memoryDirectory,
  openHost,
  type SharedRows,
  type WorldRow,
} from '../../../src/serve/host/index.js';
import { ask, type Step } from '../../support/lab.js';
import { app } from './harness.js';

export const TTL = 8_000;
export const LOOK_EVERY = TTL / 2;

/** The part of a lease for which its machine believes in it, as in a database. */
const BELIEVED = 0.9;

/** The lease of a machine: all that it owns ends with it, and it never begins again. */
interface Lease {
  until: number;
  believedUntil: number;
  isOver: boolean;
  readonly lost: Promise<void>;
  lose(): void;
}

/** A process on a machine of its own. */
export class Machine {
  isDead = false;
  /** How long its calls to storage take, in milliseconds. */
  slowMs = 0;
  /** The next append is not written, and its failure is heard only after the machine has stood still for so long. */
  losesNext: number | undefined;
  /** How its calls to storage fail, while this is set: before or after they are done. */
  failing: 'before' | 'after' | undefined;
  /** Extends the lease in the directory. */
  beats: () => Promise<unknown> = async () => undefined;
  #lease: Lease | undefined;
  #resume: (() => void) | undefined;
  #standing: Promise<void> | undefined;
  readonly clock: Clock;

  constructor(
    readonly name: string,
    readonly place: SharedPlace,
    skewMs = 0,
  ) {
    const { clock } = place;
    this.clock = {
      wall: () => clock.wall() + skewMs,
      monotonic: () => clock.monotonic(),
      sleep: async (ms, signal) => {
        await clock.sleep(ms, signal);
        await this.#running();
      },
    };
    void this.#beat();
  }

  /** Nothing of it runs until the time has passed. */
  standStill(ms: number): void {
    if (this.#standing !== undefined || this.isDead) return;
    this.#standing = new Promise((resolve) => {
      this.#resume = resolve;
    });
    void this.place.clock.sleep(ms, new AbortController().signal).then(() => this.goOn());
  }

  goOn(): void {
    this.#standing = undefined;
    this.#resume?.();
  }

  /** Asks the directory for something, which extends the lease. */
  askDirectory<T>(body: () => Promise<T>): Promise<T> {
    return this.ask(() => {
      this.#isHeard();
      return body();
    });
  }

  /** Asks storage for something, as a process does that may stop before it asks and before it hears. */
  async ask<T>(body: () => Promise<T>): Promise<T> {
    await this.#running();
    await this.#travel();
    if (this.failing === 'before') throw new RepriseError('store_failed', 'the storage does not answer');
    const failsAfter = this.failing === 'after';
    const result = await body();
    await this.#travel();
    await this.#running();
    if (failsAfter) throw new RepriseError('store_failed', 'the answer was lost');
    return result;
  }

  /** Writes, unless the next write is to be lost. */
  async losing<T>(write: () => Promise<T>): Promise<T> {
    const ms = this.losesNext;
    if (ms === undefined) return write();
    this.losesNext = undefined;
    this.standStill(ms);
    await this.#running();
    throw new RepriseError('store_failed', 'the connection was cut');
  }

  /** The lease, begun anew when it is over. */
  current(): Lease {
    const now = this.place.clock.monotonic();
    if (this.#lease !== undefined && this.#lease.until > now && this.holds(this.#lease)) return this.#lease;
    let lose = (): void => undefined;
    const lost = new Promise<void>((resolve) => {
      lose = resolve;
    });
    this.#lease = { until: now + TTL, believedUntil: now + BELIEVED * TTL, isOver: false, lost, lose };
    return this.#lease;
  }

  /** Whether a lease is certainly this machine's own. */
  holds(lease: Lease): boolean {
    if (this.place.leftOut.endOfLease) return true;
    lease.isOver ||= lease.believedUntil <= this.place.clock.monotonic();
    if (lease.isOver) lease.lose();
    return !lease.isOver;
  }

  /** The storage has heard of it, by the storage's time. One that is over is never extended. */
  #isHeard(): void {
    const lease = this.current();
    lease.until = this.place.clock.monotonic() + TTL;
  }

  /** Makes itself heard while it lives, and believes in its lease for a part of it from the moment before it asked. */
  async #beat(): Promise<void> {
    const { clock } = this.place;
    for (;;) {
      await this.clock.sleep(TTL / 4, new AbortController().signal);
      const [lease, asked] = [this.#lease, clock.monotonic()];
      if (lease !== undefined && !this.holds(lease)) continue;
      const isHeard = await this.askDirectory(() => this.beats()).then(
        () => true,
        () => false,
      );
      if (isHeard && lease !== undefined && this.holds(lease)) lease.believedUntil = asked + BELIEVED * TTL;
    }
  }

  /** A question on its way to storage, or an answer on its way back: neither stands still with its machine. */
  async #travel(): Promise<void> {
    if (this.slowMs > 0) await this.place.clock.sleep(this.slowMs, new AbortController().signal);
  }

  async #running(): Promise<void> {
    while (this.#standing !== undefined && !this.isDead) await this.#standing;
    if (this.isDead) await new Promise(() => undefined);
  }
}

/** What a broken build leaves out; nothing when empty. */
export interface LeftOut {
  /** A lease that is over is believed in. */
  readonly endOfLease?: true;
}

/** What all machines share. */
export class SharedPlace {
  readonly clock = new VirtualClock({ turns: 40 });
  readonly machines: Machine[] = [];
  /** What a host did that it must not do. */
  readonly wrongs: string[] = [];
  /** How often a machine asked for a world that another one had. */
  refused = 0;
  readonly #directory = memoryDirectory({ shared: true, ttl: TTL, clock: this.clock });
  readonly #stores = new Map<string, FencedStore>();
  readonly #owners = new Map<string, { readonly by: Machine; readonly lease: Lease }>();

  constructor(readonly leftOut: LeftOut = {}) {}

  machine(name: string, skewMs = 0): Machine {
    const machine = new Machine(name, this, skewMs);
    this.machines.push(machine);
    return machine;
  }

  /** The store of a world, which outlives the machines. */
  store(world: string): FencedStore {
    const store = this.#stores.get(world) ?? new FencedStore(world, this);
    this.#stores.set(world, store);
    return store;
  }

  /** The machine that has claimed a world and lives. */
  ownerOf(world: string): Machine | undefined {
    const owner = this.#owners.get(world);
    return owner !== undefined && owner.lease.until > this.clock.monotonic() ? owner.by : undefined;
  }

  /** The rows as they are now. */
  async rows(): Promise<readonly WorldRow[]> {
    const open = await this.#directory.open();
    const rows = await open.list({ limit: 1_000 });
    await open.close();
    return rows;
  }

  /** The directory as a machine has it: a lost answer to a claim is a claim that the driver gives back later. */
  directory(by: Machine): HostDirectory {
    return {
      label: 'shared',
      open: async () => {
        const open = await this.#directory.open();
        const rows = open.shared as SharedRows;
        const lost = new Map<ClaimedRow, string>();
        by.beats = () => open.get('beat');
        const shared: SharedRows = {
          lookEvery: rows.lookEvery,
          claim: async (world) => {
            let claimed: ClaimedRow | undefined;
            try {
              const claim = await by.askDirectory(async () => {
                claimed = await rows.claim(world);
                this.#owners.set(world, { by, lease: by.current() });
                return claimed;
              });
              return { before: claim.before, release: (row) => this.#release(by, { world, claim, row, lost }) };
            } catch (error) {
              if (isRepriseError(error, 'world_locked')) this.refused++;
              if (claimed !== undefined) lost.set(claimed, world);
              throw error;
            }
          },
          adopt: (dueAt, limit) =>
            by.askDirectory(async () => {
              for (const [claim, world] of lost) await claim.release({ world, nextWakeAt: dueAt, open: false });
              lost.clear();
              return rows.adopt(dueAt, limit);
            }),
          share: (uses) => by.askDirectory(() => rows.share(uses)),
          changed: (call) => rows.changed?.(call) ?? (() => undefined),
        };
        return {
          shared,
          get: (world) => by.askDirectory(() => open.get(world)),
          set: (given) => by.askDirectory(() => this.#watched(by, given, () => open.set(given))),
          remove: (world) => by.askDirectory(() => this.#watched(by, [{ world }], () => open.remove(world))),
          list: (query) => by.askDirectory(() => open.list(query)),
          due: (until, limit) => by.askDirectory(() => open.due(until, limit)),
          nextDue: (after) => by.askDirectory(() => open.nextDue(after)),
          close: () => by.askDirectory(() => open.close()),
        };
      },
    };
  }

  async #release(
    by: Machine,
    released: { world: string; claim: ClaimedRow; row: WorldRow | undefined; lost: Map<ClaimedRow, string> },
  ): Promise<void> {
    const { world, claim, row, lost } = released;
    try {
      await by.askDirectory(async () => {
        await claim.release(row);
        if (this.#owners.get(world)?.by === by) this.#owners.delete(world);
      });
    } catch (error) {
      lost.set(claim, world);
      throw error;
    }
  }

  /** Writing the row of a world that a living machine has is wrong, also where the directory leaves the row as it is. */
  async #watched(by: Machine, given: readonly { readonly world: string }[], write: () => Promise<void>): Promise<void> {
    for (const { world } of given) {
      const owner = this.ownerOf(world);
      if (owner !== undefined) this.wrongs.push(`${by.name} writes the row of ${world}, which ${owner.name} has`);
    }
    await write();
  }
}

/** A store in memory with a fence: it is taken over when the lease of its owner is over, and then refuses its writes. */
export class FencedStore {
  readonly inner = memory();
  #kept: Promise<OpenStore> | undefined;
  #epoch = 0;
  #owner: Lease | undefined;
  #mark: string | null = null;

  /** The number of the newest opening. */
  get epoch(): number {
    return this.#epoch;
  }

  constructor(
    readonly world: string,
    private readonly place: SharedPlace,
  ) {}

  /** The store as a machine has it. */
  as(by: Machine): Store {
    return {
      label: this.world,
      open: () => by.ask(() => this.#open(by)),
      openReadonly: () => this.inner.openReadonly(),
    };
  }

  async #open(by: Machine): Promise<OpenStore> {
    const isOwn = this.#owner === by.current(); // an opening of this machine that could not give it back
    if (!isOwn && this.#owner !== undefined && this.#owner.until > this.place.clock.monotonic()) {
      // Who has the row has the world: nobody but its owner may find it locked.
      this.place.wrongs.push(`${by.name} finds ${this.world} locked`);
      throw new RepriseError('world_locked', 'another machine has it');
    }
    const lease = by.current();
    const ended = this.#owner === undefined ? 'clean' : 'lost';
    this.#owner = lease;
    const epoch = ++this.#epoch;
    this.#kept ??= this.inner.open();
    const kept = await this.#kept;
    const { journal } = kept;
    const fenced = <T>(body: () => Promise<T>): Promise<T> =>
      by.ask(async () => {
        if (this.#epoch !== epoch) throw new RepriseError('fenced', 'another machine has taken this over');
        return body();
      });
    return {
      ...kept,
      ...{ cleanlyClosed: ended === 'clean', ended },
      tenure: { epoch, holds: () => by.holds(lease), lost: lease.lost },
      journal: {
        ...journal,
        head: () => fenced(() => journal.head()),
        append: (frames, expected) => by.losing(() => fenced(() => journal.append(frames, expected))),
      },
      markAtOpen: this.#mark,
      mark: (note) =>
        fenced(async () => {
          this.#mark = note;
        }),
      close: () => this.#giveBack(by, epoch),
    };
  }

  /** What could not be given back is given back as soon as it can be. */
  async #giveBack(by: Machine, epoch: number): Promise<void> {
    const give = async (): Promise<void> => {
      if (this.#epoch === epoch) this.#owner = undefined;
    };
    try {
      await by.ask(give);
    } catch (error) {
      const later = by.clock.sleep(500, new AbortController().signal);
      void later.then(() => this.#giveBack(by, epoch)).catch(() => undefined);
      throw error;
    }
  }
}

/** A host on a machine. */
export interface HostOnMachine {
  readonly machine: Machine;
  readonly host: Host<World>;
  readonly failures: readonly HostFailure[];
  /** Asks a cell of a world to do something. */
  tell(world: string, ...steps: Step[]): Promise<unknown>;
}

/** Opens a host on a machine. */
export async function hostOn(machine: Machine, options: Partial<HostOptions<World>> = {}): Promise<HostOnMachine> {
  const { place } = machine;
  const failures: HostFailure[] = [];
  const host = await openHost<World>({
    directory: place.directory(machine),
    store: (world) => place.store(world).as(machine),
    open: (_world, base) => openKernelWorld({ ...base, app, recheckEvery: 0 }),
    clock: machine.clock,
    onError: (failure) => failures.push(failure),
    ...{ idleMs: 2_000, maxOpen: 4, waitMs: 60_000 },
    ...options,
  });
  return { machine, host, failures, tell: (world, ...steps) => host.use(world, (open) => ask(open, 'a', steps)) };
}
