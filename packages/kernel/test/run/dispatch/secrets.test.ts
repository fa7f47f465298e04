import type { Ref, Value } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import {
  type Adapter,
  type AdapterContext,
  encode,
  getValue,
  memory,
  type OpenKernelWorldOptions,
  openKernelWorld,
  putValue,
  type World,
} from '../../../src/index.js';
import { ask, lab, once, start, tellCell } from '../../support/lab.js';

const KEY = 'sk-live-0123456789/abc"def';
const utf8 = (text: string) => new TextEncoder().encode(text);

const { app } = lab({
  *call(input, plan) {
    const receipt = yield* plan.awaitReceipt(plan.emitEffect(once, input));
    tellCell(plan, 'got', receipt.status);
  },
  // biome-ignore lint/correctness/useYield: it ends before it could
  *breaks() {
    throw new TypeError('the plan has a defect');
  },
});

/** A world with one adapter, and all that it lets out. */
async function executing(
  doExecute: (context: AdapterContext) => unknown,
  options: Partial<OpenKernelWorldOptions> = {},
) {
  const adapter: Adapter = {
    effect: once as never,
    name: 'leaky',
    doExecute: async (_params, context) => (await doExecute(context)) as never,
  };
  const notes: Value[] = [];
  const errors: (readonly [unknown, unknown])[] = [];
  const store = memory();
  const world = await openKernelWorld({
    store,
    app,
    adapters: [adapter],
    secrets: async () => KEY,
    onProgress: (_effect, note) => notes.push(note),
    onError: (...told) => errors.push(told),
    ...options,
  });
  return { world, notes, errors, run: (plan: string) => begin(world, plan) };
}

async function begin(world: World, plan: string) {
  await ask(world, 'x', [start(plan)]);
  await world.pump();
  await new Promise((resolve) => setTimeout(resolve, 10));
  await world.pump();
}

/** Every byte that the world keeps, as text. */
async function everything(world: World): Promise<string> {
  const texts: string[] = [];
  for await (const frame of world.frames(0)) {
    texts.push(Buffer.from(encode(frame.records, 64)).toString('latin1'));
    if (frame.seq >= world.head.seq) break;
  }
  for await (const ref of world.content.list())
    texts.push(Buffer.from((await world.content.get(ref)) ?? []).toString());
  return texts.join('\n');
}

async function receiptOf(world: World) {
  for await (const { records, seq } of world.frames(0)) {
    const [record] = records;
    if (record?.kind === 'receipt') return record.receipt;
    if (seq >= world.head.seq) break;
  }
  throw new Error('no receipt');
}

describe('given an adapter that returns a secret', () => {
  const leaks: Readonly<Record<string, (context: AdapterContext, key: string) => unknown>> = {
    'in its payload': (_context, key) => ({ status: 'ok', payload: { got: { [key]: [`a ${key}`, utf8(key)] } } }),
    'in bytes that it puts': async ({ content }, key) => ({
      status: 'ok',
      payload: { got: await content.put(utf8(`{"key":${JSON.stringify(key)}}`)) },
    }),
    'in a value that it puts': async ({ content }, key) => ({
      status: 'ok',
      payload: { got: await putValue(content, { [key]: [key] }) },
    }),
    'in a stream that it puts': async ({ content }, key) => {
      async function* pieces() {
        for (const byte of utf8(`a ${key} b`)) yield Uint8Array.of(byte);
      }
      return { status: 'ok', payload: { got: (await content.putStream(pieces())).ref } };
    },
    'in what it throws': (_context, key) => {
      throw new Error(`401 for ${key}`, { cause: { headers: { authorization: `Bearer ${key}` } } });
    },
    'in the error of its outcome': (_context, key) => ({
      status: 'error',
      code: 'adapter_error',
      error: new Error(`401 for ${key}`),
    }),
    'in pieces of what it reports': (context, key) => {
      for (const letter of `my key is ${key}.`) context.progress({ type: 'delta', index: 0, text: letter });
      context.progress({ said: [key] });
      return { status: 'ok', payload: { got: null } };
    },
    'in what it reports as an error': (context, key) => {
      context.report?.(new Error(key));
      return { status: 'ok', payload: { got: null } };
    },
  };

  it.each(Object.entries(leaks))('a secret %s is neither stored nor shown [CON-16]', async (_, leak) => {
    const done = await executing(async (context) => leak(context, await context.secret('KEY')));
    await done.run('call');
    const kept = await everything(done.world);
    const told = JSON.stringify([done.notes, done.errors.map(([error]) => textsOf(error))]);
    const all = `${kept}\n${told}`;
    for (const form of [KEY, KEY.slice(3, 20), JSON.stringify(KEY).slice(1, -1)]) expect(all).not.toContain(form);
    expect(all).toContain('[secret]');
    await done.world.close();
  });

  it('a secret that was declared at the opening is concealed as well', async () => {
    const done = await executing(async () => ({ status: 'ok', payload: { got: `it is ${KEY}` } }), { conceal: [KEY] });
    await done.run('call');
    expect((await receiptOf(done.world)).payload).toEqual({ got: 'it is [secret]' });
    await done.world.close();
  });

  it('content without a secret is stored byte for byte', async () => {
    const value = { a: [1, 'x'], b: utf8('y') };
    const done = await executing(
      async ({ content }) => ({ status: 'ok', payload: { got: await putValue(content, value) } }),
      { conceal: [KEY] },
    );
    await done.run('call');
    const { got: ref } = (await receiptOf(done.world)).payload as unknown as { got: Ref };
    expect(await getValue(done.world.content, ref)).toEqual(value);
    await done.world.close();
  });
});

