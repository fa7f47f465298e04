/** `reprise tail`: the newest frames of a world, record by record, also while a writer has it open. */
import type { ReadonlyStore, StoredFrame } from '@reprise/kernel';
import { readFrame } from '@reprise/kernel/store';
import type { Io } from '../process/io.js';
import { escapeLine } from '../text/escape.js';
import { toJson } from '../text/json.js';
import { cutToColumns } from '../text/layout.js';
import { recordRow, timeOf } from '../text/record-line.js';
import { type FrameRange, framesOf } from '../world/frames.js';
import { withWorld } from '../world/open.js';
import { troubleLines } from '../world/troubles.js';

interface TailArguments {
  /** The first frame to print; the last `n` frames when absent. */
  readonly from?: number;
  readonly n?: number;
  readonly follow?: true;
  readonly json?: true;
}

const FRAMES_DEFAULT = 20;

/** Prints frames in order; with `follow`, until the user interrupts. */
export async function tail(io: Io, world: string, options: TailArguments): Promise<void> {
  await withWorld(world, async (store) => {
    // Beside the output, which other programs read line by line.
    const troubles = await troubleLines(store, world);
    await io.err.write(troubles.map((line) => `${escapeLine(line)}\n`).join(''));
    for await (const frame of framesOf(store, io, await rangeOf(store, world, options))) {
      await io.out.write(options.json === true ? jsonLines(frame) : lines(frame, io.out.columns));
      if (io.out.closed) return;
    }
  });
}

/** With `from`, `n` is the most frames to read; without it, the number of frames before the end to begin at. */
async function rangeOf(store: ReadonlyStore, path: string, { from, n, follow }: TailArguments): Promise<FrameRange> {
  const { seq } = await store.journal.head();
  return {
    path,
    from: from ?? Math.max(seq + 1 - (n ?? FRAMES_DEFAULT), 0),
    ...(from === undefined || n === undefined ? {} : { end: from + n }),
    ...(follow === true ? { follow } : {}),
  };
}

/** One line for each record; on a terminal cut to its width. */
function lines({ seq, bytes }: StoredFrame, columns: number | undefined): string {
  const { all, ingress } = readFrame(bytes, seq);
  const rows = all.map((record, i) => {
    const row = recordRow({ seq, i, at: ingress.at }, record);
    return columns === undefined ? row : cutToColumns(row, columns);
  });
  return `${rows.join('\n')}\n`;
}

function jsonLines({ seq, head, bytes }: StoredFrame): string {
  const { all, ingress } = readFrame(bytes, seq);
  const frame = { seq, at: ingress.at, time: timeOf(ingress.at), head: `sha256:${head}` };
  return all.map((record, i) => `${toJson({ ...frame, i, kind: record.kind, record })}\n`).join('');
}
