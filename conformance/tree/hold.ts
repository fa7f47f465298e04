/** Holds a law over random schedules. */
import type { ReducerDefinition } from '@reprise/kernel';
import fc from 'fast-check';
import { type Played, play } from './play.js';
import { schedules } from './schedule.js';

/** The schedules of one batch, and the command that plays them again. */
export interface Batch {
  readonly runs: number;
  readonly seed: number;
  readonly command: string;
}

/**
 * Plays random schedules.
 *
 * @returns what was played
 * @throws Error what went wrong, the smallest schedule that shows it, and the command to play it again
 */
export function holdSchedules(reducer: ReducerDefinition, { runs, seed, command }: Batch): Played {
  const sum = { nodes: 0, syntheses: 0, launches: 0 };
  const law = fc.property(schedules(), (schedule) => {
    const { nodes, syntheses, launches } = play(reducer, schedule);
    sum.nodes += nodes;
    sum.syntheses += syntheses;
    sum.launches += launches;
  });
  const found = fc.check(law, { numRuns: runs, seed });
  if (!found.failed) return sum;
  const why = found.errorInstance instanceof Error ? found.errorInstance.message : String(found.errorInstance);
  const where = `seed ${seed}, case ${found.numRuns}, shrunk ${found.numShrinks} times`;
  const [schedule] = found.counterexample ?? [];
  throw new Error(`${why}\nrerun: ${command}\n${where}\n${JSON.stringify(schedule)}`, { cause: found.errorInstance });
}
