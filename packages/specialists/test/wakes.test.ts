/** When the coordinator is woken, how often it is shown a result, how many jobs run at once, and what a budget bounds. */
import type { Address } from '@reprise/contracts';
import { memory, openWorld } from 'reprise';
import { type PlannedTask, skill, type TeamOptions, team } from 'reprise/specialists';
import { describe, expect, it } from 'vitest';
import { COORDINATOR, calls, IDENTITY, played, type Role, says } from './support/roles.js';
import { BRIEF, requestsOf } from './support/workflow.js';

const worker = skill({ name: 'worker', description: 'Works', tools: [], body: 'Work.' });
const PRICE = { in: 3, out: 15 };

async function open(roles: Readonly<Record<string, Role>>, options: Partial<TeamOptions> = {}, priced = false) {
  const { model, asked } = played(roles, priced ? { price: PRICE } : {});
  const dev = team({
    name: 'dev',
    skills: [worker],
    tools: [],
    coordinator: { model: 'main', identity: IDENTITY },
    dispatch: 'auto',
    ...options,
  });
  const world = await openWorld({ store: memory(), models: { main: model }, parts: [dev] });
  return { world, asked, team: dev, projects: world.part(dev), project: world.part(dev).project('p') };
}

function task(key: string, more: Partial<PlannedTask> = {}): PlannedTask {
  return { key, title: `Do ${key}`, context: BRIEF(key), skill: 'worker', ...more };
}

/** Hands out the first task. */
const spawnOne = calls('spawn_agent', { task_id: 1 });

const DONE: Role = () => [says('Done.')];

describe('given results that are stored', () => {
  it('40 ends at once wake the coordinator at most three times [SPEC-26]', async () => {
    const { project, world, asked } = await open({ worker: DONE }, { agents: { maxConcurrent: 40 } });
    await project.plan(Array.from({ length: 40 }, (_, i) => task(`t${i}`)));
    expect((await project.idle({ within: '60s' })).status).toBe('done');
    expect(requestsOf(asked, COORDINATOR).length).toBeLessThanOrEqual(3);
    expect(await project.results({ processed: true })).toHaveLength(40);
    await world.close();
  });

  it('a wake names the tasks that are ready, so a coordinator that did not look knows what waits for it [SPEC-49]', async () => {
    const { project, world, asked } = await open(
      { [COORDINATOR]: (said) => (said.includes('Go') ? [spawnOne, says('Begun.')] : [says('Noted.')]), worker: DONE },
      { dispatch: 'coordinator' },
    );
    await project.plan([...Array.from({ length: 14 }, (_, i) => task(`t${i}`)), task('later', { blockedBy: ['t1'] })]);
    await (await project.send('Go')).result();
    expect((await project.idle({ within: '30s' })).status).toBe('open');
    const woken = requestsOf(asked, COORDINATOR)
      .map(({ last }) => last)
      .find((said) => said.includes('Result 1'));
    expect(woken).toContain('These tasks are ready, and begin when you hand them out with spawn_agent:');
    expect(woken).toContain('- task 2, "Do t1", for worker');
    expect(woken).toContain('and 1 more: task_graph names them');
    expect(woken).not.toContain('Do later');
    expect(woken).not.toContain('- task 1,');
    await world.close();
  });

  it('a result that no run could complete with is shown three times, and then waits for a person [SPEC-28]', async () => {
    const { project, world } = await open({
      [COORDINATOR]: (said) =>
        said.includes('Again.') ? [says('Now.')] : [{ fail: 'provider_error_terminal/refused' }],
      worker: DONE,
    });
    await project.plan([task('a')]);
    expect((await project.idle({ within: '30s' })).status).toBe('needs_decision');
    expect((await project.state())?.wake.epoch).toBe(3);
    expect(await project.results({ processed: false })).toHaveLength(1);
    await (await project.send('Again.')).result();
    await project.idle({ within: '30s' });
    expect((await project.state())?.wake.epoch).toBe(6);
    await world.close();
  });

  it('a needed decision is told again when the run that was told of it has failed [SPEC-24, SPEC-28]', async () => {
    const { project, world, asked } = await open({
      [COORDINATOR]: (said) =>
        said.includes('Result') ? [{ fail: 'provider_error_terminal/refused' }] : [says('Skip it.')],
      worker: () => [{ fail: 'provider_error_terminal/refused' }],
    });
    await project.plan([task('a')]);
    expect((await project.idle({ within: '30s' })).status).toBe('needs_decision');
    const told = requestsOf(asked, COORDINATOR).map(({ last }) => last.includes('A decision is needed'));
    expect(told).toEqual([true, true, true]);
    await world.close();
  });

  it('a message of a person goes before results that wait [SPEC-27]', async () => {
    const { project, world, asked } = await open({ [COORDINATOR]: () => [says('Yes.')], worker: DONE });
    await project.plan([task('a')]);
    await resultOf(project, 1);
    await (await project.send('Are you there?')).result();
    await project.idle({ within: '30s' });
    const said = requestsOf(asked, COORDINATOR).map(({ last }) => last);
    expect(said[0]).toContain('Are you there?');
    expect(said[1]).toContain('Result 1:');
    await world.close();
  });
});

