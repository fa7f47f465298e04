/** A world behind a server of the app: a function from requests to answers, for Node, Hono, Next, Bun and Deno. */
import type { AgentWorld } from '@reprise/agent';
import { type ArgumentCheck, checkOf, isObject, type KnownOptions, requireKnownOptions } from '@reprise/contracts';
import type { Door } from '../door/door.js';
import { requireOrigins, SameOrigin } from '../door/places.js';
import { RequestVisit } from '../door/request-visit.js';
import { requireWorld } from '../world/serving.js';
import { DOOR_OPTIONS, type DoorOptions, loadSurfaces, openDoor, requireDoorOptions } from './open-door.js';

/** Whose requests a handler answers, and where it is mounted. Web pages of its own origin may call it, and those of `origins`. */
export interface HttpHandlerOptions extends DoorOptions {
  /** The path below which the app mounts it, such as `/api`: `/api/v1/sessions` is `/v1/sessions` then. Default: the root. */
  readonly base?: string;
}

/** A world as an app mounts it in its server. */
export interface HttpHandler extends AsyncDisposable {
  /**
   * Answers a request. It may be passed on alone: it needs no `this`.
   *
   * @param from what the app's server knows of the connection
   */
  readonly fetch: (request: Request, from?: { readonly remoteAddress?: string }) => Promise<Response>;
  /** Takes no further requests, lets those that are under way end for a while, and ends the rest. Idempotent. */
  close(): Promise<void>;
}

const OPTIONS: KnownOptions<HttpHandlerOptions> = { ...DOOR_OPTIONS, base: true };
const require: ArgumentCheck = checkOf('invalid_argument', 'invalid option of httpHandler');

/**
 * Makes a handler of a world for a server of the app: the Model Context Protocol at `/mcp`, sessions at `/v1`, AG-UI at `/ag-ui`, under one
 * `auth` and one set of bounds. The server of the app bounds its connections, and decides under which names it is addressed.
 *
 * @throws RepriseError `runtime_unsupported` without the package `@modelcontextprotocol/server`, unless `mcp` is false; `invalid_argument`
 * @example
 * const handler = await httpHandler(world, { auth: tokens.auth, mcp: false, sessions: true, base: '/agents' })
 * app.all('/agents/*', (c) => handler.fetch(c.req.raw)) // Hono
 */
export async function httpHandler(world: AgentWorld, options: HttpHandlerOptions): Promise<HttpHandler> {
  requireWorld(world);
  require(isObject(options), 'options', 'an object with `auth`', typeof options);
  requireKnownOptions(options, OPTIONS, 'httpHandler');
  const { base = '', origins = [] } = options;
  require(/^(?:\/[\w.~-]+)*$/.test(base), 'base', 'a path without an end, such as /api', base);
  requireOrigins(origins);
  requireDoorOptions(options, 'httpHandler');
  const surfacesOf = await loadSurfaces(options);
  const { door } = openDoor(world, options, { surfacesOf, places: new SameOrigin(origins) });
  return handlerOf(door, base);
}

function handlerOf(door: Door, base: string): HttpHandler {
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= door.close();
    return closing;
  };
  return {
    fetch: async (request, { remoteAddress } = {}) => {
      const url = new URL(request.url);
      const visit = new RequestVisit(request, remoteAddress, below(base, url), url.origin);
      try {
        return visit.sending(await door.answer(visit));
      } catch (error) {
        return visit.sending(door.failed(visit, error));
      }
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The path below the place of the handler, and the query. What is not below it has no path that a surface has. */
function below(base: string, { pathname, search }: URL): string {
  if (base !== '' && !pathname.startsWith(`${base}/`)) return '/';
  return `${pathname.slice(base.length)}${search}`;
}
