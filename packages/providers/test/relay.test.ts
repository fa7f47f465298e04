import { describe, expect, it } from 'vitest';
import { relay, type UnifiedMessage, type UnifiedRequest } from '../src/index.js';

const user = (text: string): UnifiedMessage => ({ role: 'user', parts: [{ kind: 'text', text }] });
const called = (callId: string): UnifiedMessage => ({ role: 'assistant', calls: [{ callId, tool: 'turn', args: {} }] });
const result = (callId: string, text: string, isError = false): UnifiedMessage => ({
  role: 'tool',
  callId,
  text,
  isError,
});
const answer = (text: string): UnifiedMessage => ({ role: 'assistant', text, calls: [] });

async function after(...messages: UnifiedMessage[]) {
  const request: UnifiedRequest = { system: '', messages, tools: [{ name: 'turn', description: '', schema: {} }] };
  const context = {
    signal: new AbortController().signal,
    idempotencyKey: 'k',
    progress: () => undefined,
    secret: async () => '',
  };
  const given = await relay().generate(request, context);
  if (!given.ok) throw new Error('it failed');
  return given.response;
}

describe('a relay', () => {
  it('the relay passes on the messages since its last answer, and nothing else', async () => {
    const { calls } = await after(
      user('one'),
      called('turn_1'),
      result('turn_1', 'uno'),
      answer('uno'),
      user('a'),
      user('b'),
    );
    expect(calls).toEqual([{ callId: 'turn_2', tool: 'turn', args: { text: 'a\n\nb' } }]);
  });

  it('the relay answers with the result of a call, without the stored state', async () => {
    const { text, calls } = await after(
      user('one'),
      called('turn_1'),
      result('turn_1', 'uno\n{"relay":{"session":"s"}}'),
    );
    expect([text, calls]).toEqual(['uno', []]);
  });

  it('the relay returns the latest stored state, even after a failed turn', async () => {
    const { calls } = await after(
      user('one'),
      called('turn_1'),
      result('turn_1', 'uno\n{"relay":{"session":"s"}}'),
      answer('uno'),
      user('two'),
      called('turn_2'),
      result('turn_2', 'it died', true),
      answer('it died'),
      user('three'),
    );
    expect(calls[0]?.args).toEqual({ text: 'three', state: { session: 's' } });
  });

  it('the relay reads state only from its own line', async () => {
    for (const text of ['{"relay"', '{"other":1}', 'null', '']) {
      expect((await after(user('one'), called('turn_1'), result('turn_1', `uno\n${text}`))).text).toBe(`uno\n${text}`);
    }
  });

  it('the relay answers nothing without a tool', async () => {
    const request: UnifiedRequest = { system: '', messages: [user('one')], tools: [] };
    const given = await relay().generate(request, {} as never);
    expect(given).toMatchObject({ ok: true, response: { text: '', calls: [] } });
  });
});
