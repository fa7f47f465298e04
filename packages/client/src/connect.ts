/** Sessions of a world that a server serves, for browsers and other programs. */
import { type FollowOptions, follow } from './follow.js';
import { type ConnectOptions, Requests } from './requests.js';
import type {
  Command,
  Decided,
  Decision,
  Message,
  Page,
  Receipt,
  RunNow,
  SessionRow,
  Told,
  TranscriptEntry,
  Waiting,
} from './types.js';

/** Sessions of a world. */
export interface SessionsClient {
  /** A page of the sessions that may be read, the last changed first. */
  sessions(after?: string): Promise<Page<SessionRow>>;
  /** A session; it begins with its first message. */
  session(key: string): SessionClient;
  /** The approvals and questions that may be decided, the oldest first. */
  pending(): Promise<readonly Waiting[]>;
  /** Decides about one of them. One decision is applied; a later one gets `already_settled`. */
  decide(item: Waiting | string, decision: Decision): Promise<Decided>;
  /** The events of all sessions that may be read, over connections that break. */
  events(options?: FollowOptions): AsyncGenerator<Told>;
}

/** One session. */
export interface SessionClient {
  readonly key: string;
  /** Sends a message; resolves when it is durable. Sent again with its id, it is the same message. */
  send(message: Message): Promise<Receipt>;
  /** Sends a command. */
  command(command: Command): Promise<Receipt>;
  /** The session as a list has it, and what waits for a decision. */
  read(): Promise<SessionRow & { readonly pending: readonly Partial<Waiting>[] }>;
  /** A page of its messages. */
  transcript(next?: string): Promise<Page<TranscriptEntry>>;
  /** Content by a path of a transcript's `links`. */
  content(link: string): Promise<{ readonly mediaType: string; readonly bytes: Uint8Array }>;
  /** What a run does now. */
  run(number: number): Promise<RunNow>;
  /** The events of a run to its end, with pieces of its answers when `deltas` is true. */
  follow(run: number, options?: FollowOptions & { readonly deltas?: boolean }): AsyncGenerator<Told>;
  /** The events of the session, those below it too when `tree` is true, over connections that break. */
  events(options?: FollowOptions & { readonly tree?: boolean }): AsyncGenerator<Told>;
}

/**
 * Connects to a server of sessions: `serveHttp(world, { sessions: true })`, or `httpHandler`. Nothing is sent before the first call.
 *
 * @param url where the server is, with or without `/v1`
 * @throws Refused in each call, with the code of the server
 * @example
 * const world = connect('http://127.0.0.1:8080', { token })
 * const { run = 0 } = await world.session('ann/trip').send({ id: crypto.randomUUID(), text: 'Plan a trip', agent: 'planner' })
 * for await (const told of world.session('ann/trip').follow(run, { deltas: true })) console.log(told)
 */
export function connect(url: string | URL, options: ConnectOptions): SessionsClient {
  const requests = new Requests(url, options);
  const json = async <T>(path: string): Promise<T> => (await (await requests.send('GET', path)).json()) as T;
  const post = async <T>(path: string, body: unknown): Promise<T> =>
    (await (await requests.send('POST', path, { body })).json()) as T;
  return {
    sessions: async (after) => {
      const { sessions: items, next } = await json<{ sessions: SessionRow[]; next?: string }>(after ?? '/v1/sessions');
      return { items, ...(next === undefined ? {} : { next }) };
    },
    session: (key) => sessionAt(key, { requests, json, post }),
    pending: async () => (await json<{ items: Waiting[] }>('/v1/pending')).items,
    decide: (item, decision) => {
      const { id, digest } = typeof item === 'string' ? { id: item } : item;
      const shown = digest === undefined ? {} : { digest };
      return post(`/v1/pending/${encodeURIComponent(id)}`, { ...shown, ...decision });
    },
    events: (options = {}) => follow(requests, '/v1/events', options),
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
    content: async (link) => {
      const answer = await requests.send('GET', link);
      const bytes = new Uint8Array(await answer.arrayBuffer());
      return { mediaType: answer.headers.get('content-type') ?? 'application/octet-stream', bytes };
    },
    run: (number) => json(`${place}/runs/${number}`),
    follow: (run, { deltas = false, ...options } = {}) =>
      follow(requests, `${place}/runs/${run}/events?deltas=${deltas}`, options),
    events: ({ tree = false, ...options } = {}) => follow(requests, `${place}/events?tree=${tree}`, options),
  };
}
