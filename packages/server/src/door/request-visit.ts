/** A request of a platform, such as Hono, Next, Bun or Deno, at the door. */
import { readRequestBody, type TOO_LARGE } from './bodies.js';
import { Holds } from './holds.js';
import type { Visit } from './visit.js';

/** A `Request`, from before anything of it is awaited until its answer has been sent or its client has left. */
export class RequestVisit implements Visit {
  readonly #left = new AbortController();
  readonly #holds = new Holds();
  breaks = false;

  constructor(
    private readonly request: Request,
    readonly remoteAddress: string | undefined,
    /** The path below the place where the handler is mounted, and the query. */
    readonly target: string,
    readonly origin: string,
  ) {
    const { signal } = request;
    const leave = (): void => {
      this.stop();
      this.over();
    };
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
    this.hold(() => signal.removeEventListener('abort', leave));
  }

  get method(): string {
    return this.request.method;
  }

  get headers(): Headers {
    return this.request.headers;
  }

  get signal(): AbortSignal {
    return this.#left.signal;
  }

  get isOver(): boolean {
    return this.#holds.isOver;
  }

  body(bytesMax: number): Promise<string | typeof TOO_LARGE> {
    return readRequestBody(this.request, bytesMax);
  }

  hold(release: () => void): () => void {
    return this.#holds.hold(release);
  }

  stop(): void {
    this.#left.abort();
  }

  /** Nobody waits for the answer any more. */
  over(): void {
    this.#holds.end();
  }

  /**
   * The answer as it is sent. A stream is over when all of it is read, or its reader leaves; another answer is whole already, and
   * nothing is held for it when nobody reads it.
   */
  sending(answer: Response): Response {
    if (answer.body === null || answer.headers.get('content-type')?.startsWith('text/event-stream') !== true) {
      this.over();
      return answer;
    }
    const reader = answer.body.getReader();
    const body = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const read = await reader.read().catch((error: unknown) => {
          this.over();
          throw error;
        });
        if (!read.done) return controller.enqueue(read.value);
        if (this.breaks && this.signal.aborted) controller.error(new Error('The answer was stopped.'));
        else controller.close();
        this.over();
      },
      cancel: async (why) => {
        this.stop();
        this.over();
        await reader.cancel(why);
      },
    });
    const { status, headers } = answer;
    return new Response(body, { status, headers });
  }
}
