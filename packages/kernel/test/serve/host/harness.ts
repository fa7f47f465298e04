/** Hosts over memory stores that outlive them, under a virtual clock, with a power switch. */
import { type JournalRecord, RepriseError } from '@reprise/contracts';
import { VirtualClock } from '@reprise/testkit';
import {
  type AnyAdapter,
  type Clock,
  type Head,
  memory,
  type OpenStore,
  openKernelWorld,
  type Store,
  type World,
} from '../../../src/index.js';
import {
  type Host,
  type HostDirectory,
  type HostFailure,
  type HostOptions,
  type HostWitness,
  memoryDirectory,
  openHost,
} from '../../../src/serve/host/index.js';
import { framesOf } from '../../support/judge.js';
import { again, ask, lab, once, type Step, tellCell } from '../../support/lab.js';

/** The app of every world here: cells that do as they are told, and a plan that calls the outside once. */
export const { app } = lab({
  *call(input, plan) {
    const { status } = yield* plan.awaitReceipt(plan.emitEffect(once, input));
    tellCell(plan, 'got', status);
  },
  *callAgain(input, plan) {
    const { status } = yield* plan.awaitReceipt(plan.emitEffect(again, input));
    tellCell(plan, 'got', status);
  },
});

/** A process that can die: what it asks of its storage after that does not happen. */
export class Power {
  #left = Number.POSITIVE_INFINITY;
  /** How often it asked for something. */
  used = 0;

  /** Dies instead of asking for more than so much. */
  cutAfter(operations: number): void {
    this.#left = operations;
  }

  /** Whether it is dead. */
  get off(): boolean {
    return this.#left <= 0;
  }

  /** Does something to storage, or dies. */
  async spend<T>(body: () => Promise<T>): Promise<T> {
    if (this.off) throw new RepriseError('store_failed', 'this process is dead');
    this.used++;
    this.#left--;
    return body();
  }
}

/** The clock of a process: who is dead does not wake. */
function poweredClock(clock: VirtualClock, power: Power): Clock {
  return {
    wall: () => clock.wall(),
    monotonic: () => clock.monotonic(),
    sleep: async (ms, signal) => {
      await clock.sleep(ms, signal);
      if (power.off) await new Promise(() => undefined);
    },
  };
}

/** What is kept when a process dies: stores by world, a directory, and who holds them. */
export class Disk {
  readonly clock = new VirtualClock({ turns: 40 });
  readonly directory = memoryDirectory();
  /** Worlds that are open now, the most that ever were at once, and how often one was opened. */
  readonly open = { now: 0, most: 0, opens: 0 };
  /** How appends fail while this is set. */
  failing: 'store_failed' | 'store_full' | undefined;
  readonly #stores = new Map<string, Store>();
  readonly #held = new Set<() => Promise<void>>();

  /** The store of a world. */
  store(world: string): Store {
    const store = this.#stores.get(world) ?? memory();
    this.#stores.set(world, store);
    return store;
  }

  /** Another store is found in the place of a world. */
  replace(world: string, store: Store): void {
    this.#stores.set(world, store);
  }

  /** All locks of dead processes end. */
  async releaseAll(): Promise<void> {
    for (const release of [...this.#held]) await release();
    this.#held.clear();
    this.open.now = 0;
  }

  /** The store as a process sees it. */
  poweredStore(world: string, power: Power): Store {
    const store = this.store(world);
    return {
      label: world,
      open: () => power.spend(async () => this.#powered(await store.open(), power)),
      openReadonly: () => store.openReadonly(),
    };
  }

  #powered(open: OpenStore, power: Power): OpenStore {
    const { journal } = open;
    const close = async (): Promise<void> => {
      if (this.#held.delete(close)) this.open.now--;
      await open.close();
    };
    this.#held.add(close);
    this.open.opens++;
    this.open.most = Math.max(this.open.most, ++this.open.now);
    const append: typeof journal.append = async (frames, expected) => {
      if (this.failing !== undefined) throw new RepriseError(this.failing, 'as told');
      return journal.append(frames, expected);
    };
    return {
      ...open,
      journal: { ...journal, append: (frames, expected) => power.spend(() => append(frames, expected)) },
      mark: (note) => power.spend(() => open.mark(note)),
      close: () => power.spend(close),
    };
  }

  /** The directory as a process sees it. */
  poweredDirectory(power: Power, inner: HostDirectory = this.directory): HostDirectory {
    return {
      label: 'powered',
      open: async () => {
        const open = await inner.open();
        const close = () => open.close();
        this.#held.add(close);
        return {
          get: (world) => power.spend(() => open.get(world)),
          set: (rows) => power.spend(() => open.set(rows)),
          remove: (world) => power.spend(() => open.remove(world)),
          list: (query) => power.spend(() => open.list(query)),
          due: (until, limit) => power.spend(() => open.due(until, limit)),
          nextDue: (after) => power.spend(() => open.nextDue(after)),
          close: () => power.spend(close),
        };
      },
    };
  }
}

/** A host under test. */
export interface HostUnderTest {
  readonly disk: Disk;
  readonly clock: VirtualClock;
  readonly host: Host<World>;
  readonly failures: HostFailure[];
  /** Asks a cell of a world to do something. */
  tell(world: string, ...steps: Step[]): Promise<unknown>;
}

/** How a host under test is opened. */
export interface GivenHost extends Partial<HostOptions<World>> {
  readonly disk?: Disk;
  readonly power?: Power;
  readonly adapters?: readonly AnyAdapter[];
}

/** Opens a host over a disk. */
export async function givenHost(options: GivenHost = {}): Promise<HostUnderTest> {
  const { disk = new Disk(), power = new Power(), adapters = [], directory, ...rest } = options;
  const failures: HostFailure[] = [];
  const host = await openHost<World>({
    directory: disk.poweredDirectory(power, directory),
    store: (world) => disk.poweredStore(world, power),
    open: (_world, base) => openKernelWorld({ ...base, app, adapters, recheckEvery: 0 }),
    clock: poweredClock(disk.clock, power),
    onError: (failure) => failures.push(failure),
    ...rest,
  });
  const tell = (world: string, ...steps: Step[]) => host.use(world, (open) => ask(open, 'a', steps));
  return { disk, clock: disk.clock, host, failures, tell };
}

/** The timers that a world's journal says have fired. */
export async function firedIn(disk: Disk, world: string): Promise<{ name: string; due: number; at: number }[]> {
  const ingress = (await framesOf(disk.store(world))).map(([first]) => first as JournalRecord);
  return ingress.flatMap((record) =>
    record.kind === 'timer' ? [{ name: record.name, due: record.due, at: record.at }] : [],
  );
}

/** A witness in memory, which can be away or full. */
export interface WitnessUnderTest extends HostWitness {
  away: boolean;
  full: boolean;
}

/** A witness that outlives its hosts. */
export function memoryWitness(): WitnessUnderTest {
  const heads = new Map<string, Head>();
  return {
    away: false,
    full: false,
    async head(world) {
      if (this.away) throw new RepriseError('store_failed', 'the witness does not answer');
      return heads.get(world);
    },
    async saw(world, head) {
      if (this.full) throw new RepriseError('store_full', 'the witness has no room');
      heads.set(world, head);
    },
  };
}
