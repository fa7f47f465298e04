import { type ContentStore, decode, getBytes, putValue, type QuestionAnswer, Scrubber } from '@reprise/kernel';
import { beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { toolCallReceipt } from '../../src/contracts/index.js';
import {
  childTools,
  deferred,
  defineTool,
  humanAskAdapter,
  settledAnswer,
  type Tool,
  type ToolAdapterOptions,
  type ToolContext,
  toolCallAdapter,
  toolError,
  toolParts,
} from '../../src/tools/index.js';
import { recordedVersion } from '../../src/tools/tool/version.js';
import { adapterContext, buildWith, callOf, freshContent, modelReads, payloadOf, SESSION, textAt } from './calling.js';

let content: ContentStore;
beforeEach(async () => {
  content = await freshContent();
});

interface Over {
  readonly context?: Partial<ReturnType<typeof adapterContext>>;
  readonly params?: object;
  readonly options?: Partial<ToolAdapterOptions>;
}

async function call(tool: Tool, args: unknown, { context, params: more, options }: Over = {}) {
  const { adapter, params } = await callOf(tool, args, content, options);
  return adapter.doExecute({ ...params, ...more }, adapterContext(content, context));
}

const noArgs = z.strictObject({});
const plain = { name: 't', description: '', args: noArgs } as const;
const answering = (answer: unknown) => defineTool({ ...plain, run: () => answer });

describe('calling a tool', () => {
  it('a handler receives parsed arguments and the app’s deps, and the model receives its answer', async () => {
    const seen: unknown[] = [];
    const add = defineTool({
      name: 'add',
      description: '',
      args: z.strictObject({ a: z.int(), b: z.int().default(1) }),
      run: async ({ a, b }, ctx: ToolContext<{ scale: number }>) => {
        seen.push(ctx.session, ctx.attempt, ctx.idempotencyKey, ctx.deadline, await ctx.secret('KEY'));
        return (a + b) * ctx.deps.scale;
      },
    });
    const outcome = await call(
      add,
      { a: 2 },
      { options: { deps: ({ tier }) => ({ scale: tier === 'new' ? 10 : 1 }) } },
    );
    expect(await modelReads(content, outcome)).toBe('30');
    expect(payloadOf(outcome)).toMatchObject({ is_error: false, truncation_meta: { truncated: false } });
    expect(seen).toEqual([SESSION, 1, 'a'.repeat(64), null, 'value of KEY']);
    expect(toolCallReceipt.parse(payloadOf(outcome))).toEqual(payloadOf(outcome));
  });

  it('data is shown as JSON whose key order does not depend on the handler', async () => {
    const one = await modelReads(content, await call(answering({ b: 1, a: [null, 'x'] }), {}));
    expect(one).toBe('{"a":[null,"x"],"b":1}');
    expect(await modelReads(content, await call(answering({ a: [null, 'x'], b: 1 }), {}))).toBe(one);
  });

  it('the warnings of a handler stand in the receipt, each once, cut and without secrets [TOOL-65]', async () => {
    const scrubber = new Scrubber();
    scrubber.conceal('hunter2-hunter2');
    const odd = defineTool({
      ...plain,
      run: (_, ctx) => {
        for (const what of ['one', 'one', `two hunter2-hunter2 ${'x'.repeat(300)}`]) ctx.warn?.(what);
        for (let n = 0; n < 50; n++) ctx.warn?.(`more ${n}`);
        return 'done';
      },
    });
    const payload = toolCallReceipt.parse(payloadOf(await call(odd, {}, { context: { scrubber } })));
    if (payload.warnings_ref === undefined) throw new Error('the receipt has no warnings');
    const warnings = decode(await getBytes(content, payload.warnings_ref)) as string[];
    expect([warnings.length, warnings[0], warnings[2]]).toEqual([16, 'one', 'more 0']);
    expect(warnings[1]).toMatch(/^two (?!hunter2).{1,240}$/);
    expect(payloadOf(await call(answering('done'), {})).warnings_ref).toBeUndefined();
  });

  it('a handler that returns nothing has an empty output', async () => {
    const outcome = await call(answering(undefined), {});
    expect(payloadOf(outcome).is_error).toBe(false);
    expect(await modelReads(content, outcome)).toBe('');
  });

  it('the whole output is stored for people and a bounded one for the model, by the family of the tool [TOOL-17]', async () => {
    const loud = defineTool({ ...plain, family: 'edit', run: () => 'é'.repeat(50_000) });
    const payload = payloadOf(await call(loud, {}));
    expect(payload.truncation_meta).toMatchObject({
      original_bytes: 100_000,
      truncated: true,
      policy_id: 'model/edit@1',
    });
    expect(await textAt(content, payload.operator_output_ref)).toBe('é'.repeat(50_000));
    const shown = await textAt(content, payload.model_output_ref);
    expect(shown).toContain(payload.operator_output_ref.toString());
    expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(4 * 1024);
    const own = { policyId: 'own@1', bytesMax: 300, keep: 'tail' } as const;
    const outcome = await call(loud, {}, { options: { outputs: { edit: own } } });
    expect(payloadOf(outcome).truncation_meta).toMatchObject({ policy_id: 'own@1', bounded_bytes: 299 });
    for (const wrong of [{ bytesMax: 255 }, { linesMax: 2 }, { keep: 'middle' }, { policyId: '' }]) {
      expect(() =>
        toolCallAdapter(buildWith([]), { now: () => 0, outputs: { x: { ...own, ...wrong } as never } }),
      ).toThrow(/invalid_argument.*outputs\.x/);
    }
  });

  it('an output may arrive as a stream of text or bytes, iterable or readable', async () => {
    async function* pieces() {
      yield 'one ';
      yield new TextEncoder().encode('two ');
      yield 'drei';
    }
    for (const stream of [pieces(), ReadableStream.from(pieces())]) {
      expect(await modelReads(content, await call(answering(stream), {}))).toBe('one two drei');
    }
    const reader = { getReader: () => ReadableStream.from(pieces()).getReader() };
    expect(await modelReads(content, await call(answering(reader), {}))).toBe('one two drei');
  });

  it('a character that a stream of text gives in two pieces is one character, and half of one is replaced', async () => {
    async function* halves() {
      yield 'a\ud83d';
      yield '';
      yield '\ude00b\ud83d';
      yield new TextEncoder().encode('c');
      yield 'd\ud83d';
    }
    expect(await modelReads(content, await call(answering(halves()), {}))).toBe('a😀b\ufffdcd\ufffd');
  });

  it('the output of a failed stream is stored up to the failure, which stands at its end', async () => {
    async function* breaking() {
      yield 'half';
      throw new Error('the line is cut');
    }
    const outcome = await call(answering(breaking()), {});
    expect(payloadOf(outcome)).toMatchObject({ is_error: true, error_code: 'adapter_error' });
    expect(await modelReads(content, outcome)).toBe('half\nThe tool t failed: the line is cut');
  });

  const PNG = Uint8Array.of(0x89, 0x50, 0x4e, 0x47);

  it('an answer in parts lists its files and the outside changes of the call', async () => {
    const draw = defineTool({
      ...plain,
      run: async (_, ctx) => {
        const chart = await ctx.put({ path: 'chart.png', bytes: PNG, mediaType: 'image/png' });
        async function* long() {
          yield new Uint8Array(3);
        }
        await ctx.put({ path: 'log', bytes: long() });
        ctx.changed('a.txt', null, chart.blob_ref);
        return toolParts('Here:', { json: { b: 1, a: 2 } }, { file: chart });
      },
    });
    const payload = payloadOf(await call(draw, {}));
    expect(toolCallReceipt.parse(payload)).toEqual(payload);
    expect(payload.files?.map(({ path }) => path)).toEqual(['chart.png']);
    expect(payload.artifacts?.map(({ path, bytes, media_type }) => [path, bytes, media_type])).toEqual([
      ['chart.png', 4, 'image/png'],
      ['log', 3, 'application/octet-stream'],
    ]);
    expect(payload.changes).toEqual([{ path: 'a.txt', before_ref: null, after_ref: payload.files?.[0]?.blob_ref }]);
    expect(await textAt(content, payload.model_output_ref)).toMatch(
      /^Here:\n\{"a":2,"b":1\}\n\[file chart\.png: image\/png, 4 bytes; sha256:[0-9a-f]{64}\]$/,
    );
  });

  it('a call of an unknown tool, or of one that the session executes, is a failed receipt [TOOL-2]', async () => {
    const [spawn] = childTools(['scout']);
    for (const tool of [undefined, spawn]) {
      const adapter = toolCallAdapter(buildWith(tool === undefined ? [] : [tool]), { now: () => 0 });
      const params = {
        tool: tool?.name ?? 'nope',
        call_id: 'c',
        session: SESSION,
        args_ref: await putValue(content, {}),
        guarantee: 'idempotent' as const,
      };
      const outcome = await adapter.doExecute(params, adapterContext(content));
      expect(outcome).toEqual({ status: 'error', code: 'tool_not_found', retryable: false });
      expect(await adapter.doReconcile?.(params, adapterContext(content))).toEqual({ verdict: 'unknown' });
    }
  });

  it('a call with invalid arguments tells the model the problems, and does not run the handler [TOOL-5]', async () => {
    let ran = 0;
    const tool = defineTool({ ...plain, args: z.strictObject({ n: z.int() }), run: () => ++ran });
    for (const wrong of [{}, { n: 'x' }, { n: 1, extra: 1 }, 'text', null, [1]]) {
      const outcome = await call(tool, wrong);
      expect(payloadOf(outcome)).toMatchObject({ is_error: true, error_code: 'tool_args_invalid' });
      expect(await modelReads(content, outcome)).toMatch(/do not fit the schema of t; nothing was done/);
    }
    expect(ran).toBe(0);
  });

  it('a handler that throws or refuses tells the model [TOOL-14]', async () => {
    const failing: [Tool, RegExp, string][] = [
      [
        defineTool({ ...plain, run: () => Promise.reject(new Error('disk on fire')) }),
        /^The tool t failed: disk on fire$/,
        'adapter_error',
      ],
      [answering(toolError('Refused: not today.')), /^Refused: not today\.$/, 'adapter_error'],
      [
        defineTool({ ...plain, run: () => Promise.reject('x'.repeat(50_000)) }),
        /^The tool t failed: x{100}/,
        'adapter_error',
      ],
    ];
    for (const [tool, expected, code] of failing) {
      const outcome = await call(tool, {});
      expect(payloadOf(outcome)).toMatchObject({ is_error: true, error_code: code });
      const shown = await modelReads(content, outcome);
      expect(shown).toMatch(expected);
      expect(shown.length).toBeLessThan(2_100);
    }
  });

  it('malformed text is shown with replacement characters', async () => {
    expect(await modelReads(content, await call(answering('a\ud800b'), {}))).toBe('a\ufffdb');
  });

  it('missing deps are a failed receipt, and the handler does not run', async () => {
    let ran = 0;
    const tool = defineTool({ ...plain, run: () => ++ran });
    const deps = () => Promise.reject(new Error('no connection'));
    expect(await call(tool, {}, { options: { deps } })).toEqual({
      status: 'error',
      code: 'adapter_error/deps',
      retryable: false,
    });
    expect(ran).toBe(0);
  });

  it('a deferred call expires by the journal’s time', async () => {
    expect(await call(answering(deferred({ expiresIn: '6h', to: 'human:*' })), {})).toEqual({
      status: 'deferred',
      expires: 1_000 + 6 * 3_600_000,
      to: 'human:*',
    });
    const payload = await settledAnswer({ done: true }, content, { tool: answering(1) });
    expect(toolCallReceipt.parse(payload)).toEqual(payload);
    expect(await textAt(content, payload.model_output_ref)).toBe('{"done":true}');
  });

  it('a session’s question is deferred at once', async () => {
    const params = { question_ref: await putValue(content, 'Why?'), session: SESSION };
    expect(await humanAskAdapter.doExecute(params, adapterContext(content))).toEqual({ status: 'deferred' });
    const to = await humanAskAdapter.doExecute({ ...params, to: 'human:ann' }, adapterContext(content));
    expect(to).toEqual({ status: 'deferred', to: 'human:ann' });
  });
});

describe('a call with a decision of a person', () => {
  let ran = 0;
  const make = (description: string) =>
    defineTool({ ...plain, description, approval: 'always', args: z.strictObject({ n: z.int() }), run: () => ++ran });
  beforeEach(() => {
    ran = 0;
  });

  it('a decided call does not run under another tool than the one that was judged [TOOL-8]', async () => {
    const { fingerprint } = make('as it was').entry;
    const outcome = await call(make('as it is'), { n: 1 }, { params: { fingerprint } });
    expect(payloadOf(outcome)).toMatchObject({ is_error: true, error_code: 'validation_error' });
    expect(await modelReads(content, outcome)).toMatch(/has changed since .*; nothing was done/);
    expect(ran).toBe(0);
    expect(payloadOf(await call(make('as it was'), { n: 1 }, { params: { fingerprint } })).is_error).toBe(false);
  });

  it('parameters without a meaning run with an equal fingerprint, and are asked about again with another [TOOL-55]', async () => {
    const { fingerprint } = make('as it was').entry;
    const outcome = await call(
      make('as it is'),
      { n: 1 },
      { params: { fingerprint }, context: { approvedBy: 'human:ann' } },
    );
    expect(payloadOf(outcome).changed?.again).toMatchObject({
      fingerprint: make('as it is').entry.fingerprint,
      approval: { to: 'human:ann' },
    });
    expect(payloadOf(outcome).changed?.judged_ref).toBeUndefined();
    expect(ran).toBe(0);
  });

  it('a call that a remembered approval released does not run with other words, and one that a person approved does [TOOL-52]', async () => {
    const { meaning } = recordedVersion(make('as it was'));
    const params = { meaning, needs_approval: true };
    const released = payloadOf(await call(make('as it is'), { n: 1 }, { params }));
    expect(released.changed?.again?.approval).toEqual({});
    expect(ran).toBe(0);
    const context = { approvedBy: 'human:ann' } as const;
    expect(payloadOf(await call(make('as it is'), { n: 1 }, { params, context })).is_error).toBe(false);
    expect(ran).toBe(1);
  });

  it.each([
    ['another toolset', { toolset: 'other' }],
    ['another tool of its toolset', { tool: 'send' }],
    [
      'a tool with other hints',
      { hints: { read_only: false, destructive: true, idempotent: false, open_world: true } },
    ],
    ['no toolset', undefined],
  ] as const)(
    'a call that was approved does not pass to a tool of %s, although that one takes its arguments alike [TOOL-56]',
    async (_, edit) => {
      const hints = { read_only: true, destructive: false, idempotent: true, open_world: false };
      const origin = { toolset: 'bank', tool: 't', hints, descriptor_ref: await putValue(content, {}) };
      const from = (tool: Tool, over: object): Tool => ({
        ...tool,
        entry: { ...tool.entry, origin: { ...origin, ...over } },
      });
      const { version, meaning } = recordedVersion(from(make('as it was'), {}));
      const params = { meaning, judged_ref: await putValue(content, version), needs_approval: true };
      const wider = () => {
        const args = z.strictObject({ n: z.int(), note: z.string().optional() });
        return defineTool({ ...plain, approval: 'always', args, run: () => ++ran }) as Tool;
      };
      const context = { approvedBy: 'human:ann' } as const;
      expect(payloadOf(await call(from(wider(), {}), { n: 1 }, { params, context })).is_error).toBe(false);
      expect(ran).toBe(1);
      const now = edit === undefined ? wider() : from(wider(), edit);
      const outcome = payloadOf(await call(now, { n: 1 }, { params, context }));
      expect(outcome.changed?.again?.approval).toEqual({ to: 'human:ann' });
      expect(ran).toBe(1);
    },
  );

  it('a call that was judged without the tool’s approval rule does not run', async () => {
    const { adapter, params } = await callOf(make('x'), { n: 1 }, content);
    const { fingerprint: _, ...unjudged } = params;
    expect(payloadOf(await adapter.doExecute(unjudged, adapterContext(content))).is_error).toBe(true);
    expect(ran).toBe(0);
    const free = await callOf(answering('ran'), {}, content);
    const { fingerprint: __, ...free2 } = free.params;
    expect(await modelReads(content, await free.adapter.doExecute(free2, adapterContext(content)))).toBe('ran');
  });

  it('a call with edited arguments runs with them after another check, and states that they were edited', async () => {
    const asked_ref = await putValue(content, { n: 1 });
    const edited = payloadOf(await call(make('x'), { n: 2 }, { params: { asked_ref } }));
    expect(decode(await getBytes(content, edited.edited_args_ref as never))).toEqual({ n: 2 });
    const wrong = payloadOf(await call(make('x'), { n: 'two' }, { params: { asked_ref } }));
    expect(wrong).toMatchObject({ is_error: true, error_code: 'tool_args_invalid' });
    expect(wrong.edited_args_ref).toBeDefined();
    expect(ran).toBe(1);
  });
});

describe('stopping a tool', () => {
  const soon = () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 20);
    return { context: { signal: controller.signal } };
  };

  it('a handler that stops is cancelled, and its failure is caused by the stop', async () => {
    const obeying = defineTool({
      ...plain,
      run: (_, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted')))),
    });
    expect(await call(obeying, {}, soon())).toEqual({ status: 'cancelled' });
  });

  it('a handler that continues after the stop is awaited, and its answer is the outcome', async () => {
    const late = defineTool({
      ...plain,
      run: () => new Promise<string>((resolve) => setTimeout(() => resolve('done'), 60)),
    });
    expect(await modelReads(content, await call(late, {}, soon()))).toBe('done');
  });

  it('a handler does not start under an aborted signal', async () => {
    let ran = 0;
    const tool = defineTool({ ...plain, run: () => ++ran });
    expect(await call(tool, {}, { context: { signal: AbortSignal.abort() } })).toEqual({ status: 'cancelled' });
    expect(ran).toBe(0);
  });
});

