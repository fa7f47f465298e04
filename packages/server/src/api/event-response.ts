/** Events of sessions as a stream of server-sent events. */
import type { Delta } from '@reprise/agent';
import { isRepriseError, lineOfError } from '@reprise/contracts';
import type { Visit } from '../door/visit.js';
import type { EventCursors } from './cursors.js';
import { jsonText } from './json.js';
import { problemOf } from './problem.js';
import type { Told } from './sessions-api.js';

/** After so many silent milliseconds a comment is sent, so that no proxy closes the connection. */
const KEEP_ALIVE_MS = 15_000;

/** What is streamed: durable events, and live pieces of answers between them. */
type Streamed = Told | Delta;

interface StreamParts {
  readonly visit: Visit;
  readonly cursors: EventCursors;
  /** Whether a client goes on behind an event: what comes of an answer that is under way comes from its beginning. */
  readonly isResumed: boolean;
  /** Whether what ends the events is their end; else it is the end of this server. */
  readonly hasEnd: boolean;
  open(signal: AbortSignal): AsyncGenerator<Streamed>;
}

/**
 * Streams events, as fast as the client reads them. An event that is durable has its cursor as `id`; a piece of an answer
 * (`event: delta`) has none, and counts until the next event of its step. `event: end` says that nothing follows, `event: problem`
 * why nothing can.
 */
export function eventResponse(parts: StreamParts): Response {
  const left = new AbortController();
  const stop = (): void => left.abort();
  parts.visit.signal.addEventListener('abort', stop, { once: true });
  if (parts.visit.signal.aborted) stop();
  const items = parts.open(left.signal);
  const text = new EventText(parts);
  const encoder = new TextEncoder();
  let next: Promise<IteratorResult<Streamed>> | undefined;
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      next ??= items.next();
      const found = await within(next).catch((error: unknown) => errorOf(error));
      if (found instanceof Error) {
        controller.enqueue(encoder.encode(await lastWords(found)));
        return controller.close();
      }
      if (found === undefined) return controller.enqueue(encoder.encode(': \n\n'));
      next = undefined;
      if (found.done !== true) return controller.enqueue(encoder.encode(text.of(found.value)));
      if (parts.hasEnd && !left.signal.aborted) controller.enqueue(encoder.encode('event: end\ndata: {}\n\n'));
      controller.close();
    },
    cancel: async () => {
      stop();
      await items.return(undefined);
    },
  });
  return new Response(body, {
    headers: {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    },
  });
}

/**
 * What tells a client that its events cannot go on, such as those of a session whose cell has failed.
 *
 * @throws the error, when the client can go on elsewhere or is told nothing: its connection breaks
 */
async function lastWords(error: Error): Promise<string> {
  const refused = isRepriseError(error, 'world_closed') ? undefined : problemOf(error);
  if (refused === undefined) throw error;
  return `event: problem\ndata: ${await refused.text()}\n\n`;
}

/** Writes events in the lines of a stream. */
class EventText {
  /** Steps whose pieces were sent: the first piece of a step after a return says that earlier ones count no more. */
  readonly #told = new Set<string>();

  constructor(private readonly parts: Pick<StreamParts, 'cursors' | 'isResumed'>) {}

  of(one: Streamed): string {
    if (one.type !== 'delta' && one.type !== 'delta.reset')
      return `id: ${this.parts.cursors.of(one.event_seq)}\ndata: ${jsonText(one)}\n\n`;
    const isFirst = this.parts.isResumed && !this.#told.has(one.step_id);
    this.#told.add(one.step_id);
    return `event: delta\ndata: ${jsonText(isFirst ? { ...one, restart: true } : one)}\n\n`;
  }
}

function errorOf(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(lineOfError(thrown));
}

async function within<T>(next: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const silent = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, KEEP_ALIVE_MS, undefined);
  });
  try {
    return await Promise.race([next, silent]);
  } finally {
    clearTimeout(timer);
  }
}
