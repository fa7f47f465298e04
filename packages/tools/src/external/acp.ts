/**
 * A client for a program that speaks the Agent Client Protocol, used as one session of a world.
 *
 * Invariants
 * E1  The program's own actions stay opaque: its messages become text, and its tool calls are listed by name only.
 * E2  The program may do only what a permission request allows; a request without an answer is denied.
 * E3  A cancelled turn is announced to the program, which gets a grace period; then its process group is killed.
 * E4  No process of the program outlives the world.
 * E5  The output of one turn is bounded in bytes and calls; a program that exceeds a bound is ended, with an unknown
 *     outcome.
 */

import { outcomeUnknown, ResultLost, type ToolAnswer, type ToolContext, toolError, toolParts } from '@reprise/agent';
import { isTextWithin, startOfText, type Usage, type Value } from '@reprise/contracts';
import { Scrubber } from '@reprise/kernel';
import * as z from 'zod';
import { type Command, type ProcessGroup, startGroup } from '../process/group.js';
import { asPrompt } from './history.js';
import { Peer, UnknownMethod } from './peer.js';
import { ServerList } from './served.js';

/** The protocol version that this client speaks. */
const PROTOCOL_VERSION = 1;

/** How long a cancelled turn may take to end, in milliseconds. */
const CANCEL_MS = 3_000;

/** The most tool calls of one turn that its result names; the latest ones are kept. */
const NAMED_MAX = 64;

const TITLE_LENGTH_MAX = 200;

/** The most characters of a tool call's id, and of its status, that are followed. */
const CALL_ID_LENGTH_MAX = 256;
const STATUS_LENGTH_MAX = 32;

/** The most answers of a permission request that a person can choose from. */
const OPTIONS_MAX = 32;

/** The most characters of text that one turn may send (E5). */
const TURN_LENGTH_MAX = 16 * 1024 * 1024;

/** The most tokens of one turn that are believed; of a report with more nothing is counted. */
const TOKENS_MAX = 1_000_000_000_000;

/** The cost of a piece of text beside its characters, since each piece takes memory of its own. */
const PIECE_LENGTH = 16;

/** A program's request for permission, with its possible answers. */
export interface PermissionRequest {
  readonly title: string;
  readonly kind: string | undefined;
  readonly options: readonly { readonly id: string; readonly name: string; readonly kind: string }[];
}

/** Answers a program's permission requests. */
export type Permissions = (request: PermissionRequest, ctx: ToolContext) => Promise<string | undefined>;

const initialized = z.object({
  agentCapabilities: z
    .object({
      loadSession: z.boolean().optional(),
      mcpCapabilities: z
        .object({ http: z.boolean().optional().catch(undefined), sse: z.boolean().optional().catch(undefined) })
        .optional()
        .catch(undefined),
    })
    .optional(),
});
const opened = z.object({ sessionId: z.string().min(1) });
const tokens = z.int().min(0).max(TOKENS_MAX);
const spent = z.object({
  totalTokens: tokens,
  inputTokens: tokens,
  outputTokens: tokens,
  thoughtTokens: tokens.nullish().catch(undefined),
  cachedReadTokens: tokens.nullish().catch(undefined),
});
const prompted = z.object({ stopReason: z.string(), usage: spent.nullish().catch(undefined) });
const permission = z.object({
  toolCall: z.object({ title: z.string().nullish(), kind: z.string().nullish() }),
  options: z
    .array(z.object({ optionId: z.string().max(256), name: z.string(), kind: z.string().max(64) }))
    .max(OPTIONS_MAX),
});
const update = z.object({
  update: z.object({
    sessionUpdate: z.string(),
    content: z.unknown().optional(),
    toolCallId: z.string().optional(),
    title: z.string().nullish(),
    kind: z.string().nullish(),
    status: z.string().nullish(),
  }),
});

type Update = z.infer<typeof update>['update'];

interface Named {
  readonly title: string;
  readonly status: string;
}

interface Turn {
  readonly ctx: ToolContext;
  readonly said: string[];
  length: number;
  readonly calls: Map<string, Named>;
}

/** A running program, and its own session that belongs to a session of the world. */
export class AcpProgram {
  readonly #peer: Peer;
  #turn: Turn | undefined;
  #session: string | undefined;
  #loads = false;
  #takes: { readonly http?: boolean | undefined; readonly sse?: boolean | undefined } = {};
  readonly #ended = new AbortController();

