/**
 * Every decision of a simulation, as one list of small numbers: a seed draws the list, a failure is reported with it,
 * and a smaller list is a smaller failure.
 *
 * Invariants
 * C1  The same seed, or the same list, gives the same decisions, on every platform.
 * C2  Zero is the default choice: no fault, the oldest operation, the shortest way. A list that ends continues with
 *     zeros, so removing or lowering a number makes a run shorter or simpler, never invalid.
 */
import { seededRandom } from '../clock/index.js';

/** The count of numbers that are drawn from the seed at once, by one hash. */
const WORDS = 8;

/** The decisions of one run, recorded as they are made. */
export class Choices {
  readonly #made: number[] = [];
  readonly #draw: (below: number) => number;

  private constructor(
    draw: (n: number, below: number) => number,
    private readonly length = Number.POSITIVE_INFINITY,
  ) {
    this.#draw = (below) => draw(this.#made.length, below);
  }

  /** Draws decisions from a seed. */
  static from(seed: number | string): Choices {
    const random = seededRandom(`choices ${seed}`);
    let words: number[] = [];
    return new Choices((_, below) => {
      if (words.length === 0) words = wordsOf(random(WORDS * 4));
      return (words.pop() as number) % below;
    });
  }

  /** Repeats earlier decisions, or fewer or smaller ones. */
  static of(list: readonly number[]): Choices {
    return new Choices((n, below) => Math.min(list[n] ?? 0, below - 1), list.length); // C2
  }

  /** The decisions so far, by which a run can be repeated. */
  get made(): readonly number[] {
    return this.#made;
  }

  /** Whether a list of earlier decisions is at its end. */
  get exhausted(): boolean {
    return this.#made.length >= this.length;
  }

  /** A whole number from 0, below a bound of at least 1. */
  below(bound: number): number {
    const chosen = bound <= 1 ? 0 : this.#draw(bound);
    this.#made.push(chosen);
    return chosen;
  }

  /** True once in `times` calls, on average. */
  once(inTimes: number): boolean {
    return this.below(inTimes) === inTimes - 1;
  }

  /** An item of a list that is not empty. */
  pick<T>(list: readonly T[]): T {
    if (list.length === 0) throw new RangeError('there is nothing to choose from');
    return list[this.below(list.length)] as T;
  }

  /** An item of a list, drawn by weight. The first item is the default. */
  weighted<T extends { readonly weight: number }>(list: readonly T[]): T {
    let left = this.below(list.reduce((sum, { weight }) => sum + weight, 0));
    for (const one of list) {
      if (left < one.weight) return one;
      left -= one.weight;
    }
    throw new RangeError('there is nothing to choose from');
  }
}

function wordsOf(bytes: Uint8Array): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return Array.from({ length: WORDS }, (_, i) => view.getUint32(i * 4));
}
