/** What watchers see, and what comes too late. */
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type AgentEvent, defineTool, projectFrame, putText, SESSION_REDUCER, type Tool } from '../../src/index.js';
import { gate, play, type Scene, transcript } from './scene.js';

const echo = defineTool({
  name: 'echo',
  description: 'Says it again.',
  args: z.strictObject({}),
  run: () => 'ho',
});
const tools = [echo] as unknown as Tool<never>[];

/** Every event of the world, read again from its frames. */
async function allEvents({ world, session }: Scene): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const frame of world.kernel.frames(0)) {
    events.push(...projectFrame(frame, session.address));
    if (frame.seq === world.kernel.head.seq) break;
  }
  return events;
}

describe('events', () => {
  it('tell a run from its input to its end, each with its place in the journal', async () => {
    const steps = [{ text: 'Let me see.', calls: [{ id: 'a', tool: 'echo' }] }, { text: 'Ho.' }];
    await play({ steps, tools }, async (scene) => {
      const run = await scene.session.send('Go');
      const seen: AgentEvent[] = [];
      for await (const event of run.events()) seen.push(event);
      expect(seen.map(({ type }) => type)).toEqual([
        'input.accepted',
        'lifecycle',
        'llm_step.requested',
        'llm_step.completed',
        'tool.requested',
        'tool.completed',
        'llm_step.requested',
        'llm_step.completed',
        'lifecycle',
      ]);
      expect(seen[0]).toMatchObject({ run: 0, queued: false });
      expect(seen[1]).toMatchObject({ run: 0, from: 'Idle', to: 'Running' });
      expect(seen[3]).toMatchObject({ step_epoch: 1, calls: ['a'] });
      expect(seen[4]).toMatchObject({ call_id: 'a', tool: 'echo' });
      expect(seen[5]).toMatchObject({ call_id: 'a', outcome: { truncated: false, is_error: false } });
      expect(seen[8]).toMatchObject({
        from: 'Running',
        to: 'Completed',
        stop: { kind: 'Completed' },
        usage: { steps: 2 },
      });
      const places = seen.map(({ cursor }) => cursor.split('.').map(Number) as [number, number]);
      const sorted = [...places].sort(([a, b], [c, d]) => a - c || b - d);
      expect(places).toEqual(sorted);
      expect(new Set(seen.map(({ cursor }) => cursor)).size).toBe(seen.length);
      expect(await allEvents(scene)).toEqual(seen);
    });
  });

  it('of one session are not those of another', async () => {
    await play({ steps: [{ text: 'one' }, { text: 'two' }] }, async (scene) => {
      await (await scene.session.send('1')).text();
      const other = scene.world.session('other', scene.agent);
      const run = await other.send('2');
      expect(await run.text()).toBe('two');
      expect(run.number).toBe(0);
      const own = await allEvents(scene);
      expect(own.filter(({ type }) => type === 'input.accepted')).toHaveLength(1);
      expect(scene.llm.asked[1]).toEqual(['user: 2']);
    });
  });

  it('of a queued run include the end of the one before it, and end with its own', async () => {
    const held = gate();
    await play({ steps: [{ after: held.opened, answer: { text: '1' } }, { text: '2' }] }, async ({ session }) => {
      await session.send('1');
      const second = await session.send('2');
      held.open();
      const ends: unknown[] = [];
      for await (const event of second.events())
        if (event.type === 'lifecycle' && event.stop !== undefined) ends.push(event.run);
      expect(ends).toEqual([0, 1]);
    });
  });

  it('can be left at any time, and asked for again', async () => {
    await play({ steps: [{ text: 'x' }] }, async ({ session }) => {
      const run = await session.send('Go');
      for await (const event of run.events()) {
        expect(event.type).toBe('input.accepted');
        break;
      }
      expect(await run.text()).toBe('x');
      expect(await run.text()).toBe('x');
    });
  });
});

describe('what comes too late', () => {
  const outcome = { non_execution: { kind: 'failed' } };

  it.each([
    ['a tool result', 'aos.agent/ToolResult@1', { call_id: 'a', outcome }],
    ['a failure of the model', 'aos.agent/LlmStepFailed@1', { code: 'adapter_timeout', retryable: false }],
  ] as const)('%s of a step that is over is recorded and changes nothing', async (_, name, rest) => {
    await play({ steps: [{ text: 'x' }] }, async (scene) => {
      await (await scene.session.send('Go')).text();
      const before = await scene.session.state();
      const said = await transcript(scene);
      const value = { session_epoch: 1, step_epoch: 1, ...rest };
      const ack = await scene.world.kernel.request(scene.session.address, { name, value });
      expect(await scene.session.state()).toEqual(before);
      expect(await transcript(scene)).toEqual(said);
      for await (const frame of scene.world.kernel.frames(ack.seq)) {
        expect(frame.records.map(({ kind }) => kind)).toEqual(['request', 'fact', 'state']);
        expect(frame.records[1]).toMatchObject({
          name: 'aos.agent/StaleIgnored@1',
          value: { event: name, step_epoch: 1 },
        });
        break;
      }
    });
  });

  it('an answer of the model of an earlier step is not taken for the current one’s', async () => {
    const held = gate();
    await play({ steps: [{ after: held.opened, answer: { text: 'right' } }] }, async ({ session, world }) => {
      const run = await session.send('Go');
      const output_ref = await putText(world.kernel.content, 'wrong');
      const value = { session_epoch: 1, step_epoch: 0, output_ref, finish_reason: 'stop', tool_calls: [] };
      await world.kernel.request(session.address, { name: 'aos.agent/LlmStepCompleted@1', value });
      held.open();
      expect(await run.text()).toBe('right');
    });
  });

  it('a second result of a call that has one is recorded and changes nothing', async () => {
    const held = gate();
    const slow = defineTool({
      name: 'slow',
      description: 'Waits.',
      args: z.strictObject({}),
      run: async () => {
        await held.opened;
        return 'slow';
      },
    });
    const calls = [
      { id: 'a', tool: 'echo' },
      { id: 'b', tool: 'slow' },
    ];
    await play(
      { steps: [{ calls }, { text: 'x' }], tools: [echo, slow] as unknown as Tool<never>[] },
      async ({ session, world, llm }) => {
        const run = await session.send('Go');
        for await (const event of run.events()) if (event.type === 'tool.completed') break;
        const state = await session.state();
        const fence = { session_epoch: state?.session_epoch, step_epoch: state?.step_epoch };
        for (const call_id of ['a', 'nobody']) {
          await world.kernel.request([SESSION_REDUCER, 'stage'], {
            name: 'aos.agent/ToolResult@1',
            value: { ...fence, call_id, outcome },
          });
        }
        expect((await session.state())?.calls).toEqual(state?.calls);
        held.open();
        expect(await run.text()).toBe('x');
        expect(llm.asked[1]?.slice(2)).toEqual(['tool a: ho', 'tool b: slow']);
      },
    );
  });
});
