/** Results of calls that arrive after their call was settled without them, and the parts of a model's adapter. */
import { memory } from '@reprise/kernel';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type AgentWorldOptions, defineAgent, defineTool, llmGenerate, openAgentWorld } from '../../src/index.js';
import { all, gate, play } from './scene.js';

describe('the late result of a call', () => {
  for (const { when, next } of [
    { when: 'while its run works', next: 'none' },
    { when: 'during a later run', next: 'later' },
    { when: 'while its session is idle', next: 'idle' },
  ] as const)
    it(`a late result states the run, the turn and the step of its call ${when} [EVT-2, EVT-3]`, async () => {
      const [result, answer, second] = [gate(), gate(), gate()];
      const slow = defineTool({
        name: 'slow',
        description: 'Takes long.',
        args: z.strictObject({}),
        timeout: '1s',
        run: async () => {
          await result.opened;
          return 'at last';
        },
      });
      const agent = defineAgent({ name: 'a', model: 'main', instructions: '', tools: [slow], cancelGrace: '1s' });
      const call = { calls: [{ id: 'c', tool: 'slow' }] };
      const steps = [
        { text: 'Zero.' },
        call,
        { text: 'One.', after: answer.opened },
        { text: 'Two.', after: second.opened },
      ];
      await play({ agents: [agent], steps }, async ({ world, clock }) => {
        const session = world.session('k', agent);
        await (await session.send('Before')).result();
        const run = await session.send('Go');
        for await (const { type } of run.events()) if (type === 'tool.requested') break;
        await clock.advance(5_000);
        for await (const { type, step_id } of run.events())
          if (type === 'llm_step.requested' && step_id === 'k/r1/t1/s2') break;
        if (next !== 'none') {
          answer.open();
          await run.result();
        }
        const later = next === 'later' ? await session.send('More') : undefined;
        result.open();
        for await (const { type } of session.events()) if (type === 'tool.late') break;
        const place = { run_id: 'k/r1', turn_id: 'k/r1/t1', step_id: 'k/r1/t1/s1', correlation_id: 'k/r1' };
        const events = await all(session.events({ follow: false, inline: 0 }));
        const late = events.find(({ type }) => type === 'tool.late');
        expect(late).toMatchObject({ ...place, call_id: 'c', tool: 'slow', status: 'ok' });
        for (const [i, { event_seq: after }] of events.entries())
          expect(await all(session.events({ follow: false, inline: 0, after }))).toEqual(events.slice(i + 1));
        const own = await all(run.events({ follow: false }));
        expect(own.filter(({ type }) => type === 'tool.late')).toHaveLength(next === 'none' ? 1 : 0);
        answer.open();
        second.open();
        await run.result();
        await later?.result();
      });
    });
});

describe('the adapter of models', () => {
  it('the adapter of models keeps the members of the given adapter, so that it may reconcile', async () => {
    const open = (more: object) => {
      const adapter = {
        effect: { ...llmGenerate, guarantee: 'reconcile' },
        name: 'own',
        doExecute: async () => ({ status: 'cancelled' }),
        ...more,
      };
      const options = { store: memory(), models: {}, llm: () => adapter } as unknown as AgentWorldOptions<[]>;
      return openAgentWorld(options as never).then(
        (world) => world.close().then(() => 'opened'),
        ({ message }: Error) => message,
      );
    };
    expect(await open({})).toContain('doReconcile');
    expect(await open({ doReconcile: async () => ({ verdict: 'unknown' }) })).not.toContain('doReconcile');
  });
});
