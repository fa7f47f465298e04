/** Random histories of jobs on a pool, with stops, time limits and crashes, against a plain model. */
import type { WorldPart } from '@reprise/agent';
import { memory, type ReducerContext, type ReducerDefinition } from '@reprise/kernel';
import { JOB } from '@reprise/org';
import { VirtualClock } from '@reprise/testkit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DyingStore } from '../../../../conformance/dying-store.js';
import { auditJobs, recordsOf } from './support/audit.js';
import { jobOf, type Office, office, verified } from './support/office.js';
import { type JobStep, MODEL_TASKS, PlainJobs } from './support/plain-model.js';

const SEED = Number(process.env.REPRISE_SEED ?? 20_261_123);
const RUNS = Number(process.env.REPRISE_RUNS ?? 30);

const steps: fc.Arbitrary<JobStep[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant('hire' as const),
        task: fc.constantFrom(...MODEL_TASKS),
        priority: fc.constantFrom(0, 0, 10, 100),
        timeout: fc.constantFrom(5_000, 20_000, 60_000),
      }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('stop' as const), n: fc.integer({ min: 1, max: 8 }) }) },
    { weight: 1, arbitrary: fc.constant<JobStep>({ do: 'decide' }) },
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(1_000, 7_000, 30_000) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant('crash' as const),
        appends: fc.integer({ min: 1, max: 4 }),
        side: fc.constantFrom('before' as const, 'after' as const),
      }),
    },
  ),
  { minLength: 4, maxLength: 16 },
);

const trials = fc.record({ slots: fc.integer({ min: 1, max: 3 }), steps });

type Trial = typeof trials extends fc.Arbitrary<infer T> ? T : never;

/** Plays a trial, and compares it with the model after each step. */
async function play({ slots, steps }: Trial, change?: (work: WorldPart) => WorldPart): Promise<void> {
  const inner = memory();
  const store = new DyingStore(inner);
  const clock = new VirtualClock({ turns: 20 });
  const model = new PlainJobs(slots);
  const world = new Surviving(store, () =>
    office({ store, clock, slots, goesOn: true, ...(change === undefined ? {} : { change }) }),
  );
  await world.do(({ tell }) => tell('test/Open@1', { slots }, 'open'));
  let hired = 0;
  for (const [i, step] of steps.entries()) {
    model.take(step);
    if (step.do === 'crash') {
      store.dieAt(step.appends, step.side);
      continue;
    }
    if (step.do === 'hire') hired++;
    await world.do((open) => execute(open, step, hired, `step ${i}`));
    if (step.do === 'pass') await world.pass(clock, step.ms);
    await world.do(() => clock.settle());
    expect([i, ...(await world.do((open) => statesOf(open, hired)))]).toEqual([i, ...model.states]);
    expect(await world.do(({ pool }) => pool())).toEqual(model.pool);
  }
  await world.close();
  auditJobs(await recordsOf(inner));
  if (change === undefined) await verified(inner);
}

async function execute({ tell }: Office, step: JobStep, hired: number, id: string): Promise<void> {
  if (step.do === 'hire') {
    const { task, priority, timeout } = step;
    const job = jobOf(hired, task, { priority, timeout_ms: timeout });
    await tell('test/Hire@1', { job } as never, id);
  }
  if (step.do === 'stop' && step.n <= hired) await tell('test/Stop@1', { n: step.n }, id);
  if (step.do === 'decide') await tell('test/Decide@1', { says: 'go ahead' }, id);
}

/** The states of the jobs, in the words of the model. */
async function statesOf({ job }: Office, hired: number): Promise<string[]> {
  const states: string[] = [];
  for (let n = 1; n <= hired; n++) {
    const status = String((await job(n))?.status);
    states.push(WORDS[status] ?? status);
  }
  return states;
}

const WORDS: Readonly<Record<string, string>> = { queued: 'line', preparing: 'slot', running: 'slot' };

