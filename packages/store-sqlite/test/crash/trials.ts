/** Seeded crash trials: where the blows fall is a function of a seed and a number, so a failure can be run again. */
import assert from 'node:assert/strict';
import { randomFrom } from '../../../../conformance/random.js';
import { type Bench, type Finished, Trial } from './harness.js';
import type { Moment } from './steps.js';

/** An undisturbed survey: the measure of where a blow can fall. */
export interface Clean {
  /** The steps' names; the first is step 1. */
  readonly names: readonly string[];
  /** The duration of its process. */
  readonly ms: number;
}

/** Surveys once, undisturbed. */
export async function survey(bench: Bench): Promise<Clean> {
  const trial = new Trial(bench, 'clean');
  const started = performance.now();
  const done = await trial.run();
  const ms = performance.now() - started;
  assert.ok(done !== undefined);
  const { unknown, repeated } = await trial.check(done);
  assert.deepEqual({ unknown, repeated }, { unknown: 0, repeated: 0 });
  trial.dispose();
  return { names: done.steps, ms };
}

/** The moment of one blow: at a step, or after a time. */
type Fall = { readonly moment: Moment } | { readonly killAfterMs: number };

/** The result of a trial. */
export interface TrialResult extends Finished {
  readonly kills: number;
  readonly byClock: number;
}

/** One world, killed one to three times, run to its end and checked. */
export async function runTrial(bench: Bench, clean: Clean, seed: number, n: number): Promise<TrialResult> {
  const random = randomFrom(Math.imul(seed, 7919) + n);
  for (let i = 0; i < 8; i++) random(); // neighbouring seeds begin alike
  const trial = new Trial(bench, `trial-${n}`, n % 2 === 1);
  const falls: Fall[] = [];
  let kills = 0;
  let byClock = 0;
  const blows = pick(random, [1, 1, 1, 2, 2, 3]);
  try {
    for (let blow = 0; blow < blows; blow++) {
      const fall = choose(random, clean, blow);
      falls.push(fall);
      if ((await trial.run(fall)) !== undefined) continue; // it was done before the blow
      kills++;
      if ('killAfterMs' in fall) byClock++;
    }
    const finished = await trial.finish();
    trial.dispose();
    return { ...finished, kills, byClock };
  } catch (error) {
    throw new Error(`seed ${seed}, trial ${n}: blows ${JSON.stringify(falls)}, ${trial.moments.join('; ')}`, {
      cause: error,
    });
  }
}

/** Mostly a step; the calls that may happen once get more than their share, and some blows fall by the clock. */
function choose(random: () => number, clean: Clean, blow: number): Fall {
  const share = random();
  if (share < 0.2) return { killAfterMs: 1 + random() * clean.ms };
  const side = random() < 0.5 ? 'before' : 'after';
  if (share < 0.35 && blow === 0)
    return { moment: { step: pick(random, ['start write_file', 'end write_file']), side } };
  // A rerun has fewer steps before it.
  const steps = blow === 0 ? clean.names.length : Math.ceil(clean.names.length / 2);
  return { moment: { step: 1 + Math.floor(random() * steps), side } };
}

function pick<T>(random: () => number, items: readonly T[]): T {
  return items[Math.floor(random() * items.length)] as T;
}
