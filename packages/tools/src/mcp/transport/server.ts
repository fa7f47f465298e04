/** The connection to an MCP server. */
import { Client, type Transport } from '@modelcontextprotocol/client';
import { headerRecord } from '@reprise/contracts';
import { concealAddress, concealArguments, concealHeaders, concealVariables, type Scrubber } from '@reprise/kernel';
import type { HttpServer, McpServer, Secrets, StdioServer } from '../address.js';
import { Judge } from '../judge/judge.js';
import { HttpTransport } from './http-transport.js';
import { countedFetch, Intake } from './intake.js';
import { Pages } from './pages.js';
import { GroupTransport } from './stdio-transport.js';
import { linearValidator } from './validator.js';

/** The environment variables that every server receives. */
const ENV_PASSED = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR', 'TERM', 'USER', 'SHELL', 'SYSTEMROOT'] as const;

/** How long a program may stay silent before the older protocol is tried, in milliseconds. */
const PROBE_MS = 10_000;

/** How many times a server's stream is resumed. */
const RECONNECTION = {
  initialReconnectionDelay: 500,
  maxReconnectionDelay: 30_000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 8,
};

/** An open connection: the client, and the reason once it has ended. */
export interface Connection {
  readonly client: Client;
  /** Counts what the connection receives, and holds the reason when nothing more is accepted. */
  readonly intake: Intake;
  /** Bounds the lists of tools. */
  readonly pages: Pages;
  /** Judges each message before the client reads it. */
  readonly judge: Judge;
  /** The reason why the connection ended, if the server gave one. */
  ending(): string | undefined;
}

interface Hearing {
  readonly secret: (name: string) => Promise<string>;
  /** The world's scrubber: it learns every secret that is sent to a server. */
  readonly scrubber: Scrubber;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Called when the server announces that its tools changed. */
  changed(): void;
  /** Called with each odd thing that the server sends, in words. */
  odd(what: string): void;
  /** Called before connecting, to register handlers for the server's requests. */
  prepare(client: Client): void;
}

/**
 * Connects to a server with the newest protocol that both sides support.
 *
 * @throws when the server cannot be reached; the message holds the reason
 */
export async function connect(server: McpServer, hearing: Hearing): Promise<Connection> {
  const ears = earsOf(hearing);
  if ('url' in server) return connectTo(await httpTransport(server, hearing, ears), 'auto', hearing, ears);
  try {
    return await connectTo(await programTransport(server, hearing, ears), 'auto', hearing, ears);
  } catch (error) {
    // Some older programs exit on a request that they do not know.
    if (hearing.signal.aborted || ears.intake.refusal !== undefined || !isNegotiation(error)) throw error;
    const again = earsOf(hearing);
    return connectTo(await programTransport(server, hearing, again), 'legacy', hearing, again);
  }
}

/** What listens to one connection. */
interface Ears {
  readonly intake: Intake;
  readonly judge: Judge;
}

function earsOf({ odd }: Hearing): Ears {
  return { intake: new Intake(), judge: new Judge(odd) };
}

async function connectTo(
  transport: Transport,
  mode: 'auto' | 'legacy',
  hearing: Hearing,
  { intake, judge }: Ears,
): Promise<Connection> {
  const { timeoutMs, signal } = hearing;
  const client = new Client(
    { name: 'reprise', version: '0.1.0' },
    {
      capabilities: { elicitation: { form: { applyDefaults: true }, url: {} } },
      versionNegotiation: { mode, probe: { timeoutMs: Math.min(PROBE_MS, timeoutMs) } },
      inputRequired: { autoFulfill: false },
      jsonSchemaValidator: linearValidator,
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => hearing.changed() } },
    },
  );
  hearing.prepare(client);
  const ending = () => intake.refusal?.message ?? (transport instanceof GroupTransport ? transport.ending : undefined);
  intake.onRefusal = () => void transport.close().catch(() => undefined); // ends all waits
  try {
    await client.connect(transport, { timeout: timeoutMs, signal });
    const pages = new Pages(intake);
    pages.watch(transport);
    return { client, intake, pages, judge, ending };
  } catch (error) {
    await transport.close().catch(() => undefined);
    const why = ending();
    throw why === undefined ? error : new Error(why, { cause: error });
  }
}

async function programTransport(
  { command, env = {}, cwd }: StdioServer,
  hearing: Hearing,
  { intake, judge }: Ears,
): Promise<Transport> {
  const [program, ...args] = command;
  const own = await told(env, hearing);
  const { scrubber } = hearing;
  concealVariables(scrubber, own);
  concealArguments(scrubber, args);
  const passed = ENV_PASSED.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
  const all = { ...Object.fromEntries(passed), ...own };
  return new GroupTransport({ program, args, cwd: cwd ?? process.cwd(), env: all }, scrubber, intake, judge);
}

async function httpTransport(
  { url, headers = {}, auth, fetch: own }: HttpServer,
  hearing: Hearing,
  { intake, judge }: Ears,
): Promise<Transport> {
  const { scrubber } = hearing;
  concealAddress(scrubber, new URL(url));
  const sent = { ...basicOf(new URL(url)), ...(await told(headers, hearing)) };
  concealHeaders(scrubber, Object.entries(sent));
  const options = {
    requestInit: { headers: sent },
    reconnectionOptions: RECONNECTION,
    ...(auth === undefined ? {} : { authProvider: auth }),
    fetch: countedFetch(intake, concealing(own ?? fetch, scrubber)),
  };
  return new HttpTransport(withoutUser(url), options, judge);
}

/**
 * Moves a user name in the address into a header, as browsers do: `fetch` refuses such an address and shows it in its
 * error.
 */
function basicOf({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${Buffer.from(user).toString('base64')}` };
}

function withoutUser(address: string | URL): URL {
  const url = new URL(address);
  url.username = '';
  url.password = '';
  return url;
}

/** Conceals the headers that are really sent, since only here are OAuth tokens visible. */
function concealing(send: typeof fetch, scrubber: Scrubber): typeof fetch {
  return (input, init) => {
    concealHeaders(scrubber, new Headers(init?.headers));
    return send(input, init);
  };
}

async function told(secrets: Secrets, { secret }: Hearing): Promise<Readonly<Record<string, string>>> {
  return headerRecord(typeof secrets === 'function' ? await secrets({ secret }) : secrets);
}

function isNegotiation(error: unknown): boolean {
  return error instanceof Error && (error.cause !== undefined || /negotiation|closed/i.test(error.message));
}
