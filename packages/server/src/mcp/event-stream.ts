/** A stream of notices to one client, as server-sent events. */
import type { Visit } from '../door/visit.js';

/** How many notices wait for a client that does not read; then the stream ends, and the client opens another. */
const WAITING_MAX = 1_024;

const KEEP_ALIVE_MS = 15_000;

/** A stream of notices to one client, kept alive while nothing happens. */
export class EventStream {
  readonly response: Response;
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  #isOpen = true;
  readonly #alive: NodeJS.Timeout;

  /** @param under its signal ends the stream; @param ended called when the client leaves, or may be told no more */
  constructor(headers: Record<string, string>, { signal }: Pick<Visit, 'signal'>, ended: () => void) {
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        cancel: () => {
          this.#over();
          ended();
        },
      },
      { highWaterMark: WAITING_MAX },
    );
    this.#alive = setInterval(() => this.#write(': \n\n'), KEEP_ALIVE_MS);
    this.#alive.unref();
    const stop = (): void => {
      this.close();
      ended();
    };
    signal.addEventListener('abort', stop, { once: true });
    this.response = new Response(body, {
      headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-cache, no-transform', ...headers },
    });
  }

  notify(method: string, params?: object): void {
    const message = { jsonrpc: '2.0', method, ...(params === undefined ? {} : { params }) };
    this.#write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#over();
    this.#controller.close();
  }

  #write(text: string): void {
    if (!this.#isOpen) return;
    if ((this.#controller.desiredSize ?? 0) <= 0) return this.close();
    this.#controller.enqueue(new TextEncoder().encode(text));
  }

  #over(): void {
    this.#isOpen = false;
    clearInterval(this.#alive);
  }
}
