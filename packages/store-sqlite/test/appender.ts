/**
 * A process that appends frames and blobs as fast as it can, until it is killed. Arguments: the path, a seed.
 * After each append it prints what was acknowledged: `<seq> <link> <link> …`.
 */
import { writeSync } from 'node:fs';
import { randomFrom } from '../../../conformance/random.js';
import { sqlite } from '../src/index.js';
import { framesAfter } from './frames.js';

const [, , path, seed] = process.argv as [string, string, string, string];
const random = randomFrom(Number(seed));
const { journal, content } = await sqlite(path).open();
let head = await journal.head();
for (;;) {
  const links: string[] = [];
  for (let blobs = Math.floor(random() * 3); blobs > 0; blobs--) {
    const size = random() < 0.2 ? 70_000 : 300;
    const bytes = new Uint8Array(Buffer.from(`${seed} ${head.seq} ${blobs} `.repeat(size / 10)));
    links.push((await content.put(bytes)).hex);
  }
  head = await journal.append(framesAfter(head, 1 + Math.floor(random() * 20)), head);
  writeSync(1, `${[head.seq, ...links].join(' ')}\n`);
}
