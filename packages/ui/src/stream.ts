/** A run as a UI message stream. */

import type { AgentEvent, Cursor, Delta, Run } from '@reprise/agent';
import { requireFields, requireMethods } from '@reprise/contracts';
import type { UiChunk } from './chunk.js';
import { type ChunkOptions, RunChunks } from './run-chunks.js';

/** The largest text of an event that is included, in bytes; a larger text is replaced by its link. */
export const UI_INLINE_BYTES_MAX = 262_144;

/** Options of a run's stream. */
export interface UiStreamOptions extends ChunkOptions {
  /** Sends only the chunks after this event. Default: the whole message. See {@link uiMessageResponse}. */
  readonly after?: Cursor | undefined;
  /** Stops the stream; the run continues. */
  readonly signal?: AbortSignal;
}

/** The members of a run that a stream uses. */
export type WatchedRun = Pick<Run, 'id' | 'stream'> & Partial<Pick<Run, 'input' | 'events'>>;

/**
 * A chunk, and the cursor of its event: only the last chunk of an event has it, so a client with that cursor has the
 * whole event. Chunks of a model's live output have no cursor, and neither have those of events that happen before the
 * output is final: a client with such a cursor would have live output that no rest ends.
 */
export interface PlacedChunk {
  readonly chunk: UiChunk;
  readonly cursor?: Cursor;
}

/**
 * Streams the answer to an input as the chunks that the AI SDK's `useChat` reads: one message. Its id is the run's id,
 * or `RUN/INPUT` for a later turn of a run. From the beginning it is always the same message, so a client reconnects by
 * requesting it again. The stream ends when the run ends, waits for the next input, or takes it up.
 *
 * A run from `session.run(number)` has no input: its stream is the answer to the last input that the model was shown.
 *
 * Cancelling the stream does not cancel the run: `session.cancel()` does.
 *
 * @example const reader = toUIMessageStream(await session.send('Hi', { id })).getReader()
 */
export function toUIMessageStream(run: WatchedRun, options: UiStreamOptions = {}): ReadableStream<UiChunk> {
  requireMethods(run, ['events', 'stream'], 'toUIMessageStream(run)', 'a run, from session.send');
  requireFields(options, 'toUIMessageStream(options)', 'an object');
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
 * The chunks of a run with their cursors. A chunk depends on the ones before it (which step is open, which questions
 * are pending), so the run is read from its beginning, and chunks that the caller already has are left out.
 */
export async function* placedChunks(run: WatchedRun, options: UiStreamOptions): AsyncGenerator<PlacedChunk, undefined> {
  const { after, signal, ...rest } = options;
  const input = run.input ?? (await lastInput(run));
  const chunks = new RunChunks(run.id, rest, input);
  const watched = run.stream({
    inline: UI_INLINE_BYTES_MAX,
    channel: 'model',
    ...(signal === undefined ? {} : { signal }),
  });
  let isNew = after === undefined;
  for await (const event of watched) {
    const cursor = cursorOf(event);
    if (cursor === undefined && !isNew) continue; // of a step that the caller has, or whose text follows
    isNew ||= cursor !== undefined && isBehind(cursor, after);
    const made = [...chunks.take(event)];
    if (isNew) yield* placed(made, chunks.hasLiveTexts ? undefined : cursor);
    else isNew = cursor === after;
    if (chunks.ended) return undefined;
  }
  return undefined;
}

/** The last input of a run that the model was shown so far; undefined before the first. */
async function lastInput(run: WatchedRun): Promise<string | undefined> {
  let last: string | undefined;
  for await (const event of run.events?.({ channel: 'model', inline: 0, follow: false }) ?? []) {
    if (event.type === 'turn.started' && event.origin !== 'steer') last = event.command_id ?? last;
  }
  return last;
}

function* placed(chunks: readonly UiChunk[], cursor: Cursor | undefined): Generator<PlacedChunk> {
  for (const [i, chunk] of chunks.entries())
    yield cursor === undefined || i < chunks.length - 1 ? { chunk } : { chunk, cursor };
}

/** Whether an event comes after a place; every event comes after none. */
export function isBehind(cursor: Cursor, place: Cursor | undefined): boolean {
  const [seq = 0, record = 0] = cursor.split('.').map(Number);
  const [lastSeq = -1, lastRecord = -1] = (place ?? '').split('.').map(Number);
  return seq > lastSeq || (seq === lastSeq && record > lastRecord);
}

function cursorOf(event: AgentEvent | Delta): Cursor | undefined {
  return 'event_seq' in event ? event.event_seq : undefined;
}
