import fc from 'fast-check';

/** The seed of this run: fixed, so that a red build stays red; another one by `REPRISE_SEED`. */
export const SEED: number = Number(process.env.REPRISE_SEED ?? 20_260_101);

/** A property with the seed and the size of its run, for `fc.assert`. */
export interface Run {
  readonly seed?: number;
  readonly numRuns: number;
  /** The command that runs the same cases again, without the seed. */
  readonly command: string;
}

/** The command that runs one test file again. */
export function vitestCommand(file: string): string {
  return `npx vitest run ${file}`;
}

/**
 * Asserts a property. When it fails, the shrunk counterexample comes with the command that finds it again.
 *
 * @param property a fast-check property
 * @param run how many cases, from which seed, and how to run them again
 */
export function assertProperty<T>(property: fc.IProperty<T>, run: Run): void {
  const seed = run.seed ?? SEED;
  try {
    fc.assert(property, { seed, numRuns: run.numRuns });
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    throw new Error(`rerun: REPRISE_SEED=${seed} ${run.command}\n${what}`, { cause: error });
  }
}
