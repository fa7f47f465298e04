/** A run as a UI message stream. */
import type { AgentEvent, Cursor, Delta, Run } from '@reprise/agent';
import type { UiChunk } from './chunk.js';
import { type ChunkOptions, RunChunks } from './run-chunks.js';

/** The largest text of an event that is told in place, in bytes; of larger ones their link is. */
export const UI_INLINE_BYTES_MAX = 262_144;

/** How a run is told. */
export interface UiStreamOptions extends ChunkOptions {
  /** Only what comes behind this event; the whole message when absent. See {@link uiMessageResponse}. */
  readonly after?: Cursor;
  /** Stops the watching; the run goes on. */
  readonly signal?: AbortSignal;
}

/** The part of a run that is watched. */
export type WatchedRun = Pick<Run, 'id' | 'stream'>;

/**
 * A chunk, and the place of the event that it was made of: at the last chunk of each event, so that who has it has all
 * of that event. None of what is said live has a place.
 */
export interface PlacedChunk {
  readonly chunk: UiChunk;
  readonly cursor?: Cursor;
}

/**
 * A run as the chunks that the AI SDK's `useChat` takes: one message, whose id is the run's. From the beginning it is the
 * same message whenever it is asked for, so reconnecting is asking again.
 *
 * Cancelling the stream stops the watching and not the run: that is `session.cancel()`.
 *
 * @example const reader = toUIMessageStream(await session.send('Hi', { id })).getReader()
 */
export function toUIMessageStream(run: WatchedRun, options: UiStreamOptions = {}): ReadableStream<UiChunk> {
  const left = new AbortController();
  const signal = options.signal === undefined ? left.signal : AbortSignal.any([options.signal, left.signal]);
  const chunks = placedChunks(run, { ...options, signal });
  return new ReadableStream<UiChunk>({
    pull: async (controller) => {
      const next = await chunks.next();
      if (next.done === true) controller.close();
      else controller.enqueue(next.value.chunk);
    },
    cancel: async () => {
      left.abort();
      await chunks.return(undefined);
    },
  });
}

/**
 * The chunks of a run with their places. What a chunk is depends on those before it (which step is open, what was
 * asked), so the run is read from its beginning, and what the caller has is left out.
 */
export async function* placedChunks(run: WatchedRun, options: UiStreamOptions): AsyncGenerator<PlacedChunk, undefined> {
  const { after, signal, ...rest } = options;
  const chunks = new RunChunks(run.id, rest);
  const watched = run.stream({
    inline: UI_INLINE_BYTES_MAX,
    channel: 'model',
    ...(signal === undefined ? {} : { signal }),
  });
  let isNew = after === undefined;
  for await (const event of watched) {
    const cursor = cursorOf(event);
    if (cursor === undefined && !isNew) continue; // said of a step that the caller has, or whose text is yet to come
    isNew ||= cursor !== undefined && isBehind(cursor, after);
    const made = [...chunks.take(event)];
    if (isNew) yield* placed(made, cursor);
    else isNew = cursor === after;
  }
  return undefined;
}

function* placed(chunks: readonly UiChunk[], cursor: Cursor | undefined): Generator<PlacedChunk> {
  for (const [i, chunk] of chunks.entries())
    yield cursor === undefined || i < chunks.length - 1 ? { chunk } : { chunk, cursor };
}

function isBehind(cursor: Cursor, place: Cursor | undefined): boolean {
  const [seq = 0, record = 0] = cursor.split('.').map(Number);
  const [lastSeq = -1, lastRecord = -1] = (place ?? '').split('.').map(Number);
  return seq > lastSeq || (seq === lastSeq && record > lastRecord);
}

function cursorOf(event: AgentEvent | Delta): Cursor | undefined {
  return 'event_seq' in event ? event.event_seq : undefined;
}
