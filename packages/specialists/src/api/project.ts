/** A project as an app uses it. This object stores nothing: it reads everything from the journal. */
import {
  type AgentWorld,
  type AnyAgent,
  type CommandReceipt,
  type Duration,
  durationMs,
  type Input,
  isBelow,
  PartCell,
  putText,
  type RequestBy,
  type Run,
  readLlmOutput,
  readText,
  type SendOptions,
  type Session,
  stallsOf,
  storeParts,
} from '@reprise/agent';
import {
  type Actor,
  type Address,
  formatAddress,
  isRepriseError,
  type JournalRecord,
  present,
  RepriseError,
  requireKnownOptions,
  type Value,
} from '@reprise/contracts';
import type { Ack, Trouble } from '@reprise/kernel';
import { type MemoryStore, memoryStoreOf } from '@reprise/memory';
import {
  coordinatorOf,
  INPUT_PRIORITY,
  type NarrativeRow,
  PROJECT,
  type ProjectCommandName,
  type ProjectFact,
  type ProjectState,
  poolOf,
  type RecordedResult,
  type RecordedTask,
  scopeOf,
  type TaskStatus,
} from '../pure/index.js';
import { key } from '../pure/reducer/keys.js';
import { keptTask, type StatedTask } from '../tools/project-tools.js';
import { type Budget, recordedBudget } from './budget.js';
import { type ProjectWaits, readTeamWaits, type TeamWait } from './waits.js';

/** A task that is planned by the app. Its brief is `context`, at least 200 bytes: a specialist sees nothing else. */
export type PlannedTask = StatedTask;

/** A task. Times are in journal milliseconds. */
export interface TaskRow
  extends Pick<RecordedTask, 'title' | 'skill' | 'status' | 'failure' | 'attempts' | 'priority'> {
  readonly id: number;
  readonly depends_on: RecordedTask['depends_on'];
  readonly result?: number;
  /** Who skipped or cancelled it. */
  readonly ended_by?: Actor;
  readonly created: number;
}

/** A result. Times are in journal milliseconds. */
export interface ResultRow
  extends Pick<RecordedResult, 'title' | 'skill' | 'status' | 'model' | 'inputs' | 'memory_ids' | 'digest'> {
  readonly id: number;
  readonly task?: number;
  /** Why it failed. */
  readonly code?: string;
  /** Whether a run of the coordinator that was shown it has completed. */
  readonly processed: boolean;
  readonly session?: string;
  readonly cost: RecordedResult['cost'];
  readonly created: number;
  readonly ended?: number;
}

/** An entry of the narrative. */
export interface NarrativeEntry extends Pick<NarrativeRow, 'previous' | 'memory_ids' | 'task_ids' | 'at'> {
  readonly n: number;
  readonly text: string;
}

/** What another try changes. */
export interface RetryChange {
  readonly skill?: string;
  readonly model?: string;
  /** What the next try shall do differently. */
  readonly note?: string;
}

type Commanded = ProjectFact<'specialists/Commanded@1'>;

/**
 * A project: a coordinator, its plan, its results and its memory. It exists from its first message or plan on. A handle
 * reads every project of the world by its id, and changes only those that its team has opened: `other_team`.
 */
export class Project {
  /** The project's cell. */
  readonly address: Address;
  /** The memory of the project. */
  readonly memories: MemoryStore;
  readonly #cell: PartCell;

  constructor(
    private readonly world: AgentWorld,
    readonly id: string,
    private readonly team: string,
    private readonly coordinator: () => AnyAgent | undefined,
  ) {
    this.address = [PROJECT, id];
    this.#cell = new PartCell(world.kernel, this.address, { part: 'team', of: 'event' });
    const event: ProjectCommandName = 'specialists/Remember@1';
    const writer = {
      to: this.address,
      event,
      cell: this.address,
      fields: { team },
      require: () => this.#requireTeam(),
    };
    this.memories = memoryStoreOf(world, scopeOf(id), writer);
  }

  /** The durable state; undefined for a project that nothing has opened. */
  state(): Promise<ProjectState | undefined> {
    return this.#cell.state<ProjectState>();
  }

  /**
   * The troubles that keep the project from going on: of the store, of a cell of it, of a service that its jobs wait for. See
   * `World.trouble`.
   */
  async trouble(): Promise<readonly Trouble[]> {
    return stallsOf(await this.world.trouble(), isBelow([this.id, scopeOf(this.id), poolOf(this.team)[1]]));
  }

