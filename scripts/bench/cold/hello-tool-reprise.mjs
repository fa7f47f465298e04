/** An agent with a tool. */
import { defineAgent, defineTool, memory, openWorld } from 'reprise';
import { anthropicMessages } from 'reprise/providers';
import * as z from 'zod';

const add = defineTool({
  name: 'add',
  description: 'Adds two numbers.',
  args: z.strictObject({ a: z.number(), b: z.number() }),
  run: ({ a, b }) => a + b,
});
const hello = defineAgent({ name: 'hello', model: 'main', instructions: 'Be brief.', tools: [add] });
const main = anthropicMessages('a-model', { apiKey: 'a-key' });
await using world = await openWorld({ store: memory(), models: { main }, agents: [hello] });
console.log(await (await world.session('me', hello).send('What is 2 + 3?')).text());