async function resultOf(project: Awaited<ReturnType<typeof open>>['project'], n: number): Promise<void> {
  for (let tries = 0; tries < 400; tries++) {
    if ((await project.results()).some(({ id, ended }) => id === n && ended !== undefined)) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Hands out the same work whenever it is told of anything: without a bound it never ends. */
const LOOPING: Role = (said) =>
  said.includes('Stop.')
    ? [says('I stop.')]
    : [calls('spawn_agent', { task: 'Look again', skill: 'worker' }), says('It is under way.')];

describe('given a coordinator that hands out work for each result', () => {
  it('the project needs a person after as many wakes as the team permits, says so once, and goes on when one speaks [SPEC-42]', async () => {
    const coordinator = { model: 'main', identity: IDENTITY, maxWakes: 3 };
    const { project, world, asked } = await open({ [COORDINATOR]: LOOPING, worker: DONE }, { coordinator });
    await (await project.send('Look.')).result();
    expect(await project.idle({ within: '60s' })).toMatchObject({ status: 'needs_decision', needs: 'wakes', jobs: 0 });
    // The message, and three wakes: each has begun one job.
    expect(await project.results()).toHaveLength(4);
    expect(await decisions(world)).toEqual([{ why: 'wakes', code: null, tasks: [] }]);
    await (await project.send('Go on.')).result();
    expect(await project.idle({ within: '60s' })).toMatchObject({ status: 'needs_decision', needs: 'wakes' });
    expect(await project.results()).toHaveLength(8);
    const before = requestsOf(asked, COORDINATOR).length;
    await (await project.send('Stop.')).result();
    expect(await project.idle({ within: '60s' })).toMatchObject({ status: 'needs_decision' });
    expect(requestsOf(asked, COORDINATOR).length - before).toBeLessThanOrEqual(8);
    expect((await world.verify()).unverified).toBe(0);
    await world.close();
  });

  it('a team that says nothing has a bound of 24 wakes in a row [SPEC-42]', async () => {
    const { project, world } = await open({ [COORDINATOR]: () => [says('Yes.')] });
    await (await project.send('Hello.')).result();
    const [[, row] = []] = await world.kernel.table(project.address, 'team');
    expect(row).toMatchObject({ wakes_max: 24 });
    await world.close();
  });

  it('retrying a failed task again and again reaches the bound as well [SPEC-42]', async () => {
    const coordinator = { model: 'main', identity: IDENTITY, maxWakes: 4 };
    const { project, world } = await open(
      {
        [COORDINATOR]: () => [calls('task_retry', { task_id: 1 }), says('Once more.')],
        worker: () => [{ fail: 'provider_error_terminal/refused' }],
      },
      { coordinator },
    );
    await project.plan([task('a')]);
    expect(await project.idle({ within: '60s' })).toMatchObject({ status: 'needs_decision', needs: 'wakes' });
    expect((await project.tasks())[0]).toMatchObject({ status: 'failed', attempts: 5 });
    await world.close();
  });

  it('a task that ends for good lets the wakes count anew, so that a long plan goes on by itself [SPEC-42]', async () => {
    const coordinator = { model: 'main', identity: IDENTITY, maxWakes: 2 };
    const spawning: Role = (said) => {
      const done = [...said.matchAll(/Result (\d+):/g)].map(([, n]) => Number(n));
      return [calls('spawn_agent', { task_id: Math.max(0, ...done) + 1 }), says('The next.')];
    };
    const { project, world } = await open(
      { [COORDINATOR]: spawning, worker: DONE },
      { coordinator, dispatch: 'coordinator' },
    );
    await project.plan(Array.from({ length: 6 }, (_, i) => task(`t${i}`)));
    await (await project.send('Begin.')).result();
    expect(await project.idle({ within: '60s' })).toMatchObject({ status: 'done', needs: null });
    expect(await project.tasks({ status: 'completed' })).toHaveLength(6);
    await world.close();
  });

  it('a bound that is no whole number above 0 is refused', () => {
    for (const maxWakes of [0, -1, 1.5, Number.NaN, 10_001])
      expect(() =>
        team({ name: 'dev', skills: [], tools: [], coordinator: { model: 'main', identity: IDENTITY, maxWakes } }),
      ).toThrow('coordinator.maxWakes');
  });
});

describe('given a run of the coordinator that fails with a message of a person', () => {
  // What was not answered stands before the next message.
  const refusing: Role = (said) =>
    /Once more|And you/.test(said) ? [says('Yes.')] : [{ fail: 'provider_error_terminal/refused' }];

  it('the project needs a decision and says why, and the next message is the way back [SPEC-43]', async () => {
    const { project, world } = await open({ [COORDINATOR]: refusing });
    const run = await project.send('Break.', { id: 'm1' });
    expect((await run.result()).stop.kind).toBe('Failed');
    const state = await project.idle({ within: '30s' });
    expect(state).toMatchObject({ status: 'needs_decision', needs: 'coordinator' });
    expect(state.coordinator.failure).toBe('provider_error_terminal/refused');
    const code = 'provider_error_terminal/refused';
    expect(await decisions(world)).toEqual([{ why: 'coordinator', code, tasks: [] }]);
    expect(await (await project.send('Once more.')).text()).toBe('Yes.');
    expect(await project.idle({ within: '30s' })).toMatchObject({ status: 'open', needs: null });
    await world.close();
  });

  it('messages that wait behind it are answered [SPEC-43]', async () => {
    const { project, world } = await open({ [COORDINATOR]: refusing });
    const runs = await Promise.all(['Break.', 'And you?', 'And you there?'].map((text) => project.send(text)));
    const stops = await Promise.all(runs.map((run) => run.result()));
    expect(stops.map(({ stop }) => stop.kind)).toEqual(['Failed', 'Completed', 'Completed']);
    expect(await project.idle({ within: '30s' })).toMatchObject({ status: 'open', needs: null });
    await world.close();
  });
});

/** The decisions that the project has stated. */
async function decisions({ kernel }: Awaited<ReturnType<typeof open>>['world']): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const { seq, records } of kernel.frames(0)) {
    for (const record of records)
      if (record.kind === 'fact' && record.name === 'specialists/DecisionNeeded@1') found.push(record.value);
    if (seq === kernel.head.seq) break;
  }
  return found;
}

