/**
 * The message core of an MCP server: lines in, lines out, whatever carries them.
 *
 * The protocol's own library negotiates its revision: the current one, and those that have sessions.
 *
 * Owns: tools, their arguments and answers, the bounds of a connection (`mcp-lines.ts`). Does not own: pipes, sockets and
 * HTTP, who the client is, what a call does.
 */

import { isFields, lineOfError, requireArgument, requireCallable } from '@reprise/contracts';
import { withLibrary } from './library.js';
import { MCP_LINE_BYTES_MAX } from './limits.js';
import type { McpConnection, McpCore, McpServerOptions, McpWire } from './mcp-types.js';

/**
 * Makes the message core of an MCP server.
 *
 * @example
 * const core = mcpServer({ name: 'clock', version: '1', tools: [now], call: async () => ({ texts: ['noon'], isError: false }) })
 * const connection = core.open({ write: (line) => process.stdout.write(`${line}\n`), ended: () => process.exit(1) })
 * process.stdin.on('data', (bytes) => connection.take(bytes)).on('end', () => connection.close())
 */
export function mcpServer(options: McpServerOptions): McpCore {
  requireArgument(
    isFields(options) && (Array.isArray(options.tools) || typeof options.tools === 'function'),
    'mcpServer(options)',
    'an object with name, version, tools and call',
    options,
  );
  requireCallable(options.call, 'mcpServer', 'options.call');
  void load().catch(() => undefined); // each connection is told
  return { open: (wire) => core?.openCore(options, wire) ?? new LateConnection(options, wire) };
}

type Core = typeof import('./mcp-core.js');

let core: Core | undefined;
let loading: Promise<Core> | undefined;

/**
 * Loads the library with the first server, and each connection that is opened without it is told so. Not with this module:
 * in one bundled file, other modules may not have run by then.
 */
function load(): Promise<Core> {
  loading ??= withLibrary(() => import('./mcp-core.js')).then((loaded) => {
    core = loaded;
    return loaded;
  });
  return loading;
}

/** A connection that keeps what comes, up to a line, while the library is loaded. Without the library it ends, and says why. */
class LateConnection implements McpConnection {
  readonly #loading: Promise<McpConnection | undefined>;
  #connection: McpConnection | undefined;
  #waiting: ((connection: McpConnection) => void)[] = [];
  #bytes = 0;
  #isOver = false;

  constructor(
    options: McpServerOptions,
    private readonly wire: McpWire,
  ) {
    this.#loading = load().then(
      ({ openCore }) => this.#opened(openCore(options, wire)),
      (error: unknown) => {
        options.onError?.(asError(error));
        wire.ended(lineOfError(error));
        return undefined;
      },
    );
  }

  take(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    if (this.#connection === undefined && this.#bytes > MCP_LINE_BYTES_MAX) return this.#flooded();
    this.#do((connection) => connection.take(bytes));
  }

  toolsChanged(): void {
    this.#do((connection) => connection.toolsChanged());
  }

  resourcesChanged(): void {
    this.#do((connection) => connection.resourcesChanged());
  }

  resourceUpdated(uri: string): void {
    this.#do((connection) => connection.resourceUpdated(uri));
  }

  async close(): Promise<void> {
    await (await this.#loading)?.close();
  }

  #flooded(): void {
    if (!this.#isOver) this.wire.ended('it sent more than a line before it was served');
    this.#isOver = true;
    this.#waiting = [];
  }

  #opened(connection: McpConnection): McpConnection {
    this.#connection = connection;
    for (const act of this.#waiting.splice(0)) act(connection);
    return connection;
  }

  #do(act: (connection: McpConnection) => void): void {
    if (this.#connection === undefined) this.#waiting.push(act);
    else act(this.#connection);
  }
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(lineOfError(thrown));
}
