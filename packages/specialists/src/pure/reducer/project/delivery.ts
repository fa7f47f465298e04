/** One delivery to a project: its state, its tables, and how many tasks it has changed. */
import type { ReducerContext } from '@reprise/kernel/define';
import { key } from '@reprise/org/contracts';
import type { ProjectState, projectTables, RecordedResult, RecordedTask, TeamRow } from '../../contracts/index.js';
import { Refused } from './refused.js';

/** What the reducer may do, with the tables of a project. */
export type ProjectContext = ReducerContext<typeof projectTables>;

/** What the functions of the reducer work on. */
export interface Delivery {
  readonly state: ProjectState;
  readonly ctx: ProjectContext;
  /** The tasks that were changed so far: at {@link CHANGES_AT_ONCE} the rest waits for another delivery. */
  changes: number;
}

/** The number of tasks that one delivery changes; the rest follows before any other input. */
const CHANGES_AT_ONCE = 64;

/** Whether this delivery has changed as many tasks as one may. */
export function isFull({ changes }: Delivery): boolean {
  return changes >= CHANGES_AT_ONCE;
}

/** The team, which every project that may do anything has read. */
export function teamOf(delivery: Delivery): TeamRow {
  return delivery.ctx.table('team').get('team') ?? delivery.ctx.reject('not_started');
}

/** A task that must exist. */
export function taskOr(delivery: Delivery, n: number): RecordedTask {
  const row = delivery.ctx.table('tasks').get(key(n));
  if (row === undefined) throw new Refused('unknown_task', { task_id: n });
  return row;
}

/** A result that must exist. */
export function resultOr(delivery: Delivery, n: number): RecordedResult {
  const row = delivery.ctx.table('results').get(key(n));
  if (row === undefined) throw new Refused('unknown_result', { result_id: n });
  return row;
}

export function changeResult(delivery: Delivery, n: number, change: Partial<RecordedResult>): RecordedResult {
  const changed = { ...resultOr(delivery, n), ...change };
  delivery.ctx.table('results').set(key(n), changed);
  return changed;
}