  /** Brings the project back after its cell has failed, with the state before the fault. See `World.revive`. */
  async revive(by: RequestBy = {}): Promise<void> {
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
    const ack = await this.#send('specialists/Say@1', { command_id: id, parts, priority }, present({ id, as }));
    const number = await this.#runOf(ack, id);
    const run = await this.#coordinator().run(number);
    if (run === undefined) throw this.#lost('the run of the coordinator');
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
    by: RequestBy = {},
  ): Promise<{ readonly task_ids: Readonly<Record<string, number>> }> {
    const { content } = this.world.kernel;
    const stated = tasks.map((task) => planned(task));
    const kept = await Promise.all(stated.map((task) => keptTask(content, task)));
    const value = await this.#commanded('specialists/Plan@1', { tasks: kept }, by);
    return value as unknown as { readonly task_ids: Record<string, number> };
  }

  /** The tasks, in the order of their numbers. */
  async tasks(query: { readonly status?: TaskStatus } = {}): Promise<readonly TaskRow[]> {
    requireKnownOptions(query, { status: true }, 'tasks');
    const found: TaskRow[] = [];
    for await (const [at, value] of this.#cell.each('tasks')) {
      const row = taskRow(Number(at), value as unknown as RecordedTask);
      if (query.status === undefined || row.status === query.status) found.push(row);
    }
    return found;
  }

