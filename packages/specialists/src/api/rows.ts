/** Tasks, results and entries of the narrative, as an app reads them. */
import { type Actor, present } from '@reprise/contracts';
import type { NarrativeRow, RecordedResult, RecordedTask } from '../pure/index.js';

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
  /** The code with which it failed. */
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

export function taskRow(id: number, row: RecordedTask): TaskRow {
  const { title, skill, status, failure, attempts, priority, depends_on, result, at, ended_by } = row;
  const rest = present({ result: result ?? undefined, ended_by });
  return { id, title, skill, status, failure, attempts, priority, depends_on, ...rest, created: at };
}

export function resultRow(id: number, row: RecordedResult): ResultRow {
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
