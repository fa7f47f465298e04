/** A server over streamable HTTP: the transport of the MCP package, with each message judged. */
import {
  type JSONRPCMessage,
  type RequestId,
  StreamableHTTPClientTransport,
  type StreamableHTTPClientTransportOptions,
} from '@modelcontextprotocol/client';
import type { Judge } from '../judge/judge.js';
import { isMark } from '../judge/judged-events.js';
import { judgedFetch } from '../judge/judged-fetch.js';

interface HttpOptions extends StreamableHTTPClientTransportOptions {
  readonly fetch: typeof fetch;
}

type SendOptions = NonNullable<Parameters<StreamableHTTPClientTransport['send']>[1]>;

/** The transport of a server over HTTP. */
export class HttpTransport extends StreamableHTTPClientTransport {
  constructor(
    url: URL,
    options: HttpOptions,
    private readonly judge: Judge,
  ) {
    super(url, { ...options, fetch: judgedFetch(judge, (message) => this.onmessage?.(message), options.fetch) });
    judge.late = (message) => this.onmessage?.(message);
    let hear: HttpTransport['onmessage'];
    Object.defineProperty(this, 'onmessage', {
      get: () => hear,
      set: (to: HttpTransport['onmessage']) => {
        hear = to && ((message) => (isMark(message) ? undefined : to(message)));
      },
    });
  }

  override async send(message: JSONRPCMessage | JSONRPCMessage[], options: SendOptions = {}): Promise<void> {
    const id = Array.isArray(message) ? undefined : requestOf(message);
    if (id === undefined || Array.isArray(message)) return super.send(message, options);
    const forget = (): void => void this.judge.lost(id, '');
    this.judge.sent(message);
    options.requestSignal?.addEventListener('abort', forget, { once: true });
    try {
      await super.send(message, { ...options, onRequestStreamEnd: () => this.#endStream(id, options) });
    } catch (error) {
      forget();
      throw error;
    }
  }

  /** Ends the wait for an answer that was to come in a stream which is over. */
  #endStream(id: RequestId, { onRequestStreamEnd }: SendOptions): void {
    onRequestStreamEnd?.();
    const end = this.judge.lost(id, 'the stream of the server ended without the answer');
    if (end !== undefined) this.onmessage?.(end);
  }
}

function requestOf(message: JSONRPCMessage): RequestId | undefined {
  return 'method' in message && 'id' in message ? message.id : undefined;
}
