/** Random schedules of a project, played on its reducer and beside it on plain lists. */
import { ownerAnswer } from '@reprise/agent/contracts';
import { jobFacts } from '@reprise/org';
import { projectFacts, projectNews, wakePlan } from '@reprise/specialists';
import fc from 'fast-check';
import { inputOf, valueAs } from '../staged-values.js';
import { COMPLETED, Desk, type DeskTeam, FAILED } from './desk.js';
import { Plain, type PlainPlanned } from './plain.js';
import { type Delivered, type Stage, type StagedSession, TEXT } from './stage.js';

const ANSWERS = { 'aos.agent/OwnerAnswer@1': ownerAnswer };

/** A step: what is done, and numbers that choose to what. */
export type Step = readonly [what: (typeof WHAT)[number], a: number, b: number, c: number];

/** A schedule. */
export interface Schedule {
  readonly team: DeskTeam;
  readonly steps: readonly Step[];
}

/** What can be done, the frequent more than once. */
const WHAT = [
  ...['plan', 'plan', 'spawn', 'spawn', 'spawn', 'adhoc', 'retry', 'skip', 'cancel', 'say', 'end', 'end', 'end'],
  ...[
    'fail',
    'wait',
    'answer',
    'answer',
    'answer',
    'answer',
    'refuse',
    'break',
    'later',
    'later',
    'turn',
    'turn',
    'turn',
  ],
  ...['turnFails', 'call_retry', 'call_skip', 'call_cancel', 'call_list', 'plan_write', 'cancelAll'],
] as const;

/** The reducer and the plain lists differ, or the project is stuck. */
export class Differs extends Error {}

/** What keeps a coordinator awake by itself: work that no task stands for, whose results wake it again. */
const ALONE = [
  'adhoc',
  'adhoc',
  'end',
  'end',
  'fail',
  'answer',
  'answer',
  'answer',
  'answer',
  'later',
  'turn',
  'turn',
  'turnFails',
] as const;

/** Random schedules. In a fifth of them the coordinator goes on by itself, and the team permits few wakes without a person. */
export function schedules(): fc.Arbitrary<Schedule> {
  return fc.oneof({ weight: 4, arbitrary: anySchedule(WHAT, 10, 24) }, { weight: 1, arbitrary: aloneSchedule() });
}

function aloneSchedule(): fc.Arbitrary<Schedule> {
  return fc.integer({ min: 1, max: 2 }).chain((wakes) => anySchedule([...ALONE], 30, wakes));
}

function anySchedule(what: readonly Step[0][], minLength: number, wakes: number): fc.Arbitrary<Schedule> {
  const step = fc.tuple(fc.constantFrom(...what), fc.nat(30), fc.nat(30), fc.nat(9));
  const team = fc.record({
    dispatch: fc.constantFrom('coordinator' as const, 'auto' as const),
    on_failed: fc.constantFrom('wait' as const, 'cascade' as const),
    slots: fc.integer({ min: 1, max: 3 }),
    wakes: fc.constant(wakes),
  });
  return fc.record({ team, steps: fc.array(step, { minLength, maxLength: 60 }) });
}

/** What was played. */
export interface Played {
  readonly tasks: number;
  readonly results: number;
  readonly wakes: number;
}

/** Plays a schedule, and lets the project come to its end. @throws Differs what went wrong */
export function play({ team, steps }: Schedule, makeStage?: (hear: (one: Delivered) => void) => Stage): Played {
  const player = new Player(team, makeStage);
  for (const step of steps) player.take(step);
  return player.finish();
}

const KEY = 'p';

/** The acts of people after which wakes count anew, the states of tasks after which they do, and how long the end may take. */
const BY_PEOPLE = ['specialists/Say@1', 'specialists/Plan@1', 'specialists/Retry@1'];
const FOR_GOOD = ['completed', 'skipped', 'cancelled'];
const ACTS_MAX = 2_000;
const PROJECT = 'specialists/Project@1';

class Player {
  readonly #desk: Desk;
  readonly #plain: Plain;
  /** Acts whose outcome comes later, by the id of the command or call. */
  readonly #open = new Map<string, () => boolean>();
  readonly #results = new Map<string, readonly number[]>();
  /** What the plan that was broken last was to show. */
  #broken: readonly number[] = [];
  #acts = 0;
  #wakes = 0;
  /** The wakes since a person acted or a task ended for good. */
  #unattended = 0;
  readonly #wakesMax: number;

