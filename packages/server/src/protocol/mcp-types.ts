/** What an MCP server offers, and what carries its lines. */
import type { ServedContent, ServedSchema } from '@reprise/agent';
import type { Value, ValueMap } from '@reprise/contracts';

/** A tool that a server lists. */
export interface McpTool {
  readonly name: string;
  readonly description: string;
  /** Listed as it is given. */
  readonly inputSchema: ServedSchema;
  /** The schema of structured answers; when absent, answers are text. */
  readonly outputSchema?: ServedSchema;
}

/** A call of a client. */
export interface McpToolCall {
  /**
   * Names the call within its connection: it follows from the id of its request, so a request that is sent again is the
   * same call. At most 70 of `A–Z a–z 0–9 . _ -`.
   */
  readonly key: string;
  /** Whether the revision of the client has sessions. In one that has none, ids of requests name nothing. */
  readonly inSession: boolean;
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
  /** What a model reads. Absent: `content`, or `structured` as JSON. */
  readonly texts?: readonly string[];
  /** What a model reads, sees or hears, in place of `texts`. */
  readonly content?: readonly ServedContent[];
  readonly isError: boolean;
}

/** A resource, or a template of resources, that a server lists. */
export interface McpResource {
  /** The URI; of a template, the URI with names in braces. */
  readonly uri: string;
  readonly name: string;
  readonly description?: string;
  readonly mediaType: string;
}

/** The resources of a server. */
export interface McpResources {
  /** A page of the resources; the pages behind it are asked for by `next`. */
  list(after?: string): Promise<{ readonly items: readonly McpResource[]; readonly next?: string }>;
  readonly templates: readonly McpResource[];
  /** The content of a resource; undefined when nothing is under this URI. */
  read(uri: string): Promise<{ readonly mediaType: string; readonly bytes: Uint8Array } | undefined>;
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

/** What a server offers: its name, tools and resources. */
export interface McpServerOptions {
  readonly name: string;
  readonly version: string;
  /** Words for the model that uses the server. */
  readonly instructions?: string;
  /** The tools, or a function that is asked at each list and each call. */
  readonly tools: readonly McpTool[] | (() => readonly McpTool[] | Promise<readonly McpTool[]>);
  /** The tool that a call names, where calls may name tools that are not listed; `call` refuses those. Default: a listed one. */
  readonly tool?: (name: string) => McpTool | undefined;
  /**
   * Executes a call. What it throws is told to `onError`, and the client learns only that the call failed; an
   * {@link McpFailure} is told to the client.
   */
  readonly call: (call: McpToolCall) => Promise<McpAnswer>;
  /** Resources that clients can list and read, besides the tools. */
  readonly resources?: McpResources;
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
  /** Tells the client that the list of resources has changed. */
  resourcesChanged(): void;
  /** Tells the client that a resource has changed, if it follows the resource. */
  resourceUpdated(uri: string): void;
  /** Ends the connection: open calls are aborted. */
  close(): Promise<void>;
}

/** An MCP server without a transport. */
export interface McpCore {
  /** Begins a connection with one client, over a transport. */
  open(wire: McpWire): McpConnection;
}
