/** Waits for a project whose cell fails: each ends, and so does each that comes after the fault. */
import { isRepriseError, memory, openWorld } from 'reprise';
import type { WorldPart } from 'reprise/org';
import { type Project, skill, type Team, team } from 'reprise/specialists';
import { describe, expect, it } from 'vitest';
import { COORDINATOR, IDENTITY, played, says } from './support/roles.js';
import { BRIEF } from './support/workflow.js';

/** Projects fail by a defect: `plan` when its team was read for a plan, `job` when a job has ended well. */
function isDefect(project: string, { name, value }: { readonly name: string; readonly value: unknown }): boolean {
  if (project === 'plan') return name === 'specialists/TeamRead@1';
  return name === 'work/JobChanged@1' && (value as { readonly status: string }).status === 'ok';
}

function defective(team: Team): Team {
  return {
    ...team,
    uses: (team.uses ?? []).map((part) => (part.name === 'specialists/projects' ? planted(part) : part)),
  };
}

function planted(part: WorldPart): WorldPart {
  const reducers = (part.reducers ?? []).map((one) => ({
    ...one,
    reduce: (...given: Parameters<typeof one.reduce>) => {
      const [, event, ctx] = given;
      if (isDefect(ctx.address[1], event)) throw new Error('a defect of this test');
      return one.reduce(...given);
    },
  }));
  return { ...part, reducers };
}

const worker = skill({ name: 'worker', description: 'Works', tools: [], body: 'Work.' });
const task = { key: 'a', title: 'Do a', context: BRIEF('a'), skill: 'worker', blockedBy: [] };

const codeOf = (asked: Promise<unknown>) =>
  asked.then(
    () => 'no error',
    (error: unknown) => (isRepriseError(error) ? error.code : 'another error'),
  );

/** Each: a project, and how its cell comes to fail while something waits for it. */
const CASES: readonly (readonly [string, string, (project: Project) => Promise<unknown>])[] = [
  ['a plan whose project fails', 'plan', (project) => project.plan([task])],
  ['a wait for a project that fails', 'job', (project) => project.plan([task]).then(() => project.idle())],
];

describe('a project whose cell fails', () => {
  it.each(CASES)(
    '%s ends with cell_failed, and so do all commands and waits after it [RED-39]',
    async (_, id, fail) => {
      const { model } = played({ [COORDINATOR]: () => [says('I wait.')], worker: () => [says('Done.')] });
      const dev = defective(
        team({
          name: 'dev',
          ...{ skills: [worker], tools: [], dispatch: 'auto' },
          coordinator: { model: 'main', identity: IDENTITY },
        }),
      );
      await using world = await openWorld({ store: memory(), models: { main: model }, parts: [dev] });
      const project = world.part(dev).project(id);
      expect(await codeOf(fail(project))).toBe('cell_failed');
      const later = [
        project.send('Go.'),
        project.plan([task]),
        project.retry(1),
        project.skip(1, 'x'),
        project.cancel('all'),
        project.limit({ tokens: 1 }),
        project.memories.store({ text: 'x', said: 'x' }),
      ];
      expect(await Promise.all(later.map(codeOf))).toEqual(later.map(() => 'cell_failed'));
      expect(await world.trouble()).toMatchObject([{ where: project.address, code: 'threw' }]);
      await world.verify();
    },
  );
});
