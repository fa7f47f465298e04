/** Journals that say something else than what happened: forged below the chain, which fits them again. */
import type { JournalRecord } from '@reprise/contracts';
import {
  EMPTY_HEAD,
  hostSha256,
  memory,
  nextHead,
  readFrame,
  type Store,
  type StoredFrame,
  writeFrame,
} from '@reprise/kernel';

/** Gives other records for a frame; undefined to leave it as it is. */
export type Forger = (records: readonly JournalRecord[], seq: number) => readonly JournalRecord[] | undefined;

/**
 * A copy of a world whose records a forger has changed, with its content.
 *
 * @param column gives the head that the store states of a frame
 */
export async function forgedCopy(
  of: Store,
  forge: Forger = () => undefined,
  copy = memory(),
  column = (head: string, _seq: number): string => head,
): Promise<Store> {
  const [from, to] = [await of.openReadonly(), await copy.open()];
  const frames: StoredFrame[] = [];
  let head = EMPTY_HEAD;
  for await (const frame of from.journal.read(0)) {
    const records = forge(readFrame(frame.bytes, frame.seq).all, frame.seq);
    const bytes = records === undefined ? frame.bytes : writeFrame(records);
    head = nextHead(head, bytes, hostSha256());
    frames.push({ ...frame, bytes, head: column(head.digest, frame.seq) });
  }
  for await (const ref of from.content.list()) {
    const bytes = await from.content.get(ref);
    if (bytes !== undefined) await to.content.put(bytes);
  }
  await to.journal.append(frames, EMPTY_HEAD);
  await to.close();
  await from.close();
  return copy;
}

/** Changes the records of one kind that a test wants changed. */
export function changing<K extends JournalRecord['kind']>(
  kind: K,
  change: (record: Extract<JournalRecord, { kind: K }>) => object | undefined,
): Forger {
  return (records) => {
    let isChanged = false;
    const forged = records.map((record) => {
      const given = record.kind === kind ? change(record as Extract<JournalRecord, { kind: K }>) : undefined;
      if (given === undefined) return record;
      isChanged = true;
      return { ...record, ...given } as JournalRecord;
    });
    return isChanged ? forged : undefined;
  };
}
