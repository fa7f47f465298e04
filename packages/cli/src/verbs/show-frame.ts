import { RepriseError } from '@reprise/contracts';
import type { ReadonlyStore, StoredFrame } from '@reprise/kernel';
import { encode, FRAME_DEPTH_MAX } from '@reprise/kernel/codec';
import { readFrame } from '@reprise/kernel/store';
import { toJson } from '../text/json.js';
import { timeOf } from '../text/record-line.js';
import type { View } from './show.js';

/**
 * Shows a frame in full, or one of its records.
 *
 * @throws RepriseError `invalid_argument` when the frame or record does not exist, `journal_damaged`
 */
export async function frameView(store: ReadonlyStore, seq: number, i?: number): Promise<View> {
  const stored = await frameAt(store, seq);
  const { all, ingress } = readFrame(stored.bytes, seq);
  const records = i === undefined ? [...all.entries()] : [...all.entries()].slice(i, i + 1);
  if (records.length === 0) {
    throw new RepriseError('invalid_argument', `frame ${seq} has no such record`, {
      expected: `${seq}.0 to ${seq}.${all.length - 1}`,
      actual: `${seq}.${i}`,
    });
  }
  const size = i === undefined ? stored.bytes.length : encode(all[i], FRAME_DEPTH_MAX).length;
  const head = `sha256:${stored.head}`;
  const common = { seq, at: ingress.at, time: timeOf(ingress.at), head, size };
  const data = i === undefined ? { ...common, records: all } : { ...common, i, record: all[i] };
  const title = i === undefined ? `frame ${seq}` : `record ${seq}.${i}`;
  const text = [
    `${title}  ${common.time}  ${size} bytes`,
    `head ${head}`,
    ...records.map(([index, record]) => `${seq}.${index} ${record.kind}\n${toJson(record, { indent: 2 })}`),
  ];
  return { data, text: `${text.join('\n')}\n` };
}

async function frameAt(store: ReadonlyStore, seq: number): Promise<StoredFrame> {
  for await (const stored of store.journal.read(seq, seq)) return stored;
  const last = (await store.journal.head()).seq;
  throw new RepriseError('invalid_argument', 'the frame does not exist', {
    expected: last < 0 ? 'no number: the journal has no frame' : `0 to ${last}`,
    actual: seq,
  });
}
