/**
 * A recorded run as a test. The world is stored as bytes and replayed in milliseconds, after each upgrade of the library
 * and on each machine, without model and tools. A changed rule is found at the first record that it changes.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { agentApp, defineAgent, defineTool, openWorld } from 'reprise';
import { script } from 'reprise/providers';
import { sqlite } from 'reprise/sqlite';
import { print } from 'reprise/terminal';
import { replay, saveWorld } from 'reprise/testing';
import * as z from 'zod';

const add = defineTool({
  name: 'add',
  description: 'Adds two numbers.',
  args: z.strictObject({ a: z.number(), b: z.number() }),
  run: ({ a, b }) => a + b,
});
const clerk = defineAgent({ name: 'clerk', model: 'main', instructions: 'Calculate with your tools.', tools: [add] });

const main = script({ calls: [{ tool: 'add', args: { a: 2, b: 3 } }] }, { text: 'That makes 5.' });
const store = sqlite('regression.db');
await using world = await openWorld({ store, models: { main }, agents: [clerk] });
const run = await world.session('me', clerk).send('What is 2 + 3?', { id: 'message-1' });
print(await run.text());
await world.pump(); // now nothing is left to do, so the file is complete
writeFileSync('sum.world', await saveWorld(store));

// This is the test. `unverified` counts the frames that this build could not replay; a regression test expects 0.
const { unverified, firstDifference } = await replay(readFileSync('sum.world'));
print({ unverified, firstDifference });

// And this is what the test finds when one rule changes: here, each message counts as two runs.
const name = 'aos.agent/SessionReducer@1';
const session = agentApp.reducers.get(name);
if (session === undefined) throw new Error(`no ${name}`);
const changed: typeof session = {
  ...session,
  reduce: (draft, event, ctx) => {
    session.reduce(draft, event, ctx);
    if (event.name === 'aos.agent/UserInput@1') (draft as { runs: number }).runs += 1;
  },
};
const other = await replay(readFileSync('sum.world'), {
  app: { ...agentApp, reducers: new Map([...agentApp.reducers, [name, changed]]) },
});
print(other.firstDifference);

await world.verify();
