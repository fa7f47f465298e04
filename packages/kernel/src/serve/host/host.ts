/**
 * Many worlds in one process: each is opened when a caller wants it or when it wants to wake, and closed when unused.
 *
 * Invariants
 * H5  A row says `open` durably before its world is opened, and says when it wants to wake only after it closed.
 *     So all that a crash hides is in worlds whose rows say `open`, and the next host wakes those as soon as it starts.
 *     In a shared directory the row is claimed, which is one step, and any other host adopts it when this one is dead.
 * H6  A failing world does not delay another: it is tried again, later and later, as long as something is due.
 * H7  A world that wants to wake at once, again and again, counts as failing, too.
 * H8  A world is opened again only where its store still has the last durable frame that this host or its witness has seen.
 */
import {
  aFlag,
  aText,
  isRepriseError,
  type KnownOptions,
  present,
  RepriseError,
  requireCallable,
  requireKnownOptions,
  wholeFrom,
} from '@reprise/contracts';
import { type Clock, systemClock } from '../../ports/time/clock.js';
import { CLOCK_JUMP_LIMITS, Stamper } from '../../ports/time/stamper.js';
import { WakingClock } from '../../ports/time/waking-clock.js';
import type { ClaimedRow, OpenDirectory, RowQuery, WorldRow } from './directory.js';
import { LimitRounds } from './limit-parts.js';
import { type HostedWorld, type HostOptions, kernelOf, requireHostOptions, requireWorldId } from './options.js';
import { Residents } from './residents.js';
import { SeenHeads } from './seen-heads.js';
import { SharedLimits } from './shared-limits.js';
import { Troubles } from './troubles.js';
import { Waker } from './waker.js';

const ROW_QUERY: KnownOptions<RowQuery> = { open: aFlag, dueBefore: true, after: aText, limit: wholeFrom(1) };

const MAX_OPEN_DEFAULT = 200;
const IDLE_MS_DEFAULT = 300_000;
const WAIT_MS_DEFAULT = 30_000;

/** How long `close` waits by default for users to release their worlds and for effects to end, in milliseconds. */
const HOST_CLOSE_MS = 10_000;

/** How many rows one read of the directory returns at most. */
const ROWS_AT_ONCE = 500;

/** A world in use. It stays open until the lease is released. */
export interface Lease<W> extends AsyncDisposable {
  readonly id: string;
  readonly world: W;
  /** Releases the world, which the host may close then; a second call does nothing. */
  release(): void;
}

/**
 * Opens a host: takes its directory, and wakes the worlds that were open when the last host died, and those that are due.
 *
 * @throws RepriseError `world_locked` when another host has the directory, `invalid_argument`, `store_failed`
 * @example
 * const host = await openHost({
 *   directory: sqliteDirectory('worlds/host.db', { create: 'folders' }),
 *   store: (tenant) => sqlite(`worlds/${tenant}.db`),
 *   open: (_tenant, base) => openWorld({ ...base, app, adapters }),
 * })
 * await host.use('tenant-7', (world) => world.request(['demo/Counter@1', 'a'], { name: 'demo/Added@1', value: { by: 2 } }))
 */
export async function openHost<W extends HostedWorld>(options: HostOptions<W>): Promise<Host<W>> {
  requireHostOptions(options);
  const directory = await options.directory.open();
  const host = new Host(options, directory);
  try {
    await host.start();
    return host;
  } catch (error) {
    await directory.close();
    throw error;
  }
}

/** Many worlds in one process, which may share their directory with hosts elsewhere. Made by {@link openHost}. */
export class Host<W extends HostedWorld> implements AsyncDisposable {
  readonly #clock: Clock;
  readonly #alarmClock: WakingClock;
  readonly #time: Stamper;
  readonly #residents: Residents<W>;
  readonly #waker: Waker;
  readonly #limits: SharedLimits;
  /** Asks for this host's part of the limits, where hosts share the directory. */
  readonly #rounds: LimitRounds | undefined;
  readonly #troubles = new Troubles();
  readonly #seen: SeenHeads;
  /** The rows that this host has claimed in a shared directory. */
  readonly #claims = new Map<string, ClaimedRow>();
  #closing: Promise<void> | undefined;
  /** How long effects may continue while their world is being closed, in milliseconds. */
  #drainMs = 0;

