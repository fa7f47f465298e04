/** Waits with an end, in a world whose clock a test moves: how long they take is the time of that world. */
import { defineTool } from '@reprise/agent';
import { VirtualClock } from '@reprise/testkit';
import { memory, openWorld } from 'reprise';
import { type Project, skill, team } from 'reprise/specialists';
import { describe, expect, it } from 'vitest';
import * as zod from 'zod';
import { COORDINATOR, calls, IDENTITY, played, says } from './support/roles.js';

const HOUR = 3_600_000;

const args = zod.strictObject({});
const pay = defineTool({ name: 'pay', description: 'Pays.', args, approval: 'always', run: () => 'Paid.' });

/** Some projects of one process, each of which works until a person has decided. */
async function working(act: (clock: VirtualClock, projects: readonly Project[]) => Promise<void>): Promise<void> {
  const dev = team({
    name: 'dev',
    skills: [skill({ name: 'worker', description: 'Works', tools: [], body: 'Work.' })],
    tools: [],
    coordinator: { model: 'main', identity: IDENTITY, tools: [pay] },
  });
  const clock = new VirtualClock();
  const { model } = played({ [COORDINATOR]: () => [calls('pay', {}), says('Done.')] });
  await using world = await openWorld({ store: memory(), clock, models: { main: model }, parts: [dev] });
  const projects = ['a', 'b', 'c'].map((id) => world.part(dev).project(id));
  for (const project of projects) await project.send('Go.');
  await act(clock, projects);
}

describe('waits for projects', () => {
  it('a wait ends when its time has passed in the world of its project, for each of several projects', () =>
    working(async (clock, projects) => {
      for (const project of projects) {
        const idle = project.idle({ within: HOUR });
        await clock.advance(HOUR);
        expect((await idle).status).toBe('working');
      }
    }));

  it('a wait goes on while the clock of the world stands still, whatever the time of the host', () =>
    working(async (clock, [project]) => {
      let isOver = false;
      const idle = project?.idle({ within: 20 }).finally(() => {
        isOver = true;
      });
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(isOver).toBe(false);
      await clock.advance(20);
      expect((await idle)?.status).toBe('working');
    }));

  it('a wait that ended with its project leaves no sleeper on the clock of the world', () =>
    working(async (clock, [project]) => {
      await clock.settle();
      const before = clock.sleeping;
      const idle = project?.idle({ within: HOUR });
      await clock.settle();
      expect(clock.sleeping).toBe(before + 1);
      await project?.cancel('all');
      expect((await idle)?.status).toBe('cancelled');
      expect(clock.sleeping).toBeLessThanOrEqual(before);
    }));
});
