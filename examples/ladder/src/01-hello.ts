/**
 * An agent consists of a name, the alias of a model, and instructions. A session is a conversation with it, identified
 * by a key. Everything is recorded in a world, which is one file.
 */
import { defineAgent, openWorld } from 'reprise';
import { script } from 'reprise/providers';
import { sqlite } from 'reprise/sqlite';
import { print } from 'reprise/terminal';

const greeter = defineAgent({ name: 'greeter', model: 'main', instructions: 'Greet users by their name.' });

// A scripted model, so that this runs without a key; `openAiCompatible({ baseUrl, model })` is a real one.
const main = script({ text: 'Hello, Ada.' });
await using world = await openWorld({ store: sqlite('hello.db'), models: { main }, agents: [greeter] });

const session = world.session('ada', greeter);
const run = await session.send('I am Ada.', { id: 'message-1' });
print(`${run.id}: ${await run.text()}`);

// If you do not know whether a message arrived, send it again under the same id. You get the same run, and the model is
// not called again.
const again = await session.send('I am Ada.', { id: 'message-1' });
print(`${again.id}: ${await again.text()} The model was asked ${main.requests.length} time.`);

// Replays everything without the model, and throws if the bytes of any frame differ.
await world.verify();
