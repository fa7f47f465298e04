/** The frames of a world in order, also while another process writes them. */
import { statSync } from 'node:fs';
import { RepriseError } from '@reprise/contracts';
import type { Head, ReadonlyStore, StoredFrame } from '@reprise/kernel';
import { followFrames, followHeads, type LookOptions } from '@reprise/kernel/follow';
import type { Io } from '../process/io.js';
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
  if (from >= end) return;
  const last = Math.min((await store.journal.head()).seq, end - 1);
  const frames = follow === true ? followed(store, io, path, from) : store.journal.read(from, last);
  for await (const frame of frames) {
    yield frame;
    if (frame.seq + 1 >= end) return;
  }
}

const LOOK_MS = 1_000;

/** How long a database may be away while a world in it is followed, in milliseconds: it may start again. */
const DATABASE_MS = 60_000;

/**
 * Looks at a world again and again until Ctrl-C, for what stands in no frame as well: whether its process lives.
 *
 * @returns the number of the last frame at each look
 * @throws RepriseError as {@link framesOf}
 */
export async function* looksAt(store: ReadonlyStore, io: Io, path: string): AsyncGenerator<number> {
  const { watched, options } = watch(store, io, path, LOOK_MS);
  for await (const { seq } of followHeads(watched, options)) yield seq;
}

function followed(store: ReadonlyStore, io: Io, path: string, from: number): AsyncGenerator<StoredFrame> {
  const { watched, options } = watch(store, io, path, POLL_MS);
  return followFrames(watched, { ...options, from });
}

/** A world that is followed until Ctrl-C, or until nobody reads what is printed. Each look sees whether its file is still there. */
function watch(
  store: ReadonlyStore,
  io: Io,
  path: string,
  pollMs: number,
): { readonly watched: ReadonlyStore; readonly options: LookOptions } {
  const { journal } = store;
  const file = fileAt(path);
  const unread = new AbortController();
  const head = async (): Promise<Head> => {
    if (io.out.closed) unread.abort();
    // The open file would stay as it is for ever.
    if (fileAt(path) !== file) throw replaced(path);
    return journal.head();
  };
  const signal = AbortSignal.any([io.interrupted(), unread.signal]);
  return {
    watched: { ...store, journal: { ...journal, head } },
    options: { signal, pollMs, patienceMs: isDatabase(path) ? DATABASE_MS : 0 },
  };
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
