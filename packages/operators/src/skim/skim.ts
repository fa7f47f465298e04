/** Looks through frames: by their bytes first, and without a check of shapes. */
import type { JournalRecord } from '@reprise/contracts';
import type { ReadonlyStore, StoredFrame } from '@reprise/kernel';
import { skimFrame } from '@reprise/kernel/inspect';
import { readFrame } from '@reprise/kernel/store';

/** Which frames are looked at. */
interface Skim {
  readonly from: number;
  readonly to: number;
  /** Only frames whose bytes hold one of these: the others are not decoded. */
  readonly holding?: readonly Buffer[];
  /** Frames of these kinds are decoded whatever they hold. */
  readonly kinds?: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

/**
 * Takes the records of frames in their order, without a check of their shapes.
 *
 * @param take ends the reading with `false`
 * @throws RepriseError `journal_damaged` for a frame that is damaged; the reason of the signal when it is aborted
 */
export async function skimFrames(
  { journal }: Pick<ReadonlyStore, 'journal'>,
  { from, to, holding, kinds = [], signal }: Skim,
  take: (seq: number, at: number, records: readonly JournalRecord[]) => unknown,
): Promise<void> {
  for await (const frame of journal.read(from, to)) {
    signal?.throwIfAborted();
    if (holding !== undefined && !kinds.includes(frame.kind) && !holdsAny(frame, holding)) continue;
    const { seq, at, bytes } = frame;
    const records = skimFrame(bytes, seq);
    try {
      if (take(seq, at, records) === false) return;
    } catch (error) {
      readFrame(bytes, seq); // a frame that nothing can take has a wrong shape: this says where
      throw error;
    }
  }
}

/** Texts as the bytes of a frame hold them. */
export function textsIn(texts: readonly string[]): readonly Buffer[] {
  return texts.map((text) => Buffer.from(text));
}

/**
 * Whether the bytes of a frame hold one of some texts: a frame without them needs no decoding. The name of a reducer stands
 * as a text in each frame that touches one of its cells, and that of an event where it is sent.
 *
 * @param texts as UTF-8; of an id the bytes that its digits stand for
 */
export function holdsAny({ bytes }: StoredFrame, texts: readonly Buffer[]): boolean {
  const plain = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return texts.some((text) => plain.includes(text));
}
