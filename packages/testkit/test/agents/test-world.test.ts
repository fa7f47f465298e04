/** A world of a test: time, fakes, crashes, and the world as a fixture. */
import { type AnyAgent, agentApp, defineAgent, defineTool, llmGenerate, putText } from '@reprise/agent';
import type { LlmGenerateParams, Value } from '@reprise/contracts';
import { type AdapterContext, equalBytes, isRepriseError, putValue } from '@reprise/kernel';
import { defineApp } from '@reprise/kernel/define';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { replay, type TestWorld, testAgentWorld } from '../../src/index.js';

interface Says {
  readonly text?: string;
  readonly calls?: readonly { readonly tool: string; readonly args: Value }[];
}

/** A model that says these things in order, in whichever process it is asked. */
function modelThatSays(...steps: Says[]) {
  let n = 0;
  return (judge: Parameters<Parameters<typeof testAgentWorld>[0]['llm']>[0]) => ({
    effect: llmGenerate,
    name: 'script',
    doExecute: async (params: LlmGenerateParams, { content, signal }: AdapterContext) => {
      const { text, calls = [] } = steps[n++] ?? {};
      const asked = calls.map(({ tool, args }, i) => ({ callId: `${n}-${i}`, tool, args }));
      const tool_calls = calls.map(({ tool, args }, i) => ({ call_id: `${n}-${i}`, tool, args }));
      return {
        status: 'ok' as const,
        asked: { profile: 'script', model: 'script' },
        payload: {
          output_ref: await putValue(content, { ...(text === undefined ? {} : { text }), tool_calls }),
          raw_output_ref: await putText(content, 'raw'),
          request_digest: '0'.repeat(64),
          request_bytes: 100,
          finish_reason: calls.length > 0 ? ('tool_calls' as const) : ('stop' as const),
          tool_calls: [...(await judge.calls(asked, { params, content, signal }))],
        },
      };
    },
  });
}

const refund = (guarantee: 'at_most_once' | 'idempotent' = 'at_most_once') =>
  defineTool({
    name: 'refund',
    description: 'Refunds an order.',
    args: z.strictObject({ order: z.string(), cents: z.int() }),
    approval: ({ args }) => args.cents > 5_000,
    guarantee,
    run: (): string => {
      throw new Error('a test has to fake this');
    },
  });
const support = (delivery?: 'at_most_once' | 'idempotent') =>
  defineAgent({ name: 'support', model: 'main', instructions: 'Help.', tools: [refund(delivery)] });
const asks = (cents: number): Says => ({ calls: [{ tool: 'refund', args: { order: 'o-1', cents } }] });

function open(agent: AnyAgent, ...steps: Says[]): Promise<TestWorld> {
  return testAgentWorld({ models: { main: {} }, agents: [agent], llm: modelThatSays(...steps) });
}

async function lastItem(world: TestWorld, agent: AnyAgent) {
  let last: unknown;
  for await (const item of world.session('t', agent).transcript()) if (item.role === 'tool') last = item;
  return last;
}

