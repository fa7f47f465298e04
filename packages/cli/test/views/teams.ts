/**
 * What `reprise team show --json` and `project.waits()` say of random projects, beside the tables of their cells. What they must
 * say is written here from the tables alone, and the facts that `reprise team run --json` prints lead to the same.
 */
import { defineTool, SESSION_REDUCER, type SessionState, sessions, type Tool } from '@reprise/agent';
import type { JournalRecord } from '@reprise/contracts';
import { type ReadonlyStore, readFrame } from '@reprise/kernel';
import { CellReader } from '@reprise/org';
import { projectAt, skill, type Team, team } from '@reprise/specialists';
import {
  PROJECT,
  type ProjectState,
  type projectTables,
  type RecordedResult,
  type RecordedTask,
} from '@reprise/specialists/contracts';
import * as z from 'zod';
import { defective } from '../../../specialists/test/support/failing.js';
import { teamFactIn } from '../../src/team/facts.js';
import { shown } from '../../src/verbs/team/show.js';
import { type Draw, type Histories, type Pair, type Place, sessionWait, tableOf } from './histories.js';

const ID = 'p';
const CELL = [PROJECT, ID] as const;
const COORDINATOR = `${ID}/coordinator`;

const args = z.strictObject({});
const TOOLS: readonly Tool[] = [
  defineTool({ name: 'look', description: 'Looks.', args, guarantee: 'idempotent', run: () => 'Seen.' }),
  defineTool({ name: 'pay', description: 'Pays.', args, approval: 'always', run: () => 'Paid.' }),
];

const BRIEF = 'A brief that says what is to be done, and how it is to be done. '.repeat(4);

