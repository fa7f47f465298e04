/** Opens worlds when they want to wake. It knows only the next time; the directory knows all of them. */
import { Alarm } from '../../ports/time/alarm.js';
import type { Clock } from '../../ports/time/clock.js';
import type { OpenDirectory, SharedRows, WorldRow } from './directory.js';

/** Wakes under way at once: opening replays a tail, which occupies a processor. */
const WAKES_AT_ONCE = 8;

/** How long to wait before a failed directory is asked again, or a world whose row could not be written is tried again. */
const RETRY_MS = 1_000;

/** Rows of dead hosts that are adopted in one step; a host that had many more is adopted step by step. */
const ADOPTED_AT_ONCE = 50;

/** Hosts that began together do not look together: each waits between this part of the time between two looks and all of it. */
const LOOK_EARLIEST = 0.75;

/** The collaborators of a waker. */
interface WakerParts {
  readonly directory: OpenDirectory;
  readonly clock: Clock;
  now(): number;
  /** Opens a world and lets it work. Never rejects; its row says when it wants to wake next. */
  wake(world: string): Promise<void>;
  /** Called when the directory failed. */
  failed(error: unknown): void;
  /** A number from 0, below 1. */
  random(): number;
}

/** Wakes worlds in the order in which they are due. */
export class Waker {
  readonly #alarm: Alarm;
  /** Rings for the next look at what other hosts have written, whatever the wall clock does. */
  readonly #rounds: Alarm;
  /** When rows of dead hosts are to be adopted next, by the monotonic clock. */
  #adoptAt = Number.NEGATIVE_INFINITY;
  readonly #unsubscribe: (() => void) | undefined;
  readonly #waking = new Map<string, Promise<void>>();
  #asking: Promise<void> | undefined;
  readonly #stop = new AbortController();
  #askAgain = false;

  constructor(private readonly parts: WakerParts) {
    this.#alarm = new Alarm({ clock: parts.clock, now: () => parts.now(), ring: () => this.look() });
    this.#rounds = new Alarm({
      clock: parts.clock,
      now: () => parts.clock.monotonic(),
      ring: () => this.look(),
    });
    this.#unsubscribe = parts.directory.shared?.changed?.(() => this.look());
  }

  /** Checks what is due now; called whenever a row has changed. */
  look(): void {
    this.#askAgain = true;
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
      if (this.#askAgain && !this.#stopped) this.look();
    });
  }

  /** Stops waking. Resolves when no wake is under way. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#alarm.stop();
    this.#rounds.stop();
    this.#unsubscribe?.();
    await this.#asking;
    await Promise.all(this.#waking.values());
  }

  async #ask(): Promise<void> {
    while (this.#askAgain && !this.#stopped) {
      this.#askAgain = false;
      try {
        await this.#wakeDue();
      } catch (error) {
        if (this.#stopped) return;
        this.parts.failed(error);
        this.#alarm.set(this.parts.now() + RETRY_MS);
      }
    }
  }

  async #wakeDue(): Promise<void> {
    const { directory } = this.parts;
    if (directory.shared !== undefined) await this.#adopt(directory.shared);
    const now = this.parts.now();
    const due = await directory.due(now, WAKES_AT_ONCE + this.#waking.size);
    for (const row of due) {
      if (this.#stopped || this.#waking.size >= WAKES_AT_ONCE) return; // the end of a wake checks again
      if (!this.#waking.has(row.world)) this.#wake(row);
    }
    const next = await directory.nextDue(now);
    if (!this.#stopped) this.#alarm.set(next ?? undefined);
  }

  /** What dead hosts left behind in a shared directory is due now. */
  async #adopt(shared: SharedRows): Promise<void> {
    const { clock, random } = this.parts;
    const at = clock.monotonic();
    if (at < this.#adoptAt) return;
    this.#adoptAt = at + shared.lookEvery * (LOOK_EARLIEST + (1 - LOOK_EARLIEST) * random());
    this.#rounds.set(this.#adoptAt);
    const adopted = await shared.adopt(this.parts.now(), ADOPTED_AT_ONCE);
    if (adopted >= ADOPTED_AT_ONCE) this.#adoptAt = at; // there may be more: the next look adopts them
  }

  #wake(row: WorldRow): void {
    const woken = this.#wakeOnce(row).finally(() => {
      this.#waking.delete(row.world);
      this.look();
    });
    this.#waking.set(row.world, woken);
  }

  /** The row could not be updated after the wake: without a pause the world would be due again and again. */
  async #wakeOnce({ world, nextWakeAt }: WorldRow): Promise<void> {
    const { directory, clock, wake } = this.parts;
    await wake(world);
    const after = await directory.get(world).catch(() => undefined);
    if (after?.open === false && after.nextWakeAt === nextWakeAt) await clock.sleep(RETRY_MS, this.#stop.signal);
  }

  get #stopped(): boolean {
    return this.#stop.signal.aborted;
  }
}