  /** The brief of a task, whole. */
  async brief(task: number): Promise<string | undefined> {
    const row = (await this.#cell.entry('tasks', key(task))) as unknown as RecordedTask | undefined;
    return row === undefined ? undefined : readText(this.world.kernel.content, row.context_ref);
  }

  /** The results, in the order of their numbers; with `processed`, those that have ended. */
  async results(query: { readonly processed?: boolean } = {}): Promise<readonly ResultRow[]> {
    requireKnownOptions(query, { processed: true }, 'results');
    const { processed } = query;
    const found: ResultRow[] = [];
    for await (const [at, value] of this.#cell.each('results')) {
      const row = resultRow(Number(at), value as unknown as RecordedResult);
      if (processed === undefined || (row.ended !== undefined && row.processed === processed)) found.push(row);
    }
    return found;
  }

  /**
   * The output of a result, whole.
   *
   * @throws RepriseError `invalid_argument` for a result that does not exist or has no output; `blob_erased`
   */
  async output(result: number): Promise<string> {
    const row = (await this.#cell.entry('results', key(result))) as unknown as RecordedResult | undefined;
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
  async retry(task: number, change: RetryChange = {}, by: RequestBy = {}): Promise<CommandReceipt> {
    requireKnownOptions(change, { skill: true, model: true, note: true }, 'retry');
    const { skill, model, note } = change;
    const note_ref = note === undefined ? undefined : await putText(this.world.kernel.content, note);
    const id = by.id ?? crypto.randomUUID();
    return this.#receipt(id, () =>
      this.#commanded('specialists/Retry@1', { task, ...present({ skill, model, note_ref }) }, { ...by, id }),
    );
  }

  /** Skips a task: for those that depend on it, it counts as done. */
  skip(task: number, reason: string, by: RequestBy = {}): Promise<CommandReceipt> {
    const id = by.id ?? crypto.randomUUID();
    return this.#receipt(id, () => this.#send('specialists/Skip@1', { task, reason }, { ...by, id }));
  }

  /** Cancels a task, or with `all` the project: its tasks, its jobs and its coordinator's run. */
  cancel(task: number | 'all', reason = 'cancelled', by: RequestBy = {}): Promise<CommandReceipt> {
    const id = by.id ?? crypto.randomUUID();
    const value = { task: task === 'all' ? null : task, reason };
    return this.#receipt(id, () => this.#send('specialists/Cancel@1', value, { ...by, id }));
  }

  /**
   * Sets what all agents of the project may use, in place of the budget of the team.
   *
   * @returns a receipt; rejected as `no_price` for dollars where the model of the coordinator has no price. A specialist
   *   whose model has none is not spawned under such a budget
   * @throws RepriseError `invalid_argument` for an amount that is no budget
   */
  limit(budget: Budget, by: RequestBy = {}): Promise<CommandReceipt> {
    const id = by.id ?? crypto.randomUUID();
    const value = { budget: recordedBudget(budget) };
    return this.#receipt(id, () => this.#send('specialists/Limit@1', value, { ...by, id }));
  }

  /** The entries of the narrative, the first one first. */
  async *narrative(): AsyncGenerator<NarrativeEntry> {
    for await (const [at, value] of this.#cell.each('narrative')) {
      const { text_ref, previous, memory_ids, task_ids, at: when } = value as unknown as NarrativeRow;
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
    const rows = async <T>(table: string): Promise<readonly (readonly [string, T])[]> => {
      const found: (readonly [string, T])[] = [];
      for await (const [at, row] of this.#cell.each(table)) found.push([at, row as unknown as T]);
      return found;
    };
    return readTeamWaits({ id: this.id, state, rows, sessions: this.world.kernel });
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
   * @returns the state: `open`, `done`, `cancelled`, or `needs_decision`; `working` when `within` has passed
   * @throws RepriseError `invalid_argument` for a project that nothing has opened; `cell_failed`, `world_closed`
   */
  async idle({ within }: { readonly within?: Duration } = {}): Promise<ProjectState> {
    const limit = new AbortController();
    const timer = within === undefined ? undefined : setTimeout(() => limit.abort(), durationMs(within, 'idle within'));
    try {
      return await this.#idle(limit.signal);
    } finally {
      clearTimeout(timer);
    }
  }

  async #idle(signal: AbortSignal): Promise<ProjectState> {
    for (;;) {
      const { seq } = this.world.kernel.head;
      const state = await this.state();
      if (state === undefined) throw this.#lost('a message or a plan');
      if (state.status !== 'working') return state;
      await this.#change(seq + 1, signal);
      if (signal.aborted) return state;
    }
  }

  /** Reads on until the project has changed. */
  async #change(from: number, signal: AbortSignal): Promise<void> {
    for await (const { records } of this.world.kernel.frames(from, signal, [this.address])) {
      for (const record of records) {
        if (isOf(record, this.address) && 'name' in record && record.name === 'specialists/ProjectChanged@1') return;
      }
    }
    if (!signal.aborted) throw this.world.kernel.closedBy ?? this.#lost('an open world');
  }

  /** Sends a command in the name of the team of this handle: a project of another team refuses it. */
  #send(name: ProjectCommandName, value: object, by: RequestBy): Promise<Ack> {
    return this.#cell.send(name, { ...value, team: this.team }, by);
  }

  /** Refuses what no command of the project stands for, as its cell refuses commands. */
  async #requireTeam(): Promise<void> {
    const { team = null } = (await this.state()) ?? {};
    if (team === null || team === this.team) return;
    throw new RepriseError('request_rejected', `project ${this.id} belongs to another team: ${team}`, {
      where: `project ${this.id}`,
      expected: `a project of team ${this.team}`,
      actual: team,
      reason: 'other_team',
    });
  }

  /** A command whose outcome is stated later, when team and skills were read. */
  async #commanded(name: ProjectCommandName, value: object, by: RequestBy): Promise<Value> {
    const id = by.id ?? crypto.randomUUID();
    const ack = await this.#send(name, { ...value, command_id: id }, { ...by, id });
    const done = await this.#outcome(ack, ({ name: fact, value: stated }) => {
      const commanded = stated as unknown as Commanded;
      return fact === 'specialists/Commanded@1' && commanded.command_id === id ? commanded : undefined;
    });
    if (done.code === null) return done.value;
    throw new RepriseError('request_rejected', `project ${this.id} refused the command: ${done.code}`, {
      where: name,
      reason: done.code,
      actual: done.value,
      hint: 'docs/reference/teams.md says when each refusal comes.',
    });
  }

  async #receipt(id: string, run: () => Promise<unknown>): Promise<CommandReceipt> {
    try {
      await run();
      return { command_id: id, status: 'accepted' };
    } catch (error) {
      if (!isRepriseError(error, 'request_rejected')) throw error;
      return { command_id: id, status: 'rejected', code: String(error.details.reason) as never };
    }
  }

  /** The number of the run that an input of the coordinator began. */
  #runOf(ack: Ack, input: string): Promise<number> {
    return this.#outcome(ack, ({ name, value }) => {
      const { command_id, run } = value as { readonly command_id?: string; readonly run?: number };
      if (command_id !== input) return undefined;
      if (name === 'aos.agent/InputAccepted@1') return run;
      const isRefused = ['aos.agent/HostCommandRejected@1', 'specialists/Commanded@1'].includes(name);
      if (isRefused) throw this.#refused(value);
      return undefined;
    });
  }

  /**
   * What a fact of the project or of its coordinator says about a command, from the frame of the command on.
   *
   * @throws RepriseError `run_waiting` when the team cannot be read, so that the command waits and nothing goes on;
   *   `cell_failed` when the cell of the project or of its coordinator has failed
   */
  async #outcome<T>(ack: Ack, find: (fact: FactRecord) => T | undefined): Promise<T> {
    if (await this.#isUnread()) await this.#send('specialists/Open@1', {}, {}); // an earlier command, sent again
    const coordinator = coordinatorOf(this.id);
    for await (const { records } of this.world.kernel.frames(ack.seq, undefined, [this.address, coordinator])) {
      for (const record of records) {
        if (!isOf(record, this.address) && !isOf(record, coordinator)) continue;
        const found = find(record);
        if (found !== undefined) return found;
        if (record.name === 'specialists/NotRead@1' && (await this.#isUnread())) throw this.#notRead(record.value);
      }
    }
    throw this.world.kernel.closedBy ?? this.#lost('an open world');
  }

  /** Whether commands wait because the team could not be read, and nothing reads it now. */
  async #isUnread(): Promise<boolean> {
    return (await this.state())?.needs === 'team';
  }

  #notRead(value: Value): RepriseError {
    const { code } = value as unknown as ProjectFact<'specialists/NotRead@1'>;
    return new RepriseError('run_waiting', `project ${this.id} cannot read its team, so the command waits: ${code}`, {
      where: `project ${this.id}`,
      reason: 'team_not_read',
      actual: code,
      hint: 'Nothing is lost. Fix the cause, then send the same command with the same id, or another one: all that waits is taken up.',
    });
  }

  #refused(value: Value): RepriseError {
    const { code } = value as { readonly code?: string };
    if (code === 'cell_failed') return this.#coordinatorFailed();
    return new RepriseError('request_rejected', `the coordinator of project ${this.id} refused this input`, {
      where: 'send',
      reason: code,
      actual: code,
      hint: 'docs/reference/session-commands.md says when each refusal comes.',
    });
  }

  #coordinatorFailed(): RepriseError {
    const where = formatAddress(coordinatorOf(this.id));
    return new RepriseError('cell_failed', `the session of the coordinator of project ${this.id} has failed`, {
      where,
      hint: `Fix the cause, revive the session if it is there (\`world.trouble()\` lists failed cells), then send the message with another id.`,
    });
  }

  #coordinator(): Session {
    const agent = this.coordinator();
    if (agent === undefined) throw this.#lost('a coordinator in this process');
    return this.world.session(coordinatorOf(this.id)[1], agent);
  }

  #lost(what: string): RepriseError {
    return new RepriseError('invalid_argument', `project ${this.id} lacks ${what}`, {
      where: `project ${this.id}`,
      hint: 'Send it a message, or plan tasks, first.',
    });
  }
}

