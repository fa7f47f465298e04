/**
 * The journal's time, computed from two clocks, one of which may be wrong.
 *
 * Invariants
 * C1  Time never goes back and never stands still: while the wall clock is behind, the monotonic clock drives it.
 * C2  A wall clock that is ahead is followed at once, since a machine that was suspended or switched off must catch
 *     up, unless it is further ahead than {@link ClockJumpLimits} allows. Then it is a jump: it moves nothing until it
 *     comes back or an operator confirms it. One reading of the year 2099 would otherwise end every deadline for good.
 * C3  All readers see the same time: a reading that was followed is never taken back.
 */
import type { Clock } from './clock.js';

/** How far ahead of the journal's time a wall clock is still trusted, in milliseconds. */
export interface ClockJumpLimits {
  /** While the world is open. */
  readonly running: number;
  /** At the opening of an existing world, which may have been closed for long. */
  readonly atOpen: number;
}

/** A week: longer than a machine sleeps over holidays, shorter than the usual error of a wrong date. */
const CLOCK_JUMP_RUNNING_MS = 604_800_000;

/** 400 days: a world that is opened once a year needs no operator. */
const CLOCK_JUMP_AT_OPEN_MS = 34_560_000_000;

export const CLOCK_JUMP_LIMITS: ClockJumpLimits = {
  running: CLOCK_JUMP_RUNNING_MS,
  atOpen: CLOCK_JUMP_AT_OPEN_MS,
};

/** A wall clock so far ahead that it is not followed. */
export interface ClockJump {
  /** The current wall clock, in milliseconds since 1970. */
  readonly wall: number;
  /** The journal's time now, which continues without the wall clock. */
  readonly at: number;
  /** The journal's time when it was first seen. */
  readonly since: number;
}

/** A forward step that is worth waking sleepers for: their monotonic sleep did not count it, in milliseconds. */
const LEAP_MS = 1_000;

/** The collaborators of a stamper. */
interface StamperParts {
  readonly clock: Clock;
  /** The time of the last frame; undefined for a world without frames, which trusts any clock. */
  readonly lastAt: number | undefined;
  readonly limits: ClockJumpLimits;
  /** Called when time has leapt: sleepers should check it again. */
  leapt?(): void;
  /** Called when a jump is seen for the first time, or is over. */
  jumped?(jump: ClockJump | undefined): void;
}

/** Computes the journal's time and stamps frames with it. */
export class Stamper {
  /** The origin of elapsed time; unchanged while the wall clock is not ahead, so that no fraction is lost. */
  #origin: { readonly at: number; readonly monotonic: number };
  #last: number;
  #limit: number;
  #jump: ClockJump | undefined;

  constructor(private readonly parts: StamperParts) {
    const { clock, lastAt, limits } = parts;
    this.#last = lastAt ?? 0;
    this.#origin = { at: this.#last, monotonic: clock.monotonic() };
    this.#limit = lastAt === undefined ? Number.POSITIVE_INFINITY : limits.atOpen;
    this.now();
  }

  /** The time of the last stamp, or of the last frame before the first. */
  get last(): number {
    return this.#last;
  }

  /** The wall clock, when it is too far ahead to be followed; undefined otherwise. */
  get jump(): ClockJump | undefined {
    this.now();
    return this.#jump;
  }

  /** The time now, for the next frame. */
  now(): number {
    const { clock, jumped } = this.parts;
    const monotonic = clock.monotonic();
    const carried = Math.max(this.#last, this.#origin.at + Math.max(0, Math.floor(monotonic - this.#origin.monotonic)));
    const wall = Math.floor(clock.wall());
    const before = this.#jump;
    const far = wall - carried > this.#limit;
    this.#jump = far ? { wall, at: carried, since: before?.since ?? carried } : undefined; // C2
    if (far !== (before !== undefined)) jumped?.(this.#jump);
    if (far || !(wall >= carried)) return carried; // C1
    return this.#follow(wall, monotonic, carried);
  }

  /** Stamps a frame with a time that is never before that of the frame before. */
  stamp(): number {
    this.#last = this.now();
    return this.#last;
  }

  /** Follows a wall clock that was confirmed; the confirming frame is durable. */
  confirm(wall: number): void {
    this.#follow(wall, this.parts.clock.monotonic(), this.#last);
    this.now();
  }

  #follow(wall: number, monotonic: number, carried: number): number {
    this.#limit = this.parts.limits.running;
    if (wall > carried) this.#origin = { at: wall, monotonic }; // C3
    if (wall - carried > LEAP_MS) this.parts.leapt?.();
    return wall;
  }
}