describe('a question to a person from a tool', () => {
  const asking = (question: object) =>
    defineTool({ ...plain, run: async (_, ctx) => ctx.ask({ question: 'How many?', ...question }) });
  const answered = (...values: readonly unknown[]) => {
    const asked: unknown[] = [];
    const left = [...values];
    const ask = async (question: unknown): Promise<QuestionAnswer> => {
      asked.push(question);
      return { how: 'answered', by: 'human:ann', value: left.shift() as never };
    };
    return { asked, over: { context: { ask } } };
  };

  it('a question of a tool returns the answer and its author, as the schema converts it', async () => {
    const { asked, over } = answered(' 5 ');
    const tool = asking({ answer: z.string().trim(), to: 'human:*', within: '1m', options: [{ id: 'a', label: 'A' }] });
    expect(await modelReads(content, await call(tool, {}, over))).toBe(
      '{"by":"human:ann","how":"answered","value":"5"}',
    );
    expect(asked).toEqual([
      {
        question: { question: 'How many?', options: [{ id: 'a', label: 'A' }], answer: { type: 'string' } },
        to: 'human:*',
        expires: 61_000,
      },
    ]);
  });

  it('a question is repeated with the problems until an answer fits, a bounded number of times', async () => {
    const { asked, over } = answered('many', 5);
    expect(await modelReads(content, await call(asking({ answer: z.int() }), {}, over))).toContain('"value":5');
    expect(asked[1]).toMatchObject({ question: { problems: expect.stringContaining('expected') } });
    const never = answered(...Array.from({ length: 9 }, () => 'many'));
    const outcome = await call(asking({ answer: z.int() }), {}, never.over);
    expect(payloadOf(outcome).is_error).toBe(true);
    expect(never.asked).toHaveLength(5);
  });

  it('an unanswered question returns how it ended, and the default where it has one', async () => {
    const over = { context: { ask: async () => ({ how: 'expired' as const }) } };
    expect(await modelReads(content, await call(asking({}), {}, over))).toBe('{"how":"expired"}');
    expect(await modelReads(content, await call(asking({ default: 3 }), {}, over))).toBe('{"how":"default","value":3}');
    expect(await modelReads(content, await call(asking({ default: 3 }), {}))).toBe('{"how":"cancelled"}');
  });
});

