/** What an MCP server offers, and what carries its lines. */
import type { ServedSchema } from '@reprise/agent';
import type { Value, ValueMap } from '@reprise/contracts';

/** A tool that a server lists. */
export interface McpTool {
  readonly name: string;
  readonly description: string;
  /** Listed as it is given. */
  readonly inputSchema: ServedSchema;
  /** Absent: answers are text. */
  readonly outputSchema?: ServedSchema;
}

/** A call of a client. */
export interface McpToolCall {
  /**
   * Names the call within its connection: it follows from the id of its request, so a request that is sent again is the
   * same call. At most 70 of `A–Z a–z 0–9 . _ -`.
   */
  readonly key: string;
  readonly name: string;
  readonly args: ValueMap;
  /** Aborted when the client cancels the request, or is gone. */
  readonly signal: AbortSignal;
  /** Sends a notice of progress; absent when the client asked for none. Each notice has a larger number than the last. */
  readonly progress?: (done: number, message?: string) => void;
}

/** The answer to a call. */
export interface McpAnswer {
  /** For a client whose tool has an output schema, and for clients that read it; it is an object then. */
  readonly structured?: Value;
  /** What a model reads. Absent: `structured` as JSON. */
  readonly texts?: readonly string[];
  readonly isError: boolean;
}

/** An error of the protocol that the client is told as it is; `tools` and `call` may throw it. */
export class McpFailure extends Error {
  override readonly name = 'McpFailure';

  /** @param code a code of JSON-RPC; those from −32000 to −32099 are free for servers */
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

/** Options of {@link mcpServer}. */
export interface McpServerOptions {
  readonly name: string;
  readonly version: string;
  /** Words for the model that uses the server. */
  readonly instructions?: string;
  /** The tools, or a function that is asked at each list and each call. */
  readonly tools: readonly McpTool[] | (() => readonly McpTool[] | Promise<readonly McpTool[]>);
  /**
   * Executes a call. What it throws is told to `onError`, and the client learns only that the call failed; an
   * {@link McpFailure} is told to the client.
   */
  readonly call: (call: McpToolCall) => Promise<McpAnswer>;
  /**
   * `schema`: arguments are checked by the schema of their tool, and wrong ones are answered with the protocol's error
   * −32602. `call`: `call` checks them. Default `schema`.
   */
  readonly checks?: 'schema' | 'call';
  /** The most bytes of one message. Default 1 MiB. */
  readonly lineBytesMax?: number;
  /** Receives what went wrong beside the answers. */
  readonly onError?: (error: Error) => void;
}

/** What carries the lines of a connection. */
export interface McpWire {
  /** Sends a line, without its line break. */
  write(line: string): void;
  /** How many bytes wait to be read by the client. */
  backlog?(): number;
  /**
   * Called once when the server ends the connection: no line follows.
   *
   * @param why the bound that the client exceeded; absent when {@link McpConnection.close} was called
   */
  ended(why?: string): void;
}

/** A connection to one client. */
export interface McpConnection {
  /** Takes bytes of the client. */
  take(bytes: Uint8Array): void;
  /** Tells the client that the list of tools has changed. */
  toolsChanged(): void;
  /** Ends the connection: open calls are aborted. */
  close(): Promise<void>;
}

/** An MCP server. */
export interface McpCore {
  /** Begins a connection. */
  open(wire: McpWire): McpConnection;
}