/** A world that is opened again when its process dies. */
class Surviving {
  #open: Office | undefined;
  #deaths = 0;

  constructor(
    private readonly store: DyingStore,
    private readonly start: () => Promise<Office>,
  ) {}

  /** Does something; again in a new process when the process died meanwhile. */
  async do<T>(body: (open: Office) => Promise<T>): Promise<T> {
    for (;;) {
      if (this.store.deaths > this.#deaths) {
        await this.#open?.close().catch(() => undefined);
        this.#open = undefined;
        this.#deaths = this.store.deaths;
      }
      try {
        this.#open ??= await this.start();
        const done = await body(this.#open);
        if (this.store.deaths === this.#deaths) return done;
      } catch (error) {
        if (this.store.deaths === this.#deaths) throw error;
      }
    }
  }

  /** Lets time pass, second by second, so that a process that dies is missing for less than one. */
  async pass(clock: VirtualClock, ms: number): Promise<void> {
    for (let at = 0; at < ms; at += 1_000) {
      await clock.advance(1_000);
      await this.do(() => clock.settle());
    }
  }

  async close(): Promise<void> {
    this.store.dieAt(Number.POSITIVE_INFINITY, 'before');
    await this.#open?.close();
  }
}

/** A part of jobs whose reducer is given another context: a planted bug. */
function planted(bug: (ctx: ReducerContext) => Partial<ReducerContext>): (work: WorldPart) => WorldPart {
  const changed = (reducer: ReducerDefinition): ReducerDefinition => ({
    ...reducer,
    reduce: (draft, event, ctx) => {
      const other = bug(ctx);
      const seen = new Proxy(ctx, {
        get: (target, name) => {
          const found: unknown = name in other ? other[name as keyof ReducerContext] : Reflect.get(target, name);
          return typeof found === 'function' ? found.bind(target) : found;
        },
      });
      return reducer.reduce(draft, event, seen);
    },
  });
  const deep = (part: WorldPart): WorldPart => ({
    ...part,
    uses: (part.uses ?? []).map(deep),
    reducers: (part.reducers ?? []).map((one) => (one.name === JOB ? changed(one) : one)),
  });
  return deep;
}

type Bug = (ctx: ReducerContext) => Partial<ReducerContext>;

/** A job that does not send an event of this name. */
const without =
  (name: string): Bug =>
  (ctx) => ({
    send: (to, event, options) => {
      if (event.name !== name) ctx.send(to, event, options);
    },
  });

const untimed: Bug = (ctx) => ({
  timer: (name, at) => {
    if (name !== 'timeout') ctx.timer(name, at);
  },
});

const BUGS: readonly (readonly [string, Bug])[] = [
  ['keeps its slot', without('flow/Done@1')],
  ['stays in line after its end', without('flow/CancelItem@1')],
  ['has no time limit', untimed],
  ['leaves its session at work', without('aos.agent/HostCommand@1')],
  ['passes no answer down', without('aos.agent/OwnerAnswer@1')],
];

describe(`given random histories of jobs on a pool (seed ${SEED})`, () => {
  it('jobs end as a plain model says, whatever is stopped, waits, runs out of time or crashes [WORK-1, WORK-2, WORK-4, WORK-7, WORK-8]', async () => {
    const found = await fc.check(
      fc.asyncProperty(trials, (trial) => play(trial)),
      { seed: SEED, numRuns: RUNS },
    );
    const rerun = `rerun: REPRISE_SEED=${SEED} npx vitest run packages/org/test/job/jobs-law.test.ts`;
    const why = found.failed ? `${String(found.errorInstance)}\n${JSON.stringify(found.counterexample)}\n${rerun}` : '';
    expect(why).toBe('');
  });

  it.each(BUGS)('the law finds a job that %s', async (_bug, change) => {
    const found = await fc.check(
      fc.asyncProperty(trials, (trial) => play(trial, planted(change))),
      { seed: SEED, numRuns: RUNS, endOnFailure: true },
    );
    expect(found.failed).toBe(true);
  });
});
