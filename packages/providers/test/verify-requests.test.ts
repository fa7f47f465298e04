import { AGENT_POLICY, defineAgent, defineTool, openAgentWorld } from '@reprise/agent';
import { memory, type Store } from '@reprise/kernel';
import { beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { draftRequest } from '../src/generate/formats.js';
import {
  llmGenerateAdapter,
  type ModelClient,
  script,
  validateRequest,
  verifyRequests,
  WIRE_FORMATS,
} from '../src/index.js';

const add = defineTool({
  name: 'add',
  description: 'Adds.',
  args: z.strictObject({ a: z.int(), b: z.int() }),
  run: ({ a, b }) => a + b,
});
const agent = defineAgent({ name: 'sums', model: 'main', instructions: 'Add.', tools: [add] });

const counter = defineAgent({
  name: 'counter',
  model: 'main',
  instructions: 'Count.',
  tools: [add],
  compaction: { keep: 1 },
});

let store: Store;

/** Two runs of three model calls, recorded. */
async function record(model: ModelClient): Promise<void> {
  await using world = await openAgentWorld({
    store,
    agents: [agent],
    models: { main: {} },
    policy: AGENT_POLICY,
    llm: (judge) => llmGenerateAdapter({ main: model }, { judge }),
  });
  const session = world.session('me', agent);
  await (await session.send('2 + 3?')).result();
  await (await session.send('Thanks.')).result();
}

const steps = () =>
  script(
    { calls: [{ tool: 'add', args: { a: 2, b: 3 } }], reasoning: 'Sums.' },
    { text: 'It is 5.' },
    { text: 'You are welcome.' },
  );

beforeEach(() => {
  store = memory();
});

describe('the requests of a recorded world', () => {
  it('rebuilt requests equal the sent requests byte for byte [MOD-12]', async () => {
    const model = steps();
    await record(model);
    model.done();
    expect(model.requests.map(({ last }) => last)).toEqual(['2 + 3?', '5', 'Thanks.']);
    const report = await verifyRequests(await store.openReadonly(), { main: script() });
    expect(report).toEqual({ equal: 3, different: [], uncompared: [] });
  });

  it('requests after a summary, and the request for a summary, can be rebuilt', async () => {
    const model = script(
      { text: 'One.' },
      { text: 'Two.' },
      { text: 'They counted.', calls: [{ tool: 'add', args: { a: 1, b: 1 } }] },
      { text: 'Three.' },
    );
    await using world = await openAgentWorld({
      store,
      agents: [counter],
      models: { main: {} },
      policy: AGENT_POLICY,
      llm: (judge) => llmGenerateAdapter({ main: model }, { judge }),
    });
    const session = world.session('me', counter);
    for (const words of ['Count.', 'On.']) await (await session.send(words, { pin: words === 'Count.' })).result();
    await session.compact();
    const run = await session.send('On.');
    expect(await run.text()).toBe('Three.');
    model.done();
    const [asks, shown] = model.requests.slice(-2);
    expect([asks?.unified.toolChoice, asks?.messages.length]).toEqual(['none', 3]);
    expect(shown?.messages.map(({ text }) => text)).toEqual([
      '<said by="summary of the conversation before this point">\nThey counted.\n</said>\n\nCount.\n\nOn.',
      'Two.',
      'On.',
    ]);
    expect(await verifyRequests(await store.openReadonly(), { main: script() })).toMatchObject({ equal: 4 });
    await world.verify();
  });

  it('a client that writes different requests is reported [MOD-12]', async () => {
    await record(steps());
    const { write, ...rest } = script();
    const other: ModelClient = {
      ...rest,
      write: (request) => write({ ...request, system: `${request.system} Well.` }),
    };
    const { equal, different } = await verifyRequests(await store.openReadonly(), { main: other });
    expect([equal, different.length]).toEqual([0, 3]);
    expect(different[0]!.actual).not.toBe(different[0]!.expected);
  });

  it('calls of another model, or without a model, are not compared', async () => {
    await record(steps());
    const other = { ...script(), profile: { ...script().profile, model_default: 'other' } };
    const why = async (models: Record<string, ModelClient>) =>
      (await verifyRequests(await store.openReadonly(), models)).uncompared.map((call) => call.why);
    expect(await why({ main: other })).toEqual(Array(3).fill('other_model'));
    expect(await why({})).toEqual(Array(3).fill('no_model'));
  });

  it('recorded requests break no rule of any wire format', async () => {
    const model = steps();
    await record(model);
    for (const { unified } of model.requests) {
      for (const format of WIRE_FORMATS) {
        const { body } = draftRequest(format, unified, { model: 'm', profile: model.profile });
        expect(validateRequest(format, JSON.parse(JSON.stringify(body)))).toEqual([]);
      }
    }
  });
});
