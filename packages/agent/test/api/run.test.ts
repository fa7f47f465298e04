/** What a run comes to, and what the app author gets of it. */
import { isRepriseError } from '@reprise/kernel';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineAgent, defineTool } from '../../src/index.js';
import { gate, play } from './scene.js';

const hello = defineAgent({ name: 'hello', model: 'main', instructions: 'Be brief.' });
const verdict = z.strictObject({ refund: z.boolean(), cents: z.int() });
const judge = defineAgent({ name: 'judge', model: 'main', instructions: 'Judge.', returns: verdict });

describe('a run', () => {
  it('a run returns its last text', async () => {
    await play({ agents: [hello], steps: [{ text: 'Hi.' }] }, async ({ world }) => {
      const run = await world.session('me', hello).send('Hi');
      expect(await run.text()).toBe('Hi.');
      expect(await run.result()).toMatchObject({ stop: { kind: 'Completed' }, value: 'Hi.', usage: { steps: 1 } });
      expect(run.id).toBe('me/r0');
    });
  });

  it('a run of an agent with a return schema returns data', async () => {
    const steps = [{ text: '{"refund": true, "cents": 5}' }];
    await play({ agents: [judge], steps }, async ({ world, llm }) => {
      const { value } = await (await world.session('me', judge).send('Judge')).result();
      expect(value).toEqual({ refund: true, cents: 5 });
      expect(llm.asked[0]?.params.system_ref).toBeDefined();
    });
  });

  it('a run requests an answer that does not fit once more, and then fails', async () => {
    const steps = [{ text: 'no' }, { text: '{"refund": 1}' }];
    await play({ agents: [judge], steps }, async ({ world, llm }) => {
      const run = await world.session('me', judge).send('Judge');
      const { stop, value } = await run.result();
      expect(stop).toMatchObject({ kind: 'Failed', stage: 'returns' });
      expect(value).toBeUndefined();
      expect(llm.asked[1]?.transcript.at(-1)).toContain('repair: Your last answer is not');
      await expect(run.text()).rejects.toSatisfy((error) => isRepriseError(error, 'run_failed'));
    });
  });

  it('a run is found by its number in its session, also in a reopened world', async () => {
    await play({ agents: [hello], steps: [{ text: '1' }], goesOn: true }, async ({ world, store }) => {
      await (await world.session('me', hello).send('Hi')).result();
      await world.close();
      await play({ agents: [hello], steps: [], store }, async (again) => {
        const session = again.world.session('me', hello);
        expect(await (await session.run(0))?.text()).toBe('1');
        expect(await session.run(1)).toBeUndefined();
        const numbers: number[] = [];
        for await (const run of session.runs()) numbers.push(run.number);
        expect(numbers).toEqual([0]);
      });
    });
  });

  it('a cancelled run does not cancel the inputs behind it [SES-22]', async () => {
    const held = gate();
    await play({ agents: [hello], steps: [{ after: held.opened }, { text: '3' }] }, async ({ world }) => {
      const session = world.session('me', hello);
      const first = await session.send('1');
      const second = await session.send('2');
      const third = await session.send('3');
      await second.cancel();
      await first.cancel({ reason: 'enough' });
      expect((await first.result()).stop).toEqual({ kind: 'Cancelled' });
      await session.resume();
      expect(await third.text()).toBe('3');
    });
  });

  it('a run lists the files of its tools, under the types of their contents', async () => {
    const draw = defineTool({
      name: 'draw',
      description: 'Draws.',
      args: z.strictObject({}),
      run: async (_args, { put }) => {
        await put({ path: 'a.png', bytes: Uint8Array.of(0xff, 0xd8, 0xff), mediaType: 'image/png' });
        return 'drawn';
      },
    });
    const artist = defineAgent({ ...painter, tools: [draw] });
    const steps = [{ calls: [{ tool: 'draw' }] }, { text: 'Done.' }];
    await play({ agents: [artist], steps }, async ({ world }) => {
      const { artifacts } = await (await world.session('me', artist).send('Draw')).result();
      expect(artifacts).toMatchObject([
        { path: 'a.png', media_type: 'image/jpeg', declared_type: 'image/png', bytes: 3 },
      ]);
    });
  });
});

const painter = { name: 'painter', model: 'main', instructions: 'Paint.' } as const;

describe('an input', () => {
  it('an input with a known id returns the same run, and with other content a conflict [SES-7]', async () => {
    await play({ agents: [hello], steps: [{ text: '1' }] }, async ({ world }) => {
      const session = world.session('me', hello);
      const first = await session.send('Hi', { id: 'm1' });
      const again = await session.send('Hi', { id: 'm1' });
      expect(again.id).toBe(first.id);
      await expect(session.send('Ho', { id: 'm1' })).rejects.toSatisfy((error) =>
        isRepriseError(error, 'request_conflict'),
      );
      await first.result();
      expect((await session.state())?.runs).toBe(1);
      // Another session's messages have names of their own.
      expect((await world.session('you', hello).send('Hi', { id: 'm1' })).id).toBe('you/r0');
    });
  });

  it('an input has parts: text, content by its link, and bytes', async () => {
    await play({ agents: [hello], steps: [{ text: '1' }] }, async ({ world, llm }) => {
      const ref = await world.kernel.content.put(new TextEncoder().encode('a letter'));
      const bytes = Uint8Array.of(1, 2);
      const input = ['Look', { ref, view: 'summary' }, { bytes, mediaType: 'image/png', name: 'x.png' }] as const;
      await (await world.session('me', hello).send(input)).result();
      expect(llm.asked[0]?.transcript).toEqual(['input: Look [blob] [blob]']);
    });
  });

  it('an input to a closed session is refused with the reason', async () => {
    await play({ agents: [hello], steps: [{ text: '1' }] }, async ({ world }) => {
      const session = world.session('me', hello);
      await (await session.send('Hi')).result();
      expect(await session.close()).toMatchObject({ status: 'accepted' });
      await expect(session.send('Hi')).rejects.toSatisfy(
        (error) => isRepriseError(error, 'request_rejected') && error.details.reason === 'session_closed',
      );
    });
  });

  it('an input with a higher priority is taken up first', async () => {
    const held = gate();
    const steps = [{ after: held.opened, text: '0' }, { text: 'a' }, { text: 'b' }];
    await play({ agents: [hello], steps }, async ({ world, llm }) => {
      const session = world.session('me', hello);
      await session.send('first');
      const low = await session.send('low');
      const high = await session.send('high', { priority: 5 });
      held.open();
      await Promise.all([low.result(), high.result()]);
      expect(llm.asked[1]?.transcript.at(-1)).toBe('input: high');
    });
  });
});
