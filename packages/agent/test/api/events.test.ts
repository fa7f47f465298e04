/** What watchers of a session see. */
import { Ref } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type AgentEvent, agentEvent, defineAgent, defineTool, runId } from '../../src/index.js';
import { seenBy } from '../../src/timeline/seen-by.js';
import { all, gate, play } from './scene.js';

const echo = defineTool({
  name: 'echo',
  description: 'Says it again.',
  args: z.strictObject({ text: z.string() }),
  run: ({ text }) => text,
});
const actor = defineAgent({ name: 'actor', model: 'main', instructions: 'Act.', tools: [echo] });

const typesOf = (events: readonly { readonly type: string }[]) => events.map(({ type }) => type);

describe('the events of a run', () => {
  it('the events of a run show it from its input to its end, each valid by its schema and with its place in the journal [EVT-1, EVT-2]', async () => {
    const steps = [{ text: 'Let me see.', calls: [{ id: 'a', tool: 'echo', args: { text: 'ho' } }] }, { text: 'Ho.' }];
    await play({ agents: [actor], steps }, async ({ world }) => {
      const run = await world.session('stage', actor).send('Go');
      const seen = await all(run.events());
      expect(typesOf(seen)).toEqual([
        'input.accepted',
        'lifecycle',
        'turn.started',
        'llm_step.requested',
        'llm_step.completed',
        'tool.requested',
        'tool.completed',
        'llm_step.requested',
        'llm_step.completed',
        'lifecycle',
      ]);
      for (const event of seen) expect(agentEvent.safeParse(event).error, event.type).toBeUndefined();
      expect(seen[0]).toMatchObject({ text: 'Go', session_id: 'stage' });
      expect(seen[4]).toMatchObject({ text: 'Let me see.', calls: ['a'] });
      expect(seen[5]).toMatchObject({ tool: 'echo', args: { text: 'ho' } });
      expect(seen[6]).toMatchObject({ text: 'ho', truncated: false });
      const [run0, turn, first, second] = ['stage/r0', 'stage/r0/t1', 'stage/r0/t1/s1', 'stage/r0/t1/s2'];
      expect(seen.map(({ run_id, turn_id, step_id }) => [run_id, turn_id, step_id])).toEqual([
        [run0, null, null],
        [run0, null, null],
        [run0, turn, null],
        [run0, turn, first],
        [run0, turn, first],
        [run0, turn, first],
        [run0, turn, first],
        [run0, turn, second],
        [run0, turn, second],
        [run0, null, null],
      ]);
      expect(seen[9]).toMatchObject({ news: 'completed', stop: { kind: 'Completed' }, usage: { steps: 2 } });
      expect(new Set(seen.map(({ correlation_id }) => correlation_id))).toEqual(new Set([runId('stage', 0)]));
      const places = seen.map(({ event_seq }) => event_seq.split('.').map(Number) as [number, number]);
      expect(places).toEqual([...places].sort(([a, b], [c, d]) => a - c || b - d));
      expect(new Set(seen.map(({ event_seq }) => event_seq)).size).toBe(seen.length);
    });
  });

  it('events state their cause: the settled effect, or the ingress record [EVT-2]', async () => {
    await play({ agents: [actor], steps: [{ text: 'x' }] }, async ({ world }) => {
      const [accepted, , , requested, answered] = await all((await world.session('stage', actor).send('Go')).events());
      expect(accepted?.causation).toMatch(/^[0-9a-f]{64}#\d+$/);
      expect(requested?.causation).toMatch(/^[0-9a-f]{64}#\d+$/);
      expect(answered?.causation).toMatch(/^[0-9a-f]{64}$/);
    });
  });

  it('events without follow end with what is durable now, of a run, a session and a world', async () => {
    const { opened, open } = gate();
    const call = { calls: [{ id: 'a', tool: 'echo', args: { text: 'ho' } }] };
    await play({ agents: [actor], steps: [call, { text: 'Ho.', after: opened }] }, async ({ world }) => {
      const session = world.session('stage', actor);
      const run = await session.send('Go');
      for await (const { step_id } of run.events()) if (step_id === 'stage/r0/t1/s2') break;
      const now = await all(run.events({ follow: false }));
      expect(now.at(-1)).toMatchObject({ type: 'llm_step.requested', step_id: 'stage/r0/t1/s2' });
      expect((await all(session.events({ follow: false }))).slice(-now.length)).toEqual(now);
      expect((await all(world.events({ follow: false }))).slice(-now.length)).toEqual(now);
      expect(await all(run.events({ follow: false, after: now.at(-1)?.event_seq ?? '0.0' }))).toEqual([]);
      open();
      await run.result();
      expect((await all(run.events({ follow: false }))).at(-1)).toMatchObject({ stop: { kind: 'Completed' } });
    });
  });

  it('events of a run resume behind any of them with exactly the rest [EVT-3]', async () => {
    const steps = [{ calls: [{ id: 'a', tool: 'echo', args: { text: 'ho' } }] }, { text: 'Ho.' }];
    await play({ agents: [actor], steps }, async ({ world }) => {
      const run = await world.session('stage', actor).send('Go');
      const seen = await all(run.events());
      for (const [i, { event_seq }] of seen.entries())
        expect(await all(run.events({ after: event_seq })), `after ${event_seq}`).toEqual(seen.slice(i + 1));
    });
  });

  it('the events of a queued run are its own, even when the run before it ends meanwhile', async () => {
    const held = gate();
    await play({ agents: [actor], steps: [{ after: held.opened, text: '1' }, { text: '2' }] }, async ({ world }) => {
      const session = world.session('stage', actor);
      await session.send('1');
      const second = await session.send('2');
      held.open();
      const seen = await all(second.events());
      expect(seen.filter(({ run_id }) => run_id !== second.id)).toEqual([]);
      expect(seen.at(-1)).toMatchObject({ type: 'lifecycle', news: 'completed', run_id: 'stage/r1' });
    });
  });

  it('the model’s channel shows events without diagnostics and whole outputs [EVT-4]', async () => {
    const agent = defineAgent({ ...base, name: 'narrow', contextWindow: 20, tools: [echo] });
    const steps = [{ calls: [{ id: 'a', tool: 'echo', args: { text: 'ho' } }], tokens: 19 }, { text: 'Ho.' }];
    await play({ agents: [agent], steps }, async ({ world }) => {
      const run = await world.session('stage', agent).send('Go');
      const operator = await all(run.events());
      const model = await all(run.events({ channel: 'model' }));
      expect(typesOf(operator)).toContain('context.pressure');
      expect(typesOf(model)).not.toContain('context.pressure');
      expect(operator.some((event) => 'operator_ref' in event)).toBe(true);
      expect(model.some((event) => 'operator_ref' in event || 'warnings_ref' in event)).toBe(false);
    });
  });

  it('events name the files of a call to the model’s channel, and link them for operators only [EVT-4]', async () => {
    const draw = defineTool({
      name: 'draw',
      description: 'Draws.',
      args: z.strictObject({}),
      run: async (_args, ctx) => {
        await ctx.put({ path: 'whole.txt', bytes: new TextEncoder().encode('all of it'), mediaType: 'text/plain' });
        return 'drawn';
      },
    });
    const painter = defineAgent({ ...base, name: 'painter', tools: [draw] });
    const steps = [{ calls: [{ id: 'a', tool: 'draw', args: {} }] }, { text: 'Done.' }];
    await play({ agents: [painter], steps }, async ({ world }) => {
      const run = await world.session('stage', painter).send('Go');
      const { artifacts } = await run.result();
      expect(artifacts).toHaveLength(1);
      const made = (events: readonly AgentEvent[]) => events.find(({ type }) => type === 'tool.completed');
      expect(made(await all(run.events()))).toMatchObject({ artifacts });
      const shown = made(await all(run.events({ channel: 'model' })));
      expect(shown).toMatchObject({ artifacts: [{ path: 'whole.txt', media_type: 'text/plain', bytes: 9 }] });
      expect(JSON.stringify(shown)).not.toContain('blob_ref');
      expect(agentEvent.safeParse(shown).error).toBeUndefined();
    });
  });

  it('events hide the diff of a toolset, which is for operators, from the model’s channel [EVT-4]', () => {
    const ref = Ref.fromHex('0'.repeat(64));
    const asked = { type: 'human.requested', kind: 'approval', call_id: null, ref } as unknown as AgentEvent;
    expect(seenBy('operator', asked)).toEqual(asked);
    expect(seenBy('model', asked)).not.toHaveProperty('ref');
    expect(seenBy('model', { ...asked, call_id: 'a' } as AgentEvent)).toHaveProperty('ref');
  });

  it('events leave long texts behind their links [EVT-6]', async () => {
    await play({ agents: [actor], steps: [{ text: 'y'.repeat(9_000) }, { text: 'short' }] }, async ({ world }) => {
      const session = world.session('stage', actor);
      const long = await all((await session.send('x'.repeat(9_000))).events());
      expect(long.some((event) => 'text' in event)).toBe(false);
      const short = await all((await session.send('Go')).events({ inline: 0 }));
      expect(short.some((event) => 'text' in event)).toBe(false);
    });
  });

  it('a watch of events can be left at any time, and begun again', async () => {
    await play({ agents: [actor], steps: [{ text: 'x' }] }, async ({ world }) => {
      const run = await world.session('stage', actor).send('Go');
      for await (const event of run.events()) {
        expect(event.type).toBe('input.accepted');
        break;
      }
      expect(await run.text()).toBe('x');
      expect(await run.text()).toBe('x');
    });
  });
});

const base = { name: 'actor', model: 'main', instructions: 'Act.' } as const;

describe('the events of a session', () => {
  it('the events of a session show all its runs and commands, and resume within a run with exactly the rest [EVT-3]', async () => {
    await play({ agents: [actor], steps: [{ text: '1' }, { text: '2' }] }, async ({ world }) => {
      const session = world.session('stage', actor);
      await (await session.send('1')).result();
      await session.pause({ id: 'p' });
      await (await session.send('2')).result();
      const seen = await some(session.events({ follow: false }));
      expect(typesOf(seen).filter((type) => type === 'lifecycle')).toHaveLength(4);
      expect(seen.find(({ type }) => type === 'command.rejected')).toMatchObject({
        code: 'nothing_to_pause',
        run_id: null,
      });
      const middle = seen.length - 3;
      const after = seen[middle]?.event_seq as AgentEvent['event_seq'];
      const rest = await some(session.events({ after, follow: false }));
      expect(rest).toEqual(seen.slice(middle + 1));
    });
  });
});

describe('a stream', () => {
  it('a stream has the live pieces between the events, and each step’s completion behind its pieces [EVT-5]', async () => {
    const held = gate();
    const steps = [{ says: ['Hel', 'lo'], after: held.opened, text: 'Hel lo' }];
    await play({ agents: [actor], steps }, async ({ world }) => {
      const run = await world.session('stage', actor).send('Go');
      const seen: string[] = [];
      for await (const event of run.stream()) {
        seen.push(event.type === 'delta' ? `${event.step_id} ${event.text}` : event.type);
        if (event.type === 'delta' && event.text === ' lo') held.open();
      }
      expect(seen).toEqual([
        'input.accepted',
        'lifecycle',
        'turn.started',
        'llm_step.requested',
        'stage/r0/t1/s1 Hel',
        'stage/r0/t1/s1  lo',
        'llm_step.completed',
        'lifecycle',
      ]);
    });
  });

  it('a stream that begins late receives the pieces so far', async () => {
    const held = gate();
    const steps = [{ says: ['Hel', 'lo'], after: held.opened, text: 'Hel lo' }];
    await play({ agents: [actor], steps }, async ({ world }) => {
      const run = await world.session('stage', actor).send('Go');
      await new Promise((resolve) => setTimeout(resolve, 50));
      const heard: string[] = [];
      for await (const event of run.stream()) {
        if (event.type === 'delta') heard.push(event.text);
        if (heard.length === 2) held.open();
      }
      expect(heard.join('')).toBe('Hel lo');
    });
  });

  it('the stream of one session has no pieces of another', async () => {
    const held = gate();
    const steps = [
      { says: ['one'], after: held.opened, text: 'one' },
      { says: ['two'], text: 'two' },
    ];
    await play({ agents: [actor], steps }, async ({ world }) => {
      const first = await world.session('a', actor).send('Go');
      const second = await world.session('b', actor).send('Go');
      const heard: string[] = [];
      for await (const event of second.stream()) if (event.type === 'delta') heard.push(event.text);
      held.open();
      await first.result();
      expect(heard.filter((text) => text === 'one')).toEqual([]);
    });
  });
});

/** What an iterable gives until it ends because nobody waits any more. */
async function some<T>(items: AsyncIterable<T>): Promise<T[]> {
  return all(items);
}
