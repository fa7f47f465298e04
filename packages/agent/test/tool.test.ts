import { isRepriseError } from '@reprise/contracts';
import type { AdapterContext, ContentStore, Outcome } from '@reprise/kernel';
import { encode, memory } from '@reprise/kernel';
import { beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { Tool, ToolCallReceipt } from '../src/index.js';
import {
  defineTool,
  describeTools,
  putValue,
  readText,
  toolCallAdapter,
  toolError,
  toolJsonSchema,
} from '../src/index.js';

let content: ContentStore;
beforeEach(async () => {
  content = (await memory().open()).content;
});

async function call(tool: Tool, args: unknown, over: Partial<AdapterContext> = {}): Promise<Outcome<ToolCallReceipt>> {
  const context: AdapterContext = {
    idempotencyKey: 'a'.repeat(64),
    attempt: 1,
    deadline: null,
    signal: new AbortController().signal,
    content,
    progress: () => {},
    rights: async () => ({ may: {} }),
    ask: async () => ({ how: 'cancelled' }),
    secret: async (name) => `value of ${name}`,
    ...over,
  };
  const params = {
    tool: tool.name,
    call_id: 'c1',
    args_ref: await putValue(content, args as never),
    delivery: tool.delivery,
  };
  return (await toolCallAdapter([tool]).doExecute(params, context)) as Outcome<ToolCallReceipt>;
}

async function modelReads(outcome: Outcome<ToolCallReceipt>): Promise<string> {
  if (outcome.status !== 'ok') throw new Error(`the outcome is ${outcome.status}`);
  return readText(content, outcome.payload.model_output_ref);
}

const noArgs = z.strictObject({});
const add = defineTool({
  name: 'add',
  description: 'Adds two integers.',
  args: z.strictObject({ a: z.int(), b: z.int().default(1) }),
  delivery: 'idempotent',
  run: ({ a, b }) => a + b,
});

describe('calling a tool', () => {
  it('gives the handler parsed arguments and the model its answer', async () => {
    const outcome = await call(add, { a: 2 });
    expect(outcome).toMatchObject({
      status: 'ok',
      payload: { is_error: false, truncation_meta: { truncated: false } },
    });
    expect(await modelReads(outcome)).toBe('3');
  });

  it('shows data as JSON whose key order does not depend on the handler', async () => {
    const either = (value: never) => defineTool({ name: 't', description: '', args: noArgs, run: () => value });
    const one = await modelReads(await call(either({ b: 1, a: [null, 'x'] } as never), {}));
    expect(one).toBe('{"a":[null,"x"],"b":1}');
    expect(await modelReads(await call(either({ a: [null, 'x'], b: 1 } as never), {}))).toBe(one);
  });

  it('keeps the whole output for people and a bounded one for the model', async () => {
    const loud = defineTool({ name: 'loud', description: '', args: noArgs, run: () => 'é'.repeat(50_000) });
    const outcome = await call(loud, {});
    expect(outcome).toMatchObject({
      payload: { truncation_meta: { original_bytes: 100_000, truncated: true, policy_id: 'model/head_tail@1' } },
    });
    if (outcome.status !== 'ok') throw new Error('not ok');
    expect(await readText(content, outcome.payload.operator_output_ref)).toBe('é'.repeat(50_000));
    const shown = await readText(content, outcome.payload.model_output_ref);
    expect(shown).toContain(outcome.payload.operator_output_ref.toString());
    expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(16 * 1024);
  });

  it('refuses a tool that is not there, as a failed receipt', async () => {
    const params = {
      tool: 'nope',
      call_id: 'c',
      args_ref: await putValue(content, {}),
      delivery: 'idempotent' as const,
    };
    const outcome = await toolCallAdapter([add]).doExecute(params, {} as AdapterContext);
    expect(outcome).toEqual({ status: 'error', code: 'tool_not_found', retryable: false });
  });

  it('tells the model what is wrong with its arguments, and does not run the handler', async () => {
    let ran = 0;
    const tool = defineTool({ name: 't', description: '', args: z.strictObject({ n: z.int() }), run: () => ++ran });
    for (const wrong of [{}, { n: 'x' }, { n: 1, extra: 1 }, 'text', null, [1]]) {
      const outcome = await call(tool, wrong);
      expect(outcome).toMatchObject({ status: 'ok', payload: { is_error: true, error_code: 'tool_args_invalid' } });
      expect(await modelReads(outcome)).toMatch(/do not fit the schema of t/);
    }
    expect(ran).toBe(0);
  });

  it('tells the model about a handler that throws, refuses or returns what has no canonical form', async () => {
    const failing: [() => unknown, RegExp][] = [
      [() => Promise.reject(new Error('disk on fire')), /The tool t failed: disk on fire/],
      [() => toolError('Refused: not today.'), /^Refused: not today\.$/],
      [() => Number.NaN, /invalid_value/],
      [() => new Uint8Array(3), /returned bytes/],
      [() => undefined, /invalid_value/],
      [() => Promise.reject('x'.repeat(50_000)), /^The tool t failed: x{100}/],
    ];
    for (const [run, expected] of failing) {
      const outcome = await call(defineTool({ name: 't', description: '', args: noArgs, run: run as never }), {});
      expect(outcome).toMatchObject({ status: 'ok', payload: { is_error: true, error_code: 'adapter_error' } });
      const shown = await modelReads(outcome);
      expect(shown).toMatch(expected);
      expect(shown.length).toBeLessThan(2_100);
    }
  });
});

describe('stopping a tool', () => {
  const waiting = (over: { delivery?: 'idempotent' | 'at_most_once'; timeoutMs?: number; obey: boolean }) =>
    defineTool({
      name: 'wait',
      description: '',
      args: noArgs,
      ...(over.delivery ? { delivery: over.delivery } : {}),
      ...(over.timeoutMs ? { timeoutMs: over.timeoutMs } : {}),
      run: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          if (over.obey) signal.addEventListener('abort', () => reject(new Error('aborted')));
        }),
    });
  const soon = () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 20);
    return { signal: controller.signal };
  };

  it('a handler that stops in time gives timeout or cancelled', async () => {
    expect(await call(waiting({ timeoutMs: 20, obey: true }), {})).toEqual({
      status: 'timeout',
      code: 'adapter_timeout',
    });
    expect(await call(waiting({ obey: true }), {}, soon())).toEqual({ status: 'cancelled' });
  });

  it('a handler that does not stop gives an unknown outcome, unless repeating it is harmless', async () => {
    expect(await call(waiting({ timeoutMs: 20, obey: false }), {})).toEqual({ status: 'outcome_unknown' });
    expect(await call(waiting({ obey: false }), {}, soon())).toEqual({ status: 'outcome_unknown' });
    const idempotent = waiting({ timeoutMs: 20, delivery: 'idempotent', obey: false });
    expect(await call(idempotent, {})).toEqual({ status: 'timeout', code: 'adapter_timeout' });
  });

  it('an answer that comes in spite of the stop is what happened', async () => {
    const late = defineTool({
      name: 'late',
      description: '',
      args: noArgs,
      timeoutMs: 10,
      run: () => new Promise<string>((resolve) => setTimeout(() => resolve('done'), 60)),
    });
    expect(await modelReads(await call(late, {}))).toBe('done');
  });

  it('does not start under a signal that is already aborted', async () => {
    let ran = 0;
    const tool = defineTool({ name: 't', description: '', args: noArgs, run: () => ++ran });
    expect(await call(tool, {}, { signal: AbortSignal.abort() })).toEqual({ status: 'cancelled' });
    expect(ran).toBe(0);
  });
});

