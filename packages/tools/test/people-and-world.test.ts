import { readText } from '@reprise/agent';
import { sessionOp } from '@reprise/contracts';
import { decode, getBytes, memory } from '@reprise/kernel';
import { describe, expect, it } from 'vitest';
import { askHuman, introspect } from '../src/index.js';
import { callerOf } from './sandbox.js';

const SESSION = { key: 'c1', labels: {} };

describe('ask_human', () => {
  it('a question carries its text, its addressee, its deadline and its default answer', async () => {
    const { content } = await memory().open();
    const tool = askHuman({ to: 'human:ann', within: '2d', default: 'go on' });
    expect(tool.entry).toMatchObject({ name: 'ask_human', kind: 'ask' });
    const op = sessionOp.parse(await tool.operation?.({ question: 'Which?', options: ['a', 'b'] }, content, SESSION));
    expect(op).toMatchObject({ op: 'ask', to: 'human:ann', within_ms: 172_800_000 });
    const read = async (ref: unknown) => decode(await getBytes(content, ref as never));
    if (op.op !== 'ask') throw new Error('it is no question');
    expect(await read(op.question_ref)).toEqual({
      question: 'Which?',
      options: [
        { id: 'a', label: 'a' },
        { id: 'b', label: 'b' },
      ],
    });
    // Text and not a value: the model reads exactly these bytes as the call's result.
    expect(await readText(content, op.default_ref as never)).toBe('go on');
    expect(await askHuman().operation?.({ question: 'Why?' }, content, SESSION)).toEqual({
      op: 'ask',
      question_ref: expect.anything(),
    });
    expect(() => askHuman({ within: '2 days' as never })).toThrow(/invalid_argument/);
  });
});

describe('introspection', () => {
  it('introspection reads the state of the world and only the own transcript, and may be repeated', async () => {
    const asked: unknown[] = [];
    const world = {
      sessions: async (page: object) => ({ items: [asked.push(['sessions', page])] }),
      pending: async (page: object) => [asked.push(['pending', page])],
      usage: async (session: string) => ({ n: asked.push(['usage', session]) }),
      transcript: async (session: string, page: object) => [asked.push(['transcript', session, page])],
    };
    const tools = introspect();
    expect(new Set(tools.map(({ entry, approval }) => `${entry.guarantee} ${approval}`))).toEqual(
      new Set(['idempotent never']),
    );
    const call = callerOf(tools, { world });
    expect((await call('introspect_sessions', { after: 'a', limit: 3 })).text).toBe('{"items":[1]}');
    expect((await call('introspect_open')).text).toBe('[2]');
    expect((await call('introspect_usage')).text).toBe('{"n":3}');
    expect((await call('introspect_transcript', { from: 7 })).text).toBe('[4]');
    expect(asked).toEqual([
      ['sessions', { after: 'a', limit: 3 }],
      ['pending', { limit: 20 }],
      ['usage', 's'],
      ['transcript', 's', { from: 7, limit: 20 }],
    ]);
    expect((await call('introspect_transcript', { session: 'other' })).refused).toBe(true);
  });

  it('introspection says so when it is not available', async () => {
    const answer = await callerOf(introspect())('introspect_open');
    expect([answer.refused, answer.text]).toEqual([
      true,
      expect.stringContaining('the tool adapter has no world to read'),
    ]);
  });
});
