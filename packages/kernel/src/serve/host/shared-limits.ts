/**
 * Limits that all worlds of a host share, such as a provider's.
 *
 * Invariants
 * L1  An effect is subject to the first limit whose pattern matches its kind; without one it passes at once.
 * L2  Never more than `concurrent` effects are under way, and never more than `max` start within any `ms`.
 * L3  Worlds take turns, and within a world effects go in the order in which they came: a world with a thousand
 *     effects delays an effect of another world by one place.
 * L4  Time is the monotonic clock's, so a wall clock that jumps neither opens nor closes a limit.
 * L5  Where hosts share a directory, the numbers of L2 are this host's part of the limit, and 0 while it may have none.
 */

import { Alarm } from '../../ports/time/alarm.js';
import type { Clock } from '../../ports/time/clock.js';
import { matches } from '../../pure/authority/index.js';
import type { Throttle } from '../../run/dispatch/throttle.js';
import type { LimitParts, LimitUse } from './directory.js';

/** A limit that all worlds of a host share. */
export interface SharedLimit {
  /** The kinds it applies to: exact, `prefix*` or `*`. */
  readonly effect: string;
  /** The maximum number of effects under way. */
  readonly concurrent?: number;
  /** The maximum number of starts within any span of this many milliseconds. */
  readonly per?: { readonly ms: number; readonly max: number };
}

/** The limits of one host. */
export class SharedLimits {
  readonly #gates: readonly Gate[];
  /** Called when this host uses less of a limit of which it has more reserved than it may use anew. */
  onEased: () => void = () => undefined;

  /** @param divided whether other hosts have parts of the limits: then nothing passes before this one has taken its own */
  constructor(limits: readonly SharedLimit[], clock: Clock, divided = false) {
    // The first one of a pattern applies (L1). A directory cannot divide another one of the same name.
    const first = limits.filter(({ effect }, i) => limits.findIndex((limit) => limit.effect === effect) === i);
    this.#gates = first.map((limit) => new Gate(limit, clock, divided, () => this.onEased()));
  }

  /** What this host uses of each limit that is divided. */
  uses(): readonly LimitUse[] {
    return this.#gates.flatMap((gate) => gate.uses());
  }

  /** Takes the parts that this host may use, in the order of {@link SharedLimits.uses}. */
  take({ allowed, holds }: LimitParts): void {
    let next = 0;
    for (const gate of this.#gates) {
      const count = gate.uses().length;
      gate.take(allowed.slice(next, next + count), holds);
      next += count;
    }
  }

  /** The throttle of one world. */
  of(world: string): Throttle {
    return {
      enter: async (kind, signal) => {
        const gate = this.#gates.find(({ limit }) => matches(limit.effect, kind)); // L1
        return gate === undefined ? () => undefined : gate.enter(world, signal);
      },
    };
  }

  stop(): void {
    for (const gate of this.#gates) gate.stop();
  }
}

interface Waiter {
  readonly signal: AbortSignal;
  pass(leave: (() => void) | undefined): void;
}

class Gate {
  /** The waiting effects by world; the world whose turn it is first. */
  readonly #lines = new Map<string, Waiter[]>();
  /** When the last `max` effects started, the oldest first. */
  readonly #starts: number[] = [];
  readonly #alarm: Alarm;
  #underWay = 0;
  /** What this host may use (L5). */
  #concurrent: number;
  #startsMax: number;
  #holds: () => boolean;

  constructor(
    readonly limit: SharedLimit,
    private readonly clock: Clock,
    divided: boolean,
    private readonly eased: () => void,
  ) {
    this.#alarm = new Alarm({ clock, now: () => clock.monotonic(), ring: () => this.#admit() });
    this.#concurrent = divided ? 0 : (limit.concurrent ?? Number.POSITIVE_INFINITY);
    this.#startsMax = divided ? 0 : (limit.per?.max ?? 0);
    this.#holds = () => !divided;
  }

  uses(): readonly LimitUse[] {
    const { effect, concurrent, per } = this.limit;
    const uses: LimitUse[] = [];
    const mayUse = (part: number): number => (this.#holds() ? part : 0);
    if (concurrent !== undefined) {
      const held = Math.max(mayUse(this.#concurrent), this.#underWay);
      uses.push({ limit: `${effect} at once`, max: concurrent, held, countsFor: 0 });
    }
    if (per !== undefined) {
      const since = this.clock.monotonic() - per.ms;
      const held = Math.max(mayUse(this.#startsMax), this.#starts.filter((at) => at > since).length);
      uses.push({ limit: `${effect} in ${per.ms} ms`, max: per.max, held, countsFor: per.ms });
    }
    return uses;
  }

  take(allowed: readonly number[], holds: () => boolean): void {
    const parts = [...allowed];
    if (this.limit.concurrent !== undefined) this.#concurrent = parts.shift() ?? 0;
    else this.#concurrent = Number.POSITIVE_INFINITY;
    this.#startsMax = parts.shift() ?? 0;
    this.#holds = holds;
    this.#admit();
  }

  enter(world: string, signal: AbortSignal): Promise<(() => void) | undefined> {
    return new Promise((pass) => {
      if (signal.aborted) return pass(undefined);
      const waiter: Waiter = { signal, pass };
      const line = this.#lines.get(world);
      if (line === undefined) this.#lines.set(world, [waiter]);
      else line.push(waiter);
      signal.addEventListener('abort', () => pass(undefined), { once: true });
      this.#admit();
    });
  }

  stop(): void {
    this.#alarm.stop();
  }

  #admit(): void {
    for (let waiter = this.#first(); waiter !== undefined; waiter = this.#first()) {
      const opensAt = this.#opensAt();
      if (opensAt > this.clock.monotonic()) {
        this.#alarm.set(opensAt === Number.POSITIVE_INFINITY ? undefined : opensAt);
        return;
      }
      this.#take(waiter);
    }
    this.#alarm.stop();
  }

  /** The first waiting effect of the world whose turn it is; it stays in the line. */
  #first(): Waiter | undefined {
    for (const [world, line] of this.#lines) {
      while (line[0]?.signal.aborted === true) line.shift();
      if (line[0] !== undefined) return line[0];
      this.#lines.delete(world);
    }
    return undefined;
  }

  #take(waiter: Waiter): void {
    const [[world, line] = ['', []]] = this.#lines;
    line.shift();
    this.#lines.delete(world);
    if (line.length > 0) this.#lines.set(world, line); // L3: behind the others
    this.#underWay++;
    this.#noteStart();
    let left = false;
    waiter.pass(() => {
      if (left) return;
      left = true;
      if (this.#underWay-- > this.#concurrent) this.eased();
      this.#admit();
    });
  }

  #noteStart(): void {
    const { per } = this.limit;
    if (per === undefined) return;
    this.#starts.push(this.clock.monotonic());
    if (this.#starts.length > per.max) this.#starts.shift();
  }

  /** The monotonic time from which the next effect may start; Infinity when it must wait for another to end, or for a part. */
  #opensAt(): number {
    const { per } = this.limit;
    if (this.#underWay >= this.#concurrent || !this.#holds()) return Number.POSITIVE_INFINITY;
    if (per === undefined || this.#starts.length < this.#startsMax) return 0;
    const first = this.#starts[this.#starts.length - this.#startsMax]; // of as many as may start within the time
    return first === undefined ? Number.POSITIVE_INFINITY : first + per.ms;
  }
}
