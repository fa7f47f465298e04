/** A plain model of jobs and their pool: what becomes of each, without events, frames or sessions. */

/** What a step of a trial does. */
export type JobStep =
  | { readonly do: 'hire'; readonly task: ModelTask; readonly priority: number; readonly timeout: number }
  | { readonly do: 'stop'; readonly n: number }
  | { readonly do: 'decide' }
  | { readonly do: 'pass'; readonly ms: number }
  | { readonly do: 'crash'; readonly appends: number; readonly side: 'before' | 'after' };

/** What a job's agent does: ends, fails, hangs in a tool or in its preparation, or waits for the desk. */
export const MODEL_TASKS = ['count', 'fail', 'unprepared', 'hang', 'slow', 'ask wait'] as const;

/** What a job's agent does. */
export type ModelTask = (typeof MODEL_TASKS)[number];

interface ModelJob {
  readonly n: number;
  readonly task: ModelTask;
  readonly priority: number;
  readonly timeout: number;
  state: 'line' | 'slot' | 'waiting' | 'ok' | 'failed' | 'cancelled' | 'timeout';
  due: number;
}

/** The jobs of a desk on one pool. */
export class PlainJobs {
  readonly #jobs: ModelJob[] = [];
  #now = 0;

  constructor(private readonly slots: number) {}

  /** Takes a step. */
  take(step: JobStep): void {
    if (step.do === 'hire') {
      const { task, priority, timeout } = step;
      this.#jobs.push({ n: this.#jobs.length + 1, task, priority, timeout, state: 'line', due: 0 });
    }
    if (step.do === 'stop') this.#end(this.#jobs[step.n - 1], 'cancelled');
    if (step.do === 'decide') for (const job of this.#jobs) if (job.state === 'waiting') job.state = 'ok';
    if (step.do === 'pass') return this.#pass(this.#now + step.ms);
    this.#grant();
  }

  /** The state of each job, in order. */
  get states(): readonly string[] {
    return this.#jobs.map(({ state }) => state);
  }

  /** How many have a slot, and how many wait for one. */
  get pool(): { readonly running: number; readonly waiting: number } {
    const count = (state: string) => this.#jobs.filter((job) => job.state === state).length;
    return { running: count('slot'), waiting: count('line') };
  }

  #pass(until: number): void {
    for (;;) {
      const open = this.#jobs.filter(({ state, due }) => (state === 'slot' || state === 'waiting') && due <= until);
      const next = open.sort((a, b) => a.due - b.due)[0];
      if (next === undefined) break;
      this.#now = next.due;
      this.#end(next, 'timeout');
      this.#grant();
    }
    this.#now = until;
  }

  #grant(): void {
    while (this.pool.running < this.slots) {
      const line = this.#jobs.filter(({ state }) => state === 'line');
      const first = line.sort((a, b) => b.priority - a.priority || a.n - b.n)[0];
      if (first === undefined) return;
      first.due = this.#now + first.timeout;
      first.state = GRANTED[first.task];
    }
  }

  #end(job: ModelJob | undefined, as: 'cancelled' | 'timeout'): void {
    if (job !== undefined && ['line', 'slot', 'waiting'].includes(job.state)) job.state = as;
  }
}

const GRANTED: Readonly<Record<ModelTask, ModelJob['state']>> = {
  count: 'ok',
  fail: 'failed',
  unprepared: 'failed',
  hang: 'slot',
  slow: 'slot',
  'ask wait': 'waiting',
};
