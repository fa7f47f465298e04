/** The options of everything that is served over HTTP, and the door that they open. */
import type { AgentWorld } from '@reprise/agent';
import { type ArgumentCheck, checkOf, isObject, type KnownOptions, requireKnownOptions } from '@reprise/contracts';
import { AgUiSurface } from '../agui/ag-ui-surface.js';
import { type AgUiOptions, requireAgUiOptions } from '../agui/options.js';
import { SessionsSurface } from '../api/sessions-surface.js';
import type { Authenticate } from '../door/auth-request.js';
import { Door, type Entrance, type Surface } from '../door/door.js';
import { Pace } from '../door/pace.js';
import type { Places } from '../door/places.js';
import { withLibrary } from '../protocol/library.js';
import { HTTP_LIMITS, type HttpLimits } from '../protocol/limits.js';
import { requireApiOptions, type SessionsOptions } from '../sessions/options.js';
import { ServedWorld } from '../world/served-world.js';
import { errorsTo, type ServerNames } from '../world/serving.js';

/** What is served over HTTP, and whose requests are answered. */
export interface DoorOptions extends ServerNames {
  /**
   * Finds the principal of a request: `human:NAME` or a cell. It is asked at each request; undefined refuses the request.
   */
  readonly auth: Authenticate;
  /** The origins of web pages that may call it. */
  readonly origins?: readonly string[];
  readonly limits?: Partial<HttpLimits>;
  /** Whether the Model Context Protocol is served, at `/mcp`. Default true; it needs `@modelcontextprotocol/server`. */
  readonly mcp?: boolean;
  /** Whether sessions are served, at `/v1`, and what a client may do there. Default false. */
  readonly sessions?: boolean | SessionsOptions;
  /** Whether AG-UI 1.0 is served, at `/ag-ui`, and what a client may do there. Default false; `true` takes the rules of `sessions`. */
  readonly agUi?: boolean | AgUiOptions;
}

/** The names of these options, for functions that take more. */
export const DOOR_OPTIONS: KnownOptions<DoorOptions> = {
  auth: true,
  origins: true,
  limits: true,
  mcp: true,
  sessions: true,
  agUi: true,
  name: true,
  instructions: true,
  onError: true,
};

type SurfacesOf = (served: ServedWorld, door: Entrance) => readonly Surface[];

/** Loads what answers by these options: the library of MCP only where it is served. */
export async function loadSurfaces(options: DoorOptions): Promise<SurfacesOf> {
  const { mcp = true, sessions = false, agUi = false } = options;
  const rules = sessions === true || sessions === false ? {} : sessions;
  const loaded = mcp ? await withLibrary(() => import('../mcp/mcp-surface.js')) : undefined;
  return (served, door) => [
    ...(loaded === undefined ? [] : [new loaded.McpSurface(served, door, options)]),
    ...(sessions === false ? [] : [new SessionsSurface(served, door, rules)]),
    ...(agUi === false ? [] : [new AgUiSurface(served, door, agUi === true ? rules : agUi)]),
  ];
}

/** Opens the door of a world. */
export function openDoor(
  world: AgentWorld,
  options: DoorOptions,
  { surfacesOf, places }: { readonly surfacesOf: SurfacesOf; readonly places: Places },
): { readonly door: Door; readonly surfaces: readonly Surface[] } {
  const limits = limitsOf(options);
  const served = new ServedWorld(world);
  const { auth } = options;
  const door = new Door({ served, limits, pace: new Pace(limits), auth, places, onError: errorsTo(options) });
  const surfaces = surfacesOf(served, door);
  door.lead(surfaces);
  return { door, surfaces };
}

/** The bounds, with the defaults of those that are not set. */
export function limitsOf({ limits }: Pick<DoorOptions, 'limits'>): HttpLimits {
  return { ...HTTP_LIMITS, ...limits };
}

/** Refuses anything but options: callers may be untyped. @param call the function that takes them */
export function requireDoorOptions(options: DoorOptions, call: string): void {
  const require: ArgumentCheck = checkOf('invalid_argument', `invalid option of ${call}`);
  const { auth, limits = {}, mcp = true, sessions = false, agUi = false } = options;
  require(typeof auth === 'function', 'auth', 'a function that finds the principal of a request', typeof auth);
  require(typeof mcp === 'boolean', 'mcp', 'true or false', mcp);
  require(mcp ||
    sessions !== false ||
    agUi !== false, 'sessions', 'true or options, since MCP is not served', sessions);
  requireApiOptions(sessions, call);
  requireAgUiOptions(agUi, call);
  require(isObject(limits), 'limits', 'bounds by name', typeof limits);
  const known = Object.fromEntries(Object.keys(HTTP_LIMITS).map((name) => [name, true as const]));
  requireKnownOptions(limits, known, `${call} limits`);
  for (const [name, bound] of Object.entries(limits))
    require(Number.isSafeInteger(bound) && Number(bound) > 0, `limits.${name}`, 'a whole number, at least 1', bound);
}
