/** The inside of a verification thread: opens the world, loads the apps, and works on one task after the other. */
import { parentPort, workerData } from 'node:worker_threads';
import { type RangeCode, type ReadonlyStore, readShare, verifyRange } from '@reprise/kernel';
import { sandbox } from '@reprise/sandbox';
import type { FromThread, ThreadTask, ToThread } from './verify/thread-messages.js';
import { chooseApp } from './world/app.js';
import { openForReading } from './world/open.js';

// Outside of a thread this module does nothing.
if (parentPort !== null) await work(parentPort, workerData as ThreadTask);

/** Verifies ranges that the port asks for; in a thread this begins by itself. */
export async function work(port: NonNullable<typeof parentPort>, start: ThreadTask): Promise<void> {
  const say = (message: FromThread): void => port.postMessage(message);
  const store = await openForReading(start.world);
  const code = await codeOf(store, start);
  port.on('message', (message: ToThread) => void answer(store, code, message, say));
  say({ say: 'ready' });
}

async function codeOf(
  store: ReadonlyStore,
  { app: module, legacy: modules, pureCode, thorough }: ThreadTask,
): Promise<RangeCode> {
  const { app, legacy } = await chooseApp(store, { legacy: modules, ...(module === undefined ? {} : { app: module }) });
  return { apps: app === undefined ? legacy : [app, ...legacy], thorough, ...(pureCode ? { code: sandbox() } : {}) };
}

async function answer(
  store: ReadonlyStore,
  code: RangeCode,
  message: ToThread,
  say: (message: FromThread) => void,
): Promise<void> {
  // Of this thread alone. Here no call to the database is under way, but a transaction may be open, which closing ends.
  if (message.ask === 'end') {
    void store.close().finally(() => process.exit());
    return;
  }
  const tell = (told: (FromThread & { say: 'told' })['told']): void => say({ say: 'told', told });
  if (message.ask === 'read') say({ say: 'read', result: await readShare(store, message.share, tell) });
  else say({ say: 'verified', result: await verifyRange(store, message.task, code, tell) });
}
