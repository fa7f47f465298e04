/** Journals that an attacker changed: bytes alone, or a record together with all heads behind it. */
import assert from 'node:assert/strict';
import type { JournalRecord, Value } from '@reprise/contracts';
import { type ReadonlyStore, readFrame, type StoredFrame, verifyStore, writeFrame } from '@reprise/kernel';
import { load, rechained, type Sample, storeOf } from '../tamper/sample.js';
import { type Catch, caughtBy } from './row.js';
import { shopApp, shopStore } from './shop.js';

/** A record as data, to be changed. */
export type Data = Record<string, Value>;

/** The content of the shop's world. */
export async function shopSample(): Promise<Sample> {
  return load(await (await shopStore()).openReadonly());
}

/** A frame at its place. */
export function frameAt({ frames }: Sample, seq: number): StoredFrame {
  const frame = frames[seq];
  assert.ok(frame !== undefined, `there is no frame ${seq}`);
  return frame;
}

/** A world in which one frame's records are others, and whose heads all fit. */
export function forged(sample: Sample, seq: number, edit: (records: Data[]) => readonly Data[]): Sample {
  const frame = frameAt(sample, seq);
  const records = edit(readFrame(frame.bytes, seq).all as unknown as Data[]);
  const first = records[0] as { readonly kind: string; readonly at: number };
  const bytes = writeFrame(records as unknown as JournalRecord[]);
  const frames = sample.frames.with(seq, { ...frame, bytes, at: first.at, kind: first.kind as StoredFrame['kind'] });
  return { ...sample, frames: rechained(frames) };
}

/** A world with other frames, whose numbers and heads all fit. */
export function rearranged(sample: Sample, edit: (frames: readonly StoredFrame[]) => readonly StoredFrame[]): Sample {
  const frames = edit(sample.frames).map((frame, seq) => {
    const [first, ...others] = readFrame(frame.bytes, frame.seq).all as unknown as Data[];
    const bytes = writeFrame([{ ...first, seq }, ...others] as unknown as JournalRecord[]);
    return { ...frame, seq, bytes };
  });
  return { ...sample, frames: rechained(frames) };
}

/** A record with fields changed, at its place. */
export function changed(records: readonly Data[], i: number, fields: Data): Data[] {
  return records.map((record, at) => (at === i ? { ...record, ...fields } : record));
}

/** The expectations that a world is checked against. */
export interface Held {
  /** Answers of the store that differ from its frames. */
  readonly over?: Partial<ReadonlyStore['journal']>;
  /** The head that was acknowledged; the shop's own when absent. */
  readonly acknowledged?: string | undefined;
}

/** The finding for a world: without the app, otherwise by replay, otherwise by the acknowledged head. */
export async function foundIn(sample: Sample, held: Held = {}): Promise<Catch[]> {
  const store = (): ReadonlyStore => {
    const honest = storeOf(sample);
    return { ...honest, journal: { ...honest.journal, ...held.over } };
  };
  const checked = await caughtBy('integrity check', verifyStore(store(), {}));
  if (checked.length > 0) return checked;
  const app = shopApp();
  const replayed = await caughtBy('verification', verifyStore(store(), { app }));
  if (replayed.length > 0) return replayed;
  const expect = held.acknowledged ?? (await shopSample()).frames.at(-1)?.head ?? '';
  return caughtBy('acknowledged head', verifyStore(store(), { app, expect }));
}
