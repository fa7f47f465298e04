/** Answers of server-sent events, as fast as the client reads them. */
import { lineOfError } from '@reprise/contracts';
import type { Visit } from '../door/visit.js';

/** After so many silent milliseconds a comment is sent, so that no proxy closes the connection. */
const KEEP_ALIVE_MS = 15_000;

interface SseParts<T> {
  readonly visit: Visit;
  open(signal: AbortSignal): AsyncGenerator<T>;
  /** One thing in the lines of a stream. */
  textOf(one: T): string;
  /** The lines behind the last thing, when the client has not left. */
  readonly end: string;
  /** The lines that tell a client why nothing can follow. @throws the error, where its connection is to break */
  failed(error: Error): Promise<string> | string;
}

/** Streams things as they come, and a comment while none comes. */
export function sseResponse<T>({ visit, open, textOf, end, failed }: SseParts<T>): Response {
  const left = new AbortController();
  const stop = (): void => left.abort();
  visit.signal.addEventListener('abort', stop, { once: true });
  if (visit.signal.aborted) stop();
  const items = open(left.signal);
  const encoder = new TextEncoder();
  let next: Promise<IteratorResult<T>> | undefined;
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      next ??= items.next();
      const found = await within(next).catch((error: unknown) => errorOf(error));
      if (found instanceof Error) {
        controller.enqueue(encoder.encode(await failed(found)));
        return controller.close();
      }
      if (found === undefined) return controller.enqueue(encoder.encode(': \n\n'));
      next = undefined;
      if (found.done !== true) return controller.enqueue(encoder.encode(textOf(found.value)));
      if (end !== '' && !left.signal.aborted) controller.enqueue(encoder.encode(end));
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
