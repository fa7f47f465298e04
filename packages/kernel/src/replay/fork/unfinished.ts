/**
 * Tells an unfinished fork from its original: until its own first frame is durable, its journal is a prefix of the
 * original's, under the original's name. Opened for writing it would repeat the original's effects.
 *
 * A note in the store marks it: durable before the first frame is copied, and removed after the last.
 */
import { type IngressOf, Ref, RepriseError } from '@reprise/contracts';
import { readInputs } from '../../ports/journal/frame.js';
import type { OpenStore } from '../../ports/store/store.js';

/** Notes that a fork is being made, whose own first frame will have this number. */
export function noteUnfinished(store: OpenStore, frame: number): Promise<void> {
  return store.mark(`fork ${frame}`);
}

/** The number of the first own frame of an unfinished fork; undefined when the store holds none. */
export function unfinishedFrame(store: OpenStore): number | undefined {
  const noted = /^fork (\d+)$/.exec(store.markAtOpen ?? '')?.[1];
  return noted === undefined ? undefined : Number(noted);
}

/**
 * Finishes a fork whose frames are all durable, and removes the note; any other store is left alone.
 *
 * @throws RepriseError `fork_unfinished` when frames are missing
 */
export async function finishFork(store: OpenStore): Promise<void> {
  const frame = unfinishedFrame(store);
  if (frame !== undefined) await finishForkAt(store, frame);
}

/** The work left once the frames are durable: the store learns what was erased from the original meanwhile. */
export async function finishForkAt({ journal, content, ...store }: OpenStore, frame: number): Promise<void> {
  const { seq } = await journal.head();
  if (seq < frame) {
    throw new RepriseError('fork_unfinished', 'this fork is unfinished', {
      expected: `a fork at frame ${frame}`,
      actual: `${seq + 1} copied frames`,
      hint: 'Fork into this store again, which continues where it stopped, or delete it.',
    });
  }
  for await (const stored of journal.read(frame)) {
    const { ingress } = readInputs(stored.bytes, stored.seq);
    if (ingress.kind === 'erase') await carryOut(content, ingress);
  }
  await store.mark(null);
}

/** Carries an erasure out, unless it is finished. */
export async function carryOut(content: OpenStore['content'], { digests, seq }: IngressOf<'erase'>): Promise<void> {
  if ((await content.erasedThrough()) >= seq) return;
  await content.erase(
    digests.map((hex) => Ref.fromHex(hex)),
    seq,
  );
}
