/** Plans, tasks and decisions: of planners, of the app, and after failures. */
import { RepriseError } from '@reprise/contracts';
import { memory, openWorld } from 'reprise';
import { type PlannedTask, skill, type TeamOptions, team } from 'reprise/specialists';
import { describe, expect, it } from 'vitest';
import { PROJECT_BOUNDS } from '../src/pure/index.js';
import { COORDINATOR, calls, IDENTITY, played, type Role, says } from './support/roles.js';
import { BRIEF, requestsOf } from './support/workflow.js';

const worker = skill({ name: 'worker', description: 'Works', tools: [], body: 'Work.' });
const planner = skill({ name: 'planner', description: 'Plans', tools: ['plan_write'], body: 'Plan.' });
const reader = skill({ name: 'reader', description: 'Reads', tools: ['result_read'], body: 'Read.' });

async function open(roles: Readonly<Record<string, Role>>, options: Partial<TeamOptions> = {}) {
  const { model, asked } = played(roles);
  const dev = team({
    name: 'dev',
    skills: [worker, planner, reader],
    tools: [],
    coordinator: { model: 'main', identity: IDENTITY },
    planners: ['planner'],
    dispatch: 'auto',
    ...options,
  });
  const world = await openWorld({ store: memory(), models: { main: model }, parts: [dev] });
  return { world, asked, project: world.part(dev).project('p') };
}

function task(key: string, blockedBy: PlannedTask['blockedBy'] = [], more: Partial<PlannedTask> = {}): PlannedTask {
  return { key, title: `Do ${key}`, context: BRIEF(key), skill: 'worker', blockedBy, ...more };
}

const DONE: Role = () => [says('Done.')];

/** A specialist that fails where its task says so: it ends without an answer because its model refuses. */
const failing =
  (...names: readonly string[]): Role =>
  (said) =>
    names.some((name) => said.includes(`Do ${name}`)) ? [{ fail: 'provider_error_terminal/refused' }] : [says('Done.')];

