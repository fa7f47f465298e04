/** Inputs of a coordinator that come with a definition: what its session refuses of both, and what the gate refuses. */
import { AGENT_POLICY } from '@reprise/agent';
import type { PolicyRule } from '@reprise/contracts';
import { isRepriseError, memory, openWorld } from 'reprise';
import type { WorldPart } from 'reprise/org';
import { scriptBy } from 'reprise/providers';
import { type Project, type Team, team } from 'reprise/specialists';
import { describe, expect, it } from 'vitest';
import type { ProjectState } from '../src/pure/contracts/index.js';
import { COORDINATOR, IDENTITY, played, says } from './support/roles.js';

/** The definition on its way to the coordinator of the project. */
const DEFINITION = 'aos.agent/SessionReducer@1/p/coordinator#aos.agent/AgentAdopted@1';

type Read = { readonly seen: { readonly team: { readonly team?: { readonly coordinator: { config: object } } } } };

type Reducer = NonNullable<WorldPart['reducers']>[number];

/** The team, with the reducers of its projects changed. */
function changedIn(team: Team, change: (reducer: Reducer) => Reducer): Team {
  const uses = (team.uses ?? []).map((part) =>
    part.name === 'specialists/projects' ? { ...part, reducers: (part.reducers ?? []).map(change) } : part,
  );
  return { ...team, uses };
}

/** A team whose definition names a model that its list lacks: the session refuses it. */
function unfit(team: Team): Team {
  return changedIn(team, (one) => ({
    ...one,
    reduce: (draft, event, ctx) => {
      const { coordinator } = (event.value as Read).seen?.team.team ?? {};
      if (coordinator !== undefined) coordinator.config = { ...coordinator.config, model: 'gone' };
      return one.reduce(draft, event, ctx);
    },
  }));
}

type Opened = Pick<Awaited<ReturnType<typeof openWorld>>, 'kernel'>;

/** Nothing of the coordinator is under way, and no share is set aside. */
async function expectAtRest(world: Opened, { address }: Pick<Project, 'address'>): Promise<void> {
  const { coordinator, reserved } = (await world.kernel.state(address)) as unknown as ProjectState;
  expect([coordinator.sent, coordinator.shares, coordinator.failure, reserved]).toEqual([0, [], null, 0]);
  expect(await world.kernel.table(address, 'adopting')).toEqual([]);
}

/** Sends a first message to a project, and gives what the project knows of its coordinator once its team was read. */
async function afterFirst(change: (team: Team) => Team, policy: readonly PolicyRule[] = []): Promise<unknown> {
  const { model } = played({ [COORDINATOR]: () => [says('Noted.')] });
  const dev = change(team({ name: 'dev', skills: [], tools: [], coordinator: { model: 'main', identity: IDENTITY } }));
  await using world = await openWorld({ store: memory(), models: { main: model }, policy: [...policy], parts: [dev] });
  const project = world.part(dev).project('p');
  const state = async () => (await world.kernel.state(project.address)) as State | undefined;
  void project.send('Go.').catch(() => undefined);
  await expect.poll(async () => (await state())?.version, { timeout: 10_000 }).toEqual(expect.any(String));
  expect((await world.verify()).unverified).toBe(0);
  return (await state())?.coordinator;
}

interface State {
  readonly version: string | null;
  readonly coordinator: unknown;
}

describe('given the first input of a coordinator', () => {
  it('a definition that its session refuses is told as a failure of the coordinator, and nothing of it stands [SPEC-43]', async () =>
    expect(await afterFirst(unfit)).toMatchObject({ adopted: null, sent: 0, failure: 'cell_failed' }));

  it('a denial of the gate leaves no definition and no failure, so that the next input brings the definition again', async () => {
    const policy: PolicyRule[] = [{ send: DEFINITION, decision: 'deny' }];
    expect(await afterFirst((team) => team, policy)).toMatchObject({ adopted: null, sent: 0, failure: null });
  });
});

describe('given a policy that denies inputs of a coordinator', () => {
  it.each([
    ['the first message', DEFINITION, 0],
    ['a later message', 'aos.agent/SessionReducer@1/p/coordinator#aos.agent/UserInput@1', 1],
  ] as const)(
    '%s is answered with the denial, and the project is idle and takes the next one [SPEC-43]',
    async (_, send, taken) => {
      const { model } = played({ [COORDINATOR]: () => [says('Noted.'), says('Noted.'), says('Noted.')] });
      const dev = team({ name: 'dev', skills: [], tools: [], coordinator: { model: 'main', identity: IDENTITY } });
      const budget = { tokens: 1_000_000 };
      for (const one of [
        dev,
        team({ name: 'dev', skills: [], tools: [], budget, coordinator: { model: 'main', identity: IDENTITY } }),
      ]) {
        const policy: PolicyRule[] = [{ send, decision: 'deny' }, ...AGENT_POLICY];
        await using world = await openWorld({ store: memory(), models: { main: model }, policy, parts: [one] });
        const project = world.part(one).project('p');
        for (let n = 0; n < taken; n++) await (await project.send('Go.')).text();
        for (let n = 0; n < 2; n++) {
          await expect(project.send('And?')).rejects.toMatchObject({
            code: 'policy_denied',
            details: { actual: 'policy_denied' },
          });
          const idle = await project.idle({ within: '20s' });
          expect(idle.status).not.toBe('working');
        }
        await expectAtRest(world, project);
        expect((await world.verify()).unverified).toBe(0);
      }
    },
  );
});

