/** `GET /api/world`: what the file is, and how far it goes. */
import type { StoredFrame } from '@reprise/kernel';
import { readFrame } from '@reprise/kernel/store';
import { partsOf } from '@reprise/operators/sessions';
import { frameAt } from '../ask/frame-at.js';
import { question } from '../ask/question.js';
import type { FrameTime, WorldReport } from '../contract/index.js';

export const world = question({}, async ({ store, path, signal }): Promise<WorldReport> => {
  const { seq, digest } = await store.journal.head();
  const [first, last] = [await frameAt(store, 0), await frameAt(store, seq)];
  const { ingress } = readFrame(first.bytes, first.seq);
  const { writer = 'unknown' } = (await store.status?.()) ?? {};
  const parts = await partsOf(store, { at: seq, signal });
  const id = ingress.kind === 'manifest' || ingress.kind === 'fork' ? ingress.world : '';
  return { path, world: id, first: timeOf(first), last: timeOf(last), head: digest, process: writer, parts };
});

function timeOf({ seq, at }: StoredFrame): FrameTime {
  return { frame: seq, at };
}
