/** Reads the trees of a world from its journal. Takes no lock, so a process may be running them. */
import { RepriseError } from '@reprise/contracts';
import type { ReadonlyStore, StoredFrame } from '@reprise/kernel';
import { readFrame } from '@reprise/kernel/store';
import { type FactOfTree, type FramePlace, TreeFold } from '@reprise/tree';
import type { Failures } from '../process/failures.js';

/** A fact with its place. */
export interface PlacedFact {
  readonly fact: FactOfTree;
  readonly place: FramePlace;
}

/**
 * Folds a frame.
 *
 * @param failures receives why sessions failed
 * @returns the facts of trees in it
 */
export function foldFrame(
  fold: TreeFold,
  { seq, bytes }: Pick<StoredFrame, 'seq' | 'bytes'>,
  failures?: Failures,
): readonly PlacedFact[] {
  const { all, ingress } = readFrame(bytes, seq);
  failures?.add(all);
  const place = { frame: seq, at: ingress.at };
  return all.flatMap((record) => {
    const fact = fold.take(record, place);
    return fact === undefined ? [] : [{ fact, place }];
  });
}

/**
 * The trees of a world as they are, or as they were after a frame.
 *
 * @param failures receives why sessions failed
 * @throws RepriseError `invalid_argument` when there is no such frame
 */
export async function readTrees(store: ReadonlyStore, at?: number, failures?: Failures): Promise<TreeFold> {
  const { seq: last } = await store.journal.head();
  if (at !== undefined && at > last)
    throw new RepriseError('invalid_argument', 'the world has no such frame', {
      expected: `a frame from 0 to ${last}`,
      actual: String(at),
    });
  const fold = new TreeFold();
  for await (const frame of store.journal.read(0, at ?? last)) foldFrame(fold, frame, failures);
  return fold;
}
