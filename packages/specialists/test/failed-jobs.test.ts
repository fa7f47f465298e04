/** Jobs whose cells fail: their project hears of it, and nobody waits for them. */
import type { WorldPart } from '@reprise/agent';
import { memory, openWorld } from 'reprise';
import type { ReducerDefinition } from 'reprise/kernel';
import { describe, expect, it } from 'vitest';
import type { ProjectState } from '../src/pure/contracts/index.js';
import { type Delivered, defective } from './support/failing.js';
import { workflowModel, workflowTeam } from './support/workflow.js';

/** The first job fails of an event, each time that it takes it. */
function failing(event: string): (reducer: ReducerDefinition) => ReducerDefinition {
  return (reducer) => {
    if (reducer.name !== 'work/Job@1') return reducer;
    const reduce: typeof reducer.reduce = (draft, given, ctx) => {
      if (given.name === event && ctx.address[1] === 'auth/j1') throw new Error('a defect');
      return reducer.reduce(draft, given, ctx);
    };
    return { ...reducer, reduce };
  };
}

/** A part with other reducers, also in all parts that it uses: each stays one part. */
function changed<H>(
  part: WorldPart<H>,
  change: (reducer: ReducerDefinition) => ReducerDefinition,
  known = new Map<WorldPart, WorldPart>(),
): WorldPart<H> {
  const uses = (part.uses ?? []).map((used) => {
    const one = known.get(used) ?? changed(used, change, known);
    known.set(used, one);
    return one;
  });
  const { reducers = [] } = part;
  return { ...part, uses, reducers: reducers.map(change) };
}

describe('given a job whose cell fails', () => {
  it('the session of a failed job is stopped, and its slot is free, since nobody would hear of what it does [SPEC-48]', async () => {
    const isDefect = ({ reducer, event }: Delivered) => reducer === 'work/Job@1' && event === 'aos.agent/OwnerCall@1';
    const team = defective(workflowTeam(), isDefect);
    await using world = await openWorld({ store: memory(), models: { main: workflowModel().model }, parts: [team] });
    const project = world.part(team).project('auth');
    await (await project.send('Move login to OAuth', { id: 'message-1' })).text();
    await project.idle({ within: '60s' });
    const failed = (await project.results()).find(({ code }) => code === 'cell_failed');
    expect(failed).toMatchObject({ skill: 'planner', status: 'failed' });
    const session = await world.kernel.state(['aos.agent/SessionReducer@1', failed?.session ?? '']);
    expect(session).toMatchObject({ lifecycle: 'Cancelled' });
    expect(await world.kernel.table(['flow/Queue@1', 'specialists/dev'], 'running')).toEqual([]);
  });

  it.each(['flow/Granted@1', 'work/Prepared@1', 'aos.agent/ChildNotice@1'])(
    'a job that fails of %s has a failed result, and the project is idle: nobody waits for it [RED-39] [SPEC-45]',
    async (event) => {
      const team = changed(workflowTeam(), failing(event));
      const models = { main: workflowModel().model };
      await using world = await openWorld({ store: memory(), models, parts: [team] });
      const project = world.part(team).project('auth');
      await (await project.send('Move login to OAuth', { id: 'message-1' })).text();
      expect((await project.idle({ within: '60s' })).status).not.toBe('working');
      expect((await project.results())[0]).toMatchObject({ id: 1, status: 'failed', code: 'cell_failed' });
      expect(await world.trouble()).toMatchObject([{ where: ['work/Job@1', 'auth/j1'], code: 'threw', event }]);
    },
  );

  it('a job whose cell fails counts as all that was set aside for it, since nobody knows what its session used [SPEC-40]', async () => {
    const team = changed(workflowTeam({ budget: { tokens: 1_000_000 } }), failing('aos.agent/ChildNotice@1'));
    await using world = await openWorld({ store: memory(), models: { main: workflowModel().model }, parts: [team] });
    const project = world.part(team).project('auth');
    await (await project.send('Move login to OAuth', { id: 'message-1' })).text();
    await project.idle({ within: '60s' });
    const { spent, reserved } = (await world.kernel.state([
      'specialists/Project@1',
      'auth',
    ])) as unknown as ProjectState;
    // The coordinator has a quarter of the budget, and the job a quarter of the rest.
    expect(spent.tokens).toBeGreaterThan(187_500);
    expect(reserved).toBe(0);
  });
});
