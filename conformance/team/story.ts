/**
 * The first program of “Run a team of specialists” as a process that dies by its own hand at a chosen append. Arguments: the
 * world's file; the number of the append, 0 for none; `before` or `after`: whether what is appended is there.
 */
import { defineTool, openWorld } from 'reprise';
import { scriptBy } from 'reprise/providers';
import { skill, team } from 'reprise/specialists';
import { sqlite } from 'reprise/sqlite';
import * as z from 'zod';
import { DyingStore } from '../dying-store.js';

const [file = '', at = '0', side = 'after'] = process.argv.slice(2);

const grepCode = defineTool({
  name: 'Grep',
  description: 'Searches the code.',
  args: z.strictObject({ text: z.string() }),
  guarantee: 'idempotent',
  run: ({ text }) => `src/login.ts: ${text}`,
});

const main = scriptBy(({ system, last, messages }) => {
  const isAnswer = messages.at(-1)?.role === 'tool';
  if (!system.includes('You coordinate.'))
    return isAnswer
      ? { text: 'Login is in src/login.ts.\n\nDetails follow.' }
      : { calls: [{ tool: 'Grep', args: { text: 'login' } }] };
  if (last.startsWith('Move'))
    return { calls: [{ tool: 'spawn_agent', args: { task: 'Find the login code', skill: 'research' } }] };
  if (last.includes('Login is in') && !isAnswer)
    return { calls: [{ tool: 'memory_store', args: { text: 'Login lives in src/login.ts.', result_id: 1 } }] };
  return { text: 'Noted.' };
});

const dev = team({
  name: 'dev',
  skills: [skill({ name: 'research', description: 'Finds things in the code', tools: ['Grep'], body: 'Search.' })],
  tools: [grepCode],
  coordinator: { model: 'main', identity: 'You coordinate.' },
});

const store = new DyingStore(sqlite(file), () => process.kill(process.pid, 'SIGKILL'));
if (Number(at) > 0) store.dieAt(Number(at), side === 'before' ? 'before' : 'after');
const world = await openWorld({ store, models: { main }, parts: [dev] });
console.log('open');
const project = world.part(dev).project('auth');
const run = await project.send('Move login to OAuth', { id: 'message-1' });
const text = await run.text();
const { status } = await project.idle({ within: '60s' });
const results = await project.results();
const memories = await project.memories.search('login');
const whys = await Promise.all(memories.map(({ id }) => project.memories.why(id)));
const slots = await world.kernel.table(['flow/Queue@1', 'specialists/dev'], 'running');
const seen = {
  text,
  status,
  results: results.map((one) => [one.id, one.title, one.status, one.processed, one.memory_ids]),
  outputs: await Promise.all(results.map(({ id }) => project.output(id))),
  memories: memories.map(({ id, summary, score }) => [id, summary, score]),
  whys: whys.map((why) => [why?.words, why?.dangling.length, why?.chain.map(({ kind, id }) => `${kind} ${id}`)]),
  slots: slots.length,
  unverified: (await world.verify()).unverified,
};
await world.close();
console.log(`ended ${JSON.stringify({ appends: store.appends, seen })}`);