describe('given a project with a budget, whose coordinator has taken the definition that a message brings', () => {
  /** Sends a message, then others at once; something happens in the project when the answer to a definition of those arrives. */
  async function atAnswer(
    happens: (reduce: () => void, cancel: () => void) => void,
    others: readonly string[] = ['And?'],
  ) {
    const ran: string[] = [];
    const { model, asked } = played({
      [COORDINATOR]: (said) => {
        ran.push(...others.filter((one) => said.includes(one)));
        return [says('Noted.')];
      },
    });
    const changed = (reducer: Reducer): Reducer => ({
      ...reducer,
      reduce: (draft, event, ctx) => {
        const { tag = '' } = event.value as { readonly tag?: string };
        if (!tag.startsWith('adopted.')) return reducer.reduce(draft, event, ctx);
        const cancel = { name: 'specialists/Cancel@1', value: { task: null, reason: '' } };
        happens(
          () => reducer.reduce(draft, event, ctx),
          () => reducer.reduce(draft, { ...event, ...cancel }, ctx),
        );
      },
    });
    const coordinator = { model: 'main', identity: IDENTITY };
    const dev = changedIn(
      team({ name: 'dev', skills: [], tools: [], budget: { tokens: 1_000_000 }, coordinator }),
      changed,
    );
    const world = await openWorld({ store: memory(), models: { main: model }, parts: [dev] });
    const project = world.part(dev).project('p');
    await (await project.send('Go.')).text();
    const refused = others.map((one) =>
      project.send(one, { id: one }).then(
        () => 'no error',
        (error: unknown) => (isRepriseError(error) ? error.code : error),
      ),
    );
    return { world, project, refused: (await Promise.all(refused))[0], runs: () => asked.length, ran };
  }

  it('the failure of the project itself holds the message back until its revival, and then it runs once [SPEC-47] [SPEC-56]', async () => {
    let isOver = false;
    const { world, project, refused, runs } = await atAnswer((reduce) => {
      if (isOver) return reduce();
      isOver = true;
      throw new Error('a defect of this test');
    });
    await using _ = world;
    expect([refused, runs()]).toEqual(['cell_failed', 1]);
    await world.revive(project.address);
    await project.idle({ within: '20s' });
    expect(runs()).toBe(2);
    await expectAtRest(world, project);
  });

  it('the revival of the failed project sends the definitions of all messages that wait again, and the messages run in their order [SPEC-56]', async () => {
    const sent = ['One?', 'Two?', 'Three?', 'Four?', 'Five?', 'Six?'];
    let answers = 0;
    const { world, project, ran } = await atAnswer((reduce) => {
      answers++;
      if (answers !== 2) return reduce();
      throw new Error('a defect of this test');
    }, sent);
    await using _ = world;
    // The team is read for the first message, and then once for all others.
    expect(await world.kernel.table(project.address, 'adopting')).toHaveLength(sent.length - 1);
    await world.revive(project.address);
    await project.idle({ within: '20s' });
    expect(ran).toEqual(sent);
    await expectAtRest(world, project);
  });

  it('a cancellation drops the message, whose sender learns so, and starts no run [SPEC-56]', async () => {
    const { world, project, refused, runs } = await atAnswer((reduce, cancel) => {
      cancel();
      reduce();
    });
    await using _ = world;
    expect([refused, (await project.idle({ within: '20s' })).status, runs()]).toEqual([
      'request_rejected',
      'cancelled',
      1,
    ]);
    await expectAtRest(world, project);
    expect((await world.verify()).unverified).toBe(0);
  });
});

describe('given a coordinator that has run, and a policy that denies its next definition', () => {
  const policy: PolicyRule[] = [{ send: DEFINITION, decision: 'deny' }, ...AGENT_POLICY];
  const teamOf = (identity: string, budget?: { readonly tokens: number }) =>
    team({ name: 'dev', skills: [], tools: [], coordinator: { model: 'main', identity }, ...(budget && { budget }) });

  it.each([
    ['another identity', teamOf('You coordinate in verse.'), 'verse'],
    ['a share of a budget as its limit', teamOf('You coordinate.', { tokens: 1_000_000 }), 'prose'],
  ] as const)(
    'a message that brings %s is answered with the denial and starts no run, and a later one brings the definition again [SPEC-56]',
    async (_, next, style) => {
      const store = memory();
      const ran: string[] = [];
      const main = scriptBy(({ system }) => {
        ran.push(system.includes('in verse') ? 'verse' : 'prose');
        return { text: 'Noted.' };
      });
      const under = async (dev: Team, rules: readonly PolicyRule[], act: (project: Project) => Promise<unknown>) => {
        await using world = await openWorld({ store, models: { main }, policy: [...rules], parts: [dev] });
        const project = world.part(dev).project('p');
        await act(project);
        await project.idle({ within: '20s' });
        await expectAtRest(world, project);
        expect((await world.verify()).unverified).toBe(0);
      };
      const go = async (project: Project) => (await project.send('Go.')).text();
      await under(teamOf('You coordinate.'), AGENT_POLICY, go);
      await under(next, policy, async (project) => {
        for (let n = 0; n < 2; n++) await expect(project.send('And?')).rejects.toMatchObject({ code: 'policy_denied' });
      });
      expect(ran).toEqual(['prose']);
      await under(next, AGENT_POLICY, go);
      expect(ran).toEqual(['prose', style]);
    },
  );
});
