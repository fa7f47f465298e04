/**
 * Reads a world again and again while others append to it and pack it: `reader-child.mjs DATABASE`. Each line of its input is
 * the name of the next world, or empty for none; it answers with `done READS FRAMES` or what was wrong, once it has left the
 * one before.
 */
import { createInterface } from 'node:readline';
import { isRepriseError } from '@reprise/contracts';
import { postgres } from '../../src/index.js';
import { wrong } from './frames.js';

const database = postgres(process.argv[2] ?? '', { connectionsMax: 3 });
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
let next = lines.next();

/** All frames of a world once, and how many there were. @throws Error that says which frame is wrong */
async function readOnce(world: string): Promise<number> {
  const reader = await database.world(world).openReadonly();
  try {
    const before = await reader.journal.head();
    let seq = 0;
    for await (const frame of reader.journal.read(0)) {
      const found = wrong(frame, seq++);
      if (found !== undefined) throw new Error(found);
    }
    if (seq <= before.seq) throw new Error(`${seq} frames were read, and the head was frame ${before.seq} before`);
    return seq;
  } finally {
    await reader.close();
  }
}

for (let world = ''; ; ) {
  let [reads, frames, verdict] = [0, 0, ''];
  let told: IteratorResult<string> | undefined;
  next.then((line) => {
    told = line;
  });
  while (told === undefined) {
    try {
      if (world !== '') frames += await readOnce(world);
      if (world !== '') reads++;
    } catch (error) {
      if (!isRepriseError(error, 'world_absent')) verdict = String(error);
    }
    await new Promise((resolve) => setTimeout(resolve, world === '' ? 20 : 1));
  }
  process.stdout.write(`${verdict === '' ? `done ${reads} ${frames}` : verdict}\n`);
  if (told.done === true) break;
  world = told.value;
  next = lines.next();
}
await database.close();
