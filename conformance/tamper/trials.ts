/**
 * Every way to damage a world by one frame or one blob, and where a verification must say the damage is.
 *
 * In memory these are exact: the store hands the tampered frames over in the tampered order. `on-disk.ts` does the
 * same to a real file, through the real reader.
 */
import assert from 'node:assert/strict';
import { agentApp } from '@reprise/agent';
import { isRepriseError, type RepriseError } from '@reprise/contracts';
import { type ReadonlyStore, type StoredFrame, type VerifyOptions, verifyStore } from '@reprise/kernel';
import { flipped, rechained, type Sample, storeOf } from './sample.js';

/** One tampering. */
export interface Trial {
  readonly what: string;
  /** The place that the error must name: a frame's number, or a blob's digest. */
  readonly place: number | string;
  readonly sample: Sample;
}

/** Where in `length` bytes to turn a bit: the ends, and so many places between, evenly or as chance has it. */
export function* places(length: number, count: number, random: () => number): Generator<{ at: number; bit: number }> {
  for (const at of new Set([0, length - 1])) yield { at, bit: Math.floor(random() * 8) };
  for (let i = 0; i < count && i < length; i++) {
    const at = count >= length ? i : Math.floor(random() * length);
    yield { at, bit: Math.floor(random() * 8) };
  }
}

/** A bit of a frame turned, its head as it was. */
export function* flippedFrames({ frames, blobs }: Sample, count: number, random: () => number): Generator<Trial> {
  for (const [i, frame] of frames.entries()) {
    for (const { at, bit } of places(frame.bytes.length, count, random)) {
      const bytes = flipped(frame.bytes, at, bit);
      yield {
        what: `frame ${i}: byte ${at}, bit ${bit}`,
        place: i,
        sample: { frames: frames.with(i, { ...frame, bytes }), blobs },
      };
    }
  }
}

/** Frames removed, repeated, exchanged; heads changed. */
export function* movedFrames({ frames, blobs }: Sample): Generator<Trial> {
  for (const [i, frame] of frames.entries()) {
    const trial = (what: string, place: number, tampered: readonly StoredFrame[]): Trial => ({
      what: `frame ${i}: ${what}`,
      place,
      sample: { frames: tampered, blobs },
    });
    const head = `${frame.head.startsWith('0') ? '1' : '0'}${frame.head.slice(1)}`;
    yield trial('its head changed', i, frames.with(i, { ...frame, head }));
    yield trial('its time changed', i, frames.with(i, { ...frame, at: frame.at + 1 }));
    const kind = frame.kind === 'timer' ? 'receipt' : 'timer';
    yield trial('its kind changed', i, frames.with(i, { ...frame, kind }));
    yield trial('repeated', i + 1, frames.toSpliced(i, 0, frame));
    yield trial('repeated under the next number', i + 1, renumbered(frames.toSpliced(i, 0, frame)));
    const after = frames[i + 1];
    if (after === undefined) continue; // to remove the last frame is to cut the tail
    yield trial('removed', i, frames.toSpliced(i, 1));
    yield trial('removed, the others moved up', i, renumbered(frames.toSpliced(i, 1)));
    yield trial('exchanged with the next', i, frames.with(i, after).with(i + 1, frame));
    yield trial('exchanged with the next, numbers kept', i, renumbered(frames.with(i, after).with(i + 1, frame)));
    const far = Math.floor((i + frames.length) / 2);
    if (far > i + 1) yield trial(`exchanged with ${far}`, i, renumbered(swapped(frames, i, far)));
  }
}

function renumbered(frames: readonly StoredFrame[]): StoredFrame[] {
  return frames.map((frame, seq) => ({ ...frame, seq }));
}

function swapped(frames: readonly StoredFrame[], i: number, j: number): StoredFrame[] {
  const [one, other] = [frames[i], frames[j]] as [StoredFrame, StoredFrame];
  return frames.with(i, other).with(j, one);
}

/** A bit of a blob turned, or the blob gone. */
export function* tamperedBlobs({ frames, blobs }: Sample, count: number, random: () => number): Generator<Trial> {
  for (const [hex, bytes] of blobs) {
    for (const { at, bit } of bytes.length === 0 ? [] : places(bytes.length, count, random)) {
      const tampered = new Map(blobs).set(hex, flipped(bytes, at, bit));
      yield { what: `blob ${hex}: byte ${at}, bit ${bit}`, place: hex, sample: { frames, blobs: tampered } };
    }
    const without = new Map(blobs);
    without.delete(hex);
    yield { what: `blob ${hex}: removed`, place: hex, sample: { frames, blobs: without } };
  }
}

/** A bit of a frame turned and every head after it made to fit. */
export function* forgedFrames(
  { frames, blobs }: Sample,
  count: number,
  random: () => number,
): Generator<Omit<Trial, 'place'>> {
  for (const [i, frame] of frames.entries()) {
    for (const { at, bit } of places(frame.bytes.length, count, random)) {
      const forged = rechained(frames.with(i, { ...frame, bytes: flipped(frame.bytes, at, bit) }));
      yield { what: `frame ${i}: byte ${at}, bit ${bit}, heads made to fit`, sample: { frames: forged, blobs } };
    }
  }
}

/** The error of a verification; undefined when it finds nothing wrong. */
export async function verdict(
  store: ReadonlyStore,
  options: VerifyOptions = { app: agentApp },
): Promise<RepriseError | undefined> {
  try {
    await verifyStore(store, options);
    return undefined;
  } catch (error) {
    if (isRepriseError(error) && error.code !== 'internal_error') return error;
    throw error;
  } finally {
    await store.close();
  }
}

/** Checks that a verification finds a tampering, with the app and without, and names its place. */
export async function expectFound(
  { what, place, sample }: Trial,
  ways: readonly VerifyOptions[] = [{ app: agentApp }, {}],
): Promise<void> {
  for (const options of ways) {
    const error = await verdict(storeOf(sample), options);
    assert.ok(error !== undefined, `${what}: not found${'app' in options ? '' : ' without the app'}`);
    assert.ok(names(error, place), `${what}: found elsewhere: ${error.message}`);
  }
}

/** Whether an error names a frame or a blob, in its text and in its details. */
export function names(error: RepriseError, place: number | string): boolean {
  if (typeof place === 'string') return error.message.includes(`sha256:${place}`);
  if (new RegExp(`\\bframe ${place}(?!\\d)`).test(error.message)) return true;
  // Frames that share a row are damaged with it.
  const [, first, last] = /frames (\d+) to (\d+)/.exec(error.message) ?? [];
  return first !== undefined && Number(first) <= place && place <= Number(last);
}
