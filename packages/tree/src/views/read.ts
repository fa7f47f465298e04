/** Reads the trees of a world from its file. Takes no lock, so a process may be running them. */
import { type JournalRecord, RepriseError } from '@reprise/contracts';
import type { ReadonlyStore, StoredFrame } from '@reprise/kernel';
import { readFrame } from '@reprise/kernel/store';
import { type FactOfTree, type FramePlace, TreeFold } from './nodes.js';

/** A fact of a tree with its place. */
export interface PlacedFact {
  readonly fact: FactOfTree;
  readonly place: FramePlace;
}

/** Receives the records of each frame that is read. */
type Hear = (records: readonly JournalRecord[]) => void;

/** Takes a frame into a fold. @returns the facts of trees in it */
export function takeFrame(
  fold: TreeFold,
  { seq, bytes }: Pick<StoredFrame, 'seq' | 'bytes'>,
  hear?: Hear,
): readonly PlacedFact[] {
  const { all, ingress } = readFrame(bytes, seq);
  hear?.(all);
  const place = { frame: seq, at: ingress.at };
  return all.flatMap((record) => {
    const fact = fold.take(record, place);
    return fact === undefined ? [] : [{ fact, place }];
  });
}

/**
 * The trees of a world as they are, or as they were after a frame.
 *
 * @throws RepriseError `invalid_argument` when there is no such frame
 */
export async function treesAt(store: ReadonlyStore, at?: number, hear?: Hear): Promise<TreeFold> {
  const { seq: last } = await store.journal.head();
  if (at !== undefined && at > last)
    throw new RepriseError('invalid_argument', 'the world has no such frame', {
      expected: `a frame from 0 to ${last}`,
      actual: String(at),
    });
  const fold = new TreeFold();
  for await (const frame of store.journal.read(0, at ?? last)) takeFrame(fold, frame, hear);
  return fold;
}

/** Keeps the records of trees, so that the frames are read once for the trees at any frame. */
export class TreeRecords {
  readonly #records: { readonly record: JournalRecord; readonly place: FramePlace }[] = [];
  /** The trees after the last frame that was read. */
  readonly #newest = new TreeFold();
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
    if (!this.#newest.learnsFrom(record)) return;
    this.#records.push({ record: withoutContent(record), place });
    this.#newest.take(record, place);
  }
}

/** A record without what the fold does not read and what may be large. */
function withoutContent(record: JournalRecord): JournalRecord {
  if (record.kind === 'effect') return { ...record, params: null };
  if (record.kind !== 'receipt') return record;
  const { payload: _, ...receipt } = record.receipt;
  return { ...record, receipt };
}
