/**
 * A store that is read in turns: a long reading lets other requests be answered in between, and ends with its own request.
 * Without this a journal of an hour would be read in one turn of the event loop.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ReadonlyStore, StoredFrame } from '@reprise/kernel';

/** How long a reading may go on in one turn, in milliseconds. */
const TURN_MS = 12;

/** The same store, whose reading of frames is aborted with a signal. */
export function patientStore(store: ReadonlyStore, signal: AbortSignal): ReadonlyStore {
  const { journal, content, hash, changed } = store;
  return {
    journal: {
      head: () => journal.head(),
      read: (from, to) => inTurns(journal.read(from, to), signal),
      findKey: (key) => journal.findKey(key),
      findLast: (kind, seq) => journal.findLast(kind, seq),
    },
    content,
    ...(hash === undefined ? {} : { hash }),
    ...(store.status === undefined ? {} : { status: () => store.status?.() ?? Promise.resolve({ writer: 'unknown' }) }),
    ...(changed === undefined ? {} : { changed: (call: () => void) => changed(call) }),
    close: async () => undefined, // its owner closes it
  };
}

async function* inTurns(frames: AsyncIterable<StoredFrame>, signal: AbortSignal): AsyncGenerator<StoredFrame> {
  let began = performance.now();
  for await (const frame of frames) {
    if (performance.now() - began > TURN_MS) {
      await nextTurn();
      began = performance.now();
    }
    signal.throwIfAborted();
    yield frame;
  }
}
