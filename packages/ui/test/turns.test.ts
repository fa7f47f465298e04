/** Runs that stay open for more turns, and inputs that move to another run, as chat pages receive them. */
import { defineAgent, type Run } from '@reprise/agent';
import { type UIMessage, validateUIMessages } from 'ai';
import type { ScriptStep } from 'reprise/providers';
import { script, testWorld } from 'reprise/testing';
import { describe, expect, it } from 'vitest';
import { followUiMessages, toUIMessageStream, type UiChunk, type UiMessage, uiMessages } from '../src/index.js';
import { placedChunks } from '../src/stream.js';
import { all, json, read } from './support/page.js';

async function opened(...steps: readonly ScriptStep[]) {
  const agent = defineAgent({ name: 'a', model: 'm', instructions: '', tools: [], afterAnswer: { wait: '10m' } });
  const world = await testWorld({ models: { m: script(...steps) }, agents: [agent] });
  return { world, session: world.session('chat', agent) };
}

const textOf = ({ parts }: { readonly parts: readonly object[] }): string =>
  parts.map((part) => ('text' in part ? part.text : '')).join('');
const said = (messages: readonly UiMessage[]) => messages.map((one) => [one.role, one.id, textOf(one)]);
const never = { delayMs: Number.POSITIVE_INFINITY };

/** Waits until the model of a run writes. */
async function writes(run: Pick<Run, 'stream'>): Promise<void> {
  for await (const { type } of run.stream()) if (type === 'delta') return;
}