describe('given more work than slots', () => {
  it('no more jobs of all projects run at once than the team allows [SPEC-29]', async () => {
    const { projects, world } = await open({ worker: DONE }, { agents: { maxConcurrent: 2 } });
    const [one, two] = [projects.project('one'), projects.project('two')];
    await Promise.all([one, two].map((project) => project.plan(Array.from({ length: 6 }, (_, i) => task(`t${i}`)))));
    await Promise.all([one, two].map((project) => project.idle({ within: '60s' })));
    let running = 0;
    let most = 0;
    for await (const { seq, records } of world.kernel.frames(0)) {
      for (const record of records) {
        if (record.kind !== 'fact' || record.name !== 'work/JobChanged@1') continue;
        const { status } = record.value as { readonly status: string };
        if (status === 'preparing') running++;
        if (['ok', 'failed', 'cancelled', 'timeout'].includes(status)) running--;
        most = Math.max(most, running);
      }
      if (seq === world.kernel.head.seq) break;
    }
    expect([most, running]).toEqual([2, 0]);
    await world.close();
  });

  it('jobs are launched by priority, then in the order in which their tasks became ready [SPEC-30]', async () => {
    const { project, world } = await open({ worker: DONE }, { agents: { maxConcurrent: 1 } });
    await project.plan([task('low', { priority: 10 }), task('first'), task('second'), task('high', { priority: 100 })]);
    await project.idle({ within: '30s' });
    const started = await startedJobs(world);
    const titles = new Map((await project.results()).map(({ id, title }) => [id, title]));
    expect(started.map((n) => titles.get(n))).toEqual(['Do high', 'Do first', 'Do second', 'Do low']);
    await world.close();
  });

  it('an urgent task that the end of another releases goes before a task that waits in line [SPEC-30]', async () => {
    const { projects, world } = await open({ worker: DONE }, { agents: { maxConcurrent: 1 } });
    const [one, two] = [projects.project('one'), projects.project('two')];
    await world.kernel.request(POOL, { name: 'flow/PauseQueue@1', value: {} });
    await one.plan([task('base', { priority: 100 }), task('urgent', { priority: 100, blockedBy: ['base'] })]);
    await two.plan([task('slow', { priority: 10 })]);
    await world.kernel.request(POOL, { name: 'flow/ResumeQueue@1', value: {} });
    await Promise.all([one, two].map((project) => project.idle({ within: '30s' })));
    expect(await startedKeys(world)).toEqual(['one/j1', 'one/j2', 'two/j1']);
    await world.close();
  });
});

