/** How much one principal may ask at once, and in a while. */
import type { HttpLimits } from '../limits.js';

/** How many principals are remembered. */
const KNOWN_MAX = 10_000;

interface Known {
  open: number;
  /** How many requests may come at once, and since when this is so. */
  left: number;
  at: number;
}

/** Counts the requests of principals. */
export class Pace {
  readonly #known = new Map<string, Known>();

  constructor(
    private readonly limits: HttpLimits,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /**
   * Takes in a request.
   *
   * @param isStream a stream, which stays open: it has a bound of its own
   * @returns ends it; or in how many seconds another may come
   */
  enter(principal: string, isStream: boolean): (() => void) | number {
    const { open, perSecond, burst } = this.limits;
    const now = this.now();
    const known = this.#known.get(principal) ?? { open: 0, left: burst, at: now };
    known.left = Math.min(burst, known.left + ((now - known.at) / 1_000) * perSecond);
    known.at = now;
    this.#known.delete(principal); // the longest unused stands first
    this.#known.set(principal, known);
    if (this.#known.size > KNOWN_MAX) this.#forget();
    if (known.left < 1) return Math.ceil((1 - known.left) / perSecond);
    if (!isStream && known.open >= open) return 1;
    known.left -= 1;
    if (isStream) return () => undefined;
    known.open += 1;
    let isOver = false;
    return () => {
      if (!isOver) known.open -= 1;
      isOver = true;
    };
  }

  #forget(): void {
    for (const [principal, { open }] of this.#known) {
      if (open > 0) continue;
      this.#known.delete(principal);
      return;
    }
  }
}