type FactRecord = Extract<JournalRecord, { readonly kind: 'fact' }>;

function isOf(record: JournalRecord, [reducer, at]: Address): record is FactRecord {
  return record.kind === 'fact' && record.from?.[0] === reducer && record.from[1] === at;
}

function planned(task: PlannedTask): StatedTask {
  const names = { key: true, title: true, context: true, skill: true, depends_on: true, priority: true } as const;
  requireKnownOptions(task, { ...names, timeout_seconds: true }, 'plan');
  return task;
}

function taskRow(id: number, row: RecordedTask): TaskRow {
  const { title, skill, status, failure, attempts, priority, depends_on, result, at, ended_by } = row;
  const rest = present({ result: result ?? undefined, ended_by });
  return { id, title, skill, status, failure, attempts, priority, depends_on, ...rest, created: at };
}

function resultRow(id: number, row: RecordedResult): ResultRow {
  const { title, skill, status, model, inputs, memory_ids, digest, task, code, processed_at, session, cost } = row;
  const rest = present({
    task: task ?? undefined,
    code: code ?? undefined,
    session: session ?? undefined,
    ended: row.ended_at ?? undefined,
  });
  const processed = processed_at !== null;
  return { id, title, skill, status, model, inputs, memory_ids, digest, processed, cost, created: row.at, ...rest };
}
