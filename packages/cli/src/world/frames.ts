/** The frames of a world in order, also while another process writes them. */
import { statSync } from 'node:fs';
import { RepriseError } from '@reprise/contracts';
import type { ReadonlyStore, StoredFrame } from '@reprise/kernel';
import { type Io, pause } from '../process/io.js';
import { isDatabase } from './place.js';

const POLL_MS = 200;

/** Which frames a verb reads, and whether it waits for more. */
export interface FrameRange {
  readonly from: number;
  /** The first frame that is not read; none when absent. */
  readonly end?: number;
  /** Continues with new frames until the user interrupts. */
  readonly follow?: true;
  /** The path of the world, where another file may appear while it is followed. */
  readonly path: string;
}

/**
 * Reads frames in order, each once. With `follow`, it continues with new ones until Ctrl-C; a writer that dies and comes
 * back does not disturb it.
 *
 * @throws RepriseError `head_mismatch` when the journal has become shorter; `world_moved` when another file took its place
 */
export async function* framesOf(
  store: ReadonlyStore,
  io: Io,
  { from, end = Number.MAX_SAFE_INTEGER, follow, path }: FrameRange,
): AsyncGenerator<StoredFrame> {
  const stop = follow === true ? io.interrupted() : undefined;
  const file = fileAt(path);
  let last = (await store.journal.head()).seq;
  for (let next = from; ; ) {
    for await (const frame of store.journal.read(next, Math.min(last, end - 1))) {
      if (stop?.aborted === true) return;
      yield frame;
      next = frame.seq + 1;
    }
    if (stop === undefined || next >= end) return;
    await pause(POLL_MS, stop);
    if (stop.aborted || io.out.closed) return;
    last = await headAfter(store, last, path, file);
  }
}

const LOOK_MS = 1_000;

/**
 * Looks at a world again and again until Ctrl-C, for what stands in no frame as well: whether its process lives.
 *
 * @returns the number of the last frame at each look
 * @throws RepriseError as {@link framesOf}
 */
export async function* looksAt(store: ReadonlyStore, io: Io, path: string): AsyncGenerator<number> {
  const stop = io.interrupted();
  const file = fileAt(path);
  for (let last = (await store.journal.head()).seq; ; last = await headAfter(store, last, path, file)) {
    if (stop.aborted || io.out.closed) return;
    yield last;
    await pause(LOOK_MS, stop);
    if (stop.aborted || io.out.closed) return;
  }
}

/** The last frame of a world that is followed. @param before the last one of the look before */
async function headAfter(
  store: ReadonlyStore,
  before: number,
  path: string,
  file: string | undefined,
): Promise<number> {
  // The open file would stay as it is for ever.
  if (fileAt(path) !== file) throw replaced(path);
  const { seq } = await store.journal.head();
  if (seq < before) throw shorter(before, seq);
  return seq;
}

/** What identifies the file at a path; undefined when no file is there, and for a world in a database. */
function fileAt(path: string): string | undefined {
  if (isDatabase(path)) return undefined;
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? undefined : `${found.dev}.${found.ino}`;
}

function replaced(where: string): RepriseError {
  return new RepriseError('world_moved', 'the world was moved, removed or replaced while it was followed', {
    where,
    hint: 'Run the command again, with the path that the world has now.',
  });
}

function shorter(before: number, after: number): RepriseError {
  return new RepriseError('head_mismatch', 'the journal became shorter while it was followed', {
    expected: `frame ${before}`,
    actual: after < 0 ? 'no frame' : `frame ${after}`,
    hint: 'The world was restored or replaced. Run the command again.',
  });
}