/** The histories of teams. */
export const TEAMS: Histories<Team> = {
  part: (seed) =>
    defective(
      team({
        name: 'team',
        skills: [
          skill({ name: 'worker', description: 'Works', tools: ['look', 'pay'], body: 'Work.' }),
          skill({ name: 'planner', description: 'Plans', tools: ['plan_write'], body: 'Plan.' }),
        ],
        tools: TOOLS,
        coordinator: { model: 'main', identity: 'You lead.', limits: { steps: 3, on: 'pause_and_ask' }, maxWakes: 2 },
        planners: ['planner'],
        agents: { maxConcurrent: 1 + (seed % 3) },
        ...(seed % 4 === 0 ? { dispatch: 'auto' } : {}),
        ...(seed % 5 === 0 ? { budget: { tokens: 2_000 } } : {}),
        ...(seed % 7 === 0 ? { onFailed: 'cascade' } : {}),
      }),
      ({ reducer, key, event }) => seed % 6 === 0 && hashOf(`${seed} ${reducer} ${key} ${event}`) % 40 === 0,
    ),
  answer(draw, { system }) {
    const say = { text: 'Done.' };
    if (draw(4) === 0) return say;
    if (system.includes('Your skill: planner'))
      return { calls: [{ tool: 'plan_write', args: { tasks: tasksOf(draw) as never } }] };
    if (system.includes('Your skill'))
      return { calls: [{ tool: ['look', 'pay', 'none'][draw(3)] ?? 'look', args: {} }] };
    const calls = [
      { tool: 'spawn_agent', args: { task: 'Work.', skill: draw(3) === 0 ? 'planner' : 'worker', context: BRIEF } },
      { tool: 'spawn_agent', args: { task_id: 1 + draw(4) } },
      { tool: 'task_graph', args: {} },
      { tool: 'task_skip', args: { task_id: 1 + draw(4), reason: 'not needed' } },
      { tool: 'task_retry', args: { task_id: 1 + draw(4), note: 'again' } },
      { tool: 'task_cancel', args: { task_id: 1 + draw(4), reason: 'no' } },
      { tool: 'narrative_append', args: { text: 'It goes on.' } },
      { tool: 'results_list', args: {} },
    ];
    return { calls: [calls[draw(calls.length)] ?? { tool: 'task_graph', args: {} }] };
  },
  async act(draw, world, part) {
    const project = world.part(part).project(ID);
    const by = { as: 'human:ann' } as const;
    switch (draw(10)) {
      case 0:
      case 1:
        return project.plan(tasksOf(draw), by);
      case 2:
        return project.retry(1 + draw(4), {}, by);
      case 3:
        return project.skip(1 + draw(4), 'not needed', by);
      case 4:
        return project.cancel(draw(12) === 0 ? 'all' : 1 + draw(4), 'no', by);
      case 5:
        return project.limit({ tokens: 500 + draw(5_000) }, by);
      case 6: {
        const [item] = await world.pending();
        return item && world.decide(item.id, draw(2) === 0 ? { approve: true } : { deny: 'no' });
      }
      case 7: {
        const [failed] = (await world.trouble()).filter(({ kind }) => kind === 'cell_failed');
        return failed && world.kernel.revive(failed.where as never);
      }
      default:
        return project.send('Go on.');
    }
  },
  async look(place) {
    const state = (await place.world.kernel.state([...CELL])) as unknown as ProjectState | undefined;
    if (state === undefined) return [];
    const project = await projectAt(place.at, ID);
    if (project === undefined) throw new Error('the project has a state and cannot be read');
    const [tasks, results] = [
      await rowsOf<RecordedTask>(place, 'tasks'),
      await rowsOf<RecordedResult>(place, 'results'),
    ];
    const json = async (part: 'tasks' | 'graph' | 'results' | 'narrative') =>
      JSON.parse(JSON.stringify((await shown(place.store, project, part, 0)).data)) as Record<string, unknown>;
    const waits = await waitsIn(place, state, tasks, results);
    const said = await factsOf(place.store, place.at.head.seq);
    const failed = place.at.trouble().some(({ where }) => where[0] === PROJECT);
    const { status, needs, cancelled_by, counts } = state;
    const head = { project: ID, status, needs, cancelled_by, counts };
    return [
      ['tasks', await json('tasks'), { ...head, tasks: tasks.map(taskOf), waits }],
      [
        'graph',
        await json('graph'),
        {
          project: ID,
          tasks: tasks.map(([id, { title, status: of, depends_on }]) => ({ id, title, status: of, depends_on })),
        },
      ],
      ['results', await json('results'), { project: ID, results: results.map(resultOf) }],
      [
        'narrative',
        ((await json('narrative')).narrative as unknown[]).length,
        (await rowsOf(place, 'narrative')).length,
      ],
      [
        'facts of tasks',
        said.tasks,
        Object.fromEntries(tasks.map(([n, row]) => [n, [row.status, row.failure, row.title]])),
      ],
      [
        'facts of results',
        said.results,
        Object.fromEntries(results.flatMap(([n, row]) => (row.ended_at === null ? [] : [[n, [row.status, row.code]]]))),
      ],
      [
        'facts of the project',
        said.project,
        { team: state.team, status, needs, counts, unprocessed: state.unprocessed, jobs: state.jobs },
      ],
      ...(await sessionsIn(place, results)),
      ['waits of the handle', failed ? waits : await handleWaits(place), waits],
    ];
  },
};

/** What the view of sessions says of those of the project, and the states of their cells. */
async function sessionsIn({ world }: Place, results: Rows<RecordedResult>): Promise<readonly Pair[]> {
  const view = (await world.views()).view(sessions);
  const pairs: Pair[] = [];
  for (const key of [COORDINATOR, ...results.flatMap(([, { session }]) => session ?? [])]) {
    const [row, cell] = [await view.get(key), await world.kernel.state([SESSION_REDUCER, key])];
    const state = cell as unknown as SessionState | undefined;
    const said = row === undefined ? undefined : [row.status, row.closed, row.runs];
    const stored = state === undefined ? undefined : [state.lifecycle, state.status === 'Closed', state.runs];
    pairs.push([`the session ${key}`, said, stored]);
  }
  return pairs;
}

async function handleWaits({ world }: Place): Promise<unknown> {
  const { readTeamWaits } = await import('../../../specialists/src/api/waits.js');
  const cell = new CellReader<ProjectState, typeof projectTables>(world.kernel, [...CELL]);
  const state = (await cell.state()) as ProjectState;
  return (await readTeamWaits({ id: ID, state, cell, sessions: world.kernel })).waits;
}

