/**
 * The link from one world to one MCP server: it connects on first use, reconnects after a loss, and ends with the
 * world.
 *
 * Invariants
 * K1  The server's tools are listed after connecting and after it announces a change, and at no other time. Before a
 *     list is trusted after a call, the server is pinged: an announcement sent before the ping's answer has then
 *     arrived.
 * K2  A call executes only if the tool is still offered as it was judged; otherwise it is refused, with nothing done.
 * K3  A call whose answer was lost is repeated only where its guarantee allows it; otherwise its outcome is unknown.
 * K4  A server that cannot be reached is not contacted for a while, longer each time.
 * K5  No behavior of a server throws past a call or a list; nothing that it started outlives the world.
 */
import {
  type CallToolResult,
  type Client,
  type InputRequiredResult,
  isInputRequiredResult,
  type Tool as McpTool,
  ProtocolError,
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
import { Slices } from '../slices/slices.js';
import type { McpServer } from './address.js';
import { answerOf } from './answer/answer.js';
import { elicit } from './answer/elicit.js';
import { type Missing, missingBy, whyOf } from './answer/failure.js';
import { entryOf, type Terms } from './entry/entry.js';
import { isAllowed } from './entry/wire-name.js';
import { listOf } from './list.js';
import { type Connection, connect } from './transport/server.js';

/** How long to wait before contacting an unreachable server again, in milliseconds: the first wait, and the longest. */
const RETRY_MS_FIRST = 500;
const RETRY_MS_MAX = 60_000;

/** How long a server may take to answer a ping or a list, in milliseconds. */
const LOOK_MS = 30_000;

/**
 * The most tools of a server that are read, among those that `allow` matches: eight times as many as a session may use.
 */
const LIST_TOOLS_MAX = 4_096;

/** How many odd things of one server are reported. */
const ODD_MAX = 64;

/** How many times a repeatable call is repeated when its answer was lost. */
const REPEATS_MAX = 2;

/** How many times one call may request more input before it fails: the same bound as for an effect's questions. */
const ROUNDS_MAX = 32;

/** The longest time that a timer accepts; the world enforces the call's own deadline. */
const NO_TIMEOUT_MS = 2_147_483_647;

/** The server of a link, and its bounds. */
export interface LinkOptions extends Terms {
  readonly server: McpServer;
  readonly allow: readonly string[] | undefined;
  readonly connectMs: number;
  readonly closing: AbortSignal;
}

type Looking = Pick<ListContext, 'content' | 'secret' | 'signal' | 'scrubber' | 'report'>;

interface Offered {
  readonly entry: ToolEntry;
  readonly tool: McpTool;
}

interface Listed {
  readonly entries: readonly ToolEntry[];
  readonly tools: ReadonlyMap<string, Offered>;
}

/** The link from one world to one MCP server. */
export class Link {
  #connection: Connection | undefined;
  #connecting: Promise<Connection> | undefined;
  #listed: Listed | undefined;
  #asking: Promise<Listed> | undefined;
  /** Whether the list of tools may have changed (K1). */
  #stale = true;
  #called = false;
  #doubted = false;
  #failures = 0;
  #retryAt = 0;
  #why = '';
  readonly #running = new Set<ToolContext>();
  /** The odd things that were reported. */
  readonly #said = new Set<string>();
  #report: ListContext['report'];
  /** Tools of the server that cannot be offered. */
  leftOut: readonly LeftOut[] = [];

  constructor(private readonly options: LinkOptions) {
    options.closing.addEventListener('abort', () => void this.#end(), { once: true });
  }

  /** The tools that the server offers now, as entries. @throws when it cannot be reached */
  async list(context: ListContext): Promise<readonly ToolEntry[]> {
    return (await this.#look(context)).entries;
  }

  /** Calls a tool, if it is still as it was judged. */
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

  /** The answer for the model when the call has none; operators get the details of a lost answer. */
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

  // K2
  async #find(entry: ToolEntry, ctx: ToolContext): Promise<Offered | { readonly answer: ToolAnswer<Value> }> {
    try {
      const found = (await this.#look(ctx)).tools.get(entry.name);
      if (found === undefined) return { answer: toolError(`${entry.name} is not offered any more; nothing was done.`) };
      if (descriptorOf(found.entry) === descriptorOf(entry)) return found;
      const what = 'has changed since this call was decided on';
      return { answer: toolError(`${entry.name} ${what}; nothing was done.`) };
    } catch (error) {
      if (ctx.signal.aborted) throw error;
      return { answer: this.#unreached(whyOf(error)) };
    }
  }

  /** The current tools (K1). A connection that was lost since its last use is replaced once. */
  async #look(context: Looking): Promise<Listed> {
    this.#report = context.report ?? this.#report;
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
    this.#stale = false; // before the request, so that a change announced meanwhile is not missed
    this.#listed = undefined;
    const list = await listOf(connection, AbortSignal.timeout(LOOK_MS));
    if (list.mayCome === true) this.#stale = true; // the rest of the list is requested again
    const tools = list.tools.filter(({ name }) => isAllowed(name, this.options.allow));
    if (tools.length > LIST_TOOLS_MAX) {
      const what = `${this.options.toolset} offers ${tools.length} tools`;
      throw new Error(`${what}; at most ${LIST_TOOLS_MAX} are allowed. Select tools with \`allow\`.`);
    }
    const slices = new Slices(this.options.closing);
    const found = new Map<string, Offered>();
    const leftOut = list.leftOut.filter(({ tool }) => isAllowed(tool, this.options.allow));
    for (const tool of tools) {
      await slices.next();
      const entry = await entryOf(tool, this.options, content);
      if (typeof entry === 'string') leftOut.push({ tool: tool.name, why: entry });
      else if (found.has(entry.name)) leftOut.push({ tool: tool.name, why: `another tool has the name ${entry.name}` });
      else found.set(entry.name, { entry, tool });
    }
    this.leftOut = leftOut;
    for (const { tool, why } of leftOut) this.#odd(`the tool ${JSON.stringify(tool)} is left out: ${why}`);
    if (list.broken !== undefined) this.#odd(list.broken);
    this.#listed = { tools: found, entries: [...found.values()].map(({ entry }) => entry) };
    return this.#listed;
  }

  async #reach(given: Looking): Promise<Connection> {
    if (this.#connection !== undefined) return this.#connection;
    if (performance.now() < this.#retryAt) throw new Error(`${this.#why} (it will be contacted again later)`); // K4
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
        odd: (what) => this.#odd(scrubber.scrub(what)),
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

  /**
   * A server of the older protocol sends questions on its own: the current call answers them, if there is exactly one.
   */
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
   * Checks a connection after an error outside of all calls, for example a stream that cannot be resumed, whose call
   * would never be answered. A server that does not answer the ping is given up, together with its calls.
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

  /** Ends a failed connection, but not a newer one that another failed call has opened since. */
  async #drop(connection: Connection | undefined): Promise<void> {
    if (connection === undefined) return;
    this.#lose(connection);
    await connection.client.close().catch(() => undefined);
  }

  /** Reports an odd thing once, to the caller of now. */
  #odd(what: string): void {
    if (this.#said.has(what) || this.#said.size >= ODD_MAX) return;
    this.#said.add(what);
    this.#report?.(new Error(`${this.options.toolset}: ${what}`));
  }

  async #end(): Promise<void> {
    await this.#drop(this.#connection ?? (await this.#connecting?.catch(() => undefined)));
  }
}

/** A call without an answer, and the connection that it used. */
interface Lost {
  readonly missing: Missing;
  readonly connection: Connection | undefined;
}

/** A server's answer in stored form. The server has executed the call, even if its answer cannot be stored. */
async function keptAnswerOf(result: CallToolResult, tool: string, ctx: ToolContext): Promise<ToolAnswer<Value>> {
  try {
    return await answerOf(result, tool, ctx);
  } catch (error) {
    if (ctx.signal.aborted) throw error;
    return new ResultLost(whyOf(error));
  }
}

/** Makes a call and answers the server's questions until it returns a result. */
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
  throw new Error(`it asked for more input ${ROUNDS_MAX} times`);
}

/**
 * Answers the questions that a server of the newer protocol asks. Only people answer: a server has no access to a
 * model.
 */
async function answers({ inputRequests = {}, requestState }: InputRequiredResult, ctx: ToolContext, server: string) {
  const inputResponses: Record<string, unknown> = {};
  for (const [key, { method, params }] of Object.entries(inputRequests)) {
    if (method !== 'elicitation/create') throw new Error(`it requested ${method}, which is not supported`);
    inputResponses[key] = await elicit(params, server, ctx);
  }
  return { inputResponses, ...(requestState === undefined ? {} : { requestState }) };
}

/** Pings the server: messages that it sent before its answer have then arrived. Any answer is one, a refusal too. */
async function signOfLife(client: Client, signal: AbortSignal): Promise<void> {
  const options = { signal, timeout: LOOK_MS };
  try {
    if (client.getProtocolEra() === 'modern') await client.discover(options);
    else await client.ping(options);
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
  }
}

/** A tool's descriptor, by its digest. */
function descriptorOf({ origin }: ToolEntry): string | undefined {
  return origin?.descriptor_ref.hex;
}

/** Waits for a shared promise, but no longer than this caller's signal allows. */
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
