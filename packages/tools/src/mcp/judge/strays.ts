/**
 * Answers under ids that no request ever had. Where exactly one request waits, such an answer can only be the one to it;
 * it is held for a moment all the same, since the true one may come just behind.
 */
import type { RequestId } from '@modelcontextprotocol/client';

type Json = Readonly<Record<string, unknown>>;

/** How long the true answer may take to come behind a stray one, in milliseconds. */
const HOLD_MS = 1_000;

/** Holds a stray answer until the true one has come, or its time is over. */
export class Strays {
  readonly #held = new Map<RequestId, Json>();
  readonly #timers = new Map<RequestId, NodeJS.Timeout>();

  /**
   * Holds a stray answer for the only request that waits.
   *
   * @param expired called when no better answer has come
   */
  hold(id: RequestId, message: Json, expired: (message: Json) => void): void {
    const before = this.#held.get(id);
    if (before !== undefined && JSON.stringify(before) !== JSON.stringify(message)) return this.drop(id); // two readings
    this.#held.set(id, message);
    if (before !== undefined) return;
    const end = (): void => {
      const held = this.take(id);
      if (held !== undefined) expired(held);
    };
    this.#timers.set(id, setTimeout(end, HOLD_MS).unref());
  }

  /** The stray answer that is held for a request, which is held no longer. */
  take(id: RequestId): Json | undefined {
    const held = this.#held.get(id);
    this.drop(id);
    return held;
  }

  /** Holds nothing more for a request. */
  drop(id: RequestId): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    this.#held.delete(id);
  }
}
