/**
 * Every decision of a simulation, as one list of small numbers: a seed draws it, a failure is told by it, and a smaller
 * list is a smaller failure.
 *
 * Invariants
 * C1  The same seed, or the same list, gives the same decisions, on every platform.
 * C2  Zero is the dull choice: no fault, the oldest operation, the shortest way. A list that ends goes on with zeros, so
 *     taking from it or lowering it makes a run shorter or duller, never invalid.
 */
import { seededRandom } from '../clock/index.js';

/** Numbers drawn from the seed at once: one hash gives them. */
const WORDS = 8;

/** The decisions of one run, remembered as they are made. */
export class Choices {
  readonly #made: number[] = [];
  readonly #draw: (below: number) => number;

  private constructor(
    draw: (n: number, below: number) => number,
    private readonly length = Number.POSITIVE_INFINITY,
  ) {
    this.#draw = (below) => draw(this.#made.length, below);
  }

  /** Decisions that a seed makes. */
  static from(seed: number | string): Choices {
    const random = seededRandom(`choices ${seed}`);
    let words: number[] = [];
    return new Choices((_, below) => {
      if (words.length === 0) words = wordsOf(random(WORDS * 4));
      return (words.pop() as number) % below;
    });
  }

  /** Decisions that were made before, or fewer, or smaller ones. */
  static of(list: readonly number[]): Choices {
    return new Choices((n, below) => Math.min(list[n] ?? 0, below - 1), list.length); // C2
  }

  /** What was decided so far. */
  get made(): readonly number[] {
    return this.#made;
  }

  /** Whether a list of decisions that were made before is at its end. */
  get exhausted(): boolean {
    return this.#made.length >= this.length;
  }

  /** A whole number from 0, below a bound of at least 1. */
  below(bound: number): number {
    const chosen = bound <= 1 ? 0 : this.#draw(bound);
    this.#made.push(chosen);
    return chosen;
  }

  /** True once in so many times. */
  once(inTimes: number): boolean {
    return this.below(inTimes) === inTimes - 1;
  }

  /** One of a list that is not empty. */
  pick<T>(list: readonly T[]): T {
    if (list.length === 0) throw new RangeError('there is nothing to choose from');
    return list[this.below(list.length)] as T;
  }

  /** One of a list, each as likely as its weight says. The first is the dull one. */
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
