/**
 * What nodes of a tree may do, and how much of it. A child gets fewer rights than its parent: its call of another tool
 * is refused, and its model reads so. Another child uses up its budget, and is tried again with a larger one.
 */
import { defineAgent, defineTool, openWorld } from 'reprise';
import { scriptBy } from 'reprise/providers';
import { sqlite } from 'reprise/sqlite';
import { print } from 'reprise/terminal';
import { type Tree, trees } from 'reprise/tree';
import * as z from 'zod';

const tool = (name: string, text: string) =>
  defineTool({ name, description: text, args: z.strictObject({}), guarantee: 'idempotent', run: () => text });
const clerk = defineAgent({
  name: 'clerk',
  model: 'main',
  instructions: 'Run the shop.',
  tools: [tool('count', '12 packets.'), tool('ship', 'Sent.')],
});

const call = (name: string, args: object = {}) => ({ calls: [{ tool: name, args: args as never }] });

/** The model of all nodes. An answer uses 40 tokens; the first about the shipping uses 11,500. */
const main = scriptBy(({ last, messages }) => {
  const usage = { tokens_in: 30, tokens_out: 10 };
  if (last.includes('"accepted":true')) return { text: 'Done.', usage };
  const prompt = messages.findLast(({ text }) => text.startsWith('You are node'))?.text ?? '';
  if (prompt.includes('Results of your children'))
    return { ...call('complete', { result: 'The shop is open.' }), usage };
  if (last.includes('"status":"answered"')) return { text: 'I go on with the results.', usage };
  if (prompt.includes('You are node #1')) return { ...call('ask', { question: 'Open the shop?' }), usage };
  if (last.includes('cap_denied'))
    return { ...call('complete', { result: 'Counted; I may not send anything.' }), usage };
  if (last.includes('12 packets.')) return { ...call('ship'), usage };
  if (last.includes('Sent.')) return { ...call('complete', { result: 'Counted and sent.' }), usage };
  const isLarge = prompt.includes('Plan the shipping') && messages.length <= 2;
  return { ...call('count'), usage: isLarge ? { tokens_in: 11_000, tokens_out: 500 } : usage };
});

const grove = trees({ agents: [clerk] });
await using world = await openWorld({ store: sqlite('shop.db'), models: { main }, parts: [grove] });
const budget = { node: { tokens: 12_000 }, tree: { tokens: 80_000 } };
const goal = 'Open the shop';
const tree = await world.part(grove).start('shop', { goal, budget, limits: { attempts: 1 } }, { id: 'shop' });

/** Waits until a node has ended, and prints how. */
async function ended(of: Tree<unknown>, n: number, after = -1): Promise<number> {
  for await (const event of of.events({ after })) {
    if (event.type !== 'node' || event.node !== n || !['complete', 'failed'].includes(event.status)) continue;
    const { given, budget: most, spent, rights } = (await of.node(n)) ?? {};
    print(`#${n} ${event.mark} ${given?.text ?? event.code} (${spent?.tokens} of ${most} tokens)`);
    if (rights !== undefined) print(`   it may ${JSON.stringify(rights.may)}`);
    return event.frame;
  }
  return after;
}

for await (const event of tree.events()) if (event.type === 'asked') break;
await tree.add(1, { goal: 'Count the tea', rights: { may: { tool: ['count'] } } }, { id: 'count' });
await ended(tree, 3);
await tree.add(1, { goal: 'Plan the shipping' }, { id: 'shipping' });
const frame = await ended(tree, 4);
await tree.retry(4, { budget: { tokens: 20_000 }, id: 'again' });
await ended(tree, 4, frame);

const denied = await tree.restrict(1, { may: { tool: [] } }, { id: 'closing' });
print(`restricted: ${denied.status}; now #1 may ${JSON.stringify((await tree.node(1))?.rights?.may)}`);
await tree.answer(2, 'Yes.', { as: 'human:ann', id: 'open' });
const { status, text, spent } = await tree.result();
print(status, text, spent.tokens);

await world.verify();
