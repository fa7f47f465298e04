/** What a project may do is what its agents may do, also while they work. */
import { defineTool } from '@reprise/agent';
import { memory, openWorld } from 'reprise';
import { defineTeam, skill } from 'reprise/specialists';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { COORDINATOR, calls, IDENTITY, played, says } from './support/roles.js';

describe('given a specialist whose tool is under way', () => {
  it('rights of the project that are narrowed end the tool before anything else happens, and the specialist is told [SPEC-1]', async () => {
    let begun = (): void => undefined;
    const isBegun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const hang = defineTool({
      name: 'Hang',
      description: 'Takes very long.',
      args: z.strictObject({}),
      run: async (_, { signal }) => {
        begun();
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        return 'stopped';
      },
    });
    const { model, asked } = played({
      [COORDINATOR]: (said) =>
        said.includes('Go.')
          ? [calls('spawn_agent', { task: 'Hang.', skill: 'worker' }), says('Begun.')]
          : [says('Noted.')],
      worker: () => [calls('Hang', {}), says('It was taken from me.')],
    });
    const team = defineTeam('dev', {
      skills: [skill({ name: 'worker', description: 'Works', tools: ['Hang'], body: 'Work.' })],
      tools: [hang],
      coordinator: { model: 'main', identity: IDENTITY },
    });
    await using world = await openWorld({ store: memory(), models: { main: model }, parts: [team] });
    const project = world.part(team).project('p');
    await (await project.send('Go.')).result();
    await isBegun;
    const holder = 'cell:specialists/Project@1/p' as const;
    const { seq } = await world.kernel.command('sys/SetRights@1', { holder, exercise: { may: { tool: [] } } });
    expect((await project.idle({ within: '30s' })).status).toBe('done');
    expect(await project.output(1)).toBe('It was taken from me.');
    const ended: unknown[] = [];
    for await (const { seq: at, records } of world.kernel.frames(seq)) {
      for (const record of records) if (record.kind === 'settled' && at === seq) ended.push(record.code);
      if (at === world.kernel.head.seq) break;
    }
    expect(ended).toEqual(['cap_denied/revoked']);
    expect(asked.filter(({ role }) => role === 'worker')).toHaveLength(2);
  });
});
