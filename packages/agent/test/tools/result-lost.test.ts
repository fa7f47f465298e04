/** Calls that were done and whose results cannot be kept: nobody is told that they failed, so nobody makes them again. */
import { type ContentStore, memory, type Store } from '@reprise/kernel';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineAgent, defineTool, ResultLost, type Tool, type ToolContext, toolError } from '../../src/index.js';
import { play, type Step } from '../api/scene.js';

const PAY: Step = { calls: [{ id: 'k', tool: 'pay' }] };
const ANSWER: Step = { text: 'Done.' };

/** A tool that charges, and then answers something that the compiler would have refused. */
function payingWith(answer: () => unknown, more: object = {}): { tool: Tool; charges: () => number } {
  let charges = 0;
  const run = (): never => {
    charges++;
    return answer() as never;
  };
  const tool = defineTool({ name: 'pay', description: 'Pays.', args: z.strictObject({}), run, ...more });
  return { tool: tool as unknown as Tool, charges: () => charges };
}

async function told(tool: Tool): Promise<string | undefined> {
  const agent = defineAgent({ name: 'payer', model: 'main', instructions: 'Pay.', tools: [tool] });
  let last: string | undefined;
  await play({ agents: [agent], steps: [PAY, ANSWER] }, async ({ world, llm }) => {
    await (await world.session('s', agent).send('Go')).result();
    last = llm.asked.at(-1)?.transcript.at(-1);
  });
  return last;
}

const cycle: { self?: unknown } = {};
cycle.self = cycle;
let doubled: unknown[] = [];
for (let n = 0; n < 40; n++) doubled = [doubled, doubled];
let deep: unknown = 1;
for (let n = 0; n < 10_000; n++) deep = [deep];

