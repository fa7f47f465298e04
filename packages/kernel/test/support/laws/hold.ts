import fc from 'fast-check';
import { SEED } from '../../pure/codec/seed.js';

export { SEED };

/** Options of an assertion. */
export interface Hold {
  readonly numRuns: number;
  readonly seed?: number;
  /** The command that runs the same cases again, without the seed. */
  readonly command: string;
  /** Whether to look for a smaller example; true when absent. A mutant's failure needs none. */
  readonly shrink?: boolean;
}

/** The maximum of shown characters of an example. */
const EXAMPLE_UNITS = 4_000;

/**
 * Asserts a law over random cases. A failure shows the smallest example that was found and the command that finds
 * it again.
 *
 * @param property a fast-check property, sync or async
 */
export async function hold<T>(
  property: fc.IRawProperty<T>,
  { numRuns, seed = SEED, command, shrink = true }: Hold,
): Promise<void> {
  const found = await fc.check(property, { seed, numRuns, endOnFailure: !shrink });
  if (!found.failed) return;
  const why = found.errorInstance instanceof Error ? found.errorInstance.message : String(found.errorInstance);
  const where = `case ${found.numRuns}, shrunk ${found.numShrinks} times, path ${found.counterexamplePath}`;
  const example = JSON.stringify(found.counterexample, shown).slice(0, EXAMPLE_UNITS);
  throw new Error(`${why}\nrerun: REPRISE_SEED=${seed} ${command}\n${where}\n${example}`, {
    cause: found.errorInstance,
  });
}

function shown(_key: string, part: unknown): unknown {
  return part instanceof Uint8Array ? { bytes: [...part] } : part;
}

/** The command that runs a law's test file again. */
export function rerun(file: string): string {
  return `npx vitest run packages/kernel/test/support/laws/${file}`;
}
