/** Opens worlds when they want to wake. It knows only the next time; the directory knows all of them. */
import { Alarm } from '../../ports/time/alarm.js';
import type { Clock } from '../../ports/time/clock.js';
import type { OpenDirectory, WorldRow } from './directory.js';

/** Wakes under way at once: opening replays a tail, which occupies a processor. */
const WAKES_AT_ONCE = 8;

/** How long to wait before a failed directory is asked again, or a world whose row could not be written is tried again. */
const RETRY_MS = 1_000;

/** The collaborators of a waker. */
interface WakerParts {
  readonly directory: OpenDirectory;
  readonly clock: Clock;
  now(): number;
  /** Opens a world and lets it work. Never rejects; its row says when it wants to wake next. */
  wake(world: string): Promise<void>;
  /** Called when the directory failed. */
  failed(error: unknown): void;
}

/** Wakes worlds in the order in which they are due. */
export class Waker {
  readonly #alarm: Alarm;
  readonly #waking = new Map<string, Promise<void>>();
  #asking: Promise<void> | undefined;
  readonly #stop = new AbortController();
  #askAgain = false;

  constructor(private readonly parts: WakerParts) {
    this.#alarm = new Alarm({ clock: parts.clock, now: () => parts.now(), ring: () => this.look() });
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
    const now = this.parts.now();
    const due = await directory.due(now, WAKES_AT_ONCE + this.#waking.size);
    for (const row of due) {
      if (this.#stopped || this.#waking.size >= WAKES_AT_ONCE) return; // the end of a wake checks again
      if (!this.#waking.has(row.world)) this.#wake(row);
    }
    const next = await directory.nextDue(now);
    if (!this.#stopped) this.#alarm.set(next ?? undefined);
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
