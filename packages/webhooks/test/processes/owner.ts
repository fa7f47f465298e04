/**
 * An owner of a world with two receivers, as a process that may be killed at any moment: it lets sessions run, says each that has
 * ended, and ends when every delivery was taken. Arguments: the world's file, how many sessions, the two receivers and their secret.
 */
import { sqlite } from '@reprise/store-sqlite';
import { webhooks } from '../../src/index.js';
import { agent, opened } from '../support/world.js';

const [file = '', sessions = '', secret = '', ...urls] = process.argv.slice(2);

const receivers = urls.map(
  (url, i) => [`r${i}`, { url, secret: 'hooks', on: ['ended' as const, 'failed' as const] }] as const,
);
const part = webhooks(Object.fromEntries(receivers), { allowPrivate: urls.map((url) => new URL(url).host) });
const world = await opened({ store: sqlite(file), secrets: { hooks: secret }, part });
for (let i = 0; i < Number(sessions); i++) {
  const run = await world.session(`s${i}`, agent).send(i % 3 === 0 ? 'fail' : 'Hi', { id: `message ${i}` });
  await run.endedOrWaiting();
  console.log(`ran ${i}`);
}
for (;;) {
  const all = await world.part(part).receiversNow();
  if (all.every(({ delivered, undelivered }) => delivered + undelivered >= Number(sessions))) break;
  await new Promise((resolve) => setTimeout(resolve, 5));
}
const { frames, replayed } = await world.verify();
await world.close();
console.log(frames === replayed ? 'verified' : 'differs');