  /** For {@link openHost}, which opens the directory. */
  constructor(
    private readonly options: HostOptions<W>,
    private readonly directory: OpenDirectory,
  ) {
    this.#seen = new SeenHeads(options.witness);
    this.#clock = options.clock ?? systemClock;
    this.#alarmClock = new WakingClock(this.#clock);
    const { shared } = directory;
    const failed = (error: unknown): void => this.#tell({ world: undefined, error, retryAt: this.#time.now() });
    const limits = new SharedLimits(options.limits ?? [], this.#clock, shared !== undefined);
    this.#limits = limits;
    this.#rounds = shared && new LimitRounds({ shared, limits, clock: this.#clock, random: Math.random, failed });
    this.#time = new Stamper({
      clock: this.#clock,
      lastAt: undefined,
      limits: CLOCK_JUMP_LIMITS,
      leapt: () => this.#alarmClock.wake(),
    });
    this.#residents = new Residents<W>({
      max: options.maxOpen ?? MAX_OPEN_DEFAULT,
      idleMs: options.idleMs ?? IDLE_MS_DEFAULT,
      clock: this.#clock,
      open: (id) => this.#open(id),
      close: (id, world) => this.#close(id, world),
      atRest: (world) => !kernelOf(world).unfinished,
      rest: async (world) =>
        void (await kernelOf(world)
          .pump()
          .catch(() => undefined)),
      broken: (world) => kernelOf(world).closedBy !== undefined,
    });
    this.#waker = new Waker({
      directory,
      clock: this.#alarmClock,
      now: () => this.#time.now(),
      wake: (world) => this.#wake(world),
      random: Math.random,
      failed,
    });
  }

  /** The number of worlds that are open or being opened. */
  get openCount(): number {
    return this.#residents.size;
  }

  /** Corrects the rows that a crash left behind and begins to wake worlds (H5). Called once, by {@link openHost}. */
  async start(): Promise<void> {
    // Open rows of a shared directory may be those of a living host: the waker adopts the others.
    if (this.directory.shared === undefined) await this.#correctRows();
    this.#rounds?.ask();
    this.#waker.look();
  }

  async #correctRows(): Promise<void> {
    for (;;) {
      const rows = await this.directory.list({ open: true, limit: ROWS_AT_ONCE });
      if (rows.length === 0) return;
      const nextWakeAt = this.#time.now();
      await this.directory.set(rows.map(({ world }) => ({ world, nextWakeAt, open: false })));
    }
  }

  /**
   * Uses a world: opens it if necessary, and keeps it open until `work` has ended.
   *
   * @param world its id, which `store` maps to a place
   * @throws RepriseError `host_busy` when there was no room in time, `host_closed`, `invalid_argument`, and the errors of
   *   `store` and `open`
   */
  async use<R>(world: string, work: (world: W) => Promise<R> | R): Promise<R> {
    requireCallable(work, 'host.use', 'work');
    const lease = await this.lease(world);
    try {
      return await work(lease.world);
    } finally {
      lease.release();
    }
  }

  /** Like {@link Host.use}, until it is released: `await using lease = await host.lease(id)`. */
  async lease(world: string): Promise<Lease<W>> {
    requireWorldId(world);
    const resident = await this.#residents.take(world, this.options.waitMs ?? WAIT_MS_DEFAULT);
    let given = false;
    const release = (): void => {
      if (!given) this.#residents.giveBack(resident);
      given = true;
    };
    return { id: world, world: await resident.opening, release, [Symbol.asyncDispose]: async () => release() };
  }

  /** The rows of the directory, by id, without opening any world. */
  async worlds(query: RowQuery): Promise<readonly WorldRow[]> {
    requireKnownOptions(query, ROW_QUERY, 'host.worlds');
    return this.directory.list(query);
  }

  /**
   * Stops waking worlds, waits for leases to be released, ends running effects, and closes all worlds. Idempotent.
   *
   * @param options `within`: milliseconds to wait for the leases, and as many again for the effects
   */
  close(options: { readonly within?: number } = {}): Promise<void> {
    requireKnownOptions(options, { within: wholeFrom(0) }, 'host.close');
    this.#closing ??= this.#end(options.within ?? HOST_CLOSE_MS);
    return this.#closing;
  }

  /** `await using host = …` closes it. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #end(within: number): Promise<void> {
    this.#drainMs = within;
    const [over, done] = [new AbortController(), new AbortController()];
    void this.#clock.sleep(within, done.signal).then(() => over.abort());
    const closed = new RepriseError('host_closed', 'this host is closed', { hint: 'Open it again to continue.' });
    const waker = this.#waker.stop();
    await this.#residents.end(closed, over.signal);
    done.abort();
    await waker;
    this.#limits.stop();
    await this.#rounds?.stop();
    await this.directory.close();
  }

  async #open(id: string): Promise<W> {
    const store = this.options.store(id);
    const before = await this.#claim(id); // H5
    try {
      const expectHead = await this.#seen.of(id);
      const base = { store, clock: this.#clock, throttle: this.#limits.of(id), ...present({ expectHead }) };
      const world = await this.options.open(id, base);
      void kernelOf(world).ended.then(() => this.#residents.look());
      return world;
    } catch (error) {
      await this.#notOpened(id, before, error);
      throw error;
    }
  }

  /** Says durably that a world is open. @returns its row before @throws RepriseError `world_locked` when another host has it */
  async #claim(id: string): Promise<WorldRow | undefined> {
    const { directory } = this;
    if (directory.shared !== undefined) {
      const claim = await directory.shared.claim(id);
      this.#claims.set(id, claim);
      return claim.before;
    }
    const before = await directory.get(id);
    await directory.set([{ world: id, nextWakeAt: before?.nextWakeAt ?? null, open: true }]);
    return before;
  }

  /** Restores a row, or moves it a little later when it is due (H6). */
  async #notOpened(id: string, before: WorldRow | undefined, error: unknown): Promise<void> {
    const now = this.#time.now();
    const due = before !== undefined && (before.open || (before.nextWakeAt !== null && before.nextWakeAt <= now));
    const retryAt = due ? now + this.#troubles.add(id) : null;
    this.#tell({ world: id, error, retryAt });
    const nextWakeAt = retryAt ?? before?.nextWakeAt ?? null;
    await this.#write(id, before === undefined ? undefined : { world: id, nextWakeAt, open: false });
  }

  async #close(id: string, world: W): Promise<void> {
    const kernel = kernelOf(world);
    const broken = kernel.closedBy;
    const failure = await this.#shut(world);
    const unkept = await this.#seen.saw(id, kernel.head).then(
      () => undefined,
      (error: unknown) => error,
    );
    const error = broken ?? failure ?? unkept;
    if (error === undefined)
      return this.#write(id, { world: id, nextWakeAt: this.#wakeTimeOf(id, world), open: false });
    const nextWakeAt = this.#time.now() + this.#troubles.add(id);
    this.#tell({ world: id, error, retryAt: nextWakeAt });
    await this.#write(id, { world: id, nextWakeAt, open: false });
  }

  async #shut(world: W): Promise<unknown> {
    try {
      if (this.#closing !== undefined) await kernelOf(world).drain({ within: this.#drainMs });
      await world[Symbol.asyncDispose]();
      return undefined;
    } catch (error) {
      return error;
    }
  }

  /** When a closed world wants to wake: its own time may differ from the host's, when a clock has jumped. */
  #wakeTimeOf(id: string, world: W): number | null {
    const kernel = kernelOf(world);
    const now = this.#time.now();
    const left = kernel.unfinished ? 0 : (kernel.nextWakeAt ?? Number.POSITIVE_INFINITY) - kernel.now;
    if (left <= 0) return this.#atOnce(id, now);
    this.#troubles.over(id);
    return left === Number.POSITIVE_INFINITY ? null : now + left;
  }

  /** At once the first time, then later and later (H7). */
  #atOnce(id: string, now: number): number {
    const first = !this.#troubles.has(id);
    const wait = this.#troubles.add(id);
    return first ? now : now + wait;
  }

  /** A row that cannot be written still says `open`, so the next host opens the world and writes the row. */
  async #write(id: string, row: WorldRow | undefined): Promise<void> {
    const claim = this.#claims.get(id);
    this.#claims.delete(id);
    try {
      if (claim !== undefined) await claim.release(row);
      else if (row === undefined) await this.directory.remove(id);
      else await this.directory.set([row]);
    } catch (error) {
      this.#tell({ world: id, error, retryAt: null });
    }
    this.#waker.look();
  }

  async #wake(id: string): Promise<void> {
    try {
      this.#residents.giveBack(await this.#residents.take(id));
    } catch (error) {
      if (this.#closing === undefined) await this.#notWoken(id, error);
    }
  }

  /** Worlds that are still due are postponed, whatever kept them from opening. */
  async #notWoken(id: string, error: unknown): Promise<void> {
    const isShared = this.directory.shared !== undefined;
    // Another host has the world and its timers, or its store was locked: then the row says already when to try again.
    if (isShared && isRepriseError(error, 'world_locked')) return;
    let isClaimed = false; // here: the claim of a caller who opens the world meanwhile is not ours to release
    const claimed = async (): Promise<WorldRow | undefined> => {
      const before = await this.#claim(id);
      isClaimed = true;
      return before;
    };
    const row = await (isShared ? claimed() : this.directory.get(id)).catch(() => undefined);
    const now = this.#time.now();
    const isLeft = row?.open === true && isShared; // by a host that died
    if (row !== undefined && (isLeft || (!row.open && row.nextWakeAt !== null && row.nextWakeAt <= now))) {
      const nextWakeAt = now + this.#troubles.add(id);
      this.#tell({ world: id, error, retryAt: nextWakeAt });
      await this.#write(id, { world: id, nextWakeAt, open: false });
    } else if (isClaimed) await this.#write(id, row);
  }

  #tell(failure: Parameters<NonNullable<HostOptions<W>['onError']>>[0]): void {
    try {
      this.options.onError?.(failure);
    } catch {
      // a throwing `onError` must not bring the host down
    }
  }
}
