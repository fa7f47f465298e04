/** A project as plain lists: what becomes of tasks, results and slots, said once more in the simplest way. */

/** A task. */
export interface PlainTask {
  status: string;
  readonly priority: number;
  readonly needs: readonly number[];
  readonly skill: string;
  /** Its last result. */
  result: number | null;
  /** Its place among tasks that became ready. */
  place: number;
}

/** A result, from the spawn on. */
export interface PlainResult {
  readonly task: number | null;
  readonly priority: number;
  status: 'queued' | 'running' | 'waiting' | 'ok' | 'failed' | 'cancelled' | 'timeout';
  /** What it becomes when it was stopped by a command. */
  stopped: boolean;
  processed: boolean;
  shown: number;
}

/** A task as a plan states it. */
export interface PlainPlanned {
  readonly key: string;
  readonly priority: number;
  readonly skill: string;
  readonly needs: readonly (string | number)[];
}

const ENDED = ['ok', 'failed', 'cancelled', 'timeout'];
const FINAL = ['completed', 'skipped', 'cancelled'];
const SHOWN_MAX = 3;

/** What an act comes to: whether it is accepted. */
export type Verdict = boolean;

/** The project. */
export class Plain {
  readonly tasks: PlainTask[] = [];
  readonly results: PlainResult[] = [];
  isCancelled = false;
  #places = 0;
  /** Tasks that have ended, whose dependents have not heard of it. */
  readonly #ended = new Set<number>();

  constructor(
    private readonly dispatch: 'coordinator' | 'auto',
    private readonly onFailed: 'wait' | 'cascade',
  ) {}

  task(n: number): PlainTask | undefined {
    return this.tasks[n - 1];
  }

  plan(planned: readonly PlainPlanned[]): Verdict {
    if (this.isCancelled) return false;
    const keys = new Set(planned.map(({ key }) => key));
    const isWrong = planned.some(
      ({ skill, needs }) =>
        !['worker', 'planner'].includes(skill) ||
        needs.some((need) => (typeof need === 'string' ? !keys.has(need) : this.task(need) === undefined)),
    );
    if (isWrong || keys.size < planned.length) return false;
    // The schedule plans tasks behind those that they need.
    const first = this.tasks.length + 1;
    const numbers = new Map(planned.map(({ key }, i) => [key, first + i]));
    for (const { priority, skill, needs } of planned) {
      const of = needs.map((need) => (typeof need === 'string' ? (numbers.get(need) ?? 0) : need));
      const task: PlainTask = { status: 'blocked', priority, needs: of, skill, result: null, place: 0 };
      this.tasks.push(task);
      if (this.#isReady(task)) this.#become(task, 'pending');
      for (const need of of) if (['failed', 'cancelled'].includes(this.task(need)?.status ?? '')) this.#ended.add(need);
    }
    return true;
  }

  spawn(n: number): Verdict {
    const task = this.task(n);
    if (this.isCancelled || task?.status !== 'pending') return false;
    this.#begin(n, task);
    return true;
  }

  #begin(n: number, task: PlainTask): void {
    this.#become(task, 'running');
    this.results.push({ task: n, priority: task.priority, ...NEW });
    task.result = this.results.length;
  }

  adHoc(skill: string, pointers: readonly number[]): Verdict {
    const isOk = pointers.every((n) => this.results[n - 1]?.status === 'ok');
    if (this.isCancelled || !['worker', 'planner'].includes(skill) || !isOk) return false;
    this.results.push({ task: null, priority: 50, ...NEW });
    return true;
  }

  retry(n: number): Verdict {
    const task = this.task(n);
    if (this.isCancelled || task?.status !== 'failed') return false;
    this.#become(task, this.#isReady(task) ? 'pending' : 'blocked');
    return true;
  }

  skip(n: number): Verdict {
    const task = this.task(n);
    if (task === undefined || FINAL.includes(task.status) || task.status === 'running') return false;
    this.#become(task, 'skipped', n);
    return true;
  }

  cancel(n: number): Verdict {
    const task = this.task(n);
    if (task === undefined || FINAL.includes(task.status)) return false;
    const result = task.status === 'running' ? this.results[(task.result ?? 0) - 1] : undefined;
    if (result === undefined) this.#become(task, 'cancelled', n);
    else result.stopped = true;
    return true;
  }

  cancelAll(): void {
    this.isCancelled = true;
    for (const result of this.results) if (!ENDED.includes(result.status)) result.stopped = true;
    for (const [i, task] of this.tasks.entries())
      if (!FINAL.includes(task.status) && task.status !== 'running') this.#become(task, 'cancelled', i + 1);
  }

  /** A job has changed. */
  job(n: number, status: PlainResult['status']): void {
    const result = this.results[n - 1];
    if (result === undefined || ENDED.includes(result.status)) throw new Error(`result ${n} changes behind its end`);
    result.status = status;
    if (!ENDED.includes(status)) return;
    const task = result.task === null ? undefined : this.task(result.task);
    if (task === undefined || task.status !== 'running' || task.result !== n) return;
    const becomes = result.stopped ? 'cancelled' : status === 'ok' ? 'completed' : 'failed';
    this.#become(task, becomes, result.task ?? 0);
  }

  /** A run that was shown results has ended. */
  shown(results: readonly number[], isCompleted: boolean): void {
    for (const n of results) {
      const result = this.results[n - 1];
      if (result === undefined) continue;
      if (isCompleted) result.processed = true;
      else result.shown++;
    }
  }

  /** A person speaks: what was shown in vain counts anew. */
  speaks(): void {
    for (const result of this.results) if (this.isStuck(result)) result.shown = 0;
  }

  isStuck({ status, processed, shown }: PlainResult): boolean {
    return ENDED.includes(status) && !processed && shown >= SHOWN_MAX;
  }

  /** What follows from the acts so far: the dependents of what has ended hear of it, and ready tasks are spawned. */
  settle(): void {
    for (let n = least(this.#ended); n !== undefined; n = least(this.#ended)) {
      this.#ended.delete(n);
      const isWell = ['completed', 'skipped'].includes(this.task(n)?.status ?? '');
      for (const [i, task] of this.tasks.entries()) {
        if (!task.needs.includes(n) || task.status !== 'blocked') continue;
        if (isWell && this.#isReady(task)) this.#become(task, 'pending');
        else if (!isWell && this.onFailed === 'cascade') this.#become(task, 'failed', i + 1);
      }
    }
    if (this.dispatch !== 'auto' || this.isCancelled) return;
    const ready = [...this.tasks.entries()].filter(([, { status }]) => status === 'pending');
    ready.sort(([, a], [, b]) => b.priority - a.priority || a.place - b.place);
    for (const [i, task] of ready) this.#begin(i + 1, task);
  }

  #isReady({ needs }: PlainTask): boolean {
    return needs.every((n) => ['completed', 'skipped'].includes(this.task(n)?.status ?? ''));
  }

  #become(task: PlainTask, status: string, ended?: number): void {
    task.status = status;
    if (status === 'pending') task.place = this.#places++;
    if (ended !== undefined) this.#ended.add(ended);
  }
}

const NEW = { status: 'queued', stopped: false, processed: false, shown: 0 } as const;

function least(numbers: ReadonlySet<number>): number | undefined {
  return numbers.size === 0 ? undefined : Math.min(...numbers);
}
