/** Honest clients of a server, and hostile ones beside them: with a token, and without one. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { chance } from './aborts.js';
import { notebookOf } from './notes.js';
import { requestText, type Wire, wire } from './sockets.js';
import { bareCall, bareRequest, begin, callOf, overHttp, post } from './stage.js';

/** What the honest clients have seen. */
export interface Seen {
  readonly answered: number;
  readonly failed: readonly string[];
  /** Milliseconds of the median, of one request in a hundred, and of the slowest. */
  readonly median: number;
  readonly p99: number;
  readonly slowest: number;
}

/** Both rounds: alone, and beside hostile clients. */
export interface Compared {
  readonly alone: Seen;
  readonly beside: Seen;
  /** How many requests and connections the hostile clients made beside the honest ones. */
  readonly hostile: number;
}

/** How many streams a token opens before all else. */
const STREAMS_FIRST = 300;

type Stage = Awaited<ReturnType<typeof overHttp>>;

/** Counts what hostile clients make. */
interface Count {
  made: number;
}

/** Runs both rounds, each for some time, and until each honest client has made so many requests. */
export async function honestBesideHostile(ms: number, atLeast: number, seed: number): Promise<Compared> {
  await using stage = await overHttp();
  const alone = await honest(stage, ms, atLeast);
  const stop = new AbortController();
  const count: Count = { made: 0 };
  const attacks = [withToken(stage, stop.signal, seed, count), withoutToken(stage, stop.signal, count)];
  await new Promise((resolve) => setTimeout(resolve, Math.min(ms, 1_000))); // all places are taken by now
  const before = count.made;
  const beside = await honest(stage, ms, atLeast);
  const hostile = count.made - before;
  stop.abort();
  await Promise.all(attacks);
  return { alone, beside, hostile };
}

/** Two honest people: each calls a tool, opens new connections now and then, and keeps a session with a stream. */
async function honest(stage: Stage, ms: number, atLeast: number): Promise<Seen> {
  const times: number[] = [];
  const failed: string[] = [];
  const one = async (name: string): Promise<void> => {
    const until = performance.now() + ms;
    const token = await stage.tokenOf(`human:${name}`);
    const clients: Client[] = [];
    for (let n = 0; n < atLeast || performance.now() < until; n++) {
      if (n % 10 === 0)
        await again(() => connected(stage.url, token, n % 20 === 0 ? 'legacy' : 'auto')).then(
          (client) => clients.push(client),
          (error: Error) => failed.push(`${name} ${n}, connecting: ${why(error)}`),
        );
      if (clients.length > 4) await clients.splice(1, 1)[0]?.close();
      const client = clients[n % clients.length];
      const started = performance.now();
      const wanted = { name: 'note_add', arguments: { notebook: notebookOf(name, times.length), text: 'x' } };
      const fault = await again(async () => client?.callTool(wanted)).then(
        (answer) => (answer?.isError === true ? 'an error' : undefined),
        (error: Error) => `${name} ${n}: ${why(error)}`,
      );
      times.push(performance.now() - started);
      if (fault !== undefined) failed.push(fault);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await Promise.all(clients.map((client) => client.close()));
  };
  await Promise.all([one('ann'), one('bob')]);
  const sorted = times.sort((a, b) => a - b);
  const at = (share: number): number => Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0);
  return { answered: times.length - failed.length, failed, median: at(0.5), p99: at(0.99), slowest: at(1) };
}

/**
 * Sends a request once more when its connection was reset. A server makes room by closing connections that are idle, and
 * a request may just be on its way through one; every client of HTTP has to expect this (RFC 9112, 9.3.1). So does it when
 * no connection came about in ten seconds, the client's own bound: then nothing was sent. On a busy machine this process,
 * which is the server and all its clients, can be that late.
 */
async function again<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    if (!(error instanceof Error && /ECONNRESET|other side closed|Connect Timeout/.test(why(error)))) throw error;
    return request();
  }
}

/** The message of an error, and of what it came from. */
function why({ message, cause }: Error): string {
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}

async function connected(url: string, token: string, mode: 'legacy' | 'auto'): Promise<Client> {
  const client = new Client({ name: 'honest', version: '1' }, { versionNegotiation: { mode } } as never);
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  return client;
}

/** Takes all that one token can, and keeps it: streams of both kinds, sessions, calls that wait, batches. */
async function withToken(stage: Stage, signal: AbortSignal, seed: number, count: Count): Promise<void> {
  const { url } = stage;
  const token = await stage.tokenOf('human:eve');
  const random = chance(seed);
  let open: Wire[] = [];
  const sessions: string[] = [];
  const listen = bareRequest(1, 'subscriptions/listen', { notifications: { toolsListChanged: true } });
  const posted = (body: object, headers: Record<string, string>): string =>
    requestText(url, token, 'POST', headers, JSON.stringify(body));
  const session = (): Record<string, string> => ({ 'mcp-session-id': sessions[random(sessions.length)] ?? '' });
  let made = 0;
  const kinds: readonly (() => string)[] = [
    () => posted(listen[0], listen[1]),
    () => requestText(url, token, 'GET', session()),
    () => posted(...bareCall(1, {}, 'note_wait')),
    () =>
      posted(
        Array.from({ length: 32 }, (_, id) => callOf(id, { notebook: notebookOf('eve', made), text: 'x' })),
        session(),
      ),
    () => posted(begin, {}),
    () => requestText(url, token, 'POST', { 'content-length': '1000000' }, '{'),
  ];
  for (; !signal.aborted; made++, count.made++) {
    if (made % 8 === 0) {
      const id = await post(url, token, begin).then(
        (answer) => answer.text().then(() => answer.headers.get('mcp-session-id')),
        () => null,
      );
      if (id !== null) sessions.push(id);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const kind = kinds[made < STREAMS_FIRST ? made % 2 : random(kinds.length)];
    open.push(wire(url, kind?.() ?? ''));
    if (made % 100 === 0) open = open.filter(({ isClosed }) => !isClosed);
  }
  for (const { socket } of open) socket.destroy();
}

/** Takes all that a client without a token can, and keeps it: connections that say nothing, or begin and do not end. */
async function withoutToken({ url }: Stage, signal: AbortSignal, count: Count): Promise<void> {
  let open: Wire[] = [];
  let made = 0;
  for (; !signal.aborted; made++, count.made++) {
    open.push(wire(url, ['', 'POST /mcp HTTP/1.1\r\nhost: x\r\n', requestText(url, 'forged', 'GET')][made % 3]));
    if (made % 100 === 0) open = open.filter(({ isClosed }) => !isClosed);
    if (made % 8 === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  }
  for (const { socket } of open) socket.destroy();
}
