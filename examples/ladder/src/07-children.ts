/**
 * An agent with `spawns` has four tools for other agents: `spawn_agent`, `send_input`, `wait_agents` and `close_agent`.
 * It knows its children as c1, c2 …; each child is a session of its own in the same world.
 */
import { type AgentEvent, defineAgent, openWorld } from 'reprise';
import { script } from 'reprise/providers';
import { sqlite } from 'reprise/sqlite';
import { print } from 'reprise/terminal';

const poet = defineAgent({ name: 'poet', model: 'poet', instructions: 'Write one line of verse.' });
const editor = defineAgent({ name: 'editor', model: 'editor', instructions: 'Have verses written.', spawns: [poet] });

const models = {
  editor: script(
    { calls: [{ tool: 'spawn_agent', args: { agent: 'poet', task: 'A line about the sea.' } }] },
    { calls: [{ tool: 'wait_agents', args: { children: ['c1'] } }] },
    { calls: [{ tool: 'send_input', args: { child: 'c1', text: 'Shorter, please.' } }] },
    { calls: [{ tool: 'wait_agents', args: { children: ['c1'] } }] },
    { calls: [{ tool: 'close_agent', args: { child: 'c1' } }] },
    { text: 'The sea forgets.' },
  ),
  poet: script({ text: 'The sea forgets the names of all its ships.' }, { text: 'The sea forgets.' }),
};
await using world = await openWorld({ store: sqlite('children.db'), models, agents: [editor] });

const run = await world.session('verse', editor).send('A line about the sea, short.', { id: 'message-1' });
print(await run.text());

print('\nWhat the editor read of its calls:');
for (const { role, text } of models.editor.requests.at(-1)?.messages ?? []) {
  if (role === 'tool') print(`- ${text.replaceAll('\n', ' ')}`);
}

// Sessions work in parallel, so their events are mixed in the journal. Within a session, the order is fixed.
print('\nWhat happened in each session:');
const events = new Map<string, AgentEvent[]>();
for await (const event of run.events({ tree: true })) {
  events.set(event.session_id, [...(events.get(event.session_id) ?? []), event]);
}
for (const [session, own] of events) {
  print(session);
  for (const event of own) {
    if (event.type === 'input.accepted') print(`  ${event.run_id} reads: ${event.text}`);
    if (event.type === 'tool.requested') print(`  ${event.step_id} calls ${event.tool}`);
    if (event.type === 'llm_step.completed' && event.text) print(`  ${event.step_id} says: ${event.text}`);
  }
}
print(await world.children('verse'));
for (const model of Object.values(models)) model.done();

await world.verify();
