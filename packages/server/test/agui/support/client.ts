/** The client of `@ag-ui/client`, and what its connection carried. */
import { type BaseEvent, HttpAgent, type RunAgentInput, verifyEvents } from '@ag-ui/client';
import type { SeenEvent } from './rules.js';

/** One request, and the stream that answered it. */
export interface Exchange {
  readonly input: RunAgentInput;
  readonly status: number;
  /** What arrived, as bytes. */
  text: string;
  /** Whether the connection was cut. */
  wasCut: boolean;
}

/** A client that keeps what its connection carries, and whose connection can be cut. */
export class RecordingAgent extends HttpAgent {
  readonly exchanges: Exchange[] = [];
  /** After how many bytes of the next answer the connection is cut. */
  cutAfter: number | undefined;

  constructor(options: { readonly url: string; readonly token: string; readonly threadId: string }) {
    const { url, token, threadId } = options;
    super({
      url,
      threadId,
      headers: { authorization: `Bearer ${token}` },
      fetch: (to, init) => this.#fetch(to, init),
    });
  }

  /** The last exchange. */
  get last(): Exchange {
    const last = this.exchanges.at(-1);
    if (last === undefined) throw new Error('nothing was sent');
    return last;
  }

  /** What a person writes. */
  say(id: string, content: string): void {
    this.messages.push({ id, role: 'user', content });
  }

  async #fetch(url: string, init: RequestInit): Promise<Response> {
    const answer = await fetch(url, init);
    const exchange: Exchange = {
      input: JSON.parse(String(init.body)) as RunAgentInput,
      status: answer.status,
      text: '',
      wasCut: false,
    };
    this.exchanges.push(exchange);
    const { cutAfter } = this;
    this.cutAfter = undefined;
    if (answer.body === null) return answer;
    return new Response(kept(answer.body, exchange, cutAfter), { status: answer.status, headers: answer.headers });
  }
}

/** Passes bytes on, and keeps them. */
function kept(
  body: ReadableStream<Uint8Array>,
  exchange: Exchange,
  cutAfter: number | undefined,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let left = cutAfter ?? Number.POSITIVE_INFINITY;
  return new ReadableStream({
    pull: async (controller) => {
      const { done, value } = await reader.read();
      if (done) return controller.close();
      const piece = value.subarray(0, left);
      left -= piece.length;
      exchange.text += decoder.decode(piece, { stream: true });
      controller.enqueue(piece);
      if (left > 0) return;
      exchange.wasCut = true;
      await reader.cancel();
      controller.error(new DOMException('the connection was cut', 'AbortError'));
    },
    cancel: () => reader.cancel(),
  });
}

/** The events of a stream. */
export function eventsOf(text: string): readonly SeenEvent[] {
  return text
    .split('\n\n')
    .flatMap((block) => (block.startsWith('data: ') ? [JSON.parse(block.slice(6)) as SeenEvent] : []));
}

/** Why `verifyEvents` refuses a stream; undefined when it accepts it. */
export function refusedBy(events: readonly SeenEvent[]): Promise<string | undefined> {
  const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
  const replayed = new HttpAgent({
    url: 'http://localhost',
    fetch: async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } }),
  });
  const input: RunAgentInput = { threadId: 't', runId: 'r', messages: [], tools: [], context: [] };
  return new Promise((resolve) => {
    verifyEvents(false)(replayed.run(input)).subscribe({
      next: (_: BaseEvent) => undefined,
      error: (error: unknown) => resolve(error instanceof Error ? error.message : String(error)),
      complete: () => resolve(undefined),
    });
  });
}
