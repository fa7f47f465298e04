/**
 * A tool is a function with a schema of its arguments. A failed call does not end the run: the model reads what was
 * wrong, and corrects the call.
 */
import { defineAgent, defineTool, openWorld, toolError } from 'reprise';
import { script } from 'reprise/providers';
import { sqlite } from 'reprise/sqlite';
import { print } from 'reprise/terminal';
import * as z from 'zod';

const stock = new Map([
  ['tea', 12],
  ['coffee', 3],
]);

const lookUp = defineTool({
  name: 'look_up',
  description: 'Says how many packets of an article are in stock.',
  args: z.strictObject({ article: z.string().min(1).max(40) }),
  guarantee: 'idempotent', // it only reads, so it may be called again after a crash
  run: ({ article }) => {
    const packets = stock.get(article);
    return packets === undefined ? toolError(`No article "${article}"; there are tea, coffee.`) : { article, packets };
  },
});

const keeper = defineAgent({
  name: 'keeper',
  model: 'main',
  instructions: 'Answer questions about the stock.',
  tools: [lookUp],
});

const main = script(
  { calls: [{ tool: 'look_up', args: { name: 'tea' } }] }, // does not fit the schema
  { calls: [{ tool: 'look_up', args: { article: 'Tea' } }] }, // no such article
  { calls: [{ tool: 'look_up', args: { article: 'tea' } }] },
  { text: 'There are 12 packets of tea.' },
);
await using world = await openWorld({ store: sqlite('tool.db'), models: { main }, agents: [keeper] });

const run = await world.session('shop', keeper).send('How much tea is left?', { id: 'message-1' });
for await (const event of run.events()) {
  if (event.type === 'tool.requested') print(event.tool, event.args);
  if (event.type === 'tool.failed') print(`  failed: ${event.text}`);
  if (event.type === 'tool.completed') print(`  answered: ${event.text}`);
}
print(await run.text());
main.done(); // throws unless every step of the script was used

await world.verify();
