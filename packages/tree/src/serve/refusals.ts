/** Attempts that a door refused, for the people who run the world. */
import { RepriseError } from '@reprise/contracts';
import { REFUSALS_TOLD_MAX, REFUSALS_WINDOW_MS } from './limits.js';

/** Hears of an attempt that was refused: `cap_denied`, with what was tried and by whom. */
export type HearRefusal = (refusal: RepriseError) => void;

/** A refused attempt, in the closed list of codes. @param where the door, and what was tried at it */
export function refusedAt(where: string, why: string): RepriseError {
  return new RepriseError('cap_denied', 'an attempt to act on this world was refused', {
    where,
    reason: why,
    actual: why,
  });
}

/** Tells refusals, of a flood only the first of each minute, and how many there were besides. */
export class Refusals {
  #since = Number.NEGATIVE_INFINITY;
  #told = 0;
  #untold = 0;

  constructor(private readonly hear: HearRefusal) {}

  tell(refusal: RepriseError): void {
    const now = performance.now();
    if (now - this.#since > REFUSALS_WINDOW_MS) {
      const untold = this.#untold;
      [this.#since, this.#told, this.#untold] = [now, 0, 0];
      if (untold > 0) this.hear(refusedAt('the doors of the world', `${untold} more attempts in the minutes before`));
    }
    if (this.#told++ < REFUSALS_TOLD_MAX) this.hear(refusal);
    else this.#untold++;
  }
}
