/** Spawning: what a job needs is checked before anything changes, then result, task and job change in one delivery. */

import { present, type Ref, type Value } from '@reprise/contracts';
import type { Share } from '@reprise/org/contracts';
import { type BeginJob, beginInLine, beginWork, type JobInput, key, refusalBy } from '@reprise/org/contracts';
import {
  type AdHoc,
  type JobRow,
  PROJECT_BOUNDS,
  poolOf,
  type RecordedResult,
  type RecordedTask,
  type SkillRow,
  specialistKind,
} from '../../contracts/index.js';
import { type Delivery, isFull, resultOr, taskOr, teamOf } from '../project/delivery.js';
import { linkResult } from '../project/links.js';
import { Refused } from '../project/refused.js';
import { budgetOf, isShared, takeShare } from '../project/spending.js';
import { hasEndedWell, moveTask } from './tasks.js';

/** What is spawned: checked, and not begun yet. */
interface Checked {
  readonly title: string;
  readonly skill: SkillRow;
  readonly model: string;
  readonly override: boolean;
  readonly inputs: readonly JobInput[];
  readonly priority: number;
  readonly timeout_ms: number | null;
  /** What the preparation is told besides the skill. */
  readonly texts: {
    readonly task_ref?: Ref | undefined;
    readonly context_ref: Ref;
    readonly note_ref?: Ref | undefined;
  };
}

/** Spawns a task that is ready. @returns the number of its result */
export function spawnTask(delivery: Delivery, n: number): number {
  const row = taskOr(delivery, n);
  if (row.status !== 'pending') {
    throw new Refused('task_not_ready', { status: row.status, waits_for: waitsFor(delivery, row) });
  }
  const checked = checkTask(delivery, row);
  const result = begin(delivery, checked, n);
  moveTask(delivery, n, row, 'running', { result, attempts: row.attempts + 1 });
  return result;
}

/** Spawns the tasks that are ready, when the team leaves that to the project. @returns whether some are left */
export function dispatch(delivery: Delivery): boolean {
  const ready = delivery.ctx.table('ready');
  if (delivery.state.status === 'cancelled' || delivery.ctx.table('team').get('team')?.dispatch !== 'auto')
    return false;
  return beginInLine(
    ready,
    () => isFull(delivery),
    (_, n) => !isShared(delivery) && dispatchTask(delivery, n),
  );
}

/** @returns whether the line goes on: not while the queue is full */
function dispatchTask(delivery: Delivery, n: number): boolean {
  const refused = refusalBy(() => spawnTask(delivery, n));
  if (refused === undefined) return true;
  if (refused.code === 'queue_full' || refused.code === 'budget_exceeded') return false;
  const row = delivery.ctx.table('tasks').get(key(n));
  if (row !== undefined) moveTask(delivery, n, row, 'failed', { failure: refused.code });
  return true;
}

function waitsFor(delivery: Delivery, { depends_on }: RecordedTask): number[] {
  const tasks = delivery.ctx.table('tasks');
  return depends_on.map(({ task }) => task).filter((task) => !hasEndedWell(tasks.get(key(task))));
}

function checkTask(delivery: Delivery, row: RecordedTask): Checked {
  const passed = row.depends_on.filter(({ pass }) => pass !== 'none');
  const inputs = passed.flatMap(({ task, pass }): JobInput[] => {
    const { result, status } = taskOr(delivery, task);
    if (result === null || status !== 'completed') return []; // a skipped task passes nothing on
    return [inputOf(delivery, result, pass === 'full' ? 'full' : 'summary')];
  });
  const { title, model, priority, timeout_ms, context_ref, note_ref } = row;
  return {
    title,
    ...modelFor(delivery, skillFor(delivery, row.skill), model ?? undefined),
    inputs: withPointers(delivery, inputs, row.pointers),
    priority,
    timeout_ms,
    texts: { context_ref, note_ref: note_ref ?? undefined },
  };
}

/** Spawns work that stands in no plan. @returns the number of its result */
export function spawnAdHoc(delivery: Delivery, spec: AdHoc): number {
  const { task, task_ref, skill, model, context_ref, pointers, foreign = [] } = spec;
  if (foreign.length > 0) throw new Refused('result_of_other_project', { pointers: [...foreign] });
  const checked: Checked = {
    title: task,
    ...modelFor(delivery, skillFor(delivery, skill), model),
    inputs: withPointers(delivery, [], pointers),
    priority: AD_HOC_PRIORITY,
    timeout_ms: null,
    texts: { task_ref, context_ref },
  };
  return begin(delivery, checked, null);
}

/** The priority of work that stands in no plan: that of most tasks. */
const AD_HOC_PRIORITY = 50;

