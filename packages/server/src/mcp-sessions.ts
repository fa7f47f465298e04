/** The servers of the protocol's library behind one connection: one for each revision that its client tries. */
import { createHash } from 'node:crypto';
import { ProtocolError, ProtocolErrorCode, Server, type ServerContext } from '@modelcontextprotocol/server';
import type { ServedSchema } from '@reprise/agent';
import type { Value, ValueMap } from '@reprise/contracts';
import { checker, type JsonChecker } from '@reprise/kernel/json-schema';
import { type McpAnswer, McpFailure, type McpServerOptions, type McpTool, type McpToolCall } from './mcp-types.js';

/** How many problems of arguments an error names. */
const PROBLEMS_MAX = 8;

/** Ids of requests that name a call as they are. */
const PLAIN_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** The checkers of the schemas that were used: each is compiled once. */
const checkers = new WeakMap<ServedSchema, JsonChecker>();

/** Makes the servers of one connection. */
export class McpSessions {
  #server: Server | undefined;

  constructor(private readonly options: McpServerOptions) {}

  /** Makes a server. */
  make(): Server {
    const { name, version, instructions } = this.options;
    const capabilities = { tools: { listChanged: true } };
    const server = new Server(
      { name, version },
      { capabilities, ...(instructions === undefined ? {} : { instructions }) },
    );
    server.setRequestHandler('tools/list', async () => ({ tools: (await this.#tools()).map(listed) }) as never);
    server.setRequestHandler('tools/call', async ({ params }, ctx) => (await this.#call(params, ctx)) as never);
    this.#server = server;
    return server;
  }

  /** Tells the client that the list of tools has changed. */
  toolsChanged(): void {
    this.#server?.sendToolListChanged().catch((error: Error) => this.options.onError?.(error));
  }

  async #tools(): Promise<readonly McpTool[]> {
    const { tools } = this.options;
    return typeof tools === 'function' ? this.#own(async () => tools()) : tools;
  }

  async #call(params: { readonly name: string; readonly arguments?: unknown }, ctx: ServerContext): Promise<object> {
    const tool = (await this.#tools()).find(({ name }) => name === params.name);
    if (tool === undefined) throw invalid(`Unknown tool: ${params.name.slice(0, 64)}`);
    const args = (params.arguments ?? {}) as ValueMap;
    if (this.options.checks !== 'call') requireArguments(tool, args);
    const call = {
      key: callKey(ctx.mcpReq.id),
      name: tool.name,
      args,
      signal: ctx.mcpReq.signal,
      ...this.#progress(ctx),
    };
    const answer = await this.#own(() => this.options.call(call));
    return resultOf(tool, answer);
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
      this.options.onError?.(error instanceof Error ? error : new Error(String(error)));
      throw new ProtocolError(ProtocolErrorCode.InternalError, 'The call failed in the server.');
    }
  }
}

/** Names a call by the id of its request. */
export function callKey(id: string | number): string {
  if (typeof id === 'number') return `n.${id}`;
  return PLAIN_ID.test(id) ? `s.${id}` : `h.${createHash('sha256').update(id).digest('hex')}`;
}

function listed({ name, description, inputSchema, outputSchema }: McpTool): object {
  return { name, description, inputSchema, ...(outputSchema === undefined ? {} : { outputSchema }) };
}

function requireArguments({ name, inputSchema }: McpTool, args: ValueMap): void {
  const verdict = checkerOf(name, inputSchema).check(args);
  if (verdict.ok) return;
  const said = verdict.problems
    .slice(0, PROBLEMS_MAX)
    .map(({ path, message }) => `${path.length === 0 ? 'the arguments' : path.join('.')}: ${message}`);
  throw invalid(`Invalid arguments for the tool ${name}: ${said.join('; ')}`);
}

function checkerOf(name: string, schema: ServedSchema): JsonChecker {
  const known = checkers.get(schema);
  if (known !== undefined) return known;
  const made = checker(schema);
  if (!made.ok) throw new ProtocolError(ProtocolErrorCode.InternalError, `The schema of the tool ${name} is refused.`);
  checkers.set(schema, made);
  return made;
}

function resultOf({ outputSchema }: McpTool, { structured, texts, isError }: McpAnswer): object {
  const said = texts ?? [JSON.stringify(structured ?? null)];
  const content = said.map((text) => ({ type: 'text', text }));
  const isStructured = isObject(structured) && (outputSchema !== undefined || texts === undefined);
  return { content, ...(isStructured ? { structuredContent: structured } : {}), ...(isError ? { isError } : {}) };
}

function isObject(value: Value | undefined): value is ValueMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function invalid(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
