/** The servers of the protocol's library behind one client: one for each revision that it tries, or for each request. */
import { createHash } from 'node:crypto';
import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { lineOfError, type ValueMap } from '@reprise/contracts';
import { largeNumbersIn, problemsOfLarge } from './large-arguments.js';
import { MCP_FOLLOWED_MAX } from './limits.js';
import { ParamsServer } from './mcp-params.js';
import { contentsOf, listedResource, listedTemplate, listedTool, problemsOf, resultOf } from './mcp-results.js';
import { McpFailure, type McpResources, type McpServerOptions, type McpTool, type McpToolCall } from './mcp-types.js';

/** Ids of requests that name a call as they are. */
const PLAIN_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** The longest URI that is looked at. */
const URI_MAX = 2_048;

/** Makes the servers of one client. */
export class McpSessions {
  /** The resources that the client follows, in a revision that has sessions; in others the library knows. */
  readonly followed = new Set<string>();
  readonly #calls = new Map<string | number, Set<AbortController>>();
  #server: Server | undefined;
  #inSession = false;

  constructor(private readonly options: McpServerOptions) {}

  /** Makes a server. @param inSession whether its revision has sessions */
  make(inSession: boolean): Server {
    const { name, version, instructions, resources } = this.options;
    const capabilities = {
      tools: { listChanged: true },
      ...(resources === undefined ? {} : { resources: { listChanged: true, subscribe: true } }),
    };
    const server = new ParamsServer(
      { name, version },
      { capabilities, ...(instructions === undefined ? {} : { instructions }) },
    );
    server.setRequestHandler('tools/list', async () => ({ tools: (await this.#tools()).map(listedTool) }) as never);
    server.setRequestHandler(
      'tools/call',
      async ({ params }, ctx) => (await this.#call(params, ctx, inSession)) as never,
    );
    if (resources !== undefined) this.#offer(server, resources, inSession);
    this.#server = server;
    this.#inSession = inSession;
    return server;
  }

  /** Tells the client that the list of tools has changed. */
  toolsChanged(): void {
    this.#tell((server) => server.sendToolListChanged());
  }

  /** Tells the client that the list of resources has changed. */
  resourcesChanged(): void {
    this.#tell((server) => server.sendResourceListChanged());
  }

  /** Tells the client that a resource has changed, if it follows the resource. */
  resourceUpdated(uri: string): void {
    if (this.#inSession && !this.followed.has(uri)) return;
    this.#tell((server) => server.sendResourceUpdated({ uri }));
  }

  /** Whether the client has begun a session, and was granted it. */
  get knowsClient(): boolean {
    return this.#server?.getClientVersion() !== undefined;
  }

  /** Aborts the calls of a request: for a transport whose servers do not see each other's requests. */
  cancel(id: string | number): void {
    for (const one of this.#calls.get(id) ?? []) one.abort();
  }

  #tell(send: (server: Server) => Promise<void>): void {
    if (this.#server !== undefined) send(this.#server).catch((error: Error) => this.options.onError?.(error));
  }

  #offer(server: Server, resources: McpResources, inSession: boolean): void {
    server.setRequestHandler('resources/list', async ({ params }) => {
      const { items, next } = await this.#own(() => resources.list(params?.cursor));
      return { resources: items.map(listedResource), ...(next === undefined ? {} : { nextCursor: next }) } as never;
    });
    server.setRequestHandler('resources/templates/list', () => ({
      resourceTemplates: resources.templates.map(listedTemplate) as never,
    }));
    server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
      const found = uri.length > URI_MAX ? undefined : await this.#own(() => resources.read(uri));
      if (found === undefined) throw new ResourceNotFoundError(uri.slice(0, URI_MAX));
      return { contents: [contentsOf(uri, found)] as never };
    });
    if (!inSession) return;
    server.setRequestHandler('resources/subscribe', ({ params: { uri } }) => {
      if (uri.length > URI_MAX) throw new ResourceNotFoundError(uri.slice(0, URI_MAX));
      if (this.followed.size >= MCP_FOLLOWED_MAX) throw invalid(`A session may follow ${MCP_FOLLOWED_MAX} resources.`);
      this.followed.add(uri);
      return {};
    });
    server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
      this.followed.delete(uri);
      return {};
    });
  }

  async #tools(): Promise<readonly McpTool[]> {
    const { tools } = this.options;
    return typeof tools === 'function' ? this.#own(async () => tools()) : tools;
  }

  async #tool(named: string): Promise<McpTool | undefined> {
    const { tool } = this.options;
    return tool === undefined ? (await this.#tools()).find(({ name }) => name === named) : tool(named);
  }

  async #call(
    params: { readonly name: string; readonly arguments?: unknown },
    ctx: ServerContext,
    inSession: boolean,
  ): Promise<object> {
    const { id, signal } = ctx.mcpReq;
    const cancelled = this.#begin(id); // before anything is awaited: a cancel may come at once
    try {
      const tool = await this.#tool(params.name);
      if (tool === undefined) throw invalid(`Unknown tool: ${params.name.slice(0, 64)}`);
      const args = (params.arguments ?? {}) as ValueMap;
      const large = await problemsOfLarge(tool, args, largeNumbersIn(ctx.mcpReq._meta));
      if (large !== undefined) throw invalid(`Invalid arguments for the tool ${tool.name}:\n${large}`);
      if (this.options.checks !== 'call') requireArguments(tool, args);
      const call = {
        key: callKey(id),
        inSession,
        name: tool.name,
        args,
        signal: AbortSignal.any([signal, cancelled.signal]),
        ...this.#progress(ctx),
      };
      return await this.#own(async () => resultOf(tool, await this.options.call(call)));
    } finally {
      this.#end(id, cancelled);
    }
  }

  #begin(id: string | number): AbortController {
    const call = new AbortController();
    const calls = this.#calls.get(id) ?? new Set();
    this.#calls.set(id, calls.add(call));
    return call;
  }

  #end(id: string | number, call: AbortController): void {
    const calls = this.#calls.get(id);
    calls?.delete(call);
    if (calls?.size === 0) this.#calls.delete(id);
  }

  #progress({ mcpReq }: ServerContext): Pick<McpToolCall, 'progress'> {
    const progressToken = mcpReq._meta?.progressToken;
    if (progressToken === undefined) return {};
    return {
      progress: (progress, message) => {
        const params = { progressToken, progress, ...(message === undefined ? {} : { message }) };
        mcpReq
          .notify({ method: 'notifications/progress', params })
          .catch((error: Error) => this.options.onError?.(error));
      },
    };
  }

  /** Runs code of the app. The client learns nothing of its errors: they may hold what is not for it. */
  async #own<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      if (error instanceof McpFailure) throw new ProtocolError(error.code, error.message);
      this.options.onError?.(error instanceof Error ? error : new Error(lineOfError(error)));
      throw new ProtocolError(ProtocolErrorCode.InternalError, 'The call failed in the server.');
    }
  }
}

/** Names a call by the id of its request. */
export function callKey(id: string | number): string {
  if (typeof id === 'number') return `n.${id}`;
  return PLAIN_ID.test(id) ? `s.${id}` : `h.${createHash('sha256').update(id).digest('hex')}`;
}

function requireArguments({ name, inputSchema }: McpTool, args: ValueMap): void {
  const problems = problemsOf(inputSchema, args, 'the arguments');
  if (problems !== undefined) throw invalid(`Invalid arguments for the tool ${name}: ${problems}`);
}

function invalid(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
