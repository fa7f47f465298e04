/** A `fetch` that passes everything on and records the exchanges. */
import { type Exchange, keptHeaders, type Tape } from './tape.js';

/** Records exchanges as they happen. */
export class TapeRecorder {
  readonly #exchanges: (Exchange & { pieces: Uint8Array[]; whole: boolean })[] = [];

  /** The exchanges so far, in the order of their requests. */
  get tape(): Tape {
    return this.#exchanges;
  }

  /** In place of the platform's. */
  readonly fetch: typeof globalThis.fetch = async (url, init) => {
    const { pathname } = new URL(String(url));
    const request = new Uint8Array(init?.body as Uint8Array);
    const exchange = { path: pathname, request, status: 0, headers: {}, pieces: [] as Uint8Array[], whole: false };
    this.#exchanges.push(exchange);
    const response = await globalThis.fetch(url, init);
    const { status } = response;
    Object.assign(exchange, { status, headers: keptHeaders(response.headers) });
    const kept = new TransformStream<Uint8Array, Uint8Array>({
      transform: (piece, controller) => {
        exchange.pieces.push(new Uint8Array(piece));
        controller.enqueue(piece);
      },
      flush: () => {
        exchange.whole = true;
      },
    });
    return new Response(response.body?.pipeThrough(kept) ?? null, { status, headers: response.headers });
  };
}