  private constructor(
    private readonly group: ProcessGroup,
    private readonly cwd: string,
    private readonly permissions: Permissions,
    private readonly scrubber: Scrubber,
  ) {
    this.#peer = new Peer(
      group,
      {
        request: (method, params) => this.#asked(method, params),
        notification: (method, params) => this.#told(method, params),
      },
      scrubber,
    );
    void group.ended.then(() => this.#ended.abort());
  }

  /**
   * Starts a program.
   *
   * @param begun called when it was started, before it is given anything
   * @throws the reason why it could not be started
   */
  static async start(
    command: Command,
    permissions: Permissions,
    scrubber = new Scrubber(),
    begun?: (program: { readonly group: number; readonly ended: AbortSignal }) => void,
  ): Promise<AcpProgram> {
    const group = await startGroup(command, 'apart');
    if (typeof group === 'string') throw new Error(group);
    const program = new AcpProgram(group, command.cwd, permissions, scrubber);
    try {
      begun?.({ group: group.pid, ended: program.ended });
    } catch (error) {
      program.stop();
      throw error;
    }
    const answer = await program.#peer.request('initialize', {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
      clientInfo: { name: 'reprise', version: '0.1.0' },
    });
    const { loadSession, mcpCapabilities } = initialized.parse(answer).agentCapabilities ?? {};
    program.#loads = loadSession === true;
    program.#takes = mcpCapabilities ?? {};
    return program;
  }

  /** Whether the program can take another turn. */
  get alive(): boolean {
    return this.#peer.ended === undefined;
  }

  /** Aborted when the program has ended. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  stop(): void {
    this.group.stop();
  }

  /** Stops the program, and resolves when its group is gone. */
  async end(): Promise<void> {
    this.stop();
    await this.group.ended;
  }

  /**
   * Runs one turn.
   *
   * @param recorded the program's own session from earlier turns, in this process or in an earlier one
   * @param servers the MCP servers that the program gets when its own session is opened
   * @throws when the turn was cancelled, or the program answered with an error
   */
  async turn(
    text: string,
    recorded: string | undefined,
    ctx: ToolContext,
    servers = ServerList.NONE,
  ): Promise<ToolAnswer<Value>> {
    const isNew = await this.#open(recorded, servers);
    const turn: Turn = { ctx, said: [], length: 0, calls: new Map() };
    this.#turn = turn;
    const cancel = (): void => this.#cancel();
    ctx.signal.addEventListener('abort', cancel, { once: true });
    try {
      if (ctx.signal.aborted) throw new Error('the turn was cancelled before it began');
      const said = isNew ? await asPrompt(text, ctx) : text;
      const prompt = [{ type: 'text', text: said }];
      const answer = await this.#peer.request('session/prompt', { sessionId: this.#session, prompt });
      const end = prompted.safeParse(answer).data;
      if (end === undefined) return new ResultLost('the program ended the turn without a valid stop reason');
      return this.#answer(turn, end.stopReason, usageOf(end.usage));
    } catch (error) {
      if (ctx.signal.aborted || this.alive) throw error;
      return outcomeUnknown(error); // the program ended during the turn and may have done anything before
    } finally {
      ctx.signal.removeEventListener('abort', cancel);
      this.#turn = undefined;
    }
  }

  /** Opens the program's own session. @returns whether the program lacks the earlier conversation */
  async #open(recorded: string | undefined, servers: ServerList): Promise<boolean> {
    if (this.#session !== undefined) return false;
    const place = { cwd: this.cwd, mcpServers: servers.forAcp(this.#takes) };
    if (recorded !== undefined && this.#loads && (await this.#load(recorded, place))) return false;
    const answer = await this.#peer.request('session/new', place);
    this.#session = opened.parse(answer).sessionId;
    return true;
  }

  async #load(sessionId: string, place: object): Promise<boolean> {
    try {
      await this.#peer.request('session/load', { sessionId, ...place });
      this.#session = sessionId;
      return true;
    } catch (error) {
      if (!this.alive) throw error;
      return false; // the program has lost the session
    }
  }

  #answer({ said, calls, ctx }: Turn, stopReason: string, usage: Usage | undefined): ToolAnswer<Value> {
    const text = said.join('');
    const spentIn = usage === undefined ? {} : { usage };
    if (stopReason === 'cancelled') {
      return toolError(ctx.signal.aborted ? 'The turn was cancelled.' : 'The program cancelled the turn.', spentIn);
    }
    if (stopReason === 'refusal') {
      const why = text === '' ? 'The program refused the turn.' : `The program refused the turn: ${text}`;
      return toolError(why, spentIn);
    }
    const state = { session: this.#session ?? '', ...(stopReason === 'end_turn' ? {} : { stop: stopReason }) };
    const named = [...calls.values()].slice(-NAMED_MAX).map(({ title, status }) => `[${title}: ${status}]\n`);
    return toolParts([`${named.join('')}${text}`, { json: { relay: state } }], spentIn);
  }

  // E3
  #cancel(): void {
    this.#peer.notify('session/cancel', { sessionId: this.#session });
    const turn = this.#turn;
    const kill = setTimeout(() => {
      if (this.#turn === turn) this.group.stop();
    }, CANCEL_MS);
    kill.unref();
  }

  async #asked(method: string, params: unknown): Promise<unknown> {
    if (method !== 'session/request_permission') throw new UnknownMethod(`unknown method: ${method}`);
    const { toolCall, options } = permission.parse(this.scrubber.value(params));
    const turn = this.#turn;
    const request = {
      title: startOfText(toolCall.title ?? 'something', TITLE_LENGTH_MAX),
      kind: toolCall.kind ?? undefined,
      options: options.map(({ optionId: id, name, kind }) => ({ id, name: startOfText(name, TITLE_LENGTH_MAX), kind })),
    };
    // E2
    const chosen = turn === undefined ? undefined : await this.permissions(request, turn.ctx).catch(() => undefined);
    const known = options.some(({ optionId }) => optionId === chosen) && turn?.ctx.signal.aborted === false;
    return { outcome: known ? { outcome: 'selected', optionId: chosen } : { outcome: 'cancelled' } };
  }

  #told(method: string, params: unknown): void {
    const turn = this.#turn;
    const read =
      method === 'session/update' && turn !== undefined
        ? update.safeParse(this.scrubber.value(params)).data
        : undefined;
    if (read === undefined || turn === undefined) return;
    follow(turn, read.update);
    if (turn.length > TURN_LENGTH_MAX) this.#peer.refuse(`one turn sent more than ${TURN_LENGTH_MAX} characters`); // E5
  }
}

