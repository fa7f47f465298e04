/** A tool of a project that waits for its own project to be idle: it is told at once, where the project would work for ever. */
import { defineTool, isRepriseError, memory, openWorld } from 'reprise';
import { type Project, skill, team } from 'reprise/specialists';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { COORDINATOR, calls, IDENTITY, played, says } from './support/roles.js';
import { BRIEF } from './support/workflow.js';

describe('a specialist whose tool waits for its project', () => {
  it('a tool of a project is refused the idleness of its own project, and may ask for it with a bound, or for another project [SPEC-55]', async () => {
    const met: string[] = [];
    let projects: readonly Project[] = [];
    const wait = defineTool({
      name: 'wait',
      description: 'Waits.',
      args: z.strictObject({}),
      run: async () => {
        const [own, other] = projects;
        met.push((await other?.idle())?.status ?? 'none', (await own?.idle({ within: 1 }))?.status ?? 'none');
        return own?.idle().catch((error: unknown) => {
          met.push(isRepriseError(error) ? error.code : String(error));
          throw error;
        });
      },
    });
    const { model } = played({
      [COORDINATOR]: () => [says('I wait.')],
      waiter: () => [calls('wait', {}), says('Told.')],
      idler: () => [says('Done.')],
    });
    const of = (name: string, tools: readonly string[]) =>
      skill({ name, description: 'Works', tools: [...tools], body: 'Work.' });
    const dev = team({
      name: 'dev',
      ...{ skills: [of('waiter', ['wait']), of('idler', [])], tools: [wait], dispatch: 'auto' },
      coordinator: { model: 'main', identity: IDENTITY },
    });
    await using world = await openWorld({ store: memory(), models: { main: model }, parts: [dev] });
    projects = [world.part(dev).project('own'), world.part(dev).project('other')];
    const [own, other] = projects as [Project, Project];
    const task = (worker: string) => ({
      ...{ key: 'a', title: 'Do a', context: BRIEF('a'), skill: worker, blockedBy: [] },
    });
    await other.plan([task('idler')]);
    await own.plan([task('waiter')]);
    await own.idle();
    expect(met).toEqual([expect.stringMatching(/^(open|done)$/), 'working', 'waits_for_itself']);
    expect((await own.results()).map(({ status }) => status)).toEqual(['ok']);
    await world.verify();
  });
});
