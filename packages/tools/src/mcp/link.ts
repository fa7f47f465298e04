/**
 * The link of one world to one MCP server: reached when it is needed, reached anew when it was lost, ended with the world.
 *
 * Invariants
 * K1  The server is asked for its tools when it was reached, and after it said that they are others; else not. After a
 *     call it is asked for a sign of life first: what it had to say by then has been heard when that is answered.
 * K2  A call is made of a tool that is offered as it was judged; of any other it is refused, with nothing done.
 * K3  A call whose answer was lost is made again only where its delivery says so; else nobody knows what became of it.
 * K4  Whoever cannot be reached is left alone for a while, longer each time.
 * K5  Nothing that a server does throws past a call or a look at it; nothing it started outlives the world.
 */
import {
  type CallToolResult,
  type Client,
  type InputRequiredResult,
  isInputRequiredResult,
  type Tool as McpTool,
} from '@modelcontextprotocol/client';
import {
  type LeftOut,
  type ListContext,
  outcomeUnknown,
  ResultLost,
  type ToolAnswer,
  type ToolContext,
  type ToolEntry,
  toolError,
} from '@reprise/agent';
import type { Value } from '@reprise/contracts';
import { Scrubber } from '@reprise/kernel';
import { Slices } from '../slices.js';
import { answerOf } from './answer.js';
import { elicit } from './elicit.js';
import { entryOf, type Terms } from './entry.js';
import { type Missing, missingBy, whyOf } from './failure.js';
import { LIST_BYTES_MAX } from './intake.js';
import { type Connection, connect, type McpServer } from './server.js';
import { isAllowed } from './wire-name.js';

/** How long a server that was not reached is left alone, in milliseconds: at first, and at most. */
const RETRY_MS_FIRST = 500;
const RETRY_MS_MAX = 60_000;

/** How long a server may take for a sign of life, or for its list, in milliseconds. */
const LOOK_MS = 30_000;

/** The most tools of a server that are looked at, of those that `allow` names: eight times what a session takes up. */
export const LIST_TOOLS_MAX = 4_096;

/** How often a call that may be repeated is made again when its answer was lost. */
const REPEATS_MAX = 2;

/** How often one call may ask for more before it is given up: as many as an effect may ask. */
const ROUNDS_MAX = 32;

/** The longest time that a timer takes; a call ends by its own deadline, which the world keeps. */
const NO_TIMEOUT_MS = 2_147_483_647;

/** What a link is made for. */
export interface LinkOptions extends Terms {
  readonly server: McpServer;
  readonly allow: readonly string[] | undefined;
  readonly connectMs: number;
  readonly closing: AbortSignal;
}

type Looking = Pick<ListContext, 'content' | 'secret' | 'signal' | 'scrubber'>;

interface Offered {
  readonly entry: ToolEntry;
  readonly tool: McpTool;
}

interface Listed {
  readonly entries: readonly ToolEntry[];
  readonly tools: ReadonlyMap<string, Offered>;
}

/** The link of one world to one MCP server. */
export class Link {
  #connection: Connection | undefined;
  #connecting: Promise<Connection> | undefined;
  #listed: Listed | undefined;
  #asking: Promise<Listed> | undefined;
  /** Whether the list may be another by now (K1). */
  #stale = true;
  #called = false;
  #doubted = false;
  #failures = 0;
  #retryAt = 0;
  #why = '';
  readonly #running = new Set<ToolContext>();
  /** What the server has and cannot be offered. */
  leftOut: readonly LeftOut[] = [];

  constructor(private readonly options: LinkOptions) {
    options.closing.addEventListener('abort', () => void this.#end(), { once: true });
  }

  /** What the server offers now, as entries. @throws when it cannot be reached */
  async list(context: ListContext): Promise<readonly ToolEntry[]> {
    return (await this.#look(context)).entries;
  }

  /** Calls a tool as it was judged. */
  async call(entry: ToolEntry, args: Readonly<Record<string, unknown>>, ctx: ToolContext): Promise<ToolAnswer<Value>> {
    for (let repeats = 0; ; repeats++) {
      const found = await this.#find(entry, ctx);
      if ('answer' in found) return found.answer;
      const done = await this.#execute(found.tool, args, ctx);
      if ('result' in done) return keptAnswerOf(done.result, found.tool.name, ctx);
      const { missing } = done;
      if (missing.lost) await this.#drop(done.connection);
      const again = missing.kind === 'unreached' || (missing.kind === 'unknown' && entry.guarantee === 'idempotent'); // K3
      if (!again || repeats >= REPEATS_MAX || ctx.signal.aborted) return this.#told(missing, ctx);
    }
  }

  /** What nobody is told of a lost answer, operators are. */
  #told({ kind, why }: Missing, ctx: ToolContext): ToolAnswer<Value> {
    const { toolset } = this.options;
    ctx.report?.(new Error(`a call of ${toolset}, ${kind}: ${why}`));
    if (kind === 'unreached') return this.#unreached(why);
    if (kind === 'unknown' || kind === 'too_much') return outcomeUnknown(new Error(`${toolset}: ${why}`));
    return toolError(`${toolset} refused the call: ${why}`);
  }

  #unreached(why: string): ToolAnswer<Value> {
    return toolError(`The server ${this.options.toolset} cannot be reached; nothing was done. ${why}`);
  }

