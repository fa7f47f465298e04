/** A program that waits for a run that waits for a person: `last-chance.ts HOW`. */

import * as z from 'zod';
import { defineAgent, defineTool, openWorld } from '../../src/index.js';
import { memory } from '../../src/kernel.js';
import { script } from '../../src/providers.js';

const refund = defineTool({
  name: 'refund',
  description: 'Refunds.',
  args: z.strictObject({}),
  approval: 'always',
  run: () => 'Refunded.',
});
const support = defineAgent({ name: 'support', model: 'main', instructions: 'Help.', tools: [refund] });
const main = script({ calls: [{ tool: 'refund', args: {} }] }, { text: 'Done.' });
const world = await openWorld({ store: memory(), models: { main }, agents: [support] });
const run = await world.session('a', support).send('Refund.');

switch (process.argv[2]) {
  case 'text':
    console.log(await run.text());
    break;
  case 'events':
    for await (const { type } of run.events()) if (type === 'human.requested') console.log(type);
    break;
  case 'stream':
    for await (const { type } of run.stream()) if (type === 'human.requested') console.log(type);
    break;
  case 'timer': {
    // A person decides later, in this process.
    setTimeout(async () => {
      const [item] = await world.pending();
      if (item !== undefined) await world.decide(item, { approve: true });
    }, 300);
    console.log(await run.text());
    break;
  }
  default:
    throw new Error('text, events, stream or timer');
}
