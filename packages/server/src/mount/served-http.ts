/** Serving a world over HTTP: its options, and the way to what serves it. */
import type { AgentWorld } from '@reprise/agent';
import type { Serving } from '../world/serving.js';
import type { DoorOptions } from './open-door.js';

/** Where a world is served, and whose requests are answered. Its own addresses may address it, and hosts of `origins`. */
export interface ServeHttpOptions extends DoorOptions {
  /** The port; a free one when absent. */
  readonly port?: number;
  /** The address at which it listens. Default 127.0.0.1: this machine only. */
  readonly host?: string;
}

/**
 * Serves a world over HTTP: the Model Context Protocol at `/mcp`, sessions at `/v1` where `sessions` says so,
 * AG-UI at `/ag-ui` where `agUi` does.
 *
 * @throws RepriseError `runtime_unsupported` without the package `@modelcontextprotocol/server`, unless `mcp` is false; `invalid_argument`; `duplicate_definition` when two parts serve a tool of one name
 * @example
 * const tokens = bearerTokens(world, { secret: 'mcp_tokens' })
 * await using serving = await serveHttp(world, { port: 8080, auth: tokens.auth, sessions: true })
 * console.log(serving.url) // http://127.0.0.1:8080/mcp
 */
export async function serveHttp(world: AgentWorld, options: ServeHttpOptions): Promise<Serving> {
  const { serveHttp: serve } = await import('./serve-http.js');
  return serve(world, options);
}
