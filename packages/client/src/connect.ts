/** Sessions of a world that a server serves, for browsers and other programs. */
import { follow, type ResumeOptions } from './follow.js';
import { type ConnectOptions, Requests } from './requests.js';
import { parseServerJson } from './server-json.js';
import type {
  Acceptance,
  Command,
  DecisionResult,
  ItemDecision,
  Message,
  OrganizationEvent,
  OrganizationKind,
  OrganizationSummary,
  Page,
  PendingDecision,
  RunNow,
  SessionEvent,
  SessionSummary,
  StreamItem,
  TranscriptEntry,
} from './types.js';

/** The sessions of a world, as far as the principal of the token has them. */
export interface SessionsClient {
  /** A page of the sessions that may be read, the last changed first. */
  sessions(after?: string): Promise<Page<SessionSummary>>;
  /** A session; it begins with its first message. */
  session(key: string): SessionClient;
  /** The approvals and questions that may be decided, the oldest first. */
  pending(): Promise<readonly PendingDecision[]>;
  /** Decides about one of them. One decision is applied; a later one gets `already_settled`. */
  decide(item: PendingDecision | string, decision: ItemDecision): Promise<DecisionResult>;
  /** The events of all sessions and organizations that may be read, over connections that break. */
  events(options?: ResumeOptions): AsyncGenerator<StreamItem<SessionEvent | OrganizationEvent>>;
  /** A page of the trees, projects or swarms that the principal has, by their names. */
  organizations(kind: OrganizationKind, next?: string): Promise<Page<OrganizationSummary>>;
  /** A tree, a project or a swarm. */
  organization(kind: OrganizationKind, name: string): OrganizationClient;
}

/** A tree, a project or a swarm of the world. */
export interface OrganizationClient {
  readonly kind: OrganizationKind;
  readonly name: string;
  /** What it is and does now. */
  read(): Promise<OrganizationSummary>;
  /** A page of its nodes, tasks or members. */
  parts(next?: string): Promise<Page<Readonly<Record<string, unknown>>>>;
  /** Content that it links, by its digest: `sha256:…`. */
  content(link: string): Promise<{ readonly mediaType: string; readonly bytes: Uint8Array }>;
  /** What it states, and the events of its sessions, over connections that break. */
  events(options?: ResumeOptions): AsyncGenerator<StreamItem<SessionEvent | OrganizationEvent>>;
}

/** A session of the world, whether it has begun or not. */
export interface SessionClient {
  readonly key: string;
  /** Sends a message; resolves when it is durable. Sent again with its id, it is the same message. */
  send(message: Message): Promise<Acceptance>;
  /** Sends a command; resolves when it is durable. Sent again with its id, it is the same command. */
  command(command: Command): Promise<Acceptance>;
  /** The session as a list has it, and what waits for a decision. */
  read(): Promise<SessionSummary & { readonly pending: readonly Partial<PendingDecision>[] }>;
  /** A page of its messages. */
  transcript(next?: string): Promise<Page<TranscriptEntry>>;
  /** Content by a path of a transcript's `links`. */
  content(link: string): Promise<{ readonly mediaType: string; readonly bytes: Uint8Array }>;
  /** What a run does now. */
  run(number: number): Promise<RunNow>;
  /** The events of a run to its end, with pieces of its answers when `deltas` is true. */
  follow(run: number, options?: ResumeOptions & { readonly deltas?: boolean }): AsyncGenerator<StreamItem>;
  /** The events of the session, those below it too when `tree` is true, over connections that break. */
  events(options?: ResumeOptions & { readonly tree?: boolean }): AsyncGenerator<StreamItem>;
}

/**
 * Connects to a server of sessions: `serveHttp(world, { sessions: true })`, or `httpHandler`. Nothing is sent before the first call.
 *
 * @param url where the server is, with or without `/v1`
 * @throws RequestRefused in each call, with the code of the server
 * @example
 * const world = connect('http://127.0.0.1:8080', { token })
 * const { run = 0 } = await world.session('ann/trip').send({ id: crypto.randomUUID(), text: 'Plan a trip', agent: 'planner' })
 * for await (const told of world.session('ann/trip').follow(run, { deltas: true })) console.log(told)
 */
export function connect(url: string | URL, options: ConnectOptions): SessionsClient {
  const requests = new Requests(url, options);
  const json = async <T>(path: string): Promise<T> =>
    parseServerJson(await (await requests.send('GET', path)).text()) as T;
  const post = async <T>(path: string, body: unknown): Promise<T> =>
    parseServerJson(await (await requests.send('POST', path, { body })).text()) as T;
  return {
    sessions: async (after) => {
      const { sessions: items, next } = await json<{ sessions: SessionSummary[]; next?: string }>(
        after ?? '/v1/sessions',
      );
      return { items, ...(next === undefined ? {} : { next }) };
    },
    session: (key) => sessionAt(key, { requests, json, post }),
    pending: async () => (await json<{ items: PendingDecision[] }>('/v1/pending')).items,
    decide: (item, decision) => {
      const { id, digest } = typeof item === 'string' ? { id: item } : item;
      const shown = digest === undefined ? {} : { digest };
      return post(`/v1/pending/${encodeURIComponent(id)}`, { ...shown, ...decision });
    },
    events: (options = {}) => follow<SessionEvent | OrganizationEvent>(requests, '/v1/events', options),
    organizations: (kind, next) => json(next ?? `/v1/organizations/${encodeURIComponent(kind)}`),
    organization: (kind, name) => organizationAt([kind, name], { requests, json, post }),
  };
}

interface Ways {
  readonly requests: Requests;
  json<T>(path: string): Promise<T>;
  post<T>(path: string, body: unknown): Promise<T>;
}

function sessionAt(key: string, { requests, json, post }: Ways): SessionClient {
  const place = `/v1/sessions/${encodeURIComponent(key)}`;
  return {
    key,
    send: (message) => post(`${place}/inputs`, message),
    command: (command) => post(`${place}/commands`, command),
    read: () => json(place),
    transcript: async (next) => json(next ?? `${place}/transcript`),
    content: (link) => contentAt(requests, link),
    run: (number) => json(`${place}/runs/${number}`),
    follow: (run, { deltas = false, ...options } = {}) =>
      follow(requests, `${place}/runs/${run}/events?deltas=${deltas}`, options),
    events: ({ tree = false, ...options } = {}) => follow(requests, `${place}/events?tree=${tree}`, options),
  };
}

function organizationAt(
  [kind, name]: readonly [kind: string, name: string],
  { requests, json }: Ways,
): OrganizationClient {
  const place = `/v1/organizations/${encodeURIComponent(kind)}/${encodeURIComponent(name)}`;
  return {
    kind,
    name,
    read: () => json(place),
    parts: (next) => json(next ?? `${place}/parts`),
    content: (link) => contentAt(requests, `${place}/content/${encodeURIComponent(link)}`),
    events: (options = {}) => follow<SessionEvent | OrganizationEvent>(requests, `${place}/events`, options),
  };
}

async function contentAt(requests: Requests, path: string): ReturnType<OrganizationClient['content']> {
  const answer = await requests.send('GET', path);
  const bytes = new Uint8Array(await answer.arrayBuffer());
  return { mediaType: answer.headers.get('content-type') ?? 'application/octet-stream', bytes };
}
