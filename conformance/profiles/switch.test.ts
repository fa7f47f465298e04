/**
 * A session that changes its model, from each provider to each other: no request is refused, and every loss is named.
 */

import { llmGenerateReceipt, type Value } from '@reprise/contracts';
import { getValue, readFrame, type Store } from '@reprise/kernel';
import { verifyRequests } from '@reprise/providers';
import { defineAgent, defineTool, memory, openWorld } from 'reprise';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { stepOf } from '../part.js';
import { PROFILES } from './clients.js';
import { mockProvider } from './mock-provider.js';

const add = defineTool({
  name: 'add',
  description: 'Adds two integers.',
  args: z.strictObject({ a: z.int(), b: z.int() }),
  run: ({ a, b }) => a + b,
});
const adder = defineAgent({ name: 'adder', model: 'one', instructions: 'Add.', tools: [add] });

const thought = { reasoning: 'A sum.', reasoningSignature: 'c2lnbmVk', redactedThinking: ['c2VjcmV0'] };
const calls = ['a', 'b'].map((id) => ({ id, name: 'add', arguments: '{"a":2,"b":3}' }));

/** The warnings of every model call of a world, in order. */
async function warningsOf(store: Store): Promise<Value[]> {
  const { journal, content } = await store.openReadonly();
  const told: Value[] = [];
  for await (const { bytes, seq } of journal.read(0)) {
    for (const record of readFrame(bytes, seq).all) {
      const receipt = record.kind === 'receipt' ? llmGenerateReceipt.safeParse(record.receipt.payload) : undefined;
      if (receipt?.data === undefined) continue;
      const { warnings_ref } = receipt.data;
      told.push(warnings_ref === undefined ? [] : await getValue(content, warnings_ref));
    }
  }
  return told;
}

/** The clients whose reasoning the mock provider sends in a form that can be sent back. */
const THINKERS = /responses|anthropic/;

const ALL = Object.entries(PROFILES);

describe.each(ALL)('a session that begins with %s', (first, clientOf) => {
  const others = ALL.filter(([name]) => name !== first);
  // One other for a change, which differs from model to model.
  const place = ALL.findIndex(([name]) => name === first);
  it.each(others.filter((_, i) => (i - place) % stepOf(others.length) === 0))(
    'the session continues with %s, and then returns to its first model [MOD-16]',
    async (_, otherOf) => {
      const mock = await mockProvider();
      mock.on({ hasToolResult: false }, { content: 'I add.', toolCalls: calls, ...thought });
      mock.on({ hasToolResult: true }, { content: 'It is 5.', ...thought });
      const [one, two] = [clientOf(mock).client, otherOf(mock).client];
      const store = memory();
      {
        await using world = await openWorld({ store, models: { one, two }, agents: [adder] });
        const session = world.session('s', adder);
        for (const model of ['one', 'two', 'one']) {
          if (model === 'two' || (await session.state()) !== null) await session.reconfigure({ model });
          expect((await (await session.send('2 + 3, twice?')).result()).stop).toEqual({ kind: 'Completed' });
        }
        await world.verify();
      }
      const report = await verifyRequests(await store.openReadonly(), { one, two });
      expect(report).toEqual({ equal: 6, different: [], uncompared: [] });
      const warnings = (await warningsOf(store)) as string[][];
      const losses = warnings.map((told) => told.filter((code) => code.startsWith('prompt_loss:')));
      // Before the change there is no loss; after it, each class of loss is named once.
      expect(losses.slice(0, 2)).toEqual([[], []]);
      for (const told of losses) expect(told).toEqual([...new Set(told)]);
      if (THINKERS.test(first)) expect(losses[2]).toContain('prompt_loss:reasoning');
    },
  );
});
