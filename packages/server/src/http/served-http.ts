/** Serving a world over HTTP: its options, and the way to what serves it, which needs the library of the protocol. */
import type { AgentWorld } from '@reprise/agent';
import type { Principal } from '@reprise/contracts';
import { withLibrary } from '../protocol/library.js';
import type { HttpLimits } from '../protocol/limits.js';
import type { ServerNames, Serving } from '../world/serving.js';
import type { AuthRequest } from './auth-request.js';

/** Where a world is served, and whose requests are answered. */
export interface ServeHttpOptions extends ServerNames {
  /** The port; a free one when absent. */
  readonly port?: number;
  /** The address at which it listens. Default 127.0.0.1: this machine only. */
  readonly host?: string;
  /**
   * Finds the principal of a request: `human:NAME` or a cell. It is asked at each request; undefined refuses the request.
   */
  readonly auth: (request: AuthRequest) => Promise<Principal | undefined> | Principal | undefined;
  /** The origins of web pages that may call it, and under whose hosts it may be addressed. */
  readonly origins?: readonly string[];
  readonly limits?: Partial<HttpLimits>;
}

/**
 * Serves a world over HTTP, at the path `/mcp`.
 *
 * @throws RepriseError `runtime_unsupported` without the package `@modelcontextprotocol/server`; `invalid_argument`; `duplicate_definition` when two parts serve a tool of one name
 * @example
 * const tokens = bearerTokens(world, { secret: 'mcp_tokens' })
 * await using serving = await serveHttp(world, { port: 8080, auth: tokens.auth })
 * console.log(serving.url) // http://127.0.0.1:8080/mcp
 */
export async function serveHttp(world: AgentWorld, options: ServeHttpOptions): Promise<Serving> {
  const { serveHttp: serve } = await withLibrary(() => import('./serve-http.js'));
  return serve(world, options);
}
