/** The frames of a store, as a second process would read them. */
import { type ReadonlyStore, readFrame } from '@reprise/kernel';
import type { HistorySource } from '../../src/history/index.js';

/** The history of a store. */
export function sourceIn(store: ReadonlyStore): HistorySource {
  return {
    content: store.content,
    frames: async function* () {
      for await (const { seq, head, bytes } of store.journal.read(0)) {
        const { all, ingress } = readFrame(bytes, seq);
        yield { seq, at: ingress.at, head, records: all };
      }
    },
  };
}