async function rowsOf<T>({ world }: Place, table: string): Promise<readonly (readonly [number, T])[]> {
  return (await tableOf<T>(world, [...CELL], table)).map(([key, row]) => [Number(key), row] as const);
}

function tasksOf(draw: Draw) {
  return Array.from({ length: 1 + draw(3) }, (_, i) => ({
    ...{ key: `k${i}`, title: `Task ${i}`, context: BRIEF, skill: 'worker' },
    ...(i === 0 || draw(2) === 0 ? {} : { blockedBy: [`k${draw(i)}`] }),
  }));
}

function taskOf([id, row]: readonly [number, RecordedTask]): object {
  const { title, skill: of, status, failure, result, attempts, priority, depends_on, ended_by = null } = row;
  return { id, title, skill: of, status, failure, result, attempts, priority, depends_on, ended_by };
}

function resultOf([id, row]: readonly [number, RecordedResult]): object {
  const { title, skill: of, status, task, code, digest, model, inputs, session, memory_ids, cost } = row;
  const processed = row.processed_at !== null;
  return { id, title, skill: of, status, task, code, digest, model, inputs, session, memory_ids, cost, processed };
}

type Rows<T> = readonly (readonly [number, T])[];

async function waitsIn(
  { world }: Place,
  state: ProjectState,
  tasks: Rows<RecordedTask>,
  results: Rows<RecordedResult>,
) {
  if (state.status === 'done') return [];
  const waits: object[] = [];
  const stuck = tasks.flatMap(([n, { status }]) => (['failed', 'blocked'].includes(status) ? [n] : []));
  if (state.needs !== null)
    waits.push({ kind: 'decision', why: state.needs, tasks: state.needs === 'tasks' ? stuck : [] });
  const own = await sessionWait(world, COORDINATOR);
  if (own !== undefined) waits.push({ ...own, result: null, task: null });
  for (const [result, { session, status, task }] of results) {
    const wait =
      session === null || !['running', 'waiting'].includes(status) ? undefined : await sessionWait(world, session);
    if (wait !== undefined) waits.push({ ...wait, result, task });
  }
  for (const [result, { status, task }] of results) if (status === 'queued') waits.push({ kind: 'slot', result, task });
  const [team] = await tableOf<{ readonly dispatch: string }>(world, [...CELL], 'team');
  const well = new Set(tasks.flatMap(([n, { status }]) => (['completed', 'skipped'].includes(status) ? [n] : [])));
  if (state.status !== 'cancelled')
    for (const [task, { status, depends_on }] of tasks) {
      const on = depends_on.map((need) => need.task).filter((n) => !well.has(n));
      if (status === 'blocked') waits.push({ kind: 'dependency', task, on });
      if (status !== 'pending' || state.needs === 'budget') continue;
      if (team?.[1].dispatch === 'auto') waits.push({ kind: 'budget', task, reserved: state.reserved });
      else if (state.status !== 'open') waits.push({ kind: 'coordinator', task });
      else waits.push({ kind: 'input', session: COORDINATOR, result: null, task });
    }
  if (state.wake.due !== null) waits.push({ kind: 'timer', until: state.wake.due });
  return waits;
}

/** What the facts of a journal say last of each task and result, and of the project. */
async function factsOf(store: ReadonlyStore, last: number) {
  const said = { tasks: {} as Record<string, unknown>, results: {} as Record<string, unknown>, project: {} as unknown };
  for await (const { seq, bytes } of store.journal.read(0, last))
    for (const record of readFrame(bytes, seq).all as readonly JournalRecord[]) {
      const fact = teamFactIn(record, ID);
      if (fact?.name === 'TaskChanged')
        said.tasks[String(fact.value.task)] = [fact.value.status, fact.value.code, fact.value.title];
      if (fact?.name === 'ResultStored') said.results[String(fact.value.result)] = [fact.value.status, fact.value.code];
      if (fact?.name === 'ProjectChanged') said.project = fact.value;
    }
  return said;
}

/** A number that only the text decides: the same defect at each replay. */
export function hashOf(text: string): number {
  let hash = 7;
  for (let i = 0; i < text.length; i++) hash = (hash * 31 + text.charCodeAt(i)) % 1_000_003;
  return hash;
}
