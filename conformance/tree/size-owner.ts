/**
 * The owner of a large tree, as a process that may be killed: it grows the tree, or stops it and prints the numbers of the
 * frames as they become durable, or goes on with it and prints the outcome. Arguments: the world's file, what it does, the
 * nodes, the calls that hang.
 */
import { existsSync, writeSync } from 'node:fs';
import { sqlite } from '@reprise/store-sqlite';
import { cancelled, drained, grow, openLarge, stopFrames, stopRoot, waitingInputs } from './large.js';

const [file = '', act = '', nodes = '0', hanging = '0'] = process.argv.slice(2);
const store = sqlite(file);
const opened = await headOf();
await using world = await openLarge(store, Number(hanging));
const { kernel } = world;

if (act === 'stop') {
  await grow(world, { nodes: Number(nodes), hanging: Number(hanging) });
  const from = kernel.head.seq + 1;
  writeSync(1, `grown ${from}\n`);
  void stopRoot(kernel);
  for await (const { seq } of kernel.frames(from)) writeSync(1, `frame ${seq}\n`);
} else {
  const from = Number(nodes);
  await waitingInputs(kernel);
  await drained(kernel);
  const [ended, frames] = [await cancelled(world), await stopFrames(kernel, from)];
  const { unverified } = await world.verify();
  writeSync(1, `ended ${JSON.stringify({ opened, ended, ...frames, unverified })}\n`);
}

/** The last frame in the file before this process writes. */
async function headOf(): Promise<number> {
  if (!existsSync(file)) return 0;
  const reading = await store.openReadonly();
  const { seq } = await reading.journal.head();
  await reading.close();
  return seq;
}
