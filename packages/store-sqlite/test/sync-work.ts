/** What the store is watched doing: everything that is acknowledged, each of its kinds. */
import type { Ref } from '@reprise/contracts';
import { EMPTY_HEAD } from '@reprise/kernel';
import type { Ports } from '../src/database/ports.js';
import { sqliteOn } from '../src/store.js';
import { framesAfter } from './frames.js';

/** Makes a world in folders that are not there, and has it acknowledge frames, blobs, streams, a mark, an erasure. */
export async function work(ports: Ports, path: string, ack: (what: string) => void): Promise<void> {
  const open = await sqliteOn(ports, path, { create: 'folders' }).open();
  ack('opened');
  let head = EMPTY_HEAD;
  const append = async (what: string, count = 1): Promise<void> => {
    head = await open.journal.append(framesAfter(head, count), head);
    ack(what);
  };
  await append('the first frame');
  const refs: Ref[] = [];
  for (const size of [300, 70_000, 70_001]) {
    refs.push(await open.content.put(new Uint8Array(size).fill(size & 0xff)));
    await append(`a blob of ${size} bytes`);
  }
  refs.push((await open.content.putStream(pieces())).ref);
  await append('a stream');
  await open.mark('a fact');
  ack('a mark');
  await append('many frames', 500);
  for (let i = 0; i < 40; i++) {
    const bytes = new Uint8Array(524_288).fill(i);
    head = await open.journal.append(
      framesAfter(head, 1, () => bytes),
      head,
    );
    ack(`a large frame ${i}`);
  }
  await open.content.erase(refs, head.seq);
  ack('an erasure');
  await append('a frame after it');
  await open.close();
  ack('closed');
}

async function* pieces(): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < 4; i++) yield new Uint8Array(40_000).fill(i);
}
