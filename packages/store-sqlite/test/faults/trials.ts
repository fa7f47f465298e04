/** Seeded trials: what befalls a world is a function of a seed and a number, so that a failure can be run again. */
import { randomFrom } from '../../../../conformance/random.js';
import type { Bench } from './bench.js';
import type { Strike } from './orders-child.js';
import { type Checked, ORDERS, type Run, Trial } from './trial.js';
import { TEARS, type Tear } from './wal.js';

/** One thing that befalls a process. */
type Fall =
  | { readonly run: Run; readonly tear?: Tear }
  | { readonly stopAfter: number; readonly afterwards: 'SIGCONT' | 'SIGKILL' };

/** What a trial came to, and what befell it. */
export interface TrialResult extends Checked {
  readonly kills: number;
  readonly stops: number;
  /** Processes that gave up by themselves, for want of room. */
  readonly failed: number;
  /** Bytes of the log that were torn. */
  readonly torn: number;
}

/** One world that one to four things befall; then it is left alone, and checked. */
export async function runTrial(bench: Bench, seed: number, n: number): Promise<TrialResult> {
  const random = randomFrom(Math.imul(seed, 7919) + n);
  for (let i = 0; i < 8; i++) random(); // neighbouring seeds begin alike
  const trial = new Trial(bench, `trial-${n}`, { seed: Math.floor(random() * 4) });
  const falls: Fall[] = [];
  const count = { kills: 0, stops: 0, failed: 0, torn: 0 };
  try {
    for (let left = 1 + Math.floor(random() * 4); left > 0; left--) {
      const fall = chooseFall(random);
      falls.push(fall);
      await befall(trial, fall, random, count);
    }
    const checked = await trial.finish();
    trial.dispose();
    return { ...checked, ...count };
  } catch (error) {
    throw new Error(`seed ${seed}, trial ${n}: ${JSON.stringify(falls)}`, { cause: error });
  }
}

type Count = { kills: number; stops: number; failed: number; torn: number };

async function befall(trial: Trial, fall: Fall, random: () => number, count: Count): Promise<void> {
  if ('stopAfter' in fall) return stopped(trial, fall, count);
  const { how } = await trial.run(fall.run);
  if (how === 'killed') count.kills++;
  if (how === 'failed') count.failed++;
  if (how === 'killed' && fall.tear !== undefined) count.torn += trial.tear(fall.tear, random);
}

/** A process is suspended with the world in its hands; then it goes on, or dies as it lies. */
async function stopped(trial: Trial, fall: Extract<Fall, { stopAfter: number }>, count: Count): Promise<void> {
  const process_ = trial.start({ strike: { at: 'ack', count: fall.stopAfter, blow: 'SIGSTOP' } });
  await Promise.race([process_.stopped, process_.ended]);
  await trial.expectLocked();
  count.stops++;
  if (fall.afterwards === 'SIGKILL') process_.signal('SIGKILL');
  else process_.wake();
  const { how, said } = await process_.ended;
  if (how === 'killed') count.kills++;
  if (fall.afterwards === 'SIGCONT' && said !== 'rest 0') throw new Error(`F4: woken, it came to ${said}`);
}

function chooseFall(random: () => number): Fall {
  const share = random();
  const upTo = (limit: number): number => 1 + Math.floor(random() * limit);
  const tear = random() < 0.8 ? pick(random, TEARS) : undefined;
  const torn = tear === undefined ? {} : { tear };
  if (share < 0.15) return { stopAfter: upTo(ORDERS), afterwards: pick(random, ['SIGCONT', 'SIGKILL'] as const) };
  if (share < 0.3) return { run: { fileKiB: 64 + upTo(300) } };
  if (share < 0.4) return { run: { maxPages: 14 + upTo(40), killAfterMs: 1_500 }, ...torn };
  if (share < 0.6) return { run: { killAfterMs: 100 + random() * 400 }, ...torn };
  const at = pick(random, ['append', 'append', 'ack', 'effect'] as const);
  const strike: Strike = { at, count: upTo(ORDERS), blow: 'SIGKILL' };
  return { run: { strike }, ...torn };
}

function pick<T>(random: () => number, items: readonly T[]): T {
  return items[Math.floor(random() * items.length)] as T;
}