const POOL: Address = ['flow/Queue@1', 'specialists/dev'];

/** The jobs of all projects in the order in which they were started. */
async function startedKeys({ kernel }: Awaited<ReturnType<typeof open>>['world']): Promise<string[]> {
  const started: string[] = [];
  for await (const { seq, records } of kernel.frames(0)) {
    for (const record of records)
      if (record.kind === 'event' && record.event.name === 'flow/Granted@1') started.push(record.to[1] ?? '');
    if (seq === kernel.head.seq) break;
  }
  return started;
}

async function startedJobs(world: Awaited<ReturnType<typeof open>>['world']): Promise<number[]> {
  const started: number[] = [];
  for await (const { seq, records } of world.kernel.frames(0)) {
    for (const record of records) {
      if (record.kind !== 'fact' || record.name !== 'work/JobChanged@1') continue;
      const { status, n } = record.value as { readonly status: string; readonly n: number };
      if (status === 'preparing') started.push(n);
    }
    if (seq === world.kernel.head.seq) break;
  }
  return started;
}

describe('given a budget in money', () => {
  // A model that keeps to the bound of its request, as a real one does.
  const costly: Role = (_, { unified }) => [
    { text: 'Done.', usage: { tokens_in: 60, tokens_out: Math.min(100, unified.maxTokens ?? 100) } },
  ];

  it('what was used and is set aside never exceeds it, a decision is needed, and a raised limit goes on [SPEC-40]', async () => {
    const { project, world } = await open(
      { [COORDINATOR]: () => [{ text: 'Noted.', usage: { tokens_in: 100, tokens_out: 10 } }], worker: costly },
      { budget: { usd: 0.03 } },
      true,
    );
    const tasks = Array.from({ length: 40 }, (_, i) => task(`t${i}`));
    await project.plan(tasks);
    expect((await project.idle({ within: '60s' })).status).toBe('needs_decision');
    const done = (await project.tasks({ status: 'completed' })).length;
    expect(done).toBeGreaterThan(5);
    expect(done).toBeLessThan(40);
    expect(await mostUsed(world)).toBeLessThanOrEqual(30_000);
    await project.limit({ usd: 10 });
    expect((await project.idle({ within: '60s' })).status).toBe('done');
    expect(await project.tasks({ status: 'completed' })).toHaveLength(40);
    await world.close();
  });

  it('a run of the coordinator that the provider refused has used nothing: the next message has the whole budget [SPEC-40]', async () => {
    const refusing: Role = (said) =>
      said.includes('Once more')
        ? [{ text: 'Yes.', usage: { tokens_in: 100, tokens_out: 10 } }]
        : [{ fail: 'provider_error_terminal/refused', usage: {} }];
    const { project, world } = await open({ [COORDINATOR]: refusing }, { budget: { usd: 0.5 } }, true);
    for (const text of ['One.', 'Two.', 'Three.']) await (await project.send(text)).result();
    expect((await project.state())?.spent.micro_money).toBe(0);
    expect(await (await project.send('Once more.')).text()).toBe('Yes.');
    await world.close();
  });

  it('a limit in dollars is refused where the coordinator has a model without a price, and one in tokens is not [SPEC-40]', async () => {
    const { project, world } = await open({ [COORDINATOR]: DONE, worker: DONE });
    await project.plan([task('a')]);
    await project.idle({ within: '30s' });
    expect(await project.limit({ usd: 1 })).toMatchObject({ status: 'rejected', code: 'no_price' });
    expect(await project.limit({ tokens: 100_000 })).toMatchObject({ status: 'accepted' });
    await world.close();
  });

  it('under a limit in dollars that a person set, no specialist is spawned whose model has no price [SPEC-40]', async () => {
    const roles = { [COORDINATOR]: DONE, worker: DONE, free: DONE };
    const free = skill({ name: 'free', description: 'Works for nothing', tools: [], body: 'Work.', model: 'free' });
    const dev = team({
      name: 'dev',
      skills: [worker, free],
      tools: [],
      coordinator: { model: 'main', identity: IDENTITY },
      dispatch: 'auto',
    });
    const models = { main: played(roles, { price: PRICE }).model, free: played(roles, {}).model };
    const world = await openWorld({ store: memory(), models, parts: [dev] });
    const project = world.part(dev).project('p');
    await project.plan([task('a', { skill: 'free' })]);
    expect((await project.idle({ within: '30s' })).status).toBe('done');
    expect(await project.limit({ usd: 1 })).toMatchObject({ status: 'accepted' });
    await project.plan([task('b', { skill: 'free' }), task('c')]);
    await project.idle({ within: '30s' });
    const ended = (await project.tasks()).map(({ title, status, failure }) => [title, status, failure]);
    expect(ended).toEqual([
      ['Do a', 'completed', null],
      ['Do b', 'failed', 'no_price'],
      ['Do c', 'completed', null],
    ]);
    await world.close();
  });

  it('a team whose coordinator has a model without a price is refused [SPEC-40]', async () => {
    await expect(open({}, { budget: { usd: 1 } })).rejects.toThrow(/price/);
  });
});

async function mostUsed(world: Awaited<ReturnType<typeof open>>['world']): Promise<number> {
  let most = 0;
  for await (const { seq, records } of world.kernel.frames(0)) {
    for (const record of records) {
      if (record.kind !== 'fact' || record.name !== 'specialists/Budget@1') continue;
      const { spent, reserved } = record.value as { spent: { micro_money: number }; reserved: number };
      most = Math.max(most, spent.micro_money + reserved);
    }
    if (seq === world.kernel.head.seq) break;
  }
  return most;
}