function textsOf(error: unknown): unknown {
  return error instanceof Error ? [error.message, error.stack, error.cause] : error;
}

describe('given an error at an adapter', () => {
  it('onError gets the original error, and the receipt gets its text and the texts of its causes [EFF-24]', async () => {
    const cause = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' });
    const thrown = new TypeError('fetch failed', { cause });
    const done = await executing(() => {
      throw thrown;
    });
    await done.run('call');
    const { status, code, error_ref } = await receiptOf(done.world);
    expect([status, code]).toEqual(['error', 'adapter_error/threw']);
    expect(await getValue(done.world.content, error_ref as Ref)).toEqual({
      name: 'TypeError',
      message: 'fetch failed',
      causes: [{ name: 'Error', message: 'connect ECONNREFUSED 127.0.0.1:1', code: 'ECONNREFUSED' }],
    });
    expect(done.errors).toHaveLength(1);
    expect(done.errors[0]?.[0]).toBe(thrown);
    expect(done.errors[0]?.[1]).toMatchObject({
      source: 'effect',
      name: once.name,
      adapter: 'leaky',
      attempt: 1,
      status: 'error',
      code: 'adapter_error/threw',
    });
    await done.world.close();
  });

  it('the stored text of an endless error is bounded', async () => {
    const done = await executing(() => ({ status: 'outcome_unknown', error: 'x'.repeat(1_000_000) }));
    await done.run('call');
    const { error_ref } = await receiptOf(done.world);
    const { message } = (await getValue(done.world.content, error_ref as Ref)) as { message: string };
    expect(message.length).toBe(4_096);
    await done.world.close();
  });

  it('an effect ends normally when its adapter throws a value that is not an error, or onError throws', async () => {
    for (const thrown of [undefined, null, 'text', { message: 1 }, Object.freeze(new Error('frozen'))]) {
      const done = await executing(
        () => {
          throw thrown;
        },
        {
          onError: () => {
            throw new Error('mine');
          },
        },
      );
      await done.run('call');
      expect((await receiptOf(done.world)).code).toBe('adapter_error/threw');
      await done.world.close();
    }
  });

  it('onError gets a copy of an error without its secret, of the same class, and a socket is only named', async () => {
    class ApiError extends Error {
      override readonly name = 'ApiError';
      constructor(
        readonly request: object,
        readonly socket: object,
      ) {
        super(`for ${KEY}`);
      }
    }
    class Socket {
      key = KEY;
    }
    const thrown = new ApiError({ headers: { authorization: KEY } }, new Socket());
    const done = await executing(() => ({ status: 'error', code: 'adapter_error', error: thrown }), {
      conceal: [KEY],
    });
    await done.run('call');
    const told = done.errors[0]?.[0] as ApiError;
    expect(told).toBeInstanceOf(ApiError);
    expect([told.message, told.request, told.socket]).toEqual([
      'for [secret]',
      { headers: { authorization: '[secret]' } },
      '[Socket]',
    ]);
    expect(thrown.message).toBe(`for ${KEY}`);
    await done.world.close();
  });
});

describe('given a plan that throws', () => {
  it('onError gets the error of a plan once its fault is durable, and the journal gets the code alone [EFF-24]', async () => {
    const done = await executing(() => ({ status: 'ok', payload: { got: null } }));
    await done.run('breaks');
    expect(done.errors.map(([error, origin]) => [(error as Error).message, origin])).toEqual([
      ['the plan has a defect', expect.objectContaining({ source: 'plan', code: 'threw' })],
    ]);
    expect(await everything(done.world)).not.toContain('defect');
    await done.world.close();
  });
});

describe('given options that hold secrets', () => {
  it('an error about invalid options does not repeat their secrets', async () => {
    const wrong: Record<string, unknown>[] = [
      { secrets: { KEY } },
      { secrets: KEY },
      { conceal: KEY },
      { conceal: [KEY, 'short'] },
      { conceal: { KEY } },
      { onError: { headers: { authorization: KEY } } },
      { adapters: [{ name: 'x', options: { apiKey: KEY, env: { A: KEY } } }] },
    ];
    for (const options of wrong) {
      const error = (await openKernelWorld({ store: memory(), app, ...options } as never).catch(
        (thrown) => thrown,
      )) as Error;
      const { inspect } = await import('node:util');
      expect(`${error.message} ${error.stack} ${inspect(error, { depth: 20 })}`).not.toContain('sk-live');
      expect(error.message).toContain('invalid_argument');
    }
  });
});
