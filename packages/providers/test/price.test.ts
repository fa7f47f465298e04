import { memory, type RepriseError } from '@reprise/kernel';
import { defineAgent, openWorld } from 'reprise';
import { describe, expect, it } from 'vitest';
import {
  aiSdk,
  anthropicMessages,
  type ModelClient,
  openAiCompatible,
  openAiResponses,
  relay,
  script,
  scriptBy,
  withPrice,
} from '../src/index.js';

const PRICE = { in: 3, out: 15 };
const model = { specificationVersion: 'v3', provider: 'p', modelId: 'm', doStream: () => undefined } as never;

/** The recorded cost of one call with this usage. */
async function costOf(price: { in: number; out: number; cachedIn?: number }, usage: object): Promise<number> {
  const main = withPrice(script({ text: 'Well.', usage }), price);
  const agent = defineAgent({ name: 'a', model: 'main', instructions: 'Talk.' });
  await using world = await openWorld({ store: memory(), models: { main }, agents: [agent] });
  const { usage: used } = await (await world.session('s', agent).send('Go')).result();
  return used.micro_money;
}

/** The message and the details of the error that an attempt throws. */
async function refusal(attempt: () => Promise<unknown>): Promise<Partial<RepriseError>> {
  return attempt().then(
    () => ({ message: 'was not refused' }),
    (error: RepriseError) => ({ code: error.code, details: error.details }),
  );
}

describe('the price of a model', () => {
  it.each([
    ['a thousand tokens in and a hundred out', PRICE, { tokens_in: 1_000, tokens_out: 100 }, 4_500],
    ['one token at 0.15, rounded up', { in: 0.15, out: 0.6 }, { tokens_in: 1 }, 1],
    [
      'cached tokens, at their own price',
      { in: 3, out: 15, cachedIn: 0.3 },
      { tokens_in: 1_000, tokens_cached: 900 },
      570,
    ],
    ['a price without a binary fraction', { in: 0.1, out: 0.7 }, { tokens_in: 3_000_000, tokens_out: 10 }, 300_007],
    ['six decimals', { in: 0.000001, out: 0 }, { tokens_in: 1_000_000 }, 1],
    ['a free model', { in: 0, out: 0 }, { tokens_in: 1_000_000, tokens_out: 5 }, 0],
    ['the cost that the provider reports', PRICE, { tokens_in: 1, micro_money: 7 }, 7],
    ['uncounted tokens', PRICE, {}, 0],
  ])('the cost is in whole micro-dollars for %s [LIM-13]', async (_what, price, usage, micro) => {
    expect(await costOf(price, usage)).toBe(micro);
  });

  it('every client takes a price, as an option and in its profile', () => {
    const clients: readonly ((options: object) => ModelClient)[] = [
      (options) => openAiCompatible({ baseUrl: 'http://127.0.0.1', model: 'm', ...options }),
      (options) => openAiResponses('m', options),
      (options) => anthropicMessages('m', options),
      (options) => aiSdk(model, options),
      (options) => relay(options),
      (options) => scriptBy(() => undefined, options),
    ];
    for (const client of clients) {
      expect(client({ price: PRICE }).profile.price).toEqual(PRICE);
      expect(client({ profile: { price: PRICE } }).profile.price).toEqual(PRICE);
      expect(client({}).profile.price).toBeUndefined();
    }
  });

  it.each([
    ['negative', { in: -1, out: 1 }],
    ['not a number', { in: '3', out: 1 }],
    ['without an output price', { in: 3 }],
    ['with more decimals than are counted', { in: 0.0000001, out: 1 }],
    ['more than any model costs', { in: 1, out: Number.POSITIVE_INFINITY }],
  ])('a price is refused when it is %s', (_what, price) => {
    expect(() => openAiResponses('m', { price: price as never })).toThrow(/price\.(in|out) is not a price/);
  });
});

describe('a limit in money', () => {
  const priced = () =>
    withPrice(
      scriptBy(() => ({ text: 'Well.', usage: { tokens_in: 100, tokens_out: 10 } })),
      PRICE,
    );
  const free = () => scriptBy(() => ({ text: 'Well.' }));
  const plain = defineAgent({ name: 'plain', model: 'main', instructions: 'Talk.' });
  const dear = defineAgent({ name: 'dear', model: 'main', instructions: 'Talk.', limits: { usd: 1 } });
  const open = (models: Record<string, ModelClient>, ...agents: never[]) =>
    openWorld({ store: memory(), models, agents });

  it('a run ends when it has used its money limit, by the price of its model [LIM-1, LIM-13]', async () => {
    const main = withPrice(
      scriptBy(() => ({ calls: [{ tool: 'none', args: {} }], usage: { tokens_in: 1_000, tokens_out: 100 } })),
      PRICE,
    );
    const agent = defineAgent({
      name: 'a',
      model: 'main',
      instructions: 'Go on.',
      loop: false,
      options: { maxTokens: 100 },
      limits: { usd: 0.02 },
    });
    await using world = await openWorld({ store: memory(), models: { main }, agents: [agent] });
    const { stop, usage } = await (await world.session('s', agent).send('Go')).result();
    expect(stop).toEqual({ kind: 'LimitsExceeded', limit: 'max_micro_money' });
    expect(usage.micro_money).toBe(18_000); // a fourth call of 4,500 fits, a fifth does not
  });

  it.each([
    ['of an agent, when the world is opened', () => open({ main: free() }, dear as never)],
    [
      'above an agent whose model has none',
      () => {
        const helper = defineAgent({ name: 'helper', model: 'other', instructions: 'Help.' });
        const lead = defineAgent({
          name: 'lead',
          model: 'main',
          instructions: 'Lead.',
          spawns: [helper],
          limits: { usd: 1 },
        });
        return open({ main: priced(), other: free() }, lead as never);
      },
    ],
    [
      'of an agent that is defined while the world runs',
      async () => {
        await using world = await open({ main: free() }, plain as never);
        await world.define(dear);
      },
    ],
    [
      'that is stated for a session',
      async () => {
        await using world = await open({ main: free() }, plain as never);
        const session = world.session('s', plain);
        await (await session.send('Go')).result();
        await session.reconfigure({ limits: { usd: 1 } });
      },
    ],
    [
      'that is stated for a child',
      async () => {
        await using world = await open({ main: free() }, plain as never);
        await world.session('s', plain).spawn(plain, 'Go', { budget: { usd: 1 } });
      },
    ],
  ])('a money limit %s is refused where the model has no price, with a remedy [LIM-13]', async (_what, attempt) => {
    const { code, details } = await refusal(attempt);
    expect(code).toBe('invalid_definition');
    expect(details?.hint).toMatch(/Give the client of ".*" a price: \{ in, out \}/);
  });

  it('a switch to a model without a price is refused while a money limit is in force [LIM-13]', async () => {
    await using world = await open({ main: priced(), other: free() }, dear as never);
    const session = world.session('s', dear);
    await (await session.send('Go')).result();
    expect(await session.reconfigure({ model: 'other' })).toMatchObject({ code: 'model_without_price' });
  });
});
