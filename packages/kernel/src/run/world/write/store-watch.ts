/** Watches for a store that is full while inputs of the world wait for room: no caller waits for them, so the operator is told. */
import type { RepriseError } from '@reprise/contracts';
import type { Clock } from '../../../ports/time/clock.js';
import type { StoreTrouble } from '../../state/trouble.js';

/** How often a trouble that lasts is reported again, in milliseconds. */
const REPORT_AGAIN_MS = 60_000;

/** The collaborators of a watch. */
interface StoreWatchParts {
  /** The label of the store. */
  readonly where: string;
  readonly clock: Clock;
  /** The journal time now. */
  now(): number;
  /** A new trouble, once. */
  began(trouble: StoreTrouble): void;
  /** Reports the error: at once, and every minute while the trouble lasts. */
  report(error: RepriseError): void;
}

/** The trouble of a world's store. */
export class StoreWatch {
  #trouble: StoreTrouble | undefined;
  #reportedAt = 0;

  constructor(private readonly parts: StoreWatchParts) {}

  /** The trouble that lasts; undefined while the store takes what is written. */
  get trouble(): StoreTrouble | undefined {
    return this.#trouble;
  }

  /** A commit found the store full, and inputs wait for room. */
  full(error: RepriseError, waiting: number): void {
    const { where, clock, now } = this.parts;
    const before = this.#trouble;
    this.#trouble = { kind: 'store_full', where, code: 'store_full', since: before?.since ?? now(), waiting };
    if (before === undefined) this.parts.began(this.#trouble);
    else if (clock.monotonic() - this.#reportedAt < REPORT_AGAIN_MS) return;
    this.#reportedAt = clock.monotonic();
    this.parts.report(error);
  }

  /** The store has taken a commit. */
  wrote(): void {
    this.#trouble = undefined;
  }
}
