/** The operations on sessions: where each is, what it takes and what it answers. The description is made from this table. */
import type * as z from '@reprise/contracts/schema';
import { commandBody, decisionBody, inputBody } from './shapes.js';

/** A parameter of the query or the path. */
interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly says: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

/** An operation on sessions, and how it is asked for. */
export interface Route {
  readonly name: RouteName;
  readonly method: 'GET' | 'POST';
  /** The path, with names in braces. */
  readonly path: string;
  readonly says: string;
  readonly body?: z.AnySchema;
  readonly query?: readonly Parameter[];
  readonly answer: 'json' | 'events' | 'content';
  /** The status of its answer. */
  readonly status: 200 | 202;
}

/** The names of the operations. */
export type RouteName =
  | 'describe'
  | 'listSessions'
  | 'readSession'
  | 'readTranscript'
  | 'readContent'
  | 'sendInput'
  | 'sendCommand'
  | 'readRun'
  | 'followRun'
  | 'followSession'
  | 'followAll'
  | 'listOrganizations'
  | 'readOrganization'
  | 'readOrganizationParts'
  | 'readOrganizationContent'
  | 'followOrganization'
  | 'listPending'
  | 'decide';

const text = { type: 'string' };
const flag = { type: 'string', enum: ['true', 'false'] };
const query = (name: string, says: string, schema: Readonly<Record<string, unknown>> = text): Parameter => ({
  name,
  in: 'query',
  says,
  schema,
});
const after = query('after', 'The cursor of the last event that the client has: the `id` of the event.');
const lastEvent: Parameter = {
  name: 'Last-Event-ID',
  in: 'header',
  says: 'The same, as a browser sends it when it connects again. It counts before `after`.',
  schema: text,
};

const SESSION = '/v1/sessions/{session}';
const RUN = `${SESSION}/runs/{run}`;
const ORGANIZATION = '/v1/organizations/{kind}/{name}';

