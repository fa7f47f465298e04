/** The effects in a journal: which were begun, and how each ended. */
import assert from 'node:assert/strict';
import type { JournalRecord } from '@reprise/contracts';
import { readFrame, type Store } from '@reprise/kernel';

/** The records of each frame. */
export type Frames = readonly (readonly JournalRecord[])[];

/** Reads every frame of a store. */
export async function framesOf(store: Store): Promise<Frames> {
  const reader = await store.openReadonly();
  const frames: JournalRecord[][] = [];
  for await (const { bytes, seq } of reader.journal.read(0)) frames.push([...readFrame(bytes, seq).all]);
  return frames;
}

/** Effects that may happen once, were begun, and are neither settled nor deferred. */
export function begunOnce(frames: Frames): string[] {
  const settled = settlementsOf(frames);
  const records = frames.flat();
  const begun = effectsOf(records, 'attempt');
  const handedOn = effectsOf(records, 'deferred');
  const isOpen = (effect: string) => begun.has(effect) && !settled.has(effect) && !handedOn.has(effect);
  return records.flatMap((record) =>
    record.kind === 'effect' && record.guarantee === 'at_most_once' && isOpen(record.effect) ? [record.effect] : [],
  );
}

function effectsOf(records: readonly JournalRecord[], kind: 'attempt' | 'deferred'): ReadonlySet<string> {
  return new Set(records.flatMap((record) => (record.kind === kind ? [record.effect] : [])));
}

/** How the kernel settles effects that may have happened. */
export const UNKNOWN = 'outcome_unknown by kernel';

/**
 * Effect → how it was settled. What is `late` settles nothing.
 *
 * @throws Error when one was settled twice (survivor/C5)
 */
export function settlementsOf(frames: Frames): ReadonlyMap<string, string> {
  const settlements = new Map<string, string>();
  for (const records of frames) {
    const late = new Set(records.flatMap((record) => (record.kind === 'late' ? [record.effect] : [])));
    for (const record of records) {
      const how = settlementOf(record);
      if (how === undefined || late.has(how[0])) continue;
      assert.ok(!settlements.has(how[0]), `C5: ${how[0]} was settled twice`);
      settlements.set(...how);
    }
  }
  return settlements;
}

function settlementOf(record: JournalRecord): [effect: string, how: string] | undefined {
  if (record.kind === 'settled') return [record.effect, record.status];
  if (record.kind !== 'receipt') return undefined;
  return [record.effect, `${record.receipt.status} by ${record.receipt.adapter}`];
}
