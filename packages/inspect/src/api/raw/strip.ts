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

/** A journal of at most so many frames is read whole. */
const WHOLE_FRAMES = 4_096;

/** The frames that are read of a stretch of a longer one, at its beginning: they stand together in the file. */
const SAMPLE_FRAMES = 4;

/** The last strip of each store: the next one is the same until the next frame. */
const kept = new WeakMap<object, { readonly key: string; readonly report: StripReport }>();

export const strip = question(
  { buckets: optional(whole(1, BUCKETS_MAX)) },
  async (asked, { buckets = BUCKETS_MAX }) => {
    const { seq, digest } = await asked.store.journal.head();
    const key = `${digest} ${buckets}`;
    const known = kept.get(asked.past);
    if (known?.key === key) return known.report;
    const report = { frame: seq, buckets: await read(asked.store, seq + 1, Math.min(buckets, seq + 1)) };
    kept.set(asked.past, { key, report });
    return report;
  },
);

type Bucket = StripReport['buckets'][number];

async function read(store: ReadonlyStore, frames: number, count: number): Promise<readonly Bucket[]> {
  const found: Bucket[] = [];
  for (let n = 0; n < count; n++) {
    const from = Math.floor((n * frames) / count);
    const to = Math.floor(((n + 1) * frames) / count) - 1;
    const size = to - from + 1;
    const sampled = frames <= WHOLE_FRAMES ? size : Math.min(SAMPLE_FRAMES, size);
    let [at, bytes] = [0, 0];
    for await (const frame of store.journal.read(from, from + sampled - 1)) {
      if (frame.seq === from) at = frame.at;
      bytes += frame.bytes.length;
    }
    found.push({ from, to, at, bytes: Math.round((bytes * size) / sampled) });
  }
  return found;
}
