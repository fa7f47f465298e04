/**
 * A queue at work in a process of its own, until it is killed or everything is done: `kill-child.ts FILE ITEMS`.
 *
 * It sends the same commands under the same ids each time, and says `work` before and `done` after.
 */
import { openKernelWorld } from '@reprise/kernel';
import { sqlite } from '@reprise/store-sqlite';
import { QUEUE } from '../../../src/pure/flow/index.js';
import { app, client } from '../support/office.js';

const [file = '', items = ''] = process.argv.slice(2);
const queue: [string, string] = [QUEUE, 'line'];
const clients = ['a', 'b', 'c'];

const world = await openKernelWorld({ store: sqlite(file), app });
const ask = (to: [string, string], name: string, value: unknown, id: string) =>
  world.request(to, { name, value }, { id });
await ask(queue, 'flow/OpenQueue@1', { limit: 3 }, 'open');
for (const key of clients) await ask(client(key), 'test/Trained@1', { work_ms: 2 }, `train ${key}`);
console.log('work');
const asked: Promise<unknown>[] = [];
for (let i = 0; i < Number(items); i++) {
  const enqueue = { to: queue, name: 'flow/Enqueue@1', value: { item: `i${i}`, priority: i % 4, value: i } };
  asked.push(ask(client(clients[i % 3] as string), 'test/Told@1', enqueue, `item ${i}`));
  if (i % 10 === 9) await Promise.all(asked.splice(0));
}
await Promise.all(asked);
while ((await world.table(queue, 'items', { limit: 1 })).length > 0) await new Promise((wake) => setTimeout(wake, 5));
await world.close();
console.log('done');
