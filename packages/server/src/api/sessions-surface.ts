/** Sessions over HTTP, behind the door: finds the operation of a request, and answers it. */
import type { Principal } from '@reprise/contracts';
import { TOO_LARGE } from '../door/bodies.js';
import { busy, type Entrance, last, type Surface } from '../door/door.js';
import type { Visit } from '../door/visit.js';
import { SERVE_RESOURCE_BYTES_MAX } from '../protocol/limits.js';
import { jsonResponse, parseBody } from '../sessions/json.js';
import type { SessionsOptions } from '../sessions/options.js';
import { OwnedSessions } from '../sessions/owned-sessions.js';
import { paced } from '../sessions/paced.js';
import { doorRefusal, notFound, Problem } from '../sessions/problem.js';
import { traceParentOf } from '../sessions/trace-parent.js';
import { Cursors } from '../world/cursors.js';
import { ItemCells } from '../world/item-cells.js';
import { Organizations } from '../world/organizations.js';
import type { ServedWorld } from '../world/served-world.js';
import { EventCursors } from './cursors.js';
import { eventResponse } from './event-response.js';
import { openApi } from './openapi.js';
import { type Found, type RouteName, routesAt } from './routes.js';
import { type Known, SessionsApi } from './sessions-api.js';
import { commandBody, decisionBody, inputBody } from './shapes.js';

/** A request with all that its operation needs. */
interface Asked {
  readonly visit: Visit;
  readonly api: SessionsApi;
  readonly values: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The path and the query, as the client wrote them. */
  readonly place: string;
  readonly text: string;
}

/** Answers the requests below `/v1`. */
export class SessionsSurface implements Surface {
  readonly path = '/v1';
  readonly isTree = true;
  readonly methods = ['GET', 'POST'];
  readonly #known: Known;
  readonly #events: EventCursors;

  constructor(
    private readonly served: ServedWorld,
    private readonly door: Entrance,
    private readonly options: SessionsOptions,
  ) {
    const { world } = served;
    const { kernel } = world;
    this.#known = { cursors: new Cursors(), organizations: new Organizations(world), items: new ItemCells(world) };
    this.#events = new EventCursors(kernel.id, () => kernel.head.seq);
  }

  readonly refuse = doorRefusal;