  /** K2 */
  async #find(entry: ToolEntry, ctx: ToolContext): Promise<Offered | { readonly answer: ToolAnswer<Value> }> {
    try {
      const found = (await this.#look(ctx)).tools.get(entry.name);
      if (found === undefined) return { answer: toolError(`${entry.name} is not offered any more; nothing was done.`) };
      if (descriptorOf(found.entry) === descriptorOf(entry)) return found;
      const what = 'is described otherwise than when this call was decided on';
      return { answer: toolError(`${entry.name} ${what}; nothing was done.`) };
    } catch (error) {
      if (ctx.signal.aborted) throw error;
      return { answer: this.#unreached(whyOf(error)) };
    }
  }

  /** The tools as they are now (K1). What was lost since it was used last is reached anew, once. */
  async #look(context: Looking): Promise<Listed> {
    const before = this.#connection;
    try {
      return await this.#lookOnce(context);
    } catch (error) {
      if (before === undefined || context.signal.aborted) throw error;
      await this.#drop(before);
      return this.#lookOnce(context);
    }
  }

  async #lookOnce(context: Looking): Promise<Listed> {
    const connection = await until(context.signal, this.#reach(context));
    const { client } = connection;
    if (this.#called) {
      this.#called = false;
      await signOfLife(client, context.signal);
    }
    if (this.#asking === undefined && this.#listed !== undefined && !this.#stale) return this.#listed;
    this.#asking ??= this.#ask(connection, context).finally(() => {
      this.#asking = undefined;
    });
    return until(context.signal, this.#asking);
  }

  async #ask(connection: Connection, { content }: Looking): Promise<Listed> {
    this.#stale = false; // before the server is asked: what it says meanwhile counts
    this.#listed = undefined;
    const tools = (await listOf(connection)).filter(({ name }) => isAllowed(name, this.options.allow));
    if (tools.length > LIST_TOOLS_MAX) {
      const what = `${this.options.toolset} offers ${tools.length} tools`;
      throw new Error(`${what}; ${LIST_TOOLS_MAX} are taken. Name the ones that count with \`allow\`.`);
    }
    const slices = new Slices(this.options.closing);
    const found = new Map<string, Offered>();
    const leftOut: LeftOut[] = [];
    for (const tool of tools) {
      await slices.next();
      const entry = await entryOf(tool, this.options, content);
      if (typeof entry === 'string') leftOut.push({ tool: tool.name, why: entry });
      else if (found.has(entry.name)) leftOut.push({ tool: tool.name, why: `another one is called ${entry.name}` });
      else found.set(entry.name, { entry, tool });
    }
    this.leftOut = leftOut;
    this.#listed = { tools: found, entries: [...found.values()].map(({ entry }) => entry) };
    return this.#listed;
  }

  async #reach(given: Looking): Promise<Connection> {
    if (this.#connection !== undefined) return this.#connection;
    if (performance.now() < this.#retryAt) throw new Error(`${this.#why} (it is left alone for a while)`); // K4
    this.#connecting ??= this.#connect(given).finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  async #connect({ secret, scrubber = new Scrubber() }: Looking): Promise<Connection> {
    const { server, connectMs, closing } = this.options;
    try {
      const connection = await connect(server, {
        secret,
        scrubber,
        timeoutMs: connectMs,
        signal: closing,
        changed: () => {
          this.#stale = true;
        },
        prepare: (client) => this.#answerQuestions(client),
      });
      connection.client.onclose = () => this.#lose(connection);
      connection.client.onerror = () => void this.#doubt(connection);
      this.#connection = connection;
      this.#failures = 0;
      this.#stale = true;
      return connection;
    } catch (error) {
      this.#why = scrubber.scrub(whyOf(error));
      this.#retryAt = performance.now() + Math.min(RETRY_MS_MAX, RETRY_MS_FIRST * 2 ** this.#failures++);
      throw error;
    }
  }

  /** A server of the older protocol asks by itself: it is answered by the call under way, when there is just one. */
  #answerQuestions(client: Client): void {
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      const [ctx, ...others] = this.#running;
      if (ctx === undefined || others.length > 0) return { action: 'cancel' };
      return elicit(params, this.options.toolset, ctx);
    });
  }

  async #execute(
    tool: McpTool,
    args: Readonly<Record<string, unknown>>,
    ctx: ToolContext,
  ): Promise<{ readonly result: CallToolResult } | Lost> {
    const connection = this.#connection;
    if (connection === undefined) return { missing: { kind: 'unreached', why: 'it was lost', lost: true }, connection };
    this.#running.add(ctx);
    this.#called = true;
    try {
      return { result: await converse(connection.client, tool, args, ctx, this.options.toolset) };
    } catch (error) {
      if (ctx.signal.aborted) throw error;
      const { refusal } = connection.intake;
      if (refusal !== undefined) return { missing: { kind: 'too_much', why: refusal.message, lost: true }, connection };
      const missing = missingBy(error);
      return { missing: { ...missing, why: connection.ending() ?? missing.why }, connection };
    } finally {
      this.#running.delete(ctx);
    }
  }

  /**
   * Something went wrong beside all calls: a stream that cannot be taken up again, say, whose call would never be
   * answered. Who gives no sign of life is given up, and its calls with it.
   */
  async #doubt(connection: Connection): Promise<void> {
    if (connection !== this.#connection || this.#doubted || this.#running.size === 0) return;
    this.#doubted = true;
    try {
      await signOfLife(connection.client, this.options.closing);
    } catch (error) {
      if (missingBy(error).lost) await connection.client.close().catch(() => undefined);
    } finally {
      this.#doubted = false;
    }
  }

  #lose(connection: Connection): void {
    if (this.#connection === connection) this.#connection = undefined;
  }

  /** Ends a connection that failed. One that was made since, for another call that failed with it, is left alone. */
  async #drop(connection: Connection | undefined): Promise<void> {
    if (connection === undefined) return;
    this.#lose(connection);
    await connection.client.close().catch(() => undefined);
  }

  async #end(): Promise<void> {
    await this.#drop(this.#connection ?? (await this.#connecting?.catch(() => undefined)));
  }
}