function refuses(): never {
  throw new Error('no');
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function lockedStream(): ReadableStream {
  const stream = new ReadableStream();
  stream.getReader();
  return stream;
}

describe('a call that was done', () => {
  it.each<[string, () => unknown, string]>([
    ['a date', () => new Date(0), '"1970-01-01T00:00:00.000Z"'],
    ['a date in data', () => ({ at: new Date(0) }), '{"at":"1970-01-01T00:00:00.000Z"}'],
    ['an address', () => new URL('https://a.example/'), '"https://a.example/"'],
    ['what says itself how it is kept', () => ({ toJSON: () => ({ id: 7 }) }), '{"id":7}'],
    ['nothing in data', () => ({ a: undefined, b: [undefined, 1] }), '{"b":[null,1]}'],
    ['half of a character', () => ({ a: '\ud83d' }), '{"a":"\ufffd"}'],
    ['half of a character in a key', () => ({ '\ud83d': 1 }), '{"\ufffd":1}'],
    [
      'something of a class',
      () =>
        new (class Order {
          id = 7;
          total() {
            return 1;
          }
        })(),
      '{"id":7}',
    ],
  ])('a handler’s %s is stored in its JSON form [TOOL-37]', async (_what, answer, text) => {
    expect(await told(payingWith(answer).tool)).toBe(`tool k: ${text}`);
  });

  it.each<[string, () => unknown]>([
    ['a map', () => new Map([['a', 1]])],
    ['a set in data', () => ({ a: new Set([1]) })],
    ['NaN', () => Number.NaN],
    ['infinity in a list', () => [Number.POSITIVE_INFINITY]],
    ['a cycle', () => cycle],
    ['shared parts without end', () => doubled],
    ['lists in lists in lists', () => deep],
    ['a function', () => () => 1],
    ['a function in data', () => ({ a: () => 1 })],
    ['a large integer', () => 10n],
    ['a symbol', () => Symbol('a')],
    ['an error', () => new Error('e')],
    ['bytes', () => new Uint8Array(3)],
    [
      'a getter that throws',
      () => ({
        get a() {
          throw new Error('no');
        },
      }),
    ],
    [
      'a toJSON that throws',
      () => ({
        toJSON() {
          throw new Error('no');
        },
      }),
    ],
    [
      'a proxy that throws',
      () =>
        new Proxy(
          {},
          {
            has() {
              throw new Error('no');
            },
            ownKeys() {
              throw new Error('no');
            },
          },
        ),
    ],
    [
      'a stream that gives numbers',
      async function* () {
        yield 'begun\n';
        yield 1;
      } as () => unknown,
    ],
    ['a proxy that refuses every read', () => new Proxy({}, { get: refuses })],
    ['a proxy that was revoked', revoked],
    ['data whose `then` cannot be read', () => Object.defineProperty({}, 'then', { get: refuses })],
    ['a stream that something else reads', lockedStream],
    ['a web stream that something else reads', () => ({ getReader: refuses })],
    ['a stream that cannot be begun', () => ({ [Symbol.asyncIterator]: refuses })],
    ['what says that its result is lost', () => new ResultLost('it broke off')],
  ])('a done call that answers %s is reported as done, with its result lost [TOOL-37]', async (_what, answer) => {
    const { tool, charges } = payingWith(answer);
    const text = await told(tool);
    expect(text).toMatch(
      /^tool k: (begun\n)?outcome: done, result lost\nThe tool pay was done; its result could not be kept: /,
    );
    expect(text).toContain('Do not call it again');
    expect(charges()).toBe(1);
  });

  it('a done call whose answer does not fit its output schema is reported as done, with its result lost [TOOL-37]', async () => {
    const { tool } = payingWith(() => ({ id: 'seven' }), { output: z.strictObject({ id: z.int() }) });
    expect(await told(tool)).toMatch(
      /^tool k: outcome: done, result lost\n.*does not fit the tool's own output schema/s,
    );
  });

  it('a handler that throws ResultLost did not fail; a handler that throws anything else did', async () => {
    const thrown = (error: Error) => () => {
      throw error;
    };
    expect(await told(payingWith(thrown(new ResultLost('gone'))).tool)).toMatch(/^tool k: outcome: done, result lost/);
    expect(await told(payingWith(thrown(new Error('gone'))).tool)).toMatch(/^error k: The tool pay failed: gone/);
  });

  it('the types permit only answers that can be stored', () => {
    const spec = { name: 'x', description: '', args: z.strictObject({}) } as const;
    defineTool({ ...spec, run: () => ({ at: new Date(), list: [{ a: 1 }], none: null }) });
    // @ts-expect-error a map has no form in JSON
    defineTool({ ...spec, run: () => new Map([['a', 1]]) });
    // @ts-expect-error nor has a large integer, wherever it stands
    defineTool({ ...spec, run: async () => ({ rows: [{ id: 10n }] }) });
    // @ts-expect-error nor a function
    defineTool({ ...spec, run: () => ({ act: () => 1 }) });
  });
});

/** A store that keeps nothing of a certain beginning, and everything else. */
function refusing(begins: string): Store {
  const inner = memory();
  const isRefused = (bytes: Uint8Array) => new TextDecoder().decode(bytes).startsWith(begins);
  const over = (content: ContentStore): ContentStore =>
    Object.assign(Object.create(content) as ContentStore, {
      put: async (bytes: Uint8Array) => {
        if (isRefused(bytes)) throw new Error('the disk is full');
        return content.put(bytes);
      },
      putStream: async (pieces: AsyncIterable<Uint8Array>) => {
        const all: Uint8Array[] = [];
        for await (const piece of pieces) all.push(piece);
        if (all.some(isRefused)) throw new Error('the disk is full');
        return content.put(Buffer.concat(all)).then((ref) => ({ ref, bytes: Buffer.concat(all).length }));
      },
    });
  return {
    ...inner,
    open: async (...args: Parameters<Store['open']>) => {
      const opened = await inner.open(...args);
      return { ...opened, content: over(opened.content) } as typeof opened;
    },
  };
}

async function* streamed(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}

/** A tool that charges, and then does this. */
function chargingThen(act: (ctx: ToolContext) => unknown): { tool: Tool; charges: () => number } {
  let charges = 0;
  const tool = defineTool({
    name: 'pay',
    description: 'Pays.',
    args: z.strictObject({}),
    run: (_, ctx) => {
      charges++;
      return act(ctx as ToolContext) as never;
    },
  });
  return { tool: tool as unknown as Tool, charges: () => charges };
}

describe('a call whose handler cannot store its result', () => {
  const bytes = new TextEncoder().encode('unkept');
  const put = (ctx: ToolContext, what: Uint8Array | AsyncIterable<Uint8Array> = bytes) =>
    ctx.put({ path: 'bill.txt', bytes: what });

  it.each<[string, (ctx: ToolContext) => unknown]>([
    ['a file', (ctx) => put(ctx)],
    ['a file as a stream', (ctx) => put(ctx, streamed('unkept'))],
    ['content', (ctx) => ctx.content.put(bytes)],
    ['content as a stream', (ctx) => ctx.content.putStream(streamed('unkept'))],
    [
      'a file, and throws something else',
      (ctx) =>
        put(ctx).catch(() => {
          throw new Error('no bill');
        }),
    ],
    [
      'a file within its stream',
      async function* (ctx) {
        yield 'begun\n';
        await put(ctx);
      },
    ],
    ['a file of a name beyond all bounds', (ctx) => ctx.put({ path: 'x'.repeat(2_000), bytes: streamed('kept') })],
    [
      'too many files',
      async (ctx) => {
        for (let n = 0; n < 65; n++) await ctx.put({ path: `${n}`, bytes: streamed('kept') });
      },
    ],
    ['a change of a name beyond all bounds', (ctx) => ctx.changed('x'.repeat(2_000), null, null)],
  ])('a call that cannot store its files ends as unknown and never as failed: %s [TOOL-41]', async (_what, act) => {
    const { tool, charges } = chargingThen(act);
    const agent = defineAgent({ name: 'payer', model: 'main', instructions: 'Pay.', tools: [tool] });
    await play({ agents: [agent], steps: [PAY, ANSWER], store: refusing('unkept') }, async ({ world, llm }) => {
      await (await world.session('s', agent).send('Go')).result();
      expect(llm.asked.at(-1)?.transcript.at(-1)).toMatch(/unknown/);
    });
    expect(charges()).toBe(1);
  });

  it.each<[string, (ctx: ToolContext) => unknown, RegExp]>([
    [
      'goes on without it',
      async (ctx) => {
        await put(ctx).catch(() => undefined);
        return 'paid';
      },
      /^tool k: paid$/,
    ],
    [
      'says itself that it failed',
      async (ctx) => {
        await put(ctx).catch(() => undefined);
        return toolError('refused');
      },
      /^error k: refused$/,
    ],
    [
      'hands over a source that fails',
      (ctx) =>
        put(
          ctx,
          (async function* () {
            yield new Uint8Array(1);
            throw new Error('no such page');
          })(),
        ),
      /^error k: The tool pay failed: no such page$/,
    ],
  ])('a call with a lost file ends as its handler states when it %s [TOOL-41]', async (_what, act, expected) => {
    const agent = defineAgent({
      name: 'payer',
      model: 'main',
      instructions: 'Pay.',
      tools: [chargingThen(act).tool],
    });
    await play({ agents: [agent], steps: [PAY, ANSWER], store: refusing('unkept') }, async ({ world, llm }) => {
      await (await world.session('s', agent).send('Go')).result();
      expect(llm.asked.at(-1)?.transcript.at(-1)).toMatch(expected);
    });
  });
});