describe('looking whether an interrupted call happened', () => {
  const found = async (reconcile: () => unknown, args: unknown = {}) => {
    const tool = defineTool({
      ...plain,
      guarantee: 'reconcile',
      output: z.strictObject({ id: z.string() }),
      run: () => ({ id: 'never' }),
      reconcile: reconcile as never,
    });
    const { adapter, params } = await callOf(tool, args, content);
    return adapter.doReconcile?.(params, adapterContext(content));
  };

  it('a reconcile function reports that a call was done, was not done, or is unknown', async () => {
    const done = await found(() => ({ done: { id: 'r1' } }));
    expect(done).toMatchObject({ verdict: 'happened', outcome: { status: 'ok', payload: { is_error: false } } });
    expect(await modelReads(content, (done as { outcome: unknown }).outcome)).toBe('{"id":"r1"}');
    expect(await found(() => 'not_done')).toEqual({ verdict: 'cannot_happen' });
    for (const unclear of [
      () => 'unknown',
      () => undefined,
      () => null,
      () => ({}),
      () => Promise.reject(new Error('x')),
    ]) {
      expect(await found(unclear)).toEqual({ verdict: 'unknown' });
    }
    expect(await found(() => 'not_done', { wrong: 1 })).toEqual({ verdict: 'unknown' });
  });
});
