import { isRepriseError } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineTool, type Tool, toolError } from '../../src/index.js';
import { gate, play, transcript } from './scene.js';

const echo = defineTool({
  name: 'echo',
  description: 'Says it again.',
  args: z.strictObject({ say: z.string() }),
  delivery: 'idempotent',
  run: ({ say }) => say,
});
const deny = defineTool({
  name: 'deny',
  description: 'Refuses.',
  args: z.strictObject({}),
  run: () => toolError('Refused: no.'),
});
const burst = defineTool({
  name: 'burst',
  description: 'Fails.',
  args: z.strictObject({}),
  run: () => {
    throw new Error('pipe');
  },
});
const TOOLS = [echo, deny, burst] as unknown as Tool<never>[];

describe('a run', () => {
  it('given an answer without calls, it completes with that text', async () => {
    const report = await play({ steps: [{ text: 'Hello.' }] }, async ({ session, world, llm }) => {
      const run = await session.send('Hi');
      expect(await run.text()).toBe('Hello.');
      expect(await run.result()).toEqual({
        stop: { kind: 'Completed' },
        text: 'Hello.',
        usage: { steps: 1, tokens_in: 10, tokens_out: 1 },
      });
      expect(await session.state()).toMatchObject({ lifecycle: 'Completed', runs: 1, run: null, calls: [], queue: [] });
      expect(await transcript({ world })).toEqual(['user: Hi', 'assistant: ']);
      expect(llm.asked).toEqual([['user: Hi']]);
      expect(llm.instructions).toEqual(['Act.']);
    });
    expect(report?.sealed).toBe(0);
  });

  it('given an answer without text or calls, it completes with nothing to say', async () => {
    await play({ steps: [{}] }, async ({ session }) => {
      expect(await (await session.send('Hi')).text()).toBe('');
    });
  });

  it('given a call, the model reads its result and answers', async () => {
    const steps = [{ calls: [{ id: 'a', tool: 'echo', args: { say: 'ho' } }] }, { text: 'It says ho.' }];
    await play({ steps, tools: TOOLS }, async ({ session, llm }) => {
      const { text, usage } = await (await session.send('Echo')).result();
      expect({ text, usage }).toEqual({ text: 'It says ho.', usage: { steps: 2, tokens_in: 20, tokens_out: 2 } });
      expect(llm.asked[1]).toEqual(['user: Echo', 'assistant: echo a', 'tool a: ho']);
    });
  });

  it('given several calls over several steps, each step reads all that came before', async () => {
    const say = (id: string) => ({ id, tool: 'echo', args: { say: id } });
    const steps = [{ calls: [say('a'), say('b')] }, { text: 'More.', calls: [say('c')] }, { text: 'Done.' }];
    await play({ steps, tools: TOOLS }, async ({ session, llm }) => {
      expect(await (await session.send('Go')).text()).toBe('Done.');
      expect(llm.asked[2]).toEqual([
        'user: Go',
        'assistant: echo a, echo b',
        'tool a: a',
        'tool b: b',
        'assistant: echo c',
        'tool c: c',
      ]);
    });
  });

  it('given calls that end in another order, their results stand in the order of the calls', async () => {
    const order = ['c', 'a', 'b'];
    const gates = new Map(order.map((id) => [id, gate()]));
    const ended: string[] = [];
    const slow = defineTool({
      name: 'slow',
      description: 'Waits.',
      args: z.strictObject({ id: z.string() }),
      run: async ({ id }) => {
        await gates.get(id)?.opened;
        return id;
      },
    });
    const calls = ['a', 'b', 'c'].map((id) => ({ id, tool: 'slow', args: { id } }));
    await play(
      { steps: [{ calls }, { text: 'Done.' }], tools: [slow] as unknown as Tool<never>[] },
      async ({ session, llm }) => {
        const run = await session.send('Go');
        for await (const event of run.events()) {
          if (event.type === 'tool.requested' && event.call_id === 'c') gates.get('c')?.open();
          if (event.type !== 'tool.completed') continue;
          ended.push(event.call_id);
          gates.get(order[ended.length] ?? '')?.open();
        }
        expect(ended).toEqual(order);
        expect(llm.asked[1]?.slice(2)).toEqual(['tool a: a', 'tool b: b', 'tool c: c']);
      },
    );
  });

  it('given more calls than may run at once, all are performed', async () => {
    const calls = Array.from({ length: 16 }, (_, i) => ({ id: `c${i}`, tool: 'echo', args: { say: `${i}` } }));
    await play({ steps: [{ calls }, { text: 'Done.' }], tools: TOOLS }, async ({ session, llm }) => {
      await (await session.send('Go')).text();
      expect(llm.asked[1]?.slice(2)).toEqual(calls.map(({ id, args }) => `tool ${id}: ${args.say}`));
    });
  });

  it('given two calls of one id, each has a result', async () => {
    const calls = ['x', 'y'].map((say) => ({ id: 'same', tool: 'echo', args: { say } }));
    await play({ steps: [{ calls }, { text: 'Done.' }], tools: TOOLS }, async ({ session, llm }) => {
      await (await session.send('Go')).text();
      expect(llm.asked[1]?.slice(2).sort()).toEqual(['tool same: x', 'tool same: y']);
    });
  });
});

