/** Checks a store against the tombstones of its journal: named content is gone, and the store knows that. */
import { type IngressRecord, Ref, RepriseError } from '@reprise/contracts';
import type { ContentReader } from '../../../ports/content/port.js';
import { damaged, readInputs } from '../../../ports/journal/frame.js';
import type { ReadonlyStore } from '../../../ports/store/store.js';

/** The tombstones of a journal, collected while it is read. */
export class Erasures {
  /** The newest frame that names a digest. */
  readonly #by: Map<string, number>;
  #last: number;

  /**
   * @param named digests that tombstones name, each with its frame; of several for one digest the last counts
   * @param last the last frame that erases, −1 without one
   */
  constructor(named: Iterable<readonly [hex: string, seq: number]> = [], last = -1) {
    this.#by = new Map(named);
    this.#last = last;
  }

  /** Every digest that a tombstone names, with the newest frame that does. */
  get named(): readonly (readonly [hex: string, seq: number])[] {
    return [...this.#by];
  }

  /** The last frame that erases, −1 without one. */
  get last(): number {
    return this.#last;
  }

  /** Whether a tombstone names a digest. */
  has(hex: string): boolean {
    return this.#by.has(hex);
  }

  /** Takes the next frame's ingress in. */
  take(ingress: IngressRecord): void {
    if (ingress.kind !== 'erase') return;
    for (const hex of ingress.digests) this.#by.set(hex, ingress.seq);
    this.#last = ingress.seq;
  }

  /**
   * Counts erased blobs, and blobs that have returned. The newest erasure may still be running, or have been interrupted
   * by a crash: the next opening finishes it, so it is not judged.
   *
   * @throws RepriseError `erase_unfinished` when an earlier one never ended; `journal_damaged` when the store lacks
   *   a tombstone
   */
  async check(content: ContentReader): Promise<{ readonly erased: number; readonly returned: number }> {
    const through = await content.erasedThrough();
    let [erased, returned] = [0, 0];
    for (const [hex, seq] of this.#by) {
      const ref = Ref.fromHex(hex);
      if (await content.has(ref)) returned++;
      else erased++;
      if (seq > through && seq === this.#last) continue;
      if (seq > through) throw unfinished(ref, seq);
      if (((await content.erasedBy(ref)) ?? -1) < seq)
        throw damaged(seq, `the store does not know that ${ref} was erased here`, 0);
    }
    return { erased, returned: this.#last > through ? 0 : returned };
  }
}

/**
 * Whether a frame after this one erased content. The owner of a world may erase while a verification runs: a blob that was
 * there is gone then, by a frame that may lie beyond those that are verified. The store's tombstone alone proves nothing.
 */
export async function wasErasedAfter(
  seq: number,
  { journal, content }: Pick<ReadonlyStore, 'journal' | 'content'>,
  ref: Ref,
): Promise<boolean> {
  const by = (await content.erasedBy(ref)) ?? -1;
  if (by <= seq) return false;
  for await (const { bytes } of journal.read(by, by)) {
    const { ingress } = readInputs(bytes, by);
    return ingress.kind === 'erase' && ingress.digests.includes(ref.hex);
  }
  return false;
}

function unfinished(ref: Ref, seq: number): RepriseError {
  return new RepriseError('erase_unfinished', 'an erasure was journaled and not finished', {
    where: `frame ${seq}, ${ref}`,
    hint: 'The store was changed from outside, perhaps replaced by an older copy. Erase the content again.',
  });
}
