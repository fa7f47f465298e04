/**
 * An agent is a name, the alias of a model, and instructions. A session is a conversation with it, under a key. All of it
 * is written down in a world, which is one file.
 */
import { defineAgent, openWorld } from 'reprise';
import { script } from 'reprise/providers';
import { sqlite } from 'reprise/sqlite';

const greeter = defineAgent({ name: 'greeter', model: 'main', instructions: 'Greet whoever tells you a name.' });

// A scripted model, so that this runs as it stands; `openAiCompatible({ baseUrl, model })` is a real one.
const main = script({ text: 'Hello, Ada.' });
await using world = await openWorld({ store: sqlite('hello.db'), models: { main }, agents: [greeter] });

const session = world.session('ada', greeter);
const run = await session.send('I am Ada.', { id: 'message-1' });
console.log(`${run.id}: ${await run.text()}`);

// Who cannot tell whether a message arrived sends it again. It is known by its id, so it is not said twice: this is the
// same run, and nobody asks the model.
const again = await session.send('I am Ada.', { id: 'message-1' });
console.log(`${again.id}: ${await again.text()} The model was asked ${main.requests.length} time.`);

// Performs everything again without the model, and throws unless each frame comes out the same in bytes.
await world.verify();
