/** What a person does on a chat page besides sending: Retry, and an edited message. The requests are those of the AI SDK's own transport. */
import { defineAgent } from '@reprise/agent';
import { DefaultChatTransport, type UIMessage } from 'ai';
import { scriptBy } from 'reprise/providers';
import { testWorld } from 'reprise/testing';
import { describe, expect, it } from 'vitest';
import { answerChatInput, readChatInput, uiMessageResponse, uiMessages } from '../src/index.js';

/** A page, and the endpoint behind it: its model fails so many times. */
async function page(times: number) {
  let asked = 0;
  const model = scriptBy(({ last }) =>
    asked++ < times ? { fail: 'provider_error_terminal/auth' } : { text: `${last} ${asked}` },
  );
  const agent = defineAgent({ name: 'a', model: 'm', instructions: '' });
  const world = await testWorld({ models: { m: model }, agents: [agent] });
  const session = world.session('c', agent);
  const transport = new DefaultChatTransport({
    api: 'http://localhost/chat',
    fetch: async (_url, init) =>
      uiMessageResponse(await answerChatInput(session, readChatInput(JSON.parse(String(init?.body))))),
  });
  /** Sends as `useChat` does, and reads the answer. */
  const act = async (text: string, trigger: 'submit-message' | 'regenerate-message', messageId: string | undefined) => {
    const messages: UIMessage[] = [{ id: 'm-1', role: 'user', parts: [{ type: 'text', text }] }];
    const stream = await transport.sendMessages({ chatId: 'c', messages, trigger, messageId, abortSignal: undefined });
    const chunks: { readonly type: string; readonly delta?: string; readonly messageId?: string }[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    return {
      id: chunks[0]?.messageId,
      text: chunks.map(({ delta = '' }) => delta).join(''),
      error: chunks.some(({ type }) => type === 'error'),
    };
  };
  const shown = async () =>
    (await uiMessages(session)).map(({ id, parts }) => `${id}: ${parts.map(({ text = '' }) => text).join('')}`);
  return { world, session, act, shown };
}

describe('what a person does on a chat page', () => {
  it('Retry after a failed run answers the message anew, in the place of the failed answer, once for each request', async () => {
    const { world, act, shown } = await page(1);
    await using _ = world;
    expect(await act('Hi', 'submit-message', undefined)).toMatchObject({ id: 'c/r0', error: true });
    const [one, other] = [await act('Hi', 'regenerate-message', 'c/r0'), await act('Hi', 'submit-message', undefined)];
    expect(one).toEqual({ id: 'c/r1', text: 'Hi 2', error: false });
    expect(other).toEqual(one);
    expect(await shown()).toEqual(['m-1: Hi', 'c/r1: Hi 2']);
  });

  it('Retry of an answer that is complete asks again with the same words, once for each answer', async () => {
    const { world, act, session } = await page(0);
    await using _ = world;
    await act('Hi', 'submit-message', undefined);
    expect(await act('Hi', 'regenerate-message', 'c/r0')).toEqual({ id: 'c/r1', text: 'Hi 2', error: false });
    expect(await act('Hi', 'regenerate-message', 'c/r1')).toEqual({ id: 'c/r2', text: 'Hi 3', error: false });
    expect((await session.state())?.runs).toBe(3);
  });

  it('an edited message under its id is answered by its new words, and a repeated request of it adds nothing', async () => {
    const { world, act, shown } = await page(0);
    await using _ = world;
    await act('Helo', 'submit-message', undefined);
    const edited = await act('Hello', 'submit-message', 'm-1');
    expect(edited).toEqual({ id: 'c/r1', text: 'Hello 2', error: false });
    expect(await act('Hello', 'submit-message', 'm-1')).toEqual(edited);
    expect(await act('Hello', 'regenerate-message', 'c/r1')).toMatchObject({ text: 'Hello 3' });
    expect((await shown()).filter((one) => one.includes('m-1'))).toHaveLength(3);
  });
});
