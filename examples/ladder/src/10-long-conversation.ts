/**
 * A conversation longer than the model's context window. When the window fills up, a model writes a summary of the older
 * part, and later requests contain the summary instead. Pinned messages stay word for word. The transcript keeps
 * everything.
 */
import { defineAgent, openWorld } from 'reprise';
import { script } from 'reprise/providers';
import { sqlite } from 'reprise/sqlite';
import { print } from 'reprise/terminal';

const guide = defineAgent({
  name: 'guide',
  model: 'main',
  instructions: 'Plan the journey.',
  contextWindow: 1_000,
  compaction: { at: 85, keep: 1 },
});

const used = (tokens_in: number) => ({ usage: { calls: 1, tokens_in, tokens_out: 0 } });
const main = script(
  { text: 'By train, then.', ...used(300) },
  { text: 'Basel, then Genoa.', ...used(700) },
  { text: 'A room by the harbour.', ...used(870) },
  { text: 'To Genoa by train, over Basel.', ...used(880) }, // the summary
  { text: 'Ada travels with you, over Basel.', ...used(200) },
);
await using world = await openWorld({ store: sqlite('journey.db'), models: { main }, agents: [guide] });
const session = world.session('ada', guide);

const say = async (text: string, id: string, pin = false) => (await session.send(text, { id, pin })).text();
await say('I do not fly. Ada comes along.', 'm1', true);
await say('To Genoa, please.', 'm2');
await say('And where do we sleep?', 'm3');
print(await say('Who comes along, and which way?', 'm4'));

print('\nWhat the model read at the end:');
for (const { role, text } of main.requests.at(-1)?.messages ?? []) print(`${role}: ${text.replaceAll('\n\n', ' | ')}`);

const state = await session.state();
print(`\nThe transcript holds ${state?.items} items; the window begins with item ${state?.window.from}.`);
main.done();

await world.verify();
