/** A project as an app uses it. This object stores nothing: it reads everything from the journal. */
import {
  type AgentWorld,
  type AnyAgent,
  type CommandReceipt,
  type Duration,
  durationMs,
  type Input,
  isBelow,
  putText,
  type Run,
  readLlmOutput,
  readText,
  type SendOptions,
  stallsOf,
  storeParts,
} from '@reprise/agent';
import {
  type Address,
  aFlag,
  aText,
  isWhole,
  present,
  RepriseError,
  requireArgument,
  requireFields,
  requireKnownOptions,
} from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import type { Trouble } from '@reprise/kernel';
import { type By, key, type MemoryStore, type Money, memoryStoreOf, recordedMoney } from '@reprise/org';
import {
  coordinatorOf,
  INPUT_PRIORITY,
  type ProjectCommandName,
  type ProjectState,
  poolOf,
  type StatedTask,
  scopeOf,
  type TaskStatus,
} from '../pure/index.js';
import { keptTask } from '../tools/project-tools.js';
import { ProjectCell } from './project-cell.js';
import { type NarrativeEntry, type ResultRow, resultRow, type TaskRow, taskRow } from './rows.js';
import { type ProjectWaits, readTeamWaits, type TeamWait } from './waits.js';

/** A task that is planned by the app. Its brief is `context`, at least 200 bytes: a specialist sees nothing else. */
export interface PlannedTask extends Pick<StatedTask, 'key' | 'title' | 'context' | 'skill' | 'priority'> {
  /** Tasks that must be completed before, by key or number; with `pass`, how much of their result this task is shown. */
  readonly blockedBy?: StatedTask['depends_on'];
  /** How long an attempt may take, in whole seconds, up to seven days; the skill says when absent. */
  readonly timeout?: Duration;
}

/** What another try of a task changes. */
export interface RetryChange {
  readonly skill?: string;
  readonly model?: string;
  /** What the next try shall do differently. */
  readonly note?: string;
}

/**
 * A project: a coordinator, its plan, its results and its memory. It exists from its first message or plan on. A handle
 * reads every project of the world by its id, and changes only those that its team has opened: `other_team`.
 */
export class Project {
  /** The address of the project's cell. */
  readonly address: Address;
  /** The memory of the project. */
  readonly memories: MemoryStore;
  readonly #cell: ProjectCell;

  constructor(
    private readonly world: AgentWorld,
    readonly id: string,
    private readonly team: string,
    private readonly coordinator: () => AnyAgent | undefined,
  ) {
    this.#cell = new ProjectCell(world.kernel, id, team);
    this.address = this.#cell.address;
    this.memories = memoryStoreOf(world, scopeOf(id), {
      ...{ to: this.address, cell: this.address, fields: { team } },
      event: 'specialists/Remember@1' satisfies ProjectCommandName,
      require: () => this.#cell.requireTeam(),
    });
  }

  /** The durable state; undefined for a project that nothing has opened. */
  state(): Promise<ProjectState | undefined> {
    return this.#cell.state();
  }

  /**
   * The troubles that keep the project from going on: of the store, of a cell of it, of a service that its jobs wait for. See
   * `World.trouble`.
   */
  async trouble(): Promise<readonly Trouble[]> {
    return stallsOf(await this.world.trouble(), isBelow([this.id, scopeOf(this.id), poolOf(this.team)[1]]));
  }

  /** Brings the project back after its cell has failed, with the state before the fault. See `World.revive`. */
  async revive(by: By = {}): Promise<void> {
    await this.world.revive(this, by);
  }

  /**
   * Sends a message to the coordinator.
   *
   * @returns the run that answers it, when its input is durable
   * @throws RepriseError `request_rejected` (`project_ended`, `other_team`), `invalid_argument`; `run_waiting` when the team
   * cannot be read: the message waits in the project then, and the same `id` sent again has the team read again
   */
  async send(input: Input, options: SendOptions = {}): Promise<Run<string>> {
    requireKnownOptions(options, { id: true, as: true, pin: true, priority: true }, 'send');
    const { id = crypto.randomUUID(), priority = INPUT_PRIORITY.people, as } = options;
    const parts = await storeParts(this.world.kernel.content, input, async () => undefined);
    const ack = await this.#cell.command('specialists/Say@1', { command_id: id, parts, priority }, present({ id, as }));
    const number = await this.#cell.runOf(ack, id);
    const agent = this.coordinator();
    if (agent === undefined) throw this.#cell.lost('a coordinator in this process');
    const run = await this.world.session(coordinatorOf(this.id)[1], agent).run(number);
    if (run === undefined) throw this.#cell.lost('the run of the coordinator');
    return run as Run<string>;
  }

