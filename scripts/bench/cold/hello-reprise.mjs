/** The smallest agent on a real model protocol. */
import { defineAgent, memory, openWorld } from 'reprise';
import { anthropicMessages } from 'reprise/providers';

const hello = defineAgent({ name: 'hello', model: 'main', instructions: 'Be brief.' });
const main = anthropicMessages('a-model', { apiKey: 'a-key' });
await using world = await openWorld({ store: memory(), models: { main }, agents: [hello] });
console.log(await (await world.session('me', hello).send('Hello')).text());
