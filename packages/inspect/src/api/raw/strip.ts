/**
 * `GET /api/strip?buckets`: activity along the slider. No frame is decoded. A long journal is sampled: the port has no column
 * of sizes, and to read every frame of 100,000 would take longer than all of the first screen.
 */
import type { ReadonlyStore } from '@reprise/kernel';
import { optional, whole } from '../../ask/parameters.js';
import { question } from '../../ask/question.js';
import type { StripReport } from '../../contract/index.js';

/** The most stretches of one strip. */
const BUCKETS_MAX = 400;

/** Stretches of at most so many frames are read whole. */
const WHOLE_FRAMES = 16;

/** The frames that are read of a longer stretch, at its beginning: they stand together in the file. */
const SAMPLE_FRAMES = 4;

/** The stretches that are whole, by server and by the frames of one: they never change, so only the last one is read again. */
const kept = new WeakMap<object, Map<number, Bucket[]>>();

type Bucket = StripReport['buckets'][number];

export const strip = question(
  { buckets: optional(whole(1, BUCKETS_MAX)) },
  async ({ store, past }, { buckets = BUCKETS_MAX }): Promise<StripReport> => {
    const { seq } = await store.journal.head();
    const size = stretchOf(seq + 1, buckets);
    const known = kept.get(past) ?? new Map<number, Bucket[]>();
    kept.set(past, known);
    const found = known.get(size) ?? [];
    known.set(size, found);
    const sampled = size <= WHOLE_FRAMES ? size : SAMPLE_FRAMES;
    for (let from = found.length * size; from + size <= seq + 1; from += size) {
      const bucket = await read(store, from, { size, sampled });
      if (found.length * size === from) found.push(bucket); // another question may have read it meanwhile
    }
    const rest = found.length * size;
    const last = rest > seq ? [] : [await read(store, rest, { size: seq + 1 - rest, sampled })];
    return { frame: seq, buckets: [...found.slice(0, Math.floor((seq + 1) / size)), ...last] };
  },
);

/** The frames of a stretch: a power of two, so that stretches stay as they are while the journal grows. */
function stretchOf(frames: number, buckets: number): number {
  let size = 1;
  while (size * buckets < frames) size *= 2;
  return size;
}

async function read(
  store: ReadonlyStore,
  from: number,
  { size, sampled }: { readonly size: number; readonly sampled: number },
): Promise<Bucket> {
  let [at, bytes, count] = [0, 0, 0];
  for await (const frame of store.journal.read(from, from + Math.min(size, sampled) - 1)) {
    if (frame.seq === from) at = frame.at;
    bytes += frame.bytes.length;
    count++;
  }
  return { from, to: from + size - 1, at, bytes: Math.round((bytes * size) / Math.max(count, 1)) };
}
