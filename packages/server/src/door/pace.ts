/** How much one principal may send at once, and in a while. */
import type { HttpLimits } from '../protocol/limits.js';

/** How many principals are remembered. */
const KNOWN_MAX = 10_000;

/** What a principal has in use. */
type Used = 'open' | 'streams';

interface Known extends Record<Used, number> {
  /** How many messages may come at once, and since when this is so. */
  left: number;
  at: number;
}

/** Counts the messages and streams of principals. */
export class Pace {
  readonly #known = new Map<string, Known>();

  constructor(
    private readonly limits: Pick<HttpLimits, 'open' | 'streams' | 'perSecond' | 'burst'>,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /**
   * Takes in messages.
   *
   * @returns undefined; or in how many seconds they may come
   */
  take(principal: string, messages: number): number | undefined {
    const { perSecond } = this.limits;
    const known = this.#of(principal);
    if (known.left < messages) return Math.ceil((messages - known.left) / perSecond);
    known.left -= messages;
    return undefined;
  }

  /**
   * Takes places: of messages that are being answered, or of streams.
   *
   * @returns gives them back; it must be called once. Undefined when there are not enough
   */
  use(principal: string, what: Used, places: number): (() => void) | undefined {
    const known = this.#of(principal);
    if (known[what] + places > this.limits[what]) return undefined;
    known[what] += places;
    return () => {
      known[what] -= places;
    };
  }

  #of(principal: string): Known {
    const { perSecond, burst } = this.limits;
    const now = this.now();
    const known = this.#known.get(principal) ?? { open: 0, streams: 0, left: burst, at: now };
    known.left = Math.min(burst, known.left + ((now - known.at) / 1_000) * perSecond);
    known.at = now;
    this.#known.delete(principal); // the longest unused stands first
    this.#known.set(principal, known);
    if (this.#known.size > KNOWN_MAX) this.#forget();
    return known;
  }

  #forget(): void {
    for (const [principal, { open, streams }] of this.#known) {
      if (open > 0 || streams > 0) continue;
      this.#known.delete(principal);
      return;
    }
  }
}
