/**
 * While an agent works, you can send it a message, queue another message behind the run, and stop the run. The next
 * request to the model says what really happened to its calls.
 */
import { EventEmitter, once } from 'node:events';
import { defineAgent, defineTool, openWorld } from 'reprise';
import { script } from 'reprise/providers';
import { sqlite } from 'reprise/sqlite';
import { print } from 'reprise/terminal';
import * as z from 'zod';

const site = new EventEmitter();

const dig = defineTool({
  name: 'dig',
  description: 'Digs a hole.',
  args: z.strictObject({ metres: z.int().min(1).max(9) }),
  run: async ({ metres }, { signal }) => {
    site.emit('digging');
    await once(site, 'dug', { signal }); // a tool stops when its signal aborts
    return `Dug ${metres} m.`;
  },
});

const digger = defineAgent({ name: 'digger', model: 'main', instructions: 'Dig where you are told.', tools: [dig] });

const main = script(
  { calls: [{ tool: 'dig', args: { metres: 2 } }] },
  { calls: [{ tool: 'dig', args: { metres: 1 } }] },
  { text: 'I have looked: the second hole is half done.' },
);
await using world = await openWorld({ store: sqlite('steer-and-cancel.db'), models: { main }, agents: [digger] });
const session = world.session('garden', digger);

const first = once(site, 'digging');
const run = await session.send('Dig two holes.', { id: 'message-1' });
await first;
print(await session.steer('Only 1 m for the second: there is a pipe.', { id: 'steer-1' }));
print(await session.followUp('How far did you get?', { id: 'follow-up-1' }));

const second = once(site, 'digging');
site.emit('dug');
await second;
print(await session.cancel({ id: 'cancel-1', reason: 'It rains.' }));
print((await run.result()).stop);

// After a cancelled run, a follow-up waits until the session is resumed.
print(await session.resume({ id: 'resume-1' }));
const next = await session.run(1);
print(await next?.text());

print('\nWhat the model read before this answer:');
for (const { role, text, calls } of main.requests.at(-1)?.messages ?? []) {
  print(`${role}: ${calls === undefined ? text : JSON.stringify(calls)}`);
}
main.done();

await world.verify();
