import { type Clock, WAKE } from './clock.js';

/** The collaborators of an alarm. */
interface AlarmParts {
  readonly clock: Clock;
  /** The journal time now, in milliseconds. */
  now(): number;
  /** Called when the time has come. */
  ring(): void;
}

/** Sleeps until a journal time and rings once. Setting it anew moves it; setting it for the same time changes nothing. */
export class Alarm {
  #sleep: AbortController | undefined;
  #due: number | undefined;

  constructor(private readonly parts: AlarmParts) {}

  /** Rings at `due`; undefined for never. */
  set(due: number | undefined): void {
    if (due === this.#due) return;
    this.stop();
    if (due !== undefined) void this.#sleepUntil(due);
  }

  /** Cancels the alarm until it is set again. */
  stop(): void {
    this.#sleep?.abort(WAKE);
    this.#sleep = undefined;
    this.#due = undefined;
  }

  /** A clock may wake early, since the longest sleep is bounded, so the time is checked again. */
  async #sleepUntil(due: number): Promise<void> {
    const sleep = new AbortController();
    this.#sleep = sleep;
    this.#due = due;
    const { clock, now } = this.parts;
    while (!sleep.signal.aborted && now() < due) await clock.sleep(due - now(), sleep.signal);
    if (sleep.signal.aborted) return;
    this.#due = undefined;
    this.parts.ring();
  }
}