  /**
   * Plans tasks without a planner.
   *
   * @returns the numbers of the tasks by their keys
   * @throws RepriseError `request_rejected` with `plan_invalid` and every fault in `details.actual`, nothing is written then;
   * `run_waiting` when the team cannot be read: the plan waits then
   */
  async plan(
    tasks: readonly PlannedTask[],
    by: By = {},
  ): Promise<{ readonly task_ids: Readonly<Record<string, number>> }> {
    requireArgument(Array.isArray(tasks), 'project.plan(tasks)', 'a list of tasks', tasks);
    const { content } = this.world.kernel;
    const stated = tasks.map((task) => planned(task));
    const kept = await Promise.all(stated.map((task) => keptTask(content, task)));
    return writtenTasks.parse(await this.#cell.commandLater('specialists/Plan@1', { tasks: kept }, by));
  }

  /** The tasks, in the order of their numbers. */
  async tasks(query: { readonly status?: TaskStatus } = {}): Promise<readonly TaskRow[]> {
    requireKnownOptions(query, { status: aText }, 'project.tasks');
    const rows = (await this.#cell.numbered('tasks')).map(([n, recorded]) => taskRow(n, recorded));
    return rows.filter(({ status }) => query.status === undefined || status === query.status);
  }

  /** The brief of a task, whole. */
  async brief(task: number): Promise<string | undefined> {
    requireNumber(task, 'project.brief(task)', 'the number of a task');
    const row = await this.#cell.row('tasks', key(task));
    return row === undefined ? undefined : readText(this.world.kernel.content, row.context_ref);
  }

  /** The results, in the order of their numbers; with `processed`, those that have ended. */
  async results(query: { readonly processed?: boolean } = {}): Promise<readonly ResultRow[]> {
    requireKnownOptions(query, { processed: aFlag }, 'project.results');
    const { processed } = query;
    const rows = (await this.#cell.numbered('results')).map(([n, recorded]) => resultRow(n, recorded));
    return rows.filter((row) => processed === undefined || (row.ended !== undefined && row.processed === processed));
  }

  /**
   * The output of a result, whole.
   *
   * @throws RepriseError `invalid_argument` for a result that does not exist or has no output; `blob_erased`
   */
  async output(result: number): Promise<string> {
    requireNumber(result, 'project.output(result)', 'the number of a result');
    const row = await this.#cell.row('results', key(result));
    if (row?.output_ref == null) {
      throw new RepriseError('invalid_argument', `project ${this.id} has no output of result ${result}`, {
        where: 'output',
        expected: 'the number of a result that has ended with an answer',
        actual: row?.status ?? 'no such result',
      });
    }
    return (await readLlmOutput(this.world.kernel.content, row.output_ref)).text ?? '';
  }

  /** Tries a failed task again. It becomes pending, or blocked while a task that it depends on has not ended well. */
  async retry(task: number, change: RetryChange = {}, by: By = {}): Promise<CommandReceipt> {
    requireNumber(task, 'project.retry(task)', 'the number of a task');
    requireKnownOptions(change, { skill: aText, model: aText, note: aText }, 'project.retry');
    const { skill, model, note } = change;
    const note_ref = note === undefined ? undefined : await putText(this.world.kernel.content, note);
    return this.#cell.receiptOfLater('specialists/Retry@1', { task, ...present({ skill, model, note_ref }) }, by);
  }

  /** Skips a task: for those that depend on it, it counts as done. */
  async skip(task: number, reason: string, by: By = {}): Promise<CommandReceipt> {
    requireNumber(task, 'project.skip(task)', 'the number of a task');
    requireArgument(typeof reason === 'string', 'project.skip(reason)', 'a text', reason);
    return this.#cell.receiptOf('specialists/Skip@1', { task, reason }, by);
  }

  /** Cancels a task, or with `all` the project: its tasks, its jobs and its coordinator's run. */
  async cancel(task: number | 'all', reason = 'cancelled', by: By = {}): Promise<CommandReceipt> {
    if (task !== 'all') requireNumber(task, 'project.cancel(task)', "the number of a task, or 'all'");
    requireArgument(typeof reason === 'string', 'project.cancel(reason)', 'a text', reason);
    return this.#cell.receiptOf('specialists/Cancel@1', { task: task === 'all' ? null : task, reason }, by);
  }

  /**
   * Sets what all agents of the project may use, in place of the budget of the team.
   *
   * @returns a receipt; rejected as `no_price` for dollars where the model of the coordinator has no price. A specialist
   *   whose model has none is not spawned under such a budget
   * @throws RepriseError `invalid_argument` for an amount that is no budget
   */
  async limit(budget: Money, by: By = {}): Promise<CommandReceipt> {
    requireFields(budget, 'project.limit(budget)', '{ usd } or { tokens }');
    return this.#cell.receiptOf('specialists/Limit@1', { budget: recordedMoney(budget, 'budget') }, by);
  }

  /** The entries of the narrative, the first one first. */
  async *narrative(): AsyncGenerator<NarrativeEntry> {
    for await (const [at, entry] of this.#cell.each('narrative')) {
      const { text_ref, previous, memory_ids, task_ids, at: when } = entry;
      const text = await readText(this.world.kernel.content, text_ref);
      yield { n: Number(at), text, previous, memory_ids, task_ids, at: when };
    }
  }

  /**
   * What the project waits for: a decision of a person, sessions of its jobs and of its coordinator that wait for an approval,
   * an answer, input, a limit or the app, a slot, other tasks, the coordinator. The same as `reprise team show --json` prints as
   * `waits`. Empty for a project that nothing has opened, and for one that is done.
   *
   * @throws RepriseError `cell_failed` when its cell has failed, `world_closed`
   * @example for (const wait of await project.waits()) if (wait.kind === 'approval') console.log(wait.session, wait.task)
   */
  async waits(): Promise<readonly TeamWait[]> {
    return (await this.#waits()).waits;
  }

  async #waits(): Promise<ProjectWaits> {
    await this.#cell.requireSound();
    const state = await this.state();
    if (state === undefined) return { waits: [], standsStill: false };
    return readTeamWaits({ id: this.id, state, cell: this.#cell, sessions: this.world.kernel });
  }

  /**
   * Whether the project waits for a person or the app, and nothing of it goes on before: each run of its coordinator and of a job
   * that has not ended waits as well, as {@link Project.waits} says.
   *
   * @throws RepriseError `cell_failed`, `world_closed`
   */
  async standsStill(): Promise<boolean> {
    return (await this.#waits()).standsStill;
  }

  /**
   * Waits until nothing is under way: no run, no job, no wake.
   *
   * @returns the state: `open`, `done`, `cancelled`, or `needs_decision`; `working` when `within` has passed, by the clock of the world
   * @throws RepriseError `invalid_argument` for a project that nothing has opened; `cell_failed`, `world_closed`;
   *   `waits_for_itself` in a tool of the project, without `within`
   */
  async idle(options: { readonly within?: Duration } = {}): Promise<ProjectState> {
    requireKnownOptions(options, { within: true }, 'project.idle');
    return this.#cell.idle(options.within);
  }
}

const writtenTasks = z.strictObject({ task_ids: z.record(z.string(), z.int()) });

function requireNumber(n: unknown, at: string, expected: string): asserts n is number {
  requireArgument(isWhole(n) && n >= 1, at, `${expected}, from 1`, n);
}

function planned(task: PlannedTask): StatedTask {
  const names = { key: true, title: true, context: true, skill: true, blockedBy: true, priority: true } as const;
  requireKnownOptions(task, { ...names, timeout: true }, 'plan');
  const { blockedBy: depends_on, timeout, ...rest } = task;
  const timeout_seconds = timeout === undefined ? undefined : Math.ceil(durationMs(timeout, 'plan.timeout') / 1_000);
  return { ...rest, ...present({ depends_on, timeout_seconds }) };
}
