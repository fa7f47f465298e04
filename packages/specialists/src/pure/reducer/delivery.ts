/** One delivery to a project: its state, its tables, and how many tasks it has changed. */
import { present } from '@reprise/contracts';
import type { ReducerContext, Table } from '@reprise/kernel/define';
import type {
  InboxRow,
  JobRow,
  NarrativeRow,
  PlanPurpose,
  ProjectState,
  RecordedResult,
  RecordedTask,
  SkillRow,
  TaskToMake,
  TeamRow,
} from '../contracts/index.js';
import { key } from './keys.js';
import { Refused } from './refused.js';

/** What the functions of the reducer work on. */
export interface Delivery {
  readonly state: ProjectState;
  readonly ctx: ReducerContext;
  /** The tasks that were changed so far: at {@link CHANGES_AT_ONCE} the rest waits for another delivery. */
  changes: number;
}

/** The number of tasks that one delivery changes; the rest follows before any other input. */
const CHANGES_AT_ONCE = 64;

/** Whether this delivery has changed as many tasks as one may. */
export function isFull({ changes }: Delivery): boolean {
  return changes >= CHANGES_AT_ONCE;
}

/** The tables of a project. */
interface Tables {
  readonly tasks: Table<RecordedTask>;
  readonly dependents: Table<null>;
  readonly ready: Table<number>;
  readonly results: Table<RecordedResult>;
  readonly unprocessed: Table<null>;
  readonly stuck: Table<null>;
  readonly jobs: Table<JobRow>;
  readonly skills: Table<SkillRow>;
  readonly team: Table<TeamRow>;
  readonly models: Table<readonly string[]>;
  readonly narrative: Table<NarrativeRow>;
  readonly inbox: Table<InboxRow>;
  readonly planned: Table<TaskToMake>;
  readonly work: Table<number | null>;
  readonly plans: Table<PlanPurpose>;
}

/** A table of the project. */
export function tableOf<K extends keyof Tables>({ ctx }: Pick<Delivery, 'ctx'>, name: K): Tables[K] {
  return ctx.table(name) as unknown as Tables[K];
}

/** The team, which every project that may do anything has read. */
export function teamOf(delivery: Delivery): TeamRow {
  return tableOf(delivery, 'team').get('team') ?? delivery.ctx.reject('not_started');
}

/** A task that must exist. */
export function taskOr(delivery: Delivery, n: number): RecordedTask {
  const row = tableOf(delivery, 'tasks').get(key(n));
  if (row === undefined) throw new Refused('unknown_task', { task_id: n });
  return row;
}

/** A result that must exist. */
export function resultOr(delivery: Delivery, n: number): RecordedResult {
  const row = tableOf(delivery, 'results').get(key(n));
  if (row === undefined) throw new Refused('unknown_result', { result_id: n });
  return row;
}

/** Changes fields of a result. */
export function changeResult(delivery: Delivery, n: number, change: Partial<RecordedResult>): RecordedResult {
  const changed = { ...resultOr(delivery, n), ...present(change) } as RecordedResult;
  tableOf(delivery, 'results').set(key(n), changed);
  return changed;
}
