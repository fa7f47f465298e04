/** The history of a world's file, which another process may hold. */
import type { HistorySource } from '@reprise/agent/history';
import type { ReadonlyStore } from '@reprise/kernel';
import { readFrame } from '@reprise/kernel/store';

/** The frames of a store as a history reads them, up to the end as it is now. */
export async function historyIn(store: ReadonlyStore): Promise<HistorySource> {
  const { seq: last } = await store.journal.head();
  return {
    content: store.content,
    frames: async function* () {
      for await (const { seq, head, bytes } of store.journal.read(0, last)) {
        const { all, ingress } = readFrame(bytes, seq);
        yield { seq, at: ingress.at, head, records: all };
      }
    },
  };
}