/** All operations, in the order in which they are described. */
export const ROUTES: readonly Route[] = [
  { name: 'describe', method: 'GET', path: '/v1/openapi.json', says: 'This description.', answer: 'json', status: 200 },
  {
    name: 'listSessions',
    method: 'GET',
    path: '/v1/sessions',
    says: 'A page of the sessions that the client may read, the last changed first; `next` is the path of the following page.',
    query: [query('after', 'Where the page begins, from `next` of the page before.')],
    answer: 'json',
    status: 200,
  },
  {
    name: 'readSession',
    method: 'GET',
    path: SESSION,
    says: 'A session: agent, status, usage, and what waits for a decision of the client.',
    answer: 'json',
    status: 200,
  },
  {
    name: 'readTranscript',
    method: 'GET',
    path: `${SESSION}/transcript`,
    says: 'The messages of a session in pages, with the paths of their content.',
    query: [query('from', 'The index of the first message.', { type: 'string', pattern: '^[0-9]+$' })],
    answer: 'json',
    status: 200,
  },
  {
    name: 'readContent',
    method: 'GET',
    path: `${SESSION}/content/{digest}`,
    says: 'Content that the session links.',
    answer: 'content',
    status: 200,
  },
  {
    name: 'sendInput',
    method: 'POST',
    path: `${SESSION}/inputs`,
    says: 'Sends a message; a session begins with its first one. The answer comes when the message is durable. Sent again with its `id`, it is the same message.',
    body: inputBody,
    answer: 'json',
    status: 202,
  },
  {
    name: 'sendCommand',
    method: 'POST',
    path: `${SESSION}/commands`,
    says: 'Sends a command: cancel, pause, resume, retry, withdraw, compact or close. Sent again with its `id`, it is the same command.',
    body: commandBody,
    answer: 'json',
    status: 202,
  },
  {
    name: 'readRun',
    method: 'GET',
    path: RUN,
    says: 'What a run does now; its text, value and usage when it has ended.',
    answer: 'json',
    status: 200,
  },
  {
    name: 'followRun',
    method: 'GET',
    path: `${RUN}/events`,
    says: 'The events of a run to its end, as server-sent events; `event: end` is the last. With `deltas`, pieces of its answers stand between them as `event: delta`: they count until the next event of their step.',
    query: [after, lastEvent, query('deltas', 'Whether pieces of answers are sent.', flag)],
    answer: 'events',
    status: 200,
  },
  {
    name: 'followSession',
    method: 'GET',
    path: `${SESSION}/events`,
    says: 'The events of a session as server-sent events: those so far, and later ones as they become durable.',
    query: [after, lastEvent, query('tree', 'Whether the sessions below it are followed too.', flag)],
    answer: 'events',
    status: 200,
  },
  {
    name: 'followAll',
    method: 'GET',
    path: '/v1/events',
    says: 'The events of all sessions and organizations that the client may read, as server-sent events.',
    query: [after, lastEvent],
    answer: 'events',
    status: 200,
  },
  {
    name: 'listOrganizations',
    method: 'GET',
    path: '/v1/organizations/{kind}',
    says: 'A page of the trees (`tree`), projects (`project`) or swarms (`swarm`) that the client has, by their names; `next` is the path of the following page.',
    query: [query('after', 'Where the page begins, from `next` of the page before.')],
    answer: 'json',
    status: 200,
  },
  {
    name: 'readOrganization',
    method: 'GET',
    path: ORGANIZATION,
    says: 'What an organization is and does now.',
    answer: 'json',
    status: 200,
  },
  {
    name: 'readOrganizationParts',
    method: 'GET',
    path: `${ORGANIZATION}/parts`,
    says: 'A page of the nodes of a tree, the tasks of a project, or the members of a swarm; `next` is the path of the following page.',
    query: [query('after', 'Where the page begins, from `next` of the page before.')],
    answer: 'json',
    status: 200,
  },
  {
    name: 'readOrganizationContent',
    method: 'GET',
    path: `${ORGANIZATION}/content/{digest}`,
    says: 'Content that the organization links: the prompt of a node, the brief of a task, a result.',
    answer: 'content',
    status: 200,
  },
  {
    name: 'followOrganization',
    method: 'GET',
    path: `${ORGANIZATION}/events`,
    says: 'What an organization states, and the events of its sessions, as server-sent events: those so far, and later ones as they become durable.',
    query: [after, lastEvent],
    answer: 'events',
    status: 200,
  },
  {
    name: 'listPending',
    method: 'GET',
    path: '/v1/pending',
    says: 'The approvals and questions that the client may decide, the oldest first.',
    answer: 'json',
    status: 200,
  },
  {
    name: 'decide',
    method: 'POST',
    path: '/v1/pending/{item}',
    says: 'Decides: exactly one of `approve: true`, `deny: reason` and `answer`. One decision is applied; a later one gets `already_settled`.',
    body: decisionBody,
    answer: 'json',
    status: 200,
  },
];

/** A request whose operation is known. */
export interface Found {
  readonly route: Route;
  readonly values: Readonly<Record<string, string>>;
}

const PATTERNS = ROUTES.map((route) => ({
  route,
  names: [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name),
  pattern: new RegExp(`^${route.path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '([^/]+)')}$`),
}));

/** The operations at a path, and the values that stand in it; none for a path that is no path of the table. */
export function routesAt(path: string): readonly Found[] {
  return PATTERNS.flatMap(({ route, names, pattern }) => {
    const [, ...found] = pattern.exec(path) ?? [];
    if (found.length !== names.length || !pattern.test(path)) return [];
    const values = decoded(names, found);
    return values === undefined ? [] : [{ route, values }];
  });
}

function decoded(names: readonly string[], found: readonly string[]): Record<string, string> | undefined {
  try {
    return Object.fromEntries(names.map((name, i) => [name, decodeURIComponent(found[i] ?? '')]));
  } catch {
    return undefined; // a `%` without its digits
  }
}
