/** Makes a list of decisions smaller for as long as it still fails. */

/** A list that fails, and the index at which each step begins. */
interface FailingChoices {
  readonly choices: readonly number[];
  readonly steps: readonly number[];
}

interface ShrinkOptions {
  /** The maximum of runs; 300 when absent. */
  readonly runsMax?: number;
}

const RUNS_MAX = 300;

/**
 * Looks for a smaller list that fails as well: removes steps, many at once and then one by one, and replaces decisions
 * that do not matter by the default.
 *
 * @param failing a list that fails
 * @param fails returns the final decisions of a list that fails in the same way; undefined for any other list
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

/** Whether a list is shorter, or as long and lower where the two first differ. */
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