describe('a call that gives no result', () => {
  const cases = [
    ['of a tool that is not listed', { tool: 'nothing' }, 'error a: (failed tool_not_found)'],
    [
      'whose arguments were no JSON',
      { tool: 'echo', args: '{', issue: 'args_not_json' },
      'error a: (failed tool_args_invalid/args_not_json)',
    ],
    [
      'whose arguments were no object',
      { tool: 'echo', args: [], issue: 'args_not_object' },
      'error a: (failed tool_args_invalid/args_not_object)',
    ],
    ['that is refused by its tool', { tool: 'deny' }, 'error a: Refused: no.'],
    ['whose tool throws', { tool: 'burst' }, 'error a: The tool burst failed: pipe'],
  ] as const;
  it.each(cases)('%s is told to the model, and the run goes on', async (_, call, told) => {
    const steps = [
      {
        calls: [
          { id: 'a', ...call },
          { id: 'b', tool: 'echo', args: { say: 'b' } },
        ],
      },
      { text: 'So be it.' },
    ];
    await play({ steps, tools: TOOLS }, async ({ session, llm }) => {
      expect(await (await session.send('Go')).text()).toBe('So be it.');
      expect(llm.asked[1]?.slice(2)).toEqual([told, 'tool b: b']);
    });
  });

  it('whose arguments break the schema is told what to mend, and nothing is done', async () => {
    const steps = [{ calls: [{ id: 'a', tool: 'echo', args: { say: 1 } }] }, { text: 'Oh.' }];
    await play({ steps, tools: TOOLS }, async ({ session, llm }) => {
      await (await session.send('Go')).text();
      expect(llm.asked[1]?.[2]).toMatch(/^error a: The arguments do not fit the schema of echo; nothing was done\./);
    });
  });

  it('only refused calls: the model is asked again at once', async () => {
    const steps = [
      {
        calls: [
          { id: 'a', tool: 'nothing' },
          { id: 'b', tool: 'nowhere' },
        ],
      },
      { text: 'Oh.' },
    ];
    await play({ steps }, async ({ session, llm, world }) => {
      await (await session.send('Go')).text();
      expect(llm.asked[1]?.slice(2)).toEqual(['error a: (failed tool_not_found)', 'error b: (failed tool_not_found)']);
      expect(await world.kernel.openEffects()).toEqual([]);
    });
  });
});

describe('a model that fails', () => {
  const cases = [
    [
      'an error',
      { status: 'error', code: 'provider_error_terminal/auth', retryable: false },
      { code: 'provider_error_terminal/auth', retryable: false },
    ],
    [
      'an error that may pass',
      { status: 'error', code: 'provider_error_retryable/rate_limited', retryable: true },
      { code: 'provider_error_retryable/rate_limited', retryable: true },
    ],
    ['a timeout', { status: 'timeout' }, { code: 'adapter_timeout', retryable: false }],
    ['an unknown outcome', { status: 'outcome_unknown' }, { code: 'adapter_error/outcome_unknown', retryable: false }],
    [
      'a payload of another shape',
      { status: 'ok', payload: { nonsense: true } },
      { code: 'validation_error', retryable: false },
    ],
  ] as const;
  it.each(cases)('given %s, the run ends Failed with its code, and the next run works', async (_, outcome, stop) => {
    await play({ steps: [{ outcome: outcome as never }, { text: 'Back.' }] }, async ({ session, llm }) => {
      const run = await session.send('Go');
      expect((await run.result()).stop).toEqual({ kind: 'Failed', stage: 'llm_step', ...stop });
      const failure = await run.text().catch((error: unknown) => error);
      expect(isRepriseError(failure, 'run_failed')).toBe(true);
      expect(failure).toMatchObject({ facts: { actual: stop.code, stop: { kind: 'Failed' } } });
      expect(await (await session.send('Again')).text()).toBe('Back.');
      expect(llm.asked[1]).toEqual(['user: Go', 'user: Again']);
    });
  });

  it.each([
    ['content_filter', 'provider_error_terminal/refusal'],
    ['error', 'provider_error_terminal'],
  ] as const)(
    'given finish reason %s, its calls are not performed and have results that say so',
    async (finish, code) => {
      const steps = [
        { text: 'No.', finish, calls: [{ id: 'a', tool: 'echo', args: { say: 'a' } }] },
        { text: 'Fine.' },
      ];
      await play({ steps, tools: TOOLS }, async ({ session, llm }) => {
        const { stop, text } = await (await session.send('Go')).result();
        expect({ stop, text }).toEqual({
          stop: { kind: 'Failed', code, retryable: false, stage: 'llm_step' },
          text: 'No.',
        });
        expect(await (await session.send('Again')).text()).toBe('Fine.');
        expect(llm.asked[1]).toEqual(['user: Go', 'assistant: echo a', 'error a: (cancelled)', 'user: Again']);
      });
    },
  );
});