  answer(visit: Visit, principal: Principal): Promise<Response> {
    return paced(this, this.door, principal, () => this.#answer(visit, principal));
  }

  close(): void {
    // What is streamed ends with its visits: the door has stopped them.
  }

  async #answer(visit: Visit, principal: Principal): Promise<Response> {
    const { pathname, search, searchParams } = new URL(visit.target, 'http://localhost');
    const { route, values } = this.#found(pathname, visit.method);
    const isStream = route.answer === 'events';
    const place = this.door.pace.use(principal, isStream ? 'streams' : 'open', 1);
    if (place === undefined) return busy(this, isStream ? 'streams' : 'requests', 1);
    visit.hold(place);
    if (isStream) this.door.streams.watch(visit, principal);
    else this.door.count(visit);
    const text = route.body === undefined ? '' : await visit.body(this.door.limits.bodyBytes);
    if (text === TOO_LARGE) return last(this.refuse(413, `A body may have ${this.door.limits.bodyBytes} bytes.`));
    const api = new SessionsApi(
      new OwnedSessions(this.served.world, principal, this.options, this.#known.organizations),
      this.#known,
    );
    const asked = { visit, api, values, query: searchParams, place: `${pathname}${search}`, text };
    return OPERATIONS[route.name](asked, this.#events);
  }

  #found(path: string, method: string): Found {
    const all = routesAt(path);
    const found = all.find(({ route }) => route.method === method);
    if (found !== undefined) return found;
    if (all.length === 0) throw notFound('This');
    throw new Problem(405, 'wrong_method', `This takes ${all.map(({ route }) => route.method).join(', ')}.`);
  }
}

type Operation = (asked: Asked, cursors: EventCursors) => Response | Promise<Response>;

const read: Operation = async ({ api, place }) => contentResponse(await api.read(place));

function contentResponse({ mediaType, bytes }: { readonly mediaType: string; readonly bytes: Uint8Array }): Response {
  if (bytes.length > SERVE_RESOURCE_BYTES_MAX)
    throw new Problem(
      413,
      'bound_exceeded',
      `The content has ${bytes.length} bytes; ${SERVE_RESOURCE_BYTES_MAX} are served.`,
    );
  const safe = { 'content-type': mediaType, 'x-content-type-options': 'nosniff', 'content-security-policy': 'sandbox' };
  return new Response(bytes.slice(), { headers: safe });
}

const follow =
  (isWhole: boolean): Operation =>
  async ({ api, values, query, visit }, cursors) => {
    const after = afterOf(visit, query, cursors);
    const tree = isSet(query, 'tree');
    const open = await api.events(isWhole ? undefined : values.session, { tree, ...after });
    return eventResponse({ visit, cursors, open, isResumed: after.after !== undefined, hasEnd: false });
  };

const OPERATIONS: Readonly<Record<RouteName, Operation>> = {
  describe: () => jsonResponse(openApi()),
  listSessions: read,
  readSession: read,
  readTranscript: read,
  readContent: read,
  sendInput: async ({ api, values, text, visit }) =>
    jsonResponse(await api.input(values.session ?? '', parseBody(text, inputBody), traceParentOf(visit)), 202),
  sendCommand: async ({ api, values, text }) =>
    jsonResponse(await api.command(values.session ?? '', parseBody(text, commandBody)), 202),
  readRun: async ({ api, values }) => jsonResponse(await api.run(values.session ?? '', numberOf(values.run))),
  followRun: async ({ api, values, query, visit }, cursors) => {
    const after = afterOf(visit, query, cursors);
    const deltas = isSet(query, 'deltas');
    const open = await api.runEvents(values.session ?? '', numberOf(values.run), { deltas, ...after });
    return eventResponse({ visit, cursors, open, isResumed: after.after !== undefined, hasEnd: true });
  },
  followSession: follow(false),
  followAll: follow(true),
  listOrganizations: async ({ api, values, query }) =>
    jsonResponse(await api.organizations.list(values.kind ?? '', query.get('after'))),
  readOrganization: async ({ api, values }) =>
    jsonResponse(await api.organizations.read(values.kind ?? '', values.name ?? '')),
  readOrganizationParts: async ({ api, values, query }) =>
    jsonResponse(await api.organizations.parts(values.kind ?? '', values.name ?? '', query.get('after'))),
  readOrganizationContent: async ({ api, values }) =>
    contentResponse(await api.organizations.content(values.kind ?? '', values.name ?? '', values.digest ?? '')),
  followOrganization: async ({ api, values, query, visit }, cursors) => {
    const after = afterOf(visit, query, cursors);
    const open = await api.organizationEvents([values.kind ?? '', values.name ?? ''], after);
    return eventResponse({ visit, cursors, open, isResumed: after.after !== undefined, hasEnd: false });
  },
  listPending: async ({ api }) => jsonResponse(await api.pending()),
  decide: async ({ api, values, text }) =>
    jsonResponse(await api.decide(values.item ?? '', parseBody(text, decisionBody))),
};

function afterOf({ headers }: Visit, query: URLSearchParams, cursors: EventCursors) {
  const given = headers.get('last-event-id') ?? query.get('after');
  return given === null || given === '' ? {} : { after: cursors.read(given) };
}

function isSet(query: URLSearchParams, name: string): boolean {
  const given = query.get(name) ?? 'false';
  if (given !== 'true' && given !== 'false')
    throw new Problem(400, 'invalid_argument', `${name} is true or false.`, { where: name });
  return given === 'true';
}

function numberOf(text = ''): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw notFound('The run');
}
