/** What projects say that they wait for: a person, input, a limit, the app, a slot, tasks, a decision, a timer. */
import { type AgentWorld, defineOwnerTool, defineTool, type Tool } from '@reprise/agent';
import { memory, openWorld } from 'reprise';
import { type Project, skill, type TeamOptions, team } from 'reprise/specialists';
import { describe, expect, it } from 'vitest';
import * as zod from 'zod';
import { DESK, officeOf, parkingDesk } from '../../agent/test/tools/desk.js';
import { defective } from './support/failing.js';
import { COORDINATOR, calls, IDENTITY, played, type Role, says } from './support/roles.js';

const args = zod.strictObject({});
const pay = defineTool({ name: 'pay', description: 'Pays.', args, approval: 'always', run: () => 'Paid.' });
const inquire = defineTool({
  name: 'inquire',
  description: 'Asks.',
  args,
  run: async (_, context) => (await context.ask({ question: 'Which one?' })).how,
});
const price = defineOwnerTool({ name: 'price', description: 'Asks the desk.', args });
const TOOLS: readonly Tool[] = [pay, inquire, price];

const office = officeOf(parkingDesk, 'specialists/Project@1');

/** The coordinator spawns one worker when it is told to go. */
const SPAWNS: Role = (said) =>
  said.includes('Go.') ? [calls('spawn_agent', { task: 'Work.', skill: 'worker' }), says('Begun.')] : [says('Noted.')];

interface Playing {
  readonly world: AgentWorld;
  readonly project: Project;
}

/** A team with one skill whose tools are all of the catalog. */
async function play(
  roles: Readonly<Record<string, Role>>,
  options: Partial<TeamOptions>,
  act: (playing: Playing) => Promise<void>,
  isDefect: Parameters<typeof defective>[1] = () => false,
): Promise<void> {
  const dev = defective(
    team({
      name: 'dev',
      skills: [skill({ name: 'worker', description: 'Works', tools: TOOLS.map(({ name }) => name), body: 'Work.' })],
      tools: TOOLS,
      coordinator: { model: 'main', identity: IDENTITY },
      calls: DESK,
      ...options,
    }),
    isDefect,
  );
  const { model } = played({ [COORDINATOR]: SPAWNS, ...roles });
  await using world = await openWorld({ store: memory(), models: { main: model }, parts: [dev, office] });
  await world.kernel.request(DESK, { name: 'test/Open@1', value: {} });
  await act({ world, project: world.part(dev).project('p') });
}

/** Waits until nothing of the project goes on by itself. */
async function still({ project }: Playing): Promise<void> {
  while (!(await project.standsStill())) await new Promise((resolve) => setTimeout(resolve, 5));
}

const job = (kind: string) => ({ kind, session: 'p/j1', result: 1, task: null });

