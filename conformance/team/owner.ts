/**
 * The owner of one project, as a process that may be killed at any moment: it opens the world, sends the message or finds it
 * sent, waits until the project is idle, and prints what is there. Arguments: the world's file, the folder of skills, the
 * address of the model.
 */
import { poolOf } from '@reprise/specialists';
import { openOffice } from './office.js';
import type { Seen } from './seen.js';
import { MESSAGE } from './workflow.js';

const [file = '', skills = '', model = ''] = process.argv.slice(2);
const { world, team } = await openOffice({ file, skills, model });
const project = world.part(team).project('auth');
console.log('open');
await project.send(MESSAGE, { id: 'message-1' });
const { status } = await project.idle({ within: '60s' });
const tasks = await project.tasks();
const results = await project.results();
const memories = await project.memories.search('taught', { k: 50 });
let narrative = 0;
for await (const _ of project.narrative()) narrative++;
const pool = poolOf('shop');
const { limit } = (await world.kernel.state(pool)) as unknown as { readonly limit: number };
const used = await world.kernel.table(pool, 'running');
const frames = world.kernel.head.seq + 1;
const { unverified } = await world.verify();
const seen: Seen = {
  status,
  frames,
  unverified,
  tasks: tasks.map((task) => task.status),
  results: results.map(({ status: is, processed, session }) => ({ status: is, processed, session: session ?? '' })),
  memories: memories.length,
  narrative,
  free: limit - used.length,
};
await world.close();
console.log(`ended ${JSON.stringify(seen)}`);
