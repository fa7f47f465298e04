/**
 * How the hosts of a directory divide a limit that they share.
 *
 * Invariants
 * P1  A host reserves what it may use before it uses it, and gives up a reservation only after it has stopped using it. So
 *     the reservations of all hosts, which never exceed the limit, are never less than what they use.
 * P2  What a host may use anew is at most its fair part, also while it has more reserved: what ends is not begun again, and
 *     the rest comes back.
 * P3  What is left over when a limit is divided, all of it where there are more hosts than places, goes round from host to
 *     host.
 */
import { Alarm } from '../../ports/time/alarm.js';
import type { Clock } from '../../ports/time/clock.js';
import type { SharedRows } from './directory.js';
import type { SharedLimits } from './shared-limits.js';

/** What decides about the part of one host. */
interface LimitSituation {
  /** What all hosts together may use. */
  readonly max: number;
  /** What the host uses or may use now, as far as it has reserved it: nothing when its reservation has ended. */
  readonly held: number;
  /** What all others have reserved. */
  readonly others: number;
  /** The number of hosts, with this one. */
  readonly hosts: number;
  /** The place of this host among them, from 0; it moves on with time. */
  readonly place: number;
}

/**
 * Divides a limit for one host.
 *
 * @returns `allowed`: what it may use from now on; `reserved`: what it and no other host may use until it asks again
 */
export function divideLimit(situation: LimitSituation): { readonly allowed: number; readonly reserved: number } {
  const { max, held, others, hosts, place } = situation;
  const fair = Math.floor(max / hosts) + (place % hosts < max % hosts ? 1 : 0); // P3
  const reserved = Math.max(held, Math.min(fair, max - others)); // P1
  return { allowed: Math.min(fair, reserved), reserved }; // P2
}

/** The part of the time between two looks after which a host asks at the latest, and at the earliest, for its parts. */
const ASK_LATEST = 1;
const ASK_EARLIEST = 0.75;

/** The part of that time after which a directory that has failed is asked again. */
const ASK_AGAIN = 0.25;

/** The part of that time after which what is used no more is given up. */
const ASK_SOON = 0.1;

interface LimitRoundsParts {
  readonly shared: SharedRows;
  readonly limits: SharedLimits;
  readonly clock: Clock;
  /** A number from 0, below 1. */
  random(): number;
  /** Called when the directory failed. */
  failed(error: unknown): void;
}

/** Asks the directory for the parts of a host, again and again. */
export class LimitRounds {
  readonly #alarm: Alarm;
  #stopped = false;
  #asking: Promise<void> | undefined;
  #askAt = Number.POSITIVE_INFINITY;

  constructor(private readonly parts: LimitRoundsParts) {
    const { clock } = parts;
    this.#alarm = new Alarm({ clock, now: () => clock.monotonic(), ring: () => this.ask() });
    parts.limits.onEased = () => this.#askBy(ASK_SOON);
  }

  /** Asks now, and then in rounds; one round at a time. Never rejects. */
  ask(): void {
    this.#asking ??= this.#round().finally(() => {
      this.#asking = undefined;
    });
  }

  /** Ends the rounds. Resolves when none is under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#alarm.stop();
    await this.#asking;
  }

  async #round(): Promise<void> {
    const { random, failed } = this.parts;
    this.#askAt = Number.POSITIVE_INFINITY;
    try {
      if (await this.#askOnce()) await this.#askOnce(); // what it uses no more is free for others at once
      this.#askBy(ASK_EARLIEST + (ASK_LATEST - ASK_EARLIEST) * random());
    } catch (error) {
      if (!this.#stopped) failed(error);
      this.#askBy(ASK_AGAIN);
    }
  }

  /** Asks after a part of the time between two looks, or before. */
  #askBy(part: number): void {
    const { clock, shared } = this.parts;
    this.#askAt = Math.min(this.#askAt, clock.monotonic() + part * shared.lookEvery);
    if (!this.#stopped) this.#alarm.set(this.#askAt);
  }

  /** @returns whether it may use less than before */
  async #askOnce(): Promise<boolean> {
    const { shared, limits } = this.parts;
    const uses = limits.uses();
    if (this.#stopped || uses.length === 0) return false;
    const parts = await shared.share(uses);
    limits.take(parts);
    return uses.some(({ held }, i) => held > (parts.allowed[i] ?? 0));
  }
}
