/** `reprise tail`: the newest frames of a world, record by record, also while a writer has it open. */
import type { ReadonlyStore, StoredFrame } from '@reprise/kernel';
import { readFrame } from '@reprise/kernel';
import { type Io, pause } from '../io.js';
import { withWorld } from '../open.js';
import { toJson } from '../text/json.js';
import { recordRow, timeOf } from '../text/record-line.js';

/** The options of `tail`. */
interface TailArguments {
  /** The first frame to print; the last `n` frames when absent. */
  readonly from?: number;
  readonly n?: number;
  readonly follow?: true;
  readonly json?: true;
}

const FRAMES_DEFAULT = 20;
const POLL_MS = 200;

/** Prints frames in order; with `follow`, until the user interrupts. */
export async function tail(io: Io, world: string, options: TailArguments): Promise<void> {
  await withWorld(world, async (store) => {
    for await (const frame of framesOf(store, io, options)) {
      await io.out.write(options.json === true ? jsonLines(frame) : lines(frame));
      if (io.out.closed) return;
    }
  });
}

/** With `from`, `n` is the most frames to read; without it, the number of frames before the end to begin at. */
async function* framesOf(
  store: ReadonlyStore,
  io: Io,
  { from, n, follow }: TailArguments,
): AsyncGenerator<StoredFrame> {
  const stop = follow === true ? io.interrupted() : undefined;
  let last = (await store.journal.head()).seq;
  let next = from ?? Math.max(last + 1 - (n ?? FRAMES_DEFAULT), 0);
  const end = from === undefined || n === undefined ? Number.MAX_SAFE_INTEGER : from + n;
  for (;;) {
    for await (const frame of store.journal.read(next, Math.min(last, end - 1))) {
      if (stop?.aborted === true) return;
      yield frame;
      next = frame.seq + 1;
    }
    if (stop === undefined || next >= end) return;
    await pause(POLL_MS, stop);
    if (stop.aborted || io.out.closed) return;
    last = (await store.journal.head()).seq;
  }
}

function lines({ seq, bytes }: StoredFrame): string {
  const { all, ingress } = readFrame(bytes, seq);
  const rows = all.map((record, i) => recordRow({ seq, i, at: ingress.at }, record));
  return `${rows.join('\n')}\n`;
}

function jsonLines({ seq, head, bytes }: StoredFrame): string {
  const { all, ingress } = readFrame(bytes, seq);
  const frame = { seq, at: ingress.at, time: timeOf(ingress.at), head: `sha256:${head}` };
  return all.map((record, i) => `${toJson({ ...frame, i, kind: record.kind, record })}\n`).join('');
}