  constructor(team: DeskTeam, makeStage?: (hear: (one: Delivered) => void) => Stage) {
    this.#wakesMax = team.wakes ?? Number.POSITIVE_INFINITY;
    this.#plain = new Plain(team.dispatch, team.on_failed);
    this.#desk = new Desk(team, (one) => this.#hear(one), makeStage);
    this.#say();
  }

  take(step: Step): void {
    this.#do(step);
    this.#compare(step.join(' '));
  }

  /** Answers everything, ends all runs well and lets the time pass: then nothing may be under way. */
  finish(): Played {
    const { stage } = this.#desk;
    for (let round = 0; round < 2_000 && this.#next(); round++) this.#compare('the end');
    const state = stage.project(KEY);
    if (!this.#plain.isCancelled) {
      // Without a team nothing can be done: then what came waits for the next message.
      const isLeft = state?.version !== null && stage.table(PROJECT, KEY, 'inbox').size > 0;
      if (isLeft) throw new Differs('something waits for a reading, and nothing is read');
      // What waits for a person is shown again when one speaks.
      // A person speaks as often as the project says that it needs one, and at least once.
      do {
        this.#say();
        for (let round = 0; round < 2_000 && this.#next(); round++) this.#compare('the end');
      } while (stage.project(KEY)?.needs === 'wakes' && this.#acts < ACTS_MAX);
    }
    const { status, jobs = 0, waiting = 0, unprocessed = 0 } = stage.project(KEY) ?? {};
    if (status === 'working') throw new Differs(`the project is stuck: ${JSON.stringify(stage.project(KEY))}`);
    if (jobs + waiting > 0) throw new Differs(`${jobs} jobs and ${waiting} in line behind the end`);
    const used = stage.table('flow/Queue@1', 'specialists/team', 'items').size;
    if (used > 0) throw new Differs(`${used} slots are taken or waited for behind the end`);
    if (!this.#plain.isCancelled && unprocessed > 0) throw new Differs(`${unprocessed} results are never processed`);
    const silent = [...this.#open.keys()].filter((id) => id.startsWith('m'));
    if (!this.#plain.isCancelled && silent.length > 0) throw new Differs(`no outcome of ${silent.join(', ')}`);
    return { tasks: this.#plain.tasks.length, results: this.#plain.results.length, wakes: this.#wakes };
  }

  /** What the end waits for. @returns whether there was something */
  #next(): boolean {
    const { stage } = this.#desk;
    const [plan] = stage.plans;
    const run = [...this.#desk.workers(), ...[this.#desk.coordinator(KEY)]].find(
      (one) => one !== undefined && one.run !== null,
    );
    if (plan !== undefined) this.#desk.answer(plan);
    else if (run !== undefined) this.#endRun(run, COMPLETED);
    else if (stage.cell(PROJECT, KEY)?.timers.size) stage.later(1_000);
    else return false;
    return true;
  }

  #do([what, a, b, c]: Step): void {
    const { stage } = this.#desk;
    const worker = pick(this.#desk.workers(), a);
    const coordinator = this.#desk.coordinator(KEY);
    const plan = pick(stage.plans, a);
    const task = 1 + (a % (this.#plain.tasks.length + 1));
    switch (what) {
      case 'say':
        return this.#say();
      case 'plan':
        return this.#command('specialists/Plan@1', this.#planned(a, b, c), (planned) => this.#plain.plan(planned));
      case 'retry':
        return this.#later('specialists/Retry@1', { task }, () => this.#plain.retry(task));
      case 'skip':
        return this.#direct('specialists/Skip@1', { task, reason: 'no' }, () => this.#plain.skip(task));
      case 'cancel':
        return this.#direct('specialists/Cancel@1', { task, reason: 'no' }, () => this.#plain.cancel(task));
      case 'cancelAll':
        // Seldom, since it is the end.
        if (a > 0 || this.#plain.isCancelled) return;
        this.#plain.cancelAll();
        return void this.#desk.tell(KEY, 'specialists/Cancel@1', { task: null, reason: 'no' });
      case 'end':
        return worker === undefined ? undefined : this.#endRun(worker, COMPLETED);
      case 'fail':
        return worker === undefined ? undefined : this.#endRun(worker, b < 20 ? FAILED : { kind: 'Cancelled' });
      case 'wait':
        return worker === undefined ? undefined : stage.wait(worker, !worker.waits);
      case 'answer':
        return plan === undefined ? undefined : this.#desk.answer(plan);
      case 'refuse':
        return plan === undefined ? undefined : this.#desk.refuse(plan);
      case 'break':
        this.#broken = (plan === undefined ? undefined : inputOf(plan, wakePlan))?.results ?? [];
        return plan === undefined ? undefined : this.#desk.break(plan);
      case 'later':
        return stage.later(b < 28 ? 100 * b : 301_000);
      case 'turn':
        return coordinator === undefined ? undefined : this.#endRun(coordinator, COMPLETED);
      case 'turnFails':
        return coordinator === undefined ? undefined : this.#endRun(coordinator, FAILED);
      case 'plan_write':
        return this.#planWrite(this.#planned(a, b, c));
      default:
        return this.#call(coordinator, task, [what, a, b, c]);
    }
  }

  #call(session: StagedSession | undefined, task: number, [what, a, b, c]: Step): void {
    if (session === undefined || session.run === null) return;
    const skill = c < 7 ? 'worker' : c < 9 ? 'planner' : 'broken';
    const pointers =
      b < 15
        ? []
        : [...new Set([1 + (b % (this.#plain.results.length + 1)), 1 + (a % (this.#plain.results.length + 1))])];
    const brief = { context_ref: TEXT, context_bytes: 300, pointers };
    const acts: Record<string, [tool: string, args: object, act: () => boolean]> = {
      spawn: ['spawn_agent', { task_id: task }, () => this.#plain.spawn(task)],
      adhoc: ['spawn_agent', { task: 'x', task_ref: TEXT, skill, ...brief }, () => this.#plain.adHoc(skill, pointers)],
      call_retry: ['task_retry', { task_id: task }, () => this.#plain.retry(task)],
      call_skip: ['task_skip', { task_id: task, reason: 'no' }, () => this.#plain.skip(task)],
      call_cancel: ['task_cancel', { task_id: task, reason: 'no' }, () => this.#plain.cancel(task)],
    };
    const [tool, args, act] = acts[what] ?? ['task_graph', {}, () => true];
    this.#toolCall(session, tool, args, act);
  }

  #planWrite(tasks: readonly PlainPlanned[]): void {
    const planner = this.#desk.workers().find(({ key }) => this.#skillOf(key) === 'planner');
    if (planner !== undefined)
      this.#toolCall(planner, 'plan_write', { tasks: tasks.map(toMake) }, () => this.#plain.plan(tasks));
  }

  #skillOf(session: string): string | undefined {
    const [, n = ''] = /\/j(\d+)/.exec(session) ?? [];
    const row = this.#desk.stage.table(PROJECT, KEY, 'results').get(n.padStart(12, '0'));
    return (row as { readonly skill: string } | undefined)?.skill;
  }

  #toolCall(session: StagedSession, tool: string, args: object, act: () => boolean): void {
    const id = `c${this.#acts++}`;
    this.#open.set(id, () => !this.#plain.isCancelled && act());
    this.#desk.stage.call(session, id, tool, args);
  }

  #say(): void {
    const id = `m${this.#acts++}`;
    const value = { command_id: id, parts: [{ kind: 'text', text_ref: TEXT }] };
    if (this.#desk.tell(KEY, 'specialists/Say@1', value) === undefined) this.#plain.speaks();
  }

  #planned(a: number, b: number, c: number): PlainPlanned[] {
    const known = this.#plain.tasks.length;
    return Array.from({ length: 1 + (c % 4) }, (_, i) => {
      const inside = i > 0 && (a + i) % 2 === 0 ? [`t${(b + i) % i}`] : [];
      const before = known > 0 && (b + i) % 3 === 0 ? [1 + ((a + b + i) % known)] : [];
      const priority = [10, 50, 100][(a + i) % 3] ?? 50;
      return {
        key: `t${i}`,
        priority,
        skill: (a + b + i) % 17 === 0 ? 'planner' : 'worker',
        needs: [...inside, ...before],
      };
    });
  }

  #command(name: string, tasks: readonly PlainPlanned[], act: (tasks: readonly PlainPlanned[]) => boolean): void {
    this.#later(name, { tasks: tasks.map(toMake) }, () => act(tasks));
  }

  /** A command whose outcome is stated later. */
  #later(name: string, value: object, act: () => boolean): void {
    const command_id = `m${this.#acts++}`;
    this.#open.set(command_id, act);
    if (this.#desk.tell(KEY, name, { ...value, command_id }) !== undefined) this.#open.delete(command_id);
  }

  /** A command that is accepted or refused at once. */
  #direct(name: string, value: object, act: () => boolean): void {
    this.#pending = act;
    this.#desk.tell(KEY, name, value);
    this.#pending = undefined;
  }

  #pending: (() => boolean) | undefined;

  #endRun(session: StagedSession, stop: object): void {
    const command = session.run?.command_id ?? '';
    const shown = session.owner[0] === PROJECT ? this.#results.get(command) : undefined;
    if (shown !== undefined && !this.#plain.isCancelled) this.#plain.shown(shown, stop === COMPLETED);
    this.#desk.stage.endRun(session, stop);
  }

  /** Follows what the project takes, in its order. */
  #hear({ to, event, rejected, facts, sent }: Delivered): void {
    if (to[0] !== PROJECT) return;
    const { name, value } = event;
    if (this.#pending !== undefined && (name === 'specialists/Skip@1' || name === 'specialists/Cancel@1')) {
      const act = this.#pending;
      this.#pending = undefined;
      this.#sameVerdict(`${name} ${JSON.stringify(value)}`, act(), rejected);
    }
    if (rejected !== undefined) return;
    if (BY_PEOPLE.includes(name)) this.#unattended = 0;
    const job = valueAs(event, [jobFacts, 'work/JobChanged@1']);
    if (job !== undefined) this.#job(job.n, job.status);
    const composed = valueAs(event, [projectNews, 'specialists/WakeComposed@1']);
    if (composed?.text_ref === null) this.#plain.shown(composed.results, false);
    const outcomes: [id: string, code: string | null][] = [];
    for (const fact of facts) {
      const commanded = valueAs(fact, [projectFacts, 'specialists/Commanded@1']);
      if (commanded !== undefined) outcomes.push([commanded.command_id, commanded.code]);
      if (fact.name === 'specialists/NotWoken@1' && name === 'sys/PlanFailed@1') this.#plain.shown(this.#broken, false);
      const changed = valueAs(fact, [projectFacts, 'specialists/TaskChanged@1']);
      if (changed !== undefined && FOR_GOOD.includes(changed.status)) this.#unattended = 0;
      const woken = valueAs(fact, [projectFacts, 'specialists/CoordinatorWoken@1']);
      if (woken !== undefined) {
        this.#wakes++;
        if (++this.#unattended > this.#wakesMax) throw new Differs(`woken ${this.#unattended} times without a person`);
        this.#results.set(`wake/${woken.epoch}`, woken.results);
      }
    }
    for (const one of sent) {
      const answer = valueAs(one.event, [ANSWERS, 'aos.agent/OwnerAnswer@1']);
      if (answer === undefined) continue;
      const { code } = answer.value as { readonly code: string };
      outcomes.push([answer.call_id, answer.is_error ? code : null]);
    }
    // What waited for a reading is taken in the order in which it came.
    for (const [id, code] of outcomes.sort(([a], [b]) => Number(a.slice(1)) - Number(b.slice(1))))
      this.#outcome(id, code);
    this.#plain.settle();
  }

  #job(n: number, status: string): void {
    const is = status === 'preparing' ? 'running' : status;
    if (this.#plain.results[n - 1] === undefined) throw new Differs(`there is no result ${n}`);
    if (is === 'queued') return;
    this.#plain.job(n, is as 'running');
  }

  #outcome(id: string, code: string | null): void {
    const act = this.#open.get(id);
    if (act === undefined) return;
    this.#open.delete(id);
    if (code === 'stale_run') return;
    this.#sameVerdict(id, act(), code ?? undefined);
  }

  #sameVerdict(what: string, isAccepted: boolean, code: string | undefined): void {
    if (isAccepted && code !== undefined) throw new Differs(`${what} is refused: ${code}; the lists accept it`);
    if (!isAccepted && code === undefined) throw new Differs(`${what} is accepted; the lists refuse it`);
  }

  #compare(step: string): void {
    try {
      this.#compareAll();
    } catch (error) {
      if (error instanceof Differs) error.message = `after ${step}: ${error.message}`;
      throw error;
    }
  }

  #compareAll(): void {
    const { stage } = this.#desk;
    const state = stage.project(KEY);
    if (state === undefined) return;
    const counts: Record<string, number> = {};
    for (const [i, task] of this.#plain.tasks.entries()) {
      const row = this.#row('tasks', i + 1);
      counts[task.status] = (counts[task.status] ?? 0) + 1;
      same(`task ${i + 1}`, row, { status: task.status, result: task.result });
      const live = this.#plain.results.filter((one) => one.task === i + 1 && LIVE.includes(one.status)).length;
      if (live > 1 || (live === 1) !== (task.status === 'running'))
        throw new Differs(`task ${i + 1} runs ${live} times`);
    }
    for (const [status, count] of Object.entries(state.counts))
      if (count !== (counts[status] ?? 0))
        throw new Differs(`${count} tasks are ${status}; the lists: ${counts[status] ?? 0}`);
    if (stage.table(PROJECT, KEY, 'tasks').size !== this.#plain.tasks.length)
      throw new Differs('there are other tasks');
    let unprocessed = 0;
    let stuck = 0;
    for (const [i, result] of this.#plain.results.entries()) {
      const row = this.#row('results', i + 1) as { processed_at: number | null; status: string } | undefined;
      const isProcessed = (row?.processed_at ?? null) !== null;
      if (isProcessed !== result.processed) throw new Differs(`result ${i + 1} is processed: ${isProcessed}`);
      same(`result ${i + 1}`, row, { status: result.status, task: result.task, shown: result.shown });
      if (!LIVE.includes(result.status) && !result.processed) unprocessed++;
      if (this.#plain.isStuck(result)) stuck++;
    }
    if (stage.table(PROJECT, KEY, 'results').size !== this.#plain.results.length)
      throw new Differs('there are other results');
    const live = this.#plain.results.filter(({ status }) => LIVE.includes(status)).length;
    same('the project', state, {
      unprocessed,
      stuck,
      jobs: live,
      waiting: this.#plain.results.filter(({ status }) => status === 'queued').length,
    });
    const numbers = [state.jobs, state.waiting, state.unprocessed, state.stuck, state.coordinator.sent, state.reserved];
    if (numbers.some((n) => n < 0)) throw new Differs(`a number is below zero: ${JSON.stringify(state)}`);
  }

  #row(table: string, n: number): object | undefined {
    return this.#desk.stage.table(PROJECT, KEY, table).get(String(n).padStart(12, '0')) as object | undefined;
  }
}

const LIVE = ['queued', 'running', 'waiting'];

function same(what: string, row: object | undefined, wanted: Readonly<Record<string, unknown>>): void {
  for (const [field, value] of Object.entries(wanted)) {
    const found = (row as Record<string, unknown> | undefined)?.[field];
    if (found !== value) throw new Differs(`${what} has ${field} ${String(found)}; the lists: ${String(value)}`);
  }
}

function toMake({ key, priority, skill, needs }: PlainPlanned): object {
  const depends_on = needs.map((task) => ({ task, pass: 'none' }));
  return { key, title: key, context_ref: TEXT, context_bytes: 300, pointers: [], skill, depends_on, priority };
}

function pick<T>(list: readonly T[], which: number): T | undefined {
  return list[which % Math.max(1, list.length)];
}

/** The schedules of one batch, and the command that plays them again. */
interface Batch {
  readonly runs: number;
  readonly seed: number;
  readonly command: string;
  readonly makeStage?: (hear: (one: Delivered) => void) => Stage;
  /** Whether the smallest schedule that shows it is looked for, which takes far longer than to find one. Default true. */
  readonly shrinks?: boolean;
}

/** Plays random schedules. @throws Error what went wrong, the smallest schedule that shows it, and the command */
export function holdSchedules({ runs, seed, command, makeStage, shrinks = true }: Batch): {
  tasks: number;
  results: number;
  wakes: number;
} {
  const sum = { tasks: 0, results: 0, wakes: 0 };
  const law = fc.property(schedules(), (schedule) => {
    const { tasks, results, wakes } = play(schedule, makeStage);
    sum.tasks += tasks;
    sum.results += results;
    sum.wakes += wakes;
  });
  const found = fc.check(law, { numRuns: runs, seed, endOnFailure: !shrinks });
  if (!found.failed) return sum;
  const why = found.errorInstance instanceof Error ? found.errorInstance.message : String(found.errorInstance);
  const where = `seed ${seed}, case ${found.numRuns}, shrunk ${found.numShrinks} times`;
  const [schedule] = found.counterexample ?? [];
  throw new Error(`${why}\nrerun: ${command}\n${where}\n${JSON.stringify(schedule)}`, { cause: found.errorInstance });
}
