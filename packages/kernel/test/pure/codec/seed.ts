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
  const found = fc.check(property, { seed, numRuns: run.numRuns });
  if (!found.failed) return;
  const example = fc.stringify(found.counterexample).slice(0, EXAMPLE_UNITS);
  const why = found.errorInstance instanceof Error ? found.errorInstance.message : String(found.errorInstance);
  const where = `case ${found.numRuns}, shrunk ${found.numShrinks} times, path ${found.counterexamplePath}`;
  throw new Error(`${why}\nrerun: REPRISE_SEED=${seed} ${run.command}\n${where}\n${example}`, {
    cause: found.errorInstance,
  });
}

/** How much of a counterexample is shown; a zod schema prints as pages of its internals. */
const EXAMPLE_UNITS = 1_000;
