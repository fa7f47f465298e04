/** What keeps a project from going on: for whom or for what it, its tasks and its sessions wait. From durable states alone. */
import { type SessionReader, type SessionWait, sessionEndsFromOutside, sessionWaits } from '@reprise/agent';
import type { CellReader } from '@reprise/org';
import {
  coordinatorOf,
  type DecisionReason,
  type ProjectState,
  type projectTables,
  type RecordedResult,
  type RecordedTask,
} from '../pure/index.js';

/** Of which session a wait is: of the job that makes a result, for a task, or of the coordinator, where both are null. */
interface OfJob {
  readonly result: number | null;
  readonly task: number | null;
}

/** A part of a project that waits. The kinds of sessions are those of {@link SessionWait}. */
export type TeamWait =
  /** A person decides: `why` the project cannot go on, and the tasks that failed or are blocked, where they are the reason. */
  | { readonly kind: 'decision'; readonly why: DecisionReason; readonly tasks: readonly number[] }
  /**
   * A session of a job or of the coordinator, or one below it: a person, input, a limit, the app, a pause, its children. The
   * coordinator waits for input with a task that is ready, in a project that is `open`: only a message has it hand the task out.
   */
  | (SessionWait & OfJob)
  /** The job that makes this result waits for a slot of the team's pool. */
  | { readonly kind: 'slot'; readonly result: number; readonly task: number | null }
  /** Tasks that it depends on have not ended well. */
  | { readonly kind: 'dependency'; readonly task: number; readonly on: readonly number[] }
  /** It is ready, and the project begins it when fewer jobs share the budget. */
  | { readonly kind: 'budget'; readonly task: number; readonly reserved: number }
  /** It is ready, and the coordinator, which works or will be woken, has not handed it out. */
  | { readonly kind: 'coordinator'; readonly task: number }
  /** The coordinator is told of results or of a decision at this time, in journal milliseconds. */
  | { readonly kind: 'timer'; readonly until: number };

/** What the waits of a project are read from: its cell, live or at a frame, and its sessions. */
interface ProjectReader {
  readonly id: string;
  readonly state: ProjectState;
  readonly cell: CellReader<ProjectState, typeof projectTables>;
  readonly sessions: SessionReader;
}

type Rows<T> = readonly (readonly [number, T])[];

/** What a project waits for, and whether that keeps all of it from going on by itself. */
export interface ProjectWaits {
  /** What a person has to decide first, then waits of sessions, jobs, tasks, and the timer. */
  readonly waits: readonly TeamWait[];
  /** Something waits for a person or the app, and each run of the coordinator and of a job waits as well. */
  readonly standsStill: boolean;
}

/** Reads what a project waits for. */
export async function readTeamWaits(reader: ProjectReader): Promise<ProjectWaits> {
  const { state } = reader;
  if (state.status === 'done') return { waits: [], standsStill: false };
  const tasks = await reader.cell.numbered('tasks');
  const results = await reader.cell.numbered('results');
  const sessions = await waitsOfSessions(reader, results);
  const { due } = state.wake;
  const waits: readonly TeamWait[] = [
    ...decisionOf(state, tasks),
    ...sessions.flatMap((one) => one.waits),
    ...waitsForSlots(results),
    ...(state.status === 'cancelled' ? [] : waitsOfTasks(reader, tasks, await isAuto(reader))),
    ...(due === null ? [] : [{ kind: 'timer', until: due } as const]),
  ];
  const outside = waits.some(teamEndsFromOutside);
  return { waits, standsStill: outside && (state.status !== 'working' || allRest(state, results, sessions)) };
}

async function isAuto({ cell }: ProjectReader): Promise<boolean> {
  return (await cell.row('team', 'team'))?.dispatch === 'auto';
}

function decisionOf({ needs }: ProjectState, tasks: Rows<RecordedTask>): readonly TeamWait[] {
  if (needs === null) return [];
  const stuck = tasks.filter(([, { status }]) => status === 'failed' || status === 'blocked').map(([n]) => n);
  return [{ kind: 'decision', why: needs, tasks: needs === 'tasks' ? stuck : [] }];
}

/** The waits of one run, and whether all of it waits for what comes from outside. */
interface WaitsOfRun extends OfJob {
  readonly waits: readonly (SessionWait & OfJob)[];
  readonly rests: boolean;
}

/** The waits of the coordinator's session, then those of the jobs that have one. */
async function waitsOfSessions(reader: ProjectReader, results: Rows<RecordedResult>): Promise<readonly WaitsOfRun[]> {
  const waitsOf = async (session: string, of: OfJob): Promise<WaitsOfRun> => {
    const waits = await sessionWaits(reader.sessions, session);
    return { ...of, waits: waits.map((wait) => ({ ...wait, ...of })), rests: rests(waits, session) };
  };
  const found = [await waitsOf(coordinatorOf(reader.id)[1], { result: null, task: null })];
  for (const [result, { status, session, task }] of results)
    if (session !== null && (status === 'running' || status === 'waiting'))
      found.push(await waitsOf(session, { result, task }));
  return found;
}

/** Whether a session waits for what comes from outside, or for children that all do. */
function rests(waits: readonly SessionWait[], session: string): boolean {
  return waits.some((wait) => {
    if (wait.session !== session) return false;
    return wait.kind === 'children' ? wait.on.every((child) => rests(waits, child)) : sessionEndsFromOutside(wait);
  });
}

/** Whether nothing is under way in a project that works: its runs rest, and what is left waits for their slots. */
function allRest(
  { coordinator, reading, wake }: ProjectState,
  results: Rows<RecordedResult>,
  runs: readonly WaitsOfRun[],
): boolean {
  if (reading !== null || coordinator.sent > 0 || wake.phase === 'due' || wake.phase === 'composing') return false;
  const resting = new Set(runs.flatMap((run) => (run.rests ? [run.result] : [])));
  if (coordinator.busy && !resting.has(null)) return false;
  return results.every(([n, { status, ended_at }]) => ended_at !== null || status === 'queued' || resting.has(n));
}

function waitsForSlots(results: Rows<RecordedResult>): readonly TeamWait[] {
  return results.flatMap(([result, { status, task }]) => (status === 'queued' ? [{ kind: 'slot', result, task }] : []));
}

function waitsOfTasks({ id, state }: ProjectReader, tasks: Rows<RecordedTask>, auto: boolean): readonly TeamWait[] {
  const statuses = new Map(tasks.map(([n, { status }]) => [n, status]));
  const hasEndedWell = (n: number) => ['completed', 'skipped'].includes(statuses.get(n) ?? '');
  return tasks.flatMap(([task, { status, depends_on }]): readonly TeamWait[] => {
    if (status === 'blocked')
      return [{ kind: 'dependency', task, on: depends_on.map((need) => need.task).filter((n) => !hasEndedWell(n)) }];
    if (status !== 'pending' || state.needs === 'budget') return [];
    if (auto) return [{ kind: 'budget', task, reserved: state.reserved }];
    if (state.status !== 'open') return [{ kind: 'coordinator', task }];
    return [{ kind: 'input', session: coordinatorOf(id)[1], result: null, task }];
  });
}

/** Whether a wait ends only by what comes from outside: from a person, or from the app. */
export function teamEndsFromOutside(wait: TeamWait): boolean {
  if ('session' in wait) return sessionEndsFromOutside(wait);
  return wait.kind === 'decision';
}
