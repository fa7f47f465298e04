/** The trees of a world at any frame: the records of them, read once and kept, from which each answer is folded. */
import { SESSION_REDUCER } from '@reprise/agent/contracts';
import type { JournalRecord } from '@reprise/contracts';
import type { ReadonlyStore } from '@reprise/kernel';
import { readFrame } from '@reprise/kernel/store';
import { type FramePlace, TreeFold, treeFactIn } from '@reprise/tree';

interface Placed {
  readonly record: JournalRecord;
  readonly place: FramePlace;
}

/** Keeps the records of trees. */
export class TreeRecords {
  readonly #records: Placed[] = [];
  /** The sessions of nodes: what they wait for shows in the rows. */
  readonly #sessions = new Set<string>();
  #next = 0;

  /** The trees after a frame. @param store is read from where the last question ended */
  async at(store: ReadonlyStore, frame: number): Promise<TreeFold> {
    for await (const { seq, bytes } of store.journal.read(this.#next, frame)) {
      if (seq < this.#next) continue; // another question read it meanwhile
      const { all, ingress } = readFrame(bytes, seq);
      for (const record of all) this.#take(record, { frame: seq, at: ingress.at });
      this.#next = seq + 1;
    }
    const fold = new TreeFold();
    for (const { record, place } of this.#records) if (place.frame <= frame) fold.take(record, place);
    return fold;
  }

  #take(record: JournalRecord, place: FramePlace): void {
    const fact = treeFactIn(record);
    if (fact?.name === 'tree/Launched@1') this.#sessions.add(fact.value.session);
    const isOfNode =
      record.kind === 'fact' && record.from?.[0] === SESSION_REDUCER && this.#sessions.has(record.from[1]);
    if (fact !== undefined || (isOfNode && record.name === 'aos.agent/LifecycleChanged@1'))
      this.#records.push({ record, place });
  }
}
