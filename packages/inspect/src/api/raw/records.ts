/** `GET /api/records?from&limit` and `GET /api/record?frame&i`: raw records, as `reprise tail` and `reprise show` print them. */
import { readFrame } from '@reprise/kernel/store';
import { recordRow } from '@reprise/operators/text';
import { absent } from '../../ask/found.js';
import { frameAt } from '../../ask/frame-at.js';
import { AT, FRAME, limit as limitOf } from '../../ask/parameters.js';
import { question } from '../../ask/question.js';
import type { RecordReport, RecordsReport } from '../../contract/index.js';

/** The bytes of the frames of one answer, about: a page with one frame more is still sent. */
const BYTES_MAX = 4 * 1024 * 1024;

export const records = question(
  { from: AT, limit: limitOf(200) },
  async ({ store }, { from, limit }): Promise<RecordsReport> => {
    const { seq: last } = await store.journal.head();
    const first = from ?? Math.max(last + 1 - limit, 0);
    if (first > last) throw absent('the world has no such frame', 'from', first);
    const frames: RecordsReport['frames'][number][] = [];
    let bytes = 0;
    for await (const stored of store.journal.read(first, Math.min(first + limit - 1, last))) {
      const { seq, at, head } = stored;
      const lines = readFrame(stored.bytes, seq).all.map((record, i) => recordRow({ seq, i, at }, record));
      frames.push({ seq, at, head, bytes: stored.bytes.length, records: lines });
      bytes += stored.bytes.length;
      if (bytes > BYTES_MAX) break;
    }
    const next = (frames.at(-1)?.seq ?? last) + 1;
    return { frame: last, frames, next: next > last ? null : next };
  },
);

export const record = question({ frame: FRAME, i: FRAME }, async ({ store }, { frame, i }): Promise<RecordReport> => {
  const { bytes } = await frameAt(store, frame);
  const found = readFrame(bytes, frame).all[i];
  if (found === undefined) throw absent('the frame has no such record', 'i', i);
  return { frame, i, record: found };
});