describe('a world of a test', () => {
  it('a world fakes a tool under its own schema and approval, and lets days pass', async () => {
    const agent = support();
    await using world = await open(agent, asks(9_000), { text: 'Done.' });
    const given: unknown[] = [];
    // @ts-expect-error the tool says what its arguments are
    world.tool(refund(), ({ amount }) => amount);
    world.tool(refund(), ({ order, cents }) => {
      given.push({ order, cents });
      return { id: 'r1' };
    });
    const run = await world.session('t', agent).send('Refund o-1');
    await world.pump();
    const before = world.kernel.now;
    await world.clock.advance('2d');
    expect(world.kernel.now - before).toBe(2 * 86_400_000);
    const [item] = await world.pending();
    expect(given).toEqual([]);
    await world.decide(item ?? '', { approve: true }, { as: 'human:ann' });
    expect(await run.text()).toBe('Done.');
    expect(given).toEqual([{ order: 'o-1', cents: 9_000 }]);
    expect((await world.verify()).unverified).toBe(0);
  });

  it('a crash inside a tool loses its answer, and the tool is not executed again', async () => {
    const agent = support();
    const world = await open(agent, asks(100), { text: 'Unclear.' });
    let done = 0;
    world.tool('refund', () => ++done);
    const dying = world.crash('attempt');
    const run = await world.session('t', agent).send('Refund o-1');
    await using again = await dying;
    await expect(run.result()).rejects.toSatisfy((error) => isRepriseError(error));
    expect(await (await again.session('t', agent).run(0))?.text()).toBe('Unclear.');
    expect(done).toBe(1);
    expect(await lastItem(again, agent)).toMatchObject({ non_execution: { kind: 'outcome_unknown' } });
    await again.verify();
  });

  it('a crash inside an idempotent tool executes it again', async () => {
    const agent = support('idempotent');
    const world = await open(agent, asks(100), { text: 'Done.' });
    let done = 0;
    world.tool('refund', () => ++done);
    const dying = world.crash('attempt');
    await world.session('t', agent).send('Refund o-1');
    await using again = await dying;
    expect(await (await again.session('t', agent).run(0))?.text()).toBe('Done.');
    expect(done).toBe(2);
    await again.verify();
  });

  it('a crash after the answer of a tool is durable loses nothing and does nothing twice', async () => {
    const agent = support();
    const world = await open(agent, asks(100), { text: 'Done.' });
    let done = 0;
    world.tool('refund', ({ order }: { readonly order: string }) => `refund ${++done} of ${order}`);
    const dying = world.crash('receipt');
    await world.session('t', agent).send('Refund o-1');
    await using again = await dying;
    expect(await (await again.session('t', agent).run(0))?.text()).toBe('Done.');
    expect(done).toBe(1);
    await again.verify();
  });

  it('a crash before a frame is durable rejects the request and stores nothing', async () => {
    const agent = support();
    const world = await open(agent, { text: 'Done.' });
    const dying = world.crash('append');
    const sent = world.session('t', agent).send('Hi');
    await expect(sent).rejects.toSatisfy((error) => isRepriseError(error));
    await using again = await dying;
    expect(await again.session('t', agent).state()).toBeUndefined();
  });

  it('an approval stands after a crash', async () => {
    const agent = support();
    const world = await open(agent, asks(9_000), { text: 'Done.' });
    world.tool('refund', () => 'refunded');
    await world.session('t', agent).send('Refund o-1');
    await world.pump();
    const [item] = await world.pending();
    await using again = await world.crash();
    expect((await again.pending()).map(({ digest }) => digest)).toEqual([item?.digest]);
    await again.decide(item ?? '', { approve: true });
    expect(await (await again.session('t', agent).run(0))?.text()).toBe('Done.');
  });
});

describe('a saved world', () => {
  it('a saved world has the same bytes when it is saved again, and replays without anything outside', async () => {
    const agent = support();
    await using world = await open(agent, asks(100), { text: 'Done.' });
    world.tool('refund', () => 'refunded');
    await (await world.session('t', agent).send('Refund o-1')).result();
    await world.pump();
    const saved = await world.save();
    expect(equalBytes(saved, await world.save())).toBe(true);
    const report = await replay(saved);
    expect(report.firstDifference).toBeUndefined();
    expect(report).toMatchObject({ replayed: world.kernel.head.seq + 1, unverified: 0 });
  });

  it('the replay of a saved world names the first difference when the code does something else', async () => {
    const agent = support();
    await using world = await open(agent, { text: 'Done.' });
    await (await world.session('t', agent).send('Hi')).result();
    await world.pump();
    const [reducer] = [...agentApp.reducers.values()];
    if (reducer === undefined) throw new Error('no reducer');
    const changed = {
      ...reducer,
      reduce: (draft: { runs: number }, event: never, ctx: never) => {
        reducer.reduce(draft, event, ctx);
        draft.runs += 1;
      },
    };
    const app = defineApp({ reducers: [changed as never], plans: [...agentApp.plans.values()] });
    const { firstDifference } = await replay(await world.save(), { app });
    expect(firstDifference?.path).toContain('runs');
  });

  it('a saved world opens again and continues', async () => {
    const agent = support();
    const first = await open(agent, { text: 'One.' });
    await (await first.session('t', agent).send('Hi')).result();
    await first.pump();
    const saved = await first.save();
    await first.close();
    const { loadWorld } = await import('../../src/index.js');
    const llm = modelThatSays({ text: 'Two.' });
    const options = { models: { main: {} }, agents: [agent], llm, store: await loadWorld(saved) } as const;
    await using again = await testAgentWorld(options);
    expect(await (await again.session('t', agent).send('Hi')).text()).toBe('Two.');
    expect((await again.session('t', agent).state())?.runs).toBe(2);
  });

  it('a replay refuses bytes that are not a saved world', async () => {
    await expect(replay(Uint8Array.of(0xa0))).rejects.toSatisfy((error) => isRepriseError(error, 'invalid_bytes'));
  });
});