// E1
function follow(turn: Turn, { sessionUpdate, content, toolCallId, title, status }: Update): void {
  const { ctx, said, calls } = turn;
  const text = textOf(content);
  if (sessionUpdate === 'agent_message_chunk' && text !== undefined) {
    said.push(text);
    turn.length += text.length + PIECE_LENGTH;
    ctx.progress({ type: 'delta', channel: 'text', index: 0, text });
  }
  if (sessionUpdate === 'agent_thought_chunk' && text !== undefined) {
    ctx.progress({ type: 'delta', channel: 'reasoning', index: 0, text });
  }
  if (toolCallId === undefined || !sessionUpdate.startsWith('tool_call')) return;
  if (!isTextWithin(toolCallId, CALL_ID_LENGTH_MAX)) return;
  const known = calls.get(toolCallId);
  const named = {
    title: startOfText((title ?? known?.title ?? toolCallId).replaceAll('\n', ' '), TITLE_LENGTH_MAX),
    status: startOfText(status ?? known?.status ?? 'pending', STATUS_LENGTH_MAX),
  };
  calls.set(toolCallId, named);
  const [oldest] = calls.keys();
  if (calls.size > NAMED_MAX && oldest !== undefined) calls.delete(oldest);
  ctx.progress({ type: 'external.tool_call', ...named });
}

/**
 * The usage of a turn. The total counts every token once; programs differ in whether input tokens include those of a
 * cache, and output tokens those of thoughts.
 */
function usageOf(report: z.infer<typeof spent> | null | undefined): Usage | undefined {
  if (report === undefined || report === null) return undefined;
  const { totalTokens, inputTokens, outputTokens, thoughtTokens, cachedReadTokens } = report;
  const thought = thoughtTokens ?? 0;
  const isApart = inputTokens + outputTokens + thought <= totalTokens;
  const tokens_out = outputTokens + (isApart ? thought : 0);
  const tokens_in = Math.max(inputTokens, totalTokens - tokens_out);
  return { tokens_in, tokens_out, ...(cachedReadTokens ? { tokens_cached: cachedReadTokens } : {}) };
}

function textOf(content: unknown): string | undefined {
  const { type, text } = (content ?? {}) as { readonly type?: unknown; readonly text?: unknown };
  return type === 'text' && typeof text === 'string' ? text.toString() : undefined;
}
