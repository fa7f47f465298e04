/**
 * `npm run simulate -- [--seeds N] [--from S] [--subject NAME …] [--jobs J]`: the fault simulator, seed after seed.
 *
 * Prints what the runs came across and how often, and how many there were in a second. Exits with 1 when a promise was
 * broken, with the smallest way to it, or when a thousand runs or more never came across something that they should.
 */
import { execFile } from 'node:child_process';
import os from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { formatFailure, type SimulationFailure, type SimulationSubject, simulate } from '@reprise/testkit/simulator';
import { Sometimes } from '../packages/testkit/src/simulator/sometimes.js';
import { SUBJECTS } from '../packages/testkit/test/simulator/subjects/subjects.js';

/** Seeds that a process takes at once: long enough for its start not to count, short enough to tell how far it is. */
const RANGE = 250;

/** From so many runs on, what was never met is a finding. */
const ENOUGH = 1_000;

/** What a range of seeds came to. */
interface Ranged {
  readonly figures: Readonly<Record<'runs' | 'frames' | 'acks' | 'refused' | 'effects', number>>;
  readonly met: readonly (readonly [string, number])[];
  readonly failure?: SimulationFailure;
}

const { values: options } = parseArgs({
  options: {
    seeds: { type: 'string', default: '500' },
    from: { type: 'string', default: '1' },
    subject: { type: 'string', multiple: true },
    jobs: { type: 'string', default: String(Math.max(1, Math.min(4, os.availableParallelism()))) },
    range: { type: 'boolean', default: false },
  },
});
const [seeds, from, jobs] = [options.seeds, options.from, options.jobs].map(wholeNumber) as [number, number, number];
const names = options.subject ?? SUBJECTS.map(({ name }) => name);

if (options.range) console.log(JSON.stringify(await range(subjectOf(names[0] as string), from, seeds)));
else for (const name of names) if (!(await report(subjectOf(name)))) process.exitCode = 1;

/** @returns whether all is well */
async function report(subject: SimulationSubject): Promise<boolean> {
  const began = performance.now();
  const sometimes = new Sometimes();
  const sum = { runs: 0, frames: 0, acks: 0, refused: 0, effects: 0 };
  let failure: SimulationFailure | undefined;
  const ranges = Array.from({ length: Math.ceil(seeds / RANGE) }, (_, i) => from + i * RANGE);
  const work = async (): Promise<void> => {
    for (let first = ranges.shift(); first !== undefined && failure === undefined; first = ranges.shift()) {
      const ranged = await inProcess(subject.name, first, Math.min(RANGE, from + seeds - first));
      for (const figure of Object.keys(sum) as (keyof typeof sum)[]) sum[figure] += ranged.figures[figure];
      for (const [what, times] of ranged.met) sometimes.happened(what, times);
      failure ??= ranged.failure;
      if (seeds > RANGE) console.log(`${subject.name}: ${sum.runs} of ${seeds} runs, ${seconds(began).toFixed(0)} s`);
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  for (const [what, times] of [...sometimes.met].sort(([a], [b]) => (a < b ? -1 : 1))) {
    console.log(`${String(times).padStart(10)}  ${what}`);
  }
  const { runs, frames, effects, acks, refused } = sum;
  console.log(
    `${subject.name}: ${runs} runs, ${frames} frames, ${effects} effects, ${acks} acknowledged, ${refused} refused; ` +
      `${(runs / seconds(began)).toFixed(1)} runs/s in ${jobs} processes, seeds ${from} to ${from + runs - 1}`,
  );
  if (failure !== undefined) {
    console.error(
      formatFailure(failure, `npm run simulate -- --subject ${subject.name} --from ${failure.seed} --seeds 1`),
    );
    return false;
  }
  if (runs >= ENOUGH && sometimes.missing.length > 0) {
    console.error(`${subject.name}: ${runs} runs never came across: ${sometimes.missing.join('; ')}`);
    return false;
  }
  return true;
}

/** A process of its own: a simulation fills one core. */
async function inProcess(subject: string, first: number, count: number): Promise<Ranged> {
  const program = fileURLToPath(import.meta.url);
  const args = ['--range', '--subject', subject, '--from', String(first), '--seeds', String(count)];
  const { stdout } = await promisify(execFile)(process.execPath, [...process.execArgv, program, ...args], {
    maxBuffer: 1 << 28,
  });
  return JSON.parse(stdout) as Ranged;
}

async function range(subject: SimulationSubject, first: number, count: number): Promise<Ranged> {
  const { sometimes, failure, ...figures } = await simulate(subject, { seeds: count, from: first });
  return { figures, met: [...sometimes.met], ...(failure && { failure }) };
}

function subjectOf(name: string): SimulationSubject {
  const subject = SUBJECTS.find((one) => one.name === name);
  if (subject !== undefined) return subject;
  throw new TypeError(`there is no subject ${name}; there are ${SUBJECTS.map((one) => one.name).join(', ')}`);
}

function wholeNumber(text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number > 0) return number;
  throw new TypeError(`a whole number from 1 was expected, not ${text}`);
}

function seconds(since: number): number {
  return (performance.now() - since) / 1000;
}