describe('defining a tool', () => {
  const run = () => 'x';

  it('describes its arguments with the same bytes whatever the order they were written in', () => {
    const one = defineTool({ name: 't', description: 'd', args: z.strictObject({ b: z.string(), a: z.int() }), run });
    const two = defineTool({ name: 't', description: 'd', args: z.strictObject({ b: z.string(), a: z.int() }), run });
    expect(Buffer.from(encode(toolJsonSchema(one))).equals(encode(toolJsonSchema(two)))).toBe(true);
    expect(describeTools([one])).toEqual([
      {
        name: 't',
        description: 'd',
        delivery: 'at_most_once',
        schema: {
          type: 'object',
          properties: {
            a: { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
            b: { type: 'string' },
          },
          required: ['b', 'a'],
          additionalProperties: false,
        },
      },
    ]);
  });

  it.each([
    ['an empty name', { name: '' }],
    ['a name no provider takes', { name: 'read file' }],
    ['a name that is no text', { name: undefined }],
    ['a long description', { description: 'x'.repeat(1025) }],
    ['arguments that are no object', { args: z.string() }],
    ['arguments JSON Schema cannot tell', { args: z.strictObject({ when: z.date() }) }],
    ['something else than a schema', { args: { path: 'string' } }],
    ['no handler', { run: undefined }],
    ['delivery reconcile', { delivery: 'reconcile' }],
    ['a timeout of zero', { timeoutMs: 0 }],
  ])('refuses %s', (_, over) => {
    const spec = { name: 't', description: 'd', args: noArgs, run, ...over };
    expect(() => defineTool(spec as never)).toThrow(
      expect.toSatisfy((error) => isRepriseError(error, 'invalid_definition')),
    );
  });

  it('refuses two tools of one name', () => {
    expect(() => toolCallAdapter([add, add])).toThrow(/duplicate_definition/);
  });
});
