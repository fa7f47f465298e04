/** Many runs, each with its own seed: the states that they met, and the smallest way to the first broken promise. */
import { isFields, isWhole, requireArgument, requireFields } from '@reprise/contracts';
import { Choices } from './choices.js';
import { shrinkChoices } from './shrink.js';
import { runSimulation, type SimulatedRun, type SimulationOptions } from './simulation.js';
import { Sometimes } from './sometimes.js';
import type { SimulationSubject } from './subject.js';
import { ALWAYS_EXPECTED } from './troubles.js';

/** Options: which runs, and how to treat one that fails. */
interface SimulateOptions extends SimulationOptions {
  /** How many runs to make, each with its own seed. */
  readonly seeds: number;
  /** The seed of the first run; the others count up from it. 1 when absent. */
  readonly from?: number;
  /** Whether to look for a smaller run with the same failure; true when absent. */
  readonly shrink?: boolean;
  /** Called after each run with its seed. */
  readonly onRun?: (seed: number, run: SimulatedRun) => void;
}

/** A promise that was broken. */
export interface SimulationFailure {
  readonly seed: number;
  /** The promise that was broken, in words. */
  readonly why: string;
  /** The decisions of the smallest run found that breaks it. */
  readonly choices: readonly number[];
  /** The log of that run. */
  readonly log: readonly string[];
}

/** The result of the runs. */
export interface SimulationReport {
  readonly runs: number;
  readonly frames: number;
  readonly acks: number;
  readonly refused: number;
  readonly effects: number;
  /** The states that the runs met, with their numbers. */
  readonly sometimes: Sometimes;
  /** The first broken promise; absent when all were kept. */
  readonly failure?: SimulationFailure;
}

/**
 * Simulates a subject, seed after seed, until a run breaks a promise or all are done.
 *
 * The same seed with the same code gives the same run. A failure is shrunk: the report has the fewest decisions found
 * that lead to it.
 *
 * @param subject the app to simulate
 * @example
 * const report = await simulate(mySubject, { seeds: 500 })
 * expect(report.failure).toBeUndefined()
 * expect(report.sometimes.missing).toEqual([])
 */
export async function simulate(subject: SimulationSubject, options: SimulateOptions): Promise<SimulationReport> {
  requireFields(subject, 'simulate(subject)', 'an app to simulate, as an object');
  requireArgument(
    isFields(options) && isWhole(options.seeds, 1),
    'simulate(options)',
    'an object with seeds, a whole number from 1',
    options,
  );
  const { seeds, from = 1, shrink = true, onRun } = options;
  const sometimes = new Sometimes([...ALWAYS_EXPECTED, ...(subject.sometimes ?? [])]);
  const sum = { runs: 0, frames: 0, acks: 0, refused: 0, effects: 0 };
  for (let seed = from; seed < from + seeds; seed++) {
    const run = await runSimulation(subject, Choices.from(seed), options);
    sum.runs++;
    for (const figure of ['frames', 'acks', 'refused', 'effects'] as const) sum[figure] += run[figure];
    sometimes.add(run.sometimes);
    onRun?.(seed, run);
    if (run.broken === undefined) continue;
    return {
      ...sum,
      sometimes,
      failure: await failureOf(subject, seed, run, run.broken, shrink ? options : undefined),
    };
  }
  return { ...sum, sometimes };
}

async function failureOf(
  subject: SimulationSubject,
  seed: number,
  run: SimulatedRun,
  why: string,
  shrink: SimulationOptions | undefined,
): Promise<SimulationFailure> {
  if (shrink === undefined) return { seed, why, choices: run.choices, log: run.log };
  const kind = kindOf(why);
  const { choices } = await shrinkChoices(run, async (list) => {
    const again = await runSimulation(subject, Choices.of(list), shrink);
    return again.broken !== undefined && kindOf(again.broken) === kind ? again : undefined;
  });
  const smallest = await runSimulation(subject, Choices.of(choices), shrink);
  return { seed, why: smallest.broken ?? why, choices, log: smallest.log };
}

/** A failure without its details: smaller runs have other frames and other effects. */
function kindOf(why: string): string {
  return why.replace(/[0-9a-f]{64}/g, '#').replace(/\d+/g, 'n');
}

/** A failure as text for a person. */
export function formatFailure(failure: SimulationFailure, command: string): string {
  const fits = isFields(failure) && Array.isArray(failure.choices) && Array.isArray(failure.log);
  requireArgument(fits, 'formatFailure(failure)', 'the failure of a report', failure);
  const { seed, why, choices, log } = failure;
  const steps = log.map((line) => `  ${line}`).join('\n');
  return `${why}\nseed ${seed}; rerun: ${command}\n${choices.length} decisions lead to it, the smallest way that was found:\n${steps}`;
}