describe('a run that waits for more input, as messages', () => {
  it('shows each input of a run and its own answer, as a page that was open receives them [EVT-7]', async () => {
    const { world, session } = await opened({ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' });
    const page: unknown[] = [];
    for (const id of ['m-1', 'm-2', 'm-3']) {
      page.push({ id, role: 'user', parts: [{ type: 'text', text: `Input ${id}` }] });
      const run = await session.send(`Input ${id}`, { id });
      expect(run.id).toBe('chat/r0');
      page.push(json(await read(await all(toUIMessageStream(run)))));
    }
    const messages = await uiMessages(session);
    expect(said(messages)).toEqual([
      ['user', 'm-1', 'Input m-1'],
      ['assistant', 'chat/r0', 'One.'],
      ['user', 'm-2', 'Input m-2'],
      ['assistant', 'chat/r0/m-2', 'Two.'],
      ['user', 'm-3', 'Input m-3'],
      ['assistant', 'chat/r0/m-3', 'Three.'],
    ]);
    expect(messages).toEqual(page);
    await validateUIMessages({ messages: json(messages) as UIMessage[] });
    const again = await session.send('Input m-2', { id: 'm-2' });
    expect(json(await read(await all(toUIMessageStream(again))))).toEqual(page[3]);
    await world.close();
  });

  it('the text of a turn stays out of the answer to an input that waits behind it [EVT-7]', async () => {
    const { world, session } = await opened({ text: 'One.', delayMs: 10 }, { text: 'Two.' }, { text: 'Three.' });
    const first = await session.send('1', { id: 'm-1' });
    const second = await session.send('2', { id: 'm-2' });
    await session.followUp('3', { id: 'm-3' });
    const streams = [first, second].map((run) => all(toUIMessageStream(run)));
    const [one, two] = (await Promise.all(streams)) as [UiChunk[], UiChunk[]];
    expect(one.at(-1)).toMatchObject({ type: 'finish' });
    expect(textOf((await read(one)) ?? { parts: [] })).toBe('One.');
    expect(textOf((await read(two)) ?? { parts: [] })).toBe('Two.');
    await world.pump();
    expect(said(await uiMessages(session)).map(([, , text]) => text)).toEqual([
      '1',
      'One.',
      '2',
      'Two.',
      '3',
      'Three.',
    ]);
    await world.close();
  });

  it('the stream of a cancelled turn ends, and the next input has its own', async () => {
    const { world, session } = await opened({ text: 'Long', ...never }, { text: 'Two.' });
    const first = await session.send('1', { id: 'm-1' });
    const stream = all(toUIMessageStream(first));
    await writes(first);
    await session.cancel({ scope: 'turn' });
    expect((await stream).at(-1)).toEqual({ type: 'abort', reason: 'cancelled' });
    const second = await all(toUIMessageStream(await session.send('2', { id: 'm-2' })));
    expect(second.at(-1)).toMatchObject({ type: 'finish' });
    expect(await uiMessages(session)).toMatchObject([
      { id: 'm-1' },
      { id: 'chat/r0', metadata: { reprise: { stop: 'Cancelled' } } },
      { id: 'm-2' },
      { id: 'chat/r0/m-2', metadata: { reprise: { stop: 'Completed' } } },
    ]);
    await world.close();
  });

  it('shows an input of a run that was dropped, with an aborted answer', async () => {
    const { world, session } = await opened({ text: 'Long', ...never });
    const first = await session.send('1', { id: 'm-1' });
    const second = await session.send('2', { id: 'm-2' });
    const stream = all(toUIMessageStream(second));
    await writes(first);
    await session.withdraw('m-2');
    const chunks = await stream;
    expect(chunks.map(({ type }) => type)).toEqual(['start', 'message-metadata', 'abort']);
    const messages = await uiMessages(session);
    expect(messages.map(({ id }) => id)).toEqual(['m-1', 'chat/r0', 'm-2', 'chat/r0/m-2']);
    expect(json(await read(chunks))).toEqual(json(messages[3]));
    await world.close();
  });

  it('resumes the answer to the last input of a run that is found by its number, from every place [EVT-3]', async () => {
    const { world, session } = await opened(
      { text: 'One.' },
      { text: 'Two.', delayMs: 5 },
      { text: 'Three.', ...never },
    );
    await all(toUIMessageStream(await session.send('1', { id: 'm-1' })));
    const second = await session.send('2', { id: 'm-2' });
    await all(toUIMessageStream(second));
    const run = await session.run(0);
    if (run === undefined) throw new Error('no run');
    const placed = await all(placedChunks(run, {}));
    expect(placed).toEqual(await all(placedChunks(second, {})));
    for (const [i, { cursor }] of placed.entries()) {
      if (cursor === undefined) continue;
      const rest = await all(placedChunks(run, { after: cursor }));
      expect(rest).toEqual(placed.slice(i + 1));
    }
    await world.close();
  });

  it('a second page follows the inputs of one run and their answers', async () => {
    const { world, session } = await opened({ text: 'One.' }, { text: 'Two.' });
    const left = new AbortController();
    const seen = new Map<string, unknown>();
    const second = (async () => {
      for await (const { message } of followUiMessages(session, { signal: left.signal })) {
        seen.set(message.id, message);
        if (message.id === 'chat/r0/m-2' && message.metadata?.reprise.stop !== undefined) left.abort();
      }
    })();
    for (const id of ['m-1', 'm-2']) await all(toUIMessageStream(await session.send(id, { id })));
    await second;
    expect([...seen.values()]).toEqual(await uiMessages(session));
    await world.close();
  });

  it('a steer of a run that waits for input continues the last answer', async () => {
    const { world, session } = await opened({ text: 'One.' }, { text: 'More.' });
    await all(toUIMessageStream(await session.send('1', { id: 'm-1' })));
    await session.steer('And?', { id: 's-1' });
    await world.pump();
    const messages = await uiMessages(session);
    expect(said(messages)).toEqual([
      ['user', 'm-1', '1'],
      ['assistant', 'chat/r0', 'One.More.'],
    ]);
    await world.close();
  });
});

describe('an input that moved to another run, as messages', () => {
  it('an input is answered under the run that it moved to, live and afterwards [EVT-7]', async () => {
    const { world, session } = await opened({ text: 'Long', ...never }, { text: 'Two.' });
    const first = await session.send('1', { id: 'm-1' });
    const second = await session.send('2', { id: 'm-2' });
    const streams = [first, second].map((run) => all(toUIMessageStream(run)));
    await writes(first);
    await first.cancel();
    await first.result();
    await session.resume();
    const [one, two] = (await Promise.all(streams)) as [UiChunk[], UiChunk[]];
    expect(one.at(-1)).toMatchObject({ type: 'abort' });
    expect(two[0]).toMatchObject({ type: 'start', messageId: 'chat/r1' });
    const messages = await uiMessages(session);
    expect(said(messages)).toEqual([
      ['user', 'm-1', '1'],
      ['assistant', 'chat/r0', 'Lo'],
      ['user', 'm-2', '2'],
      ['assistant', 'chat/r1', 'Two.'],
    ]);
    expect(json(await read(two))).toEqual(json(messages[3]));
    await world.close();
  });
});
