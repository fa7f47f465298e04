/**
 * A process that reads worlds which it was told to distrust: a path on each line of its input, a verdict on each line of
 * its output. Reads, verifies, opens, writes one thing more and closes. `ok HEAD`, `refused CODE`, or `broke WORDS`.
 */
import { createInterface } from 'node:readline';
import { isRepriseError, openKernelWorld, verifyStore } from '@reprise/kernel';
import { sqlite } from '@reprise/store-sqlite';
import { ADDED, app } from './sample.js';

for await (const file of createInterface({ input: process.stdin })) {
  const read = await verdict(() => verified(file));
  const written = await verdict(() => goneOnWith(file));
  const { rss } = process.memoryUsage();
  console.log(JSON.stringify({ read, written, rss }));
}

async function verdict(body: () => Promise<string>): Promise<string> {
  try {
    return `ok ${await body()}`;
  } catch (error) {
    if (isRepriseError(error) && error.code !== 'internal_error') return `refused ${error.code}`;
    return `broke ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
  }
}

async function verified(file: string): Promise<string> {
  const store = await sqlite(file).openReadonly();
  try {
    return (await verifyStore(store, { app })).head.digest;
  } finally {
    await store.close();
  }
}

async function goneOnWith(file: string): Promise<string> {
  const world = await openKernelWorld({ store: sqlite(file), app, drive: 'manual' });
  try {
    const before = world.head.digest;
    await world.request(['hostile/Counter@1', 'c0'], ADDED);
    return before;
  } finally {
    await world.close();
  }
}
