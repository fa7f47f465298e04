import { isRepriseError } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineTool, type Tool } from '../../src/index.js';
import { gate, play, type Step, transcript } from './scene.js';

let performed: string[] = [];
const note = defineTool({
  name: 'note',
  description: 'Notes.',
  args: z.strictObject({}),
  run: (_, { idempotencyKey }) => {
    performed.push(idempotencyKey);
    return 'noted';
  },
});
const tools = [note] as unknown as Tool<never>[];
const call = (id: string) => ({ id, tool: 'note' });

describe('limits', () => {
  it('given as many steps as a run may have, it ends before it asks once more', async () => {
    performed = [];
    const steps = [{ calls: [call('a')] }, { calls: [call('b')] }, { text: 'Next.' }];
    await play({ steps, tools, limits: { max_steps: 2 } }, async ({ session, world, llm }) => {
      const { stop, usage } = await (await session.send('Go')).result();
      expect({ stop, steps: usage.steps }).toEqual({ stop: { kind: 'LimitsExceeded', limit: 'max_steps' }, steps: 2 });
      expect(performed).toHaveLength(2);
      expect((await transcript({ world })).at(-1)).toBe('tool b: noted');
      expect(await (await session.send('Again')).text()).toBe('Next.');
      expect(llm.asked[2]?.slice(-2)).toEqual(['tool b: noted', 'user: Again']);
    });
  });

  it('given more calls in one answer than allowed, none is performed and each has a result that says so', async () => {
    performed = [];
    const steps = [{ calls: [call('a'), call('b'), call('c')] }, { text: 'Next.' }];
    await play({ steps, tools, limits: { max_tool_calls_per_step: 2 } }, async ({ session, llm }) => {
      const { stop } = await (await session.send('Go')).result();
      expect(stop).toEqual({ kind: 'LimitsExceeded', limit: 'max_tool_calls_per_step' });
      expect(performed).toEqual([]);
      await (await session.send('Again')).text();
      expect(llm.asked[1]?.slice(2, 5)).toEqual([
        'error a: (cancelled)',
        'error b: (cancelled)',
        'error c: (cancelled)',
      ]);
    });
  });

  it('given exactly the calls that are allowed, they are performed', async () => {
    performed = [];
    const steps = [{ calls: [call('a'), call('b')] }, { text: 'Done.' }];
    await play({ steps, tools, limits: { max_tool_calls_per_step: 2, max_steps: 2 } }, async ({ session }) => {
      expect(await (await session.send('Go')).text()).toBe('Done.');
      expect(new Set(performed).size).toBe(2);
    });
  });
});

describe('inputs while a run is under way', () => {
  it('wait in order, and each is the start of a run of its own', async () => {
    const first = gate();
    const steps: Step[] = [{ after: first.opened, answer: { text: 'one' } }, { text: 'two' }, { text: 'three' }];
    await play({ steps }, async ({ session, llm }) => {
      const runs = [await session.send('1'), await session.send('2'), await session.send('3')];
      expect(runs.map(({ number }) => number)).toEqual([0, 1, 2]);
      expect((await session.state())?.queue.map(({ run }) => run)).toEqual([1, 2]);
      first.open();
      expect(await Promise.all(runs.map((run) => run.text()))).toEqual(['one', 'two', 'three']);
      expect(llm.asked[2]).toEqual(['user: 1', 'assistant: ', 'user: 2', 'assistant: ', 'user: 3']);
    });
  });

  it('go on after a run that failed', async () => {
    const first = gate();
    const failing: Step = { outcome: { status: 'error', code: 'provider_error_terminal', retryable: false } };
    await play({ steps: [{ after: first.opened, answer: failing }, { text: 'two' }] }, async ({ session }) => {
      const runs = [await session.send('1'), await session.send('2')] as const;
      first.open();
      expect((await runs[0].result()).stop.kind).toBe('Failed');
      expect(await runs[1].text()).toBe('two');
    });
  });

  it('beyond 64 are refused, and nothing of them is journaled', async () => {
    const first = gate();
    const steps: Step[] = [{ after: first.opened, answer: { text: '0' } }];
    for (let i = 1; i <= 64; i++) steps.push({ text: `${i}` });
    await play({ steps }, async ({ session, world }) => {
      const runs = [await session.send('0')];
      for (let i = 1; i <= 64; i++) runs.push(await session.send(`${i}`));
      const before = world.kernel.head;
      const refused = await session.send('one too many').catch((error: unknown) => error);
      expect(isRepriseError(refused, 'request_rejected')).toBe(true);
      expect(refused).toMatchObject({ facts: { reason: 'queue_full' } });
      expect(world.kernel.head).toEqual(before);
      first.open();
      expect(await runs.at(-1)?.text()).toBe('64');
    });
  });
});

describe('an input that is sent again', () => {
  it('under the same id and text is the same run, while it goes on and after', async () => {
    const first = gate();
    await play({ steps: [{ after: first.opened, answer: { text: 'once' } }] }, async ({ session, world }) => {
      const one = await session.send('Hi', { id: 'm-1' });
      const two = await session.send('Hi', { id: 'm-1' });
      expect([two.number, two.acceptedAt.seq]).toEqual([one.number, one.acceptedAt.seq]);
      first.open();
      expect(await two.text()).toBe('once');
      const head = world.kernel.head;
      expect(await (await session.send('Hi', { id: 'm-1' })).text()).toBe('once');
      expect(world.kernel.head).toEqual(head);
      expect((await session.state())?.runs).toBe(1);
    });
  });

  it('under the same id with another text is refused; of another person it is another input', async () => {
    await play({ steps: [{ text: 'once' }, { text: 'twice' }] }, async ({ session }) => {
      await (await session.send('Hi', { id: 'm-1' })).text();
      await expect(session.send('Ho', { id: 'm-1' })).rejects.toMatchObject({ code: 'request_conflict' });
      const other = await session.send('Hi', { id: 'm-1', as: 'human:ada' });
      expect([other.number, await other.text()]).toEqual([1, 'twice']);
    });
  });
});

describe('a bad input', () => {
  it('is refused before anything is written', async () => {
    await play({ steps: [] }, async ({ session, world }) => {
      const head = world.kernel.head;
      await expect(session.send(7 as never)).rejects.toMatchObject({ code: 'invalid_argument' });
      expect(world.kernel.head).toEqual(head);
      expect(await session.state()).toBeUndefined();
      expect(await session.run(0)).toBeUndefined();
    });
  });
});