describe('what a project waits for', () => {
  it('a project that nothing has opened, and one that is done, wait for nothing [SPEC-50]', () =>
    play({ worker: () => [says('Done.')] }, {}, async ({ project }) => {
      expect([await project.waits(), await project.standsStill()]).toEqual([[], false]);
      await (await project.send('Go.')).result();
      expect((await project.idle({ within: '30s' })).status).toBe('done');
      expect([await project.waits(), await project.standsStill()]).toEqual([[], false]);
    }));

  it('a project whose specialist waits for an approval says so with result and session, and goes on once it was given [SPEC-50]', () =>
    play({ worker: () => [calls('pay', {}), says('Done.')] }, {}, async (playing) => {
      const { world, project } = playing;
      await project.send('Go.');
      await still(playing);
      expect((await project.state())?.status).toBe('working');
      expect(await project.waits()).toEqual([job('approval')]);
      const [item] = await world.pending();
      await world.decide(item?.id ?? '', { approve: true });
      expect((await project.idle({ within: '30s' })).status).toBe('done');
      expect(await project.waits()).toEqual([]);
    }));

  it('a project whose specialist asked a person says that it waits for a person [SPEC-50]', () =>
    play({ worker: () => [calls('inquire', {}), says('Done.')] }, {}, async (playing) => {
      await playing.project.send('Go.');
      await still(playing);
      expect(await playing.project.waits()).toEqual([job('person')]);
    }));

  it('a project whose specialist calls a cell of the app that asks another party says that it waits for the app [SPEC-50]', () =>
    play({ worker: () => [calls('price', {}), says('Done.')] }, {}, async (playing) => {
      await playing.project.send('Go.');
      await still(playing);
      expect(await playing.project.waits()).toEqual([job('app')]);
    }));

  it('a project whose coordinator reached a limit says that it waits for another one [SPEC-50]', () => {
    const coordinator = { model: 'main', identity: IDENTITY, limits: { steps: 1, on: 'pause_and_ask' } } as const;
    const LOOKS: Role = () => [calls('task_graph', {}), says('Seen.')];
    return play({ [COORDINATOR]: LOOKS }, { coordinator }, async (playing) => {
      await playing.project.send('Look.');
      await still(playing);
      expect(await playing.project.waits()).toEqual([
        { kind: 'limit', session: 'p/coordinator', result: null, task: null },
      ]);
    });
  });

  it('a project whose ready task nobody hands out waits for input, and names the task and those that need it [SPEC-50]', () =>
    play({}, {}, async (playing) => {
      const { project } = playing;
      const context = 'A brief that says what is to be done, and how. '.repeat(6);
      await project.plan([
        { key: 'a', title: 'A', context, skill: 'worker' },
        { key: 'b', title: 'B', context, skill: 'worker', blockedBy: ['a'] },
      ]);
      expect((await project.idle({ within: '30s' })).status).toBe('open');
      expect(await project.standsStill()).toBe(true);
      expect(await project.waits()).toEqual([
        { kind: 'input', session: 'p/coordinator', result: null, task: 1 },
        { kind: 'dependency', task: 2, on: [1] },
      ]);
    }));

  it('a project with one slot says which job waits for it, and that it goes on by itself [SPEC-50]', () => {
    const two: Role = (said) =>
      said.includes('Go.')
        ? [
            {
              calls: [1, 2].map((n) => ({ tool: 'spawn_agent', args: { task: `Work ${n}.`, skill: 'worker' } })),
            },
            says('Begun.'),
          ]
        : [says('Noted.')];
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const busy = defineTool({ name: 'pay', description: 'Pays.', args, run: () => opened.then(() => 'Paid.') });
    const tools = [busy, inquire, price];
    const roles = { [COORDINATOR]: two, worker: (): ReturnType<Role> => [calls('pay', {}), says('Done.')] };
    return play(roles, { tools, agents: { maxConcurrent: 1 } }, async ({ project }) => {
      await (await project.send('Go.')).result();
      expect(await project.waits()).toEqual([{ kind: 'slot', result: 2, task: null }]);
      expect(await project.standsStill()).toBe(false);
      open();
      expect((await project.idle({ within: '30s' })).status).toBe('done');
    });
  });

  it('a project that needs a decision says why, and which tasks are the reason [SPEC-50]', () =>
    play({}, {}, async ({ project }) => {
      const context = 'A brief that says what is to be done, and how. '.repeat(6);
      await project.plan([
        { key: 'a', title: 'A', context, skill: 'worker' },
        { key: 'b', title: 'B', context, skill: 'worker', blockedBy: ['a'] },
      ]);
      await project.cancel(1);
      expect((await project.idle({ within: '30s' })).status).toBe('needs_decision');
      expect(await project.waits()).toEqual([
        { kind: 'decision', why: 'tasks', tasks: [2] },
        { kind: 'dependency', task: 2, on: [1] },
      ]);
    }));

  it('a project whose cell has failed answers no question about its waits with an old state [SPEC-50]', () =>
    play(
      {},
      {},
      async ({ project }) => {
        await project.send('Hello.');
        await project.idle({ within: '30s' }).catch(() => undefined);
        await expect(project.waits()).rejects.toMatchObject({ code: 'cell_failed' });
      },
      ({ reducer, event }) => reducer === 'specialists/Project@1' && event === 'aos.agent/ChildNotice@1',
    ));
});