/** A skill that can be spawned. */
export function skillFor(delivery: Delivery, name: string): SkillRow {
  const skill = delivery.ctx.table('skills').get(name);
  if (skill === undefined) throw new Refused('skill_not_found', { skill: name, known: knownSkills(delivery) });
  if (skill.refusal !== null) {
    const problems = skill.problems.map(({ line, rule, message }) => `line ${line}: ${rule}: ${message}`);
    throw new Refused(skill.refusal, { skill: name, problems: problems.slice(0, 4) });
  }
  return skill;
}

/** The names of skills, as many as fit into an answer. */
function knownSkills(delivery: Delivery): string[] {
  const page = delivery.ctx.table('skills').range({ limit: KNOWN_MAX });
  return page.filter(([, { state }]) => state === 'ready').map(([name]) => name);
}

const KNOWN_MAX = 40;

/** The call's model, else the skill's, else that of the team. */
function modelFor(
  delivery: Delivery,
  skill: SkillRow,
  asked: string | undefined,
): Pick<Checked, 'skill' | 'model' | 'override'> {
  const { default_model, unpriced } = teamOf(delivery);
  const model = asked ?? skill.model ?? default_model;
  const known = delivery.ctx.table('models').get('models') ?? [];
  if (!known.includes(model)) throw new Refused('unknown_model', { model, known: known.slice(0, KNOWN_MAX) });
  if (budgetOf(delivery)?.unit === 'micro_money' && unpriced.includes(model)) {
    throw new Refused('no_price', {
      problem: `model ${model} has no price; give it one (price: { in, out }), or state a budget in tokens`,
    });
  }
  return { skill, model, override: asked !== undefined };
}

/** The results that a job is given: of its dependencies, and those that its texts point to; each once. */
function withPointers(delivery: Delivery, inputs: readonly JobInput[], pointers: readonly number[]): JobInput[] {
  const given = new Map(inputs.map((input) => [input.from, input]));
  for (const pointer of pointers) given.set(pointer, inputOf(delivery, pointer, 'full'));
  if (given.size > PROJECT_BOUNDS.refs) throw new Refused('too_many_refs', { max: PROJECT_BOUNDS.refs });
  return [...given.values()];
}

function inputOf(delivery: Delivery, n: number, view: JobInput['view']): JobInput {
  const { status, output_ref } = resultOr(delivery, n);
  if (status !== 'ok' || output_ref === null) throw new Refused('result_not_ok', { result_id: n, status });
  return { from: n, output_ref, view };
}

function begin(delivery: Delivery, checked: Checked, task: number | null): number {
  const { state, ctx } = delivery;
  if (state.next.result > PROJECT_BOUNDS.jobs) throw new Refused('limit_jobs', { max: PROJECT_BOUNDS.jobs });
  if (state.waiting >= PROJECT_BOUNDS.waiting) throw new Refused('queue_full', { waiting: state.waiting });
  const team = teamOf(delivery);
  const { title, skill, model, override, inputs, priority } = checked;
  const share = takeShare(delivery);
  const n = state.next.result++;
  const row: RecordedResult = {
    task,
    title,
    skill: skill.name,
    digest: null,
    model,
    override,
    status: 'queued',
    code: null,
    output_ref: null,
    session: null,
    inputs: inputs.map(({ from }) => from),
    shown: 0,
    processed_at: null,
    memory_ids: [],
    cost: null,
    at: ctx.now,
    ended_at: null,
  };
  delivery.ctx.table('results').set(key(n), row);
  delivery.ctx.table('jobs').set(key(n), jobRowFor(skill, share));
  linkResult(delivery, n, row);
  state.jobs++;
  state.waiting++;
  beginWork(ctx, jobFor(delivery, { ...checked, share }, n, task, { pool: poolOf(team.name)[1], priority, model }));
  return n;
}

function jobRowFor({ tools, project_tools, planner }: SkillRow, share: Share | null): JobRow {
  return {
    share,
    tools: [...(tools ?? [])],
    project_tools,
    planner,
    refused: 0,
    waiting: true,
    stopped: null,
  };
}

function jobFor(
  delivery: Delivery,
  { title, skill, inputs, texts, timeout_ms, share }: Checked & { readonly share: Share | null },
  n: number,
  task: number | null,
  rest: Pick<BeginJob, 'pool' | 'priority' | 'model'>,
): BeginJob {
  const [, project] = delivery.ctx.address;
  const details = present({
    project,
    skill: skill.name,
    title,
    task: task ?? undefined,
    budget: share ?? undefined,
    ...texts,
  });
  return {
    n,
    kind: specialistKind(teamOf(delivery).name),
    request_ref: null,
    details: details as Value,
    inputs: [...inputs],
    timeout_ms: timeout_ms ?? skill.timeout_ms ?? teamOf(delivery).timeout_ms,
    grant: null,
    labels: present({ project, role: 'specialist', skill: skill.name, result: String(n), task: task?.toString() }),
    ...rest,
  };
}
