/**
 * Messages of one connection, one a line.
 *
 * Invariants
 * L1  Memory stays linear in the bounds, whatever the client sends, and in however small pieces: bytes are counted and
 *     joined as they come, and a line that exceeds its bound is skipped, not stored.
 * L2  Every line that can be answered is answered: with the result of its request, or with an error of JSON-RPC. A
 *     request whose id is already being answered is answered once.
 * L3  A client that exceeds a bound for good is disconnected, once, with the reason.
 */

import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCMessage,
  ProtocolErrorCode,
  type RequestId,
  type Transport,
} from '@modelcontextprotocol/server';
import { JoinedBytes } from '@reprise/contracts';
import { parseJson } from '@reprise/contracts/json';
import { parseMessages } from './large-arguments.js';
import {
  MCP_GARBAGE_MAX,
  MCP_LINE_BYTES_MAX,
  MCP_REQUESTS_MAX,
  MCP_SKIPPED_BYTES_MAX,
  MCP_UNREAD_BYTES_MAX,
} from './limits.js';
import type { McpWire } from './mcp-types.js';

const NEWLINE = 0x0a;

/** The error for a request beyond {@link MCP_REQUESTS_MAX}; the range is free for servers. */
const BUSY = -32_000;

/** How many bytes at both ends of a skipped line are searched for the id of its request. */
const ENDS_BYTES = 256;

const ID = '"id"\\s*:\\s*(-?\\d{1,15}|"[^"\\\\]{0,100}")';
const ID_FIRST = new RegExp(`^\\s*\\{\\s*(?:"jsonrpc"\\s*:\\s*"2\\.0"\\s*,\\s*)?${ID}`);
const ID_LAST = new RegExp(`${ID}(?:\\s*,\\s*"jsonrpc"\\s*:\\s*"2\\.0")?\\s*\\}\\s*$`);

/** A connection for the protocol's library. */
export class LineTransport implements Transport {
  onmessage?: (message: JSONRPCMessage) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;

  readonly #open = new Set<RequestId>();
  readonly #lines: Lines;
  #garbage = 0;
  #closed = false;

  constructor(
    private readonly wire: McpWire,
    private readonly lineBytesMax = MCP_LINE_BYTES_MAX,
  ) {
    this.#lines = new Lines(lineBytesMax);
  }

  async start(): Promise<void> {}

  /** Takes bytes of the client. */
  take(bytes: Uint8Array): void {
    for (const line of this.#lines.take(bytes)) {
      if (this.#closed) return;
      if (typeof line === 'string') this.#read(line);
      else this.#refuse(ProtocolErrorCode.InvalidRequest, `A message may have ${this.lineBytesMax} bytes.`, line.id);
    }
    if (this.#lines.skipped > MCP_SKIPPED_BYTES_MAX) this.#end('a message without an end');
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if ('id' in message && message.id !== undefined && !('method' in message)) this.#open.delete(message.id);
    this.#write(message);
  }

  async close(): Promise<void> {
    this.#end();
  }

  #read(line: string): void {
    if (line.trim() === '') return;
    let message: unknown;
    try {
      message = parseMessages(line);
    } catch {
      return this.#refuse(ProtocolErrorCode.ParseError, 'A line is not JSON.', null);
    }
    if (isJSONRPCRequest(message)) this.#request(message);
    else if (isJSONRPCNotification(message)) this.#notification(message);
    else if (isJSONRPCResponse(message)) this.onmessage?.(message);
    else return this.#refuse(ProtocolErrorCode.InvalidRequest, 'A line is no message of JSON-RPC 2.0.', idIn(message));
    this.#garbage = 0;
  }

  #request(message: JSONRPCMessage & { readonly id: RequestId }): void {
    const { id } = message;
    if (this.#open.has(id)) return; // L2
    if (this.#open.size >= MCP_REQUESTS_MAX) {
      return this.#write({ jsonrpc: '2.0', id, error: { code: BUSY, message: 'Too many requests at once.' } });
    }
    this.#open.add(id);
    this.onmessage?.(message);
  }

  #notification(message: JSONRPCMessage): void {
    const { method, params } = message as {
      readonly method: string;
      readonly params?: { readonly requestId?: RequestId };
    };
    if (method === 'notifications/cancelled' && params?.requestId !== undefined) this.#open.delete(params.requestId);
    this.onmessage?.(message);
  }

  #refuse(code: number, message: string, id: RequestId | null): void {
    this.#write({ jsonrpc: '2.0', id, error: { code, message } });
    if (++this.#garbage >= MCP_GARBAGE_MAX) this.#end(`${MCP_GARBAGE_MAX} lines in a row that are no messages`);
  }

  #write(message: object): void {
    if (this.#closed) return;
    this.wire.write(JSON.stringify(message));
    if ((this.wire.backlog?.() ?? 0) > MCP_UNREAD_BYTES_MAX) this.#end('it does not read its answers');
  }

  // L3
  #end(why?: string): void {
    if (this.#closed) return;
    this.#closed = true;
    this.wire.ended(why);
    this.onclose?.();
  }
}

/** A line that was skipped, and the id of its request, if it can be seen. */
interface Skipped {
  readonly id: RequestId | null;
}

/** Splits bytes into lines (L1). */
class Lines {
  readonly #line = new JoinedBytes();
  /** How many bytes of the current line were skipped. */
  skipped = 0;
  #head = '';
  #tail = '';

  constructor(private readonly max: number) {}

  *take(bytes: Uint8Array): Generator<string | Skipped> {
    let from = 0;
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, from)) {
      this.#add(bytes.subarray(from, at));
      from = at + 1;
      yield this.#whole();
    }
    if (from < bytes.length) this.#add(bytes.subarray(from));
  }

  #add(piece: Uint8Array): void {
    if (this.skipped === 0 && this.#line.length + piece.length <= this.max) return this.#line.add(piece);
    if (this.skipped === 0) {
      const start = bufferOf(this.#line.take());
      const first = Buffer.concat([start.subarray(0, ENDS_BYTES), piece.subarray(0, ENDS_BYTES)]);
      this.#head = first.toString('latin1', 0, ENDS_BYTES);
      this.#tail = start.subarray(-ENDS_BYTES).toString('latin1');
      this.skipped = start.length;
    }
    this.skipped += piece.length;
    this.#tail = (this.#tail + bufferOf(piece.subarray(-ENDS_BYTES)).toString('latin1')).slice(-ENDS_BYTES);
  }

  #whole(): string | Skipped {
    const line = bufferOf(this.#line.take()).toString('utf8');
    if (this.skipped === 0) return line;
    this.skipped = 0;
    return { id: idAtEnds(this.#head, this.#tail) };
  }
}

function bufferOf({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}

function idAtEnds(head: string, tail: string): RequestId | null {
  const [, found] = ID_LAST.exec(tail) ?? ID_FIRST.exec(head) ?? [];
  return found === undefined ? null : (parseJson(found) as RequestId);
}

function idIn(message: unknown): RequestId | null {
  const { id } = (message ?? {}) as { readonly id?: unknown };
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}