/** A call that was not answered, and the connection that it was made on. */
interface Lost {
  readonly missing: Missing;
  readonly connection: Connection | undefined;
}

/** The tools of a server, all pages together bounded in bytes and in time. */
async function listOf({ client, intake, ending }: Connection): Promise<readonly McpTool[]> {
  const signal = AbortSignal.timeout(LOOK_MS);
  intake.budget(LIST_BYTES_MAX);
  try {
    return (await client.listTools(undefined, { timeout: LOOK_MS, signal, cacheMode: 'refresh' })).tools;
  } catch (error) {
    const why = ending();
    throw why === undefined ? error : new Error(why, { cause: error });
  } finally {
    intake.endBudget();
  }
}

/** What a server answered. It has done what it was asked, whatever its answer is made of. */
async function keptAnswerOf(result: CallToolResult, tool: string, ctx: ToolContext): Promise<ToolAnswer<Value>> {
  try {
    return await answerOf(result, tool, ctx);
  } catch (error) {
    if (ctx.signal.aborted) throw error;
    return new ResultLost(whyOf(error));
  }
}

/** A call, and what its server wants to know before it answers. */
async function converse(
  client: Client,
  tool: McpTool,
  args: Readonly<Record<string, unknown>>,
  ctx: ToolContext,
  server: string,
): Promise<CallToolResult> {
  const { outputSchema: _, ...toolDefinition } = tool;
  let more = {};
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const params = { name: tool.name, arguments: { ...args }, ...more };
    const result: CallToolResult | InputRequiredResult = await client.callTool(params, {
      toolDefinition,
      signal: ctx.signal,
      timeout: NO_TIMEOUT_MS,
      allowInputRequired: true,
      onprogress: ({ progress, total, message }) =>
        ctx.progress({
          type: 'mcp.progress',
          progress,
          ...(total === undefined ? {} : { total }),
          ...(message === undefined ? {} : { message }),
        }),
    });
    if (!isInputRequiredResult(result)) return result;
    more = await answers(result, ctx, server);
  }
  throw new Error(`it asked for more ${ROUNDS_MAX} times`);
}

/** Answers what a server of the newer protocol asks before it goes on. Only people are asked: a server gets no model. */
async function answers({ inputRequests = {}, requestState }: InputRequiredResult, ctx: ToolContext, server: string) {
  const inputResponses: Record<string, unknown> = {};
  for (const [key, { method, params }] of Object.entries(inputRequests)) {
    if (method !== 'elicitation/create') throw new Error(`it asked for ${method}, which it is not given`);
    inputResponses[key] = await elicit(params, server, ctx);
  }
  return { inputResponses, ...(requestState === undefined ? {} : { requestState }) };
}

/** What a server had to say before it answered this has been heard when it has. */
async function signOfLife(client: Client, signal: AbortSignal): Promise<void> {
  const options = { signal, timeout: LOOK_MS };
  if (client.getProtocolEra() === 'modern') await client.discover(options);
  else await client.ping(options);
}

/** A tool as it is offered, by its digest. */
function descriptorOf({ origin }: ToolEntry): string | undefined {
  return origin?.descriptor_ref.hex;
}

/** Waits for something that others wait for as well, no longer than the one who waits is told to. */
async function until<T>(signal: AbortSignal, awaited: Promise<T>): Promise<T> {
  signal.throwIfAborted();
  let stop = (): void => undefined;
  const stopped = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([awaited, stopped]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
