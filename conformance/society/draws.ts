/** Random choices from a seed: the same seed gives the same choices. */
export interface Draws {
  /** A whole number from 0 up to a bound, which is left out. */
  below(bound: number): number;
  of<T>(list: readonly T[]): T;
  /** True in one of so many draws. */
  once(in_: number): boolean;
  /** Some of a list, in its order. */
  some<T>(list: readonly T[]): T[];
}

/** Makes choices by an xorshift generator. */
export function draws(seed: number): Draws {
  let state = (seed * 2_654_435_761 + 1) >>> 0 || 1;
  const below = (bound: number) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % bound;
  };
  return {
    below,
    of: (list) => list[below(list.length)] as never,
    once: (in_) => below(in_) === 0,
    some: (list) => list.filter(() => below(2) === 0),
  };
}
