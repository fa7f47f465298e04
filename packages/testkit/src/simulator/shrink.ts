/** Makes a list of decisions smaller for as long as it still fails. */

/** A list that fails, and where in it each step begins. */
interface FailingChoices {
  readonly choices: readonly number[];
  readonly steps: readonly number[];
}

/** How a list is made smaller. */
interface ShrinkOptions {
  /** Runs to spend; 300 when absent. */
  readonly runsMax?: number;
}

const RUNS_MAX = 300;

/**
 * Looks for a smaller list that fails as well: steps are left out, many at once and then one by one, and what is decided
 * is made dull where it does not matter.
 *
 * @param failing a list that fails
 * @param fails the final decisions of a list that fails in the same way; undefined when the list does not fail so
 * @returns the smallest list found; `failing` when no smaller list fails
 */
export async function shrinkChoices(
  failing: FailingChoices,
  fails: (list: readonly number[]) => Promise<FailingChoices | undefined>,
  { runsMax = RUNS_MAX }: ShrinkOptions = {},
): Promise<FailingChoices> {
  let smallest = failing;
  let runs = 0;
  const tries = async (candidate: readonly number[]): Promise<boolean> => {
    if (runs >= runsMax || candidate.length === 0) return false;
    runs++;
    const found = await fails(candidate);
    const better = found !== undefined && isSmaller(found.choices, smallest.choices);
    if (better) smallest = found;
    return better;
  };
  for (let before: FailingChoices | undefined; before !== smallest && runs < runsMax; ) {
    before = smallest;
    for (let size = Math.ceil(smallest.steps.length / 2); size >= 1; size = Math.floor(size / 2)) {
      for (let step = smallest.steps.length - size; step >= 0; step -= size) await tries(without(smallest, step, size));
    }
    for (let at = smallest.choices.length - 1; at >= 0; at--) {
      if (smallest.choices[at] !== 0) await tries(smallest.choices.with(at, 0));
    }
  }
  return smallest;
}

/** Shorter, or as long and lower where they first differ. */
function isSmaller(one: readonly number[], other: readonly number[]): boolean {
  if (one.length !== other.length) return one.length < other.length;
  const at = one.findIndex((choice, i) => choice !== other[i]);
  return at >= 0 && (one[at] as number) < (other[at] as number);
}

/** A list without some of its steps. */
function without({ choices, steps }: FailingChoices, step: number, count: number): readonly number[] {
  const [from, to] = [steps[step] ?? choices.length, steps[step + count] ?? choices.length];
  return choices.toSpliced(from, to - from);
}