describe('given a plan of the app', () => {
  it('tasks run when what they depend on is completed [SPEC-19, SPEC-23]', async () => {
    const { project, world } = await open({ worker: DONE });
    const { task_ids } = await project.plan([task('a'), task('b', ['a']), task('c', ['a', 'b'])], { id: 'plan' });
    expect(task_ids).toEqual({ a: 1, b: 2, c: 3 });
    expect((await project.idle({ within: '30s' })).status).toBe('done');
    const order = (await project.results()).map(({ task: of }) => of);
    expect(order).toEqual([1, 2, 3]);
    await world.close();
  });

  it('a project takes a plan of the largest size, and refuses one with a task more', async () => {
    const { project, world } = await open({ worker: DONE }, { dispatch: 'coordinator' });
    const tasks = Array.from({ length: PROJECT_BOUNDS.plan }, (_, n) => task(`t${n}`));
    await expect(project.plan([...tasks, task('more')])).rejects.toThrow();
    const { task_ids } = await project.plan(tasks);
    expect(Object.keys(task_ids)).toHaveLength(PROJECT_BOUNDS.plan);
    await world.close();
  });

  it('the same plan with the same id is one plan', async () => {
    const { project, world } = await open({ worker: DONE });
    const first = await project.plan([task('a')], { id: 'plan' });
    expect(await project.plan([task('a')], { id: 'plan' })).toEqual(first);
    expect(await project.tasks()).toHaveLength(1);
    await world.close();
  });

  it('a plan is refused with every fault that it has, and nothing is written [SPEC-12]', async () => {
    const { project, world } = await open({ worker: DONE });
    const plan = [
      task('a', ['b']),
      task('b', ['a']),
      task('thin', [], { context: 'Do it.' }),
      task('lost', [], { skill: 'nobody-has-it' }),
      task('far', ['nowhere']),
      task('twice'),
      task('twice'),
      task('points', [], { context: `${BRIEF('points')} [agent_result:9] [agent_result:other/1]` }),
    ];
    const refused = await project.plan(plan, { id: 'plan' }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(RepriseError);
    const { details } = refused as RepriseError;
    const faults = (details.actual as { faults: { fault: string }[] }).faults.map(({ fault }) => fault);
    expect(faults.toSorted()).toEqual([
      'circle',
      'duplicate_key',
      'result_of_other_project',
      'skill_not_found',
      'thin_brief',
      'unknown_dependency',
      'unknown_result',
    ]);
    expect(await project.tasks()).toEqual([]);
    await world.close();
  });

  it('a plan with more than 512 dependencies is refused [SPEC-12]', async () => {
    const { project, world } = await open({ worker: DONE });
    const many = Array.from({ length: 40 }, (_, i) =>
      task(
        `t${i}`,
        Array.from({ length: Math.min(i, 20) }, (_, k) => `t${k}`),
      ),
    );
    await expect(project.plan(many)).rejects.toMatchObject({
      code: 'request_rejected',
      details: { reason: 'plan_invalid' },
    });
    expect(await project.tasks()).toEqual([]);
    await world.close();
  });
});

describe('given a planner', () => {
  const asks: Role = (said) =>
    said.includes('Go.')
      ? [calls('spawn_agent', { task: 'Plan.', skill: 'planner' }), says('Begun.')]
      : [says('Noted.')];

  it('a planner is told every fault of its plan, and may repair it in the same run [SPEC-12]', async () => {
    const plan = (...tasks: PlannedTask[]) =>
      calls('plan_write', { tasks: tasks.map(({ blockedBy, ...stated }) => ({ ...stated, depends_on: blockedBy })) });
    const { project, world, asked } = await open({
      [COORDINATOR]: asks,
      planner: () => [plan(task('a', ['z'])), plan(task('a'), task('b', ['a'])), says('Planned.')],
      worker: DONE,
    });
    await (await project.send('Go.')).result();
    expect((await project.idle({ within: '30s' })).status).toBe('done');
    const answers = requestsOf(asked, 'planner')
      .slice(1)
      .map(({ last }) => last);
    expect(answers[0]).toContain('unknown_dependency');
    expect(answers[1]).toContain('"task_ids":{"a":1,"b":2}');
    await world.close();
  });

  it('the third refused plan of a planner fails its work [SPEC-12, SPEC-38]', async () => {
    const { project, world } = await open({
      [COORDINATOR]: asks,
      planner: () => Array.from({ length: 5 }, () => calls('plan_write', { tasks: [] })),
      worker: DONE,
    });
    await (await project.send('Go.')).result();
    await project.idle({ within: '30s' });
    expect(await project.results()).toMatchObject([{ status: 'cancelled', code: 'plan_failed' }]);
    expect(await project.tasks()).toEqual([]);
    await world.close();
  });

  it('a skill that the team does not name as planner cannot be spawned with plan_write [SPEC-11]', async () => {
    const { project, world, asked } = await open({ [COORDINATOR]: asks }, { planners: [] });
    await (await project.send('Go.')).result();
    await project.idle({ within: '30s' });
    expect(requestsOf(asked, COORDINATOR)[1]?.last).toMatch(/tool_unavailable|tool_reserved/);
    expect(await project.results()).toEqual([]);
    await world.close();
  });
});

describe('given tasks that fail', () => {
  it('those that depend on them wait, a decision is needed, and the coordinator is told once [SPEC-24]', async () => {
    const { project, world, asked } = await open({ [COORDINATOR]: () => [says('I wait.')], worker: failing('a') });
    await project.plan([task('a'), task('b', ['a']), task('c')]);
    const state = await project.idle({ within: '30s' });
    expect(state.status).toBe('needs_decision');
    expect((await project.tasks()).map(({ status }) => status)).toEqual(['failed', 'blocked', 'completed']);
    const told = requestsOf(asked, COORDINATOR).filter(({ last }) => last.includes('A decision is needed'));
    expect(told).toHaveLength(1);
    expect(told[0]?.last).toContain('task 1, "Do a": failed');
    await world.close();
  });

  it('tasks that depend on a failed one fail as well with cascade [SPEC-19, SPEC-38]', async () => {
    const { project, world } = await open(
      { [COORDINATOR]: () => [says('I wait.')], worker: failing('a') },
      { onFailed: 'cascade' },
    );
    await project.plan([task('a'), task('b', ['a']), task('c', ['b'])]);
    await project.idle({ within: '30s' });
    expect((await project.tasks()).map(({ status, failure }) => [status, failure])).toEqual([
      ['failed', 'provider_error_terminal/refused'],
      ['failed', 'dependency_failed'],
      ['failed', 'dependency_failed'],
    ]);
    await world.close();
  });

  it('a task that is tried again with another skill releases what waits for it [SPEC-19]', async () => {
    const { project, world } = await open({
      [COORDINATOR]: () => [says('I wait.')],
      worker: failing('a'),
      reader: DONE,
    });
    await project.plan([task('a'), task('b', ['a'])]);
    await project.idle({ within: '30s' });
    expect(await project.retry(1, { skill: 'reader', note: 'Be careful.' }, { id: 'again' })).toMatchObject({
      status: 'accepted',
    });
    expect((await project.idle({ within: '30s' })).status).toBe('done');
    expect(await project.tasks()).toMatchObject([
      { status: 'completed', attempts: 2, result: 2, skill: 'reader' },
      { status: 'completed', attempts: 1, result: 3 },
    ]);
    await world.close();
  });

  it('a task that is skipped counts as done for those that depend on it [SPEC-19]', async () => {
    const { project, world } = await open({ [COORDINATOR]: () => [says('I wait.')], worker: failing('a') });
    await project.plan([task('a'), task('b', ['a'])]);
    await project.idle({ within: '30s' });
    await project.skip(1, 'not needed');
    expect((await project.idle({ within: '30s' })).status).toBe('done');
    expect((await project.tasks()).map(({ status }) => status)).toEqual(['skipped', 'completed']);
    await world.close();
  });

  it.each([
    ['a retry of a completed task', (p: Opened) => p.retry(1), 'task_not_failed'],
    ['a skip of a completed task', (p: Opened) => p.skip(1, 'x'), 'task_final'],
    ['a cancel of a completed task', (p: Opened) => p.cancel(1), 'task_final'],
    ['a retry of an unknown task', (p: Opened) => p.retry(9), 'unknown_task'],
  ])('%s is a rejection, and moves nothing [SPEC-19]', async (_, act, code) => {
    const { project, world } = await open({ worker: DONE });
    await project.plan([task('a')]);
    await project.idle({ within: '30s' });
    expect(await act(project)).toMatchObject({ status: 'rejected', code });
    expect((await project.tasks()).map(({ status }) => status)).toEqual(['completed']);
    await world.close();
  });

  it('a cancelled project ends its tasks, its jobs and its coordinator', async () => {
    const { project, world } = await open(
      { worker: () => [calls('nothing', {}), says('Done.')] },
      { dispatch: 'coordinator' },
    );
    await project.plan([task('a'), task('b', ['a'])]);
    await project.cancel('all', 'enough');
    expect((await project.idle({ within: '30s' })).status).toBe('cancelled');
    expect((await project.tasks()).map(({ status }) => status)).toEqual(['cancelled', 'cancelled']);
    await expect(project.plan([task('c')])).rejects.toMatchObject({ details: { reason: 'project_ended' } });
    await world.close();
  });
});

describe('given a coordinator whose run is under way', () => {
  it('a cancelled project ends the run, and takes no further message', async () => {
    const { project, world } = await open({ [COORDINATOR]: () => [{ text: 'Too long a text.', delayMs: 60_000 }] });
    const run = await project.send('Go.');
    expect(await project.cancel('all', 'enough')).toMatchObject({ status: 'accepted' });
    expect(await run.result()).toMatchObject({ stop: { kind: 'Cancelled' } });
    expect((await project.idle({ within: '30s' })).status).toBe('cancelled');
    await expect(project.send('More.')).rejects.toMatchObject({ details: { reason: 'project_ended' } });
    await world.close();
  });
});

type Opened = Awaited<ReturnType<typeof open>>['project'];
