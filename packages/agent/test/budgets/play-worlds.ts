/**
 * Plays random trees of sessions through the public API on real stores: a host that sends, steers and cancels, models that
 * spawn and lead children and answer when they are told to, time, processes that die, and forks in the middle of all that.
 * Original and fork both go on, each under books of its own.
 */
import {
  isRepriseError,
  type LlmGenerateParams,
  type LlmGenerateReceipt,
  type Usage,
  type Value,
} from '@reprise/contracts';
import {
  type Adapter,
  type AdapterContext,
  type AdapterOutcome,
  type App,
  putValue,
  type Store,
  verifyStore,
} from '@reprise/kernel';
import { VirtualClock } from '@reprise/testkit';
import { crashable } from '../../../kernel/test/support/crashable-store.js';
import { AgentWorld, defineAgent, type Judge, llmGenerate, putText, type Session } from '../../src/index.js';
import { agentApp } from '../../src/world/app.js';
import { openAgentParts } from '../../src/world/open-agent-world.js';
import { UnderWay } from '../ends/hands.js';
import { Books, PAYING } from './books.js';
import type { Happens, Tree, TreePlan } from './play-tree.js';

const ROOT = 'root';
/** In dollars for a million tokens, and as the ledger counts it. */
const USD = { in: 3, out: 15 };
const PRICE = { in: 3_000_000, out: 15_000_000 };
/** The budgets of a tree are small numbers; the tools by which children are led take some 700 tokens of each prompt. */
const SCALE = 16;
const WORLDS_MAX = 3;

/** What a tree came to, in all its worlds. */
export interface Played {
  readonly launches: number;
  readonly asks: number;
  readonly worlds: number;
  readonly crashes: number;
  readonly sessions: number;
  readonly limited: number;
}

/** How trees are played. */
export interface Playing {
  /** A store for the world, and for each of its forks. */
  readonly store: () => Store;
  readonly app?: App;
  /** Whether the journals are replayed at the end. */
  readonly verify?: boolean;
}

/** Plays a tree. @throws Error when a call is begun, in the world or a fork, for which too little is left */
export async function playWorlds(tree: Tree, { store, app = agentApp, verify = false }: Playing): Promise<Played> {
  const clock = new VirtualClock({ turns: 6 });
  const worlds = [new Life({ plan: tree.plan, store: crashable(store()), app, clock })];
  try {
    await worlds[0]?.open();
    await worlds[0]?.input(0);
    for (const one of tree.happens) {
      const life = worlds[one[1] % worlds.length];
      if (life === undefined) continue;
      if (one[0] >= 94 && worlds.length < WORLDS_MAX) worlds.push(await life.fork(one[2], store()));
      else await life.happen(one);
      await clock.settle();
      for (const each of worlds) await each.check();
    }
    return sumOf(await Promise.all(worlds.map((life) => life.end(verify))));
  } finally {
    for (const life of worlds) await life.leave();
  }
}

function sumOf(lives: readonly Omit<Played, 'worlds'>[]): Played {
  const total = (of: (life: Omit<Played, 'worlds'>) => number) => lives.reduce((sum, life) => sum + of(life), 0);
  return {
    launches: total(({ launches }) => launches),
    asks: total(({ asks }) => asks),
    crashes: total(({ crashes }) => crashes),
    sessions: total(({ sessions }) => sessions),
    limited: total(({ limited }) => limited),
    worlds: lives.length,
  };
}

interface LifeParts {
  readonly plan: TreePlan;
  readonly store: ReturnType<typeof crashable>;
  readonly app: App;
  readonly clock: VirtualClock;
}

/** One world, through all the processes that open it. */
class Life {
  readonly #books: Books;
  readonly #agents: ReturnType<typeof agentsOf>;
  #under = new UnderWay();
  #world: AgentWorld | undefined;
  /** What the next answer is to be. */
  #drawn: readonly [how: number, much: number] = [0, 50];
  #wrong: unknown;
  #crashes = 0;
  #n = 0;

  constructor(private readonly parts: LifeParts) {
    const { tokens, money } = budgetsOf(parts.plan);
    const given = { tokens: tokens ?? Number.POSITIVE_INFINITY, money: money ?? Number.POSITIVE_INFINITY };
    this.#books = new Books(ROOT, { given, price: PRICE });
    this.#agents = agentsOf(parts.plan);
  }

  async open(): Promise<void> {
    const { app, store, clock } = this.parts;
    const under = new UnderWay();
    this.#under = under;
    const { lead, helper, leaf } = this.#agents;
    let ready = (_: AgentWorld): void => undefined;
    const opened = new Promise<AgentWorld>((resolve) => {
      ready = resolve;
    });
    const llm = (judge: Judge) =>
      new PayingLlm(judge, (params, context) => this.#asked(params, context, opened, under));
    const options = { store, clock, agents: [lead, helper, leaf], models: { main: { price: USD } }, llm };
    this.#world = new AgentWorld(...(await openAgentParts(options as never, app)));
    ready(this.#world);
  }

  async happen([what, which, how, much]: Happens): Promise<void> {
    if (what < 60) return this.#answers(which, how, much);
    if (what < 64) return this.#answers(which, 98, much);
    if (what < 70) return this.input(much);
    if (what < 80) return this.#commands(how, much);
    if (what < 86) return this.parts.clock.advance([1, 3_000, 6_000, 700_000][how % 4] ?? 1);
    if (what < 91) return this.#crash();
    return this.#answers(which, 99, much);
  }

  async input(much: number): Promise<void> {
    const id = `i${this.#n++}`;
    await given(this.#session.send('say '.repeat(1 + much), { id }));
  }

  /** Forks the world at one of its last frames; the fork may do everything. */
  async fork(back: number, into: Store): Promise<Life> {
    const kernel = this.#kernel;
    for (let at = Math.max(0, kernel.head.seq - (back % 12)); ; at--) {
      try {
        await this.#kernel.fork({ into, at, mode: 'live', grants: { may: {} } });
        break;
      } catch (error) {
        // Not behind a whole cascade: the frame before may be.
        if (!isRepriseError(error) || at === 0) throw error;
      }
    }
    const fork = new Life({ ...this.parts, store: crashable(into) });
    fork.#n = this.#n + 1_000;
    await fork.open();
    return fork;
  }

  async check(): Promise<void> {
    if (this.#wrong !== undefined) throw this.#wrong;
    await this.#books.catchUp(this.#kernel);
  }

  async end(verify: boolean): Promise<Omit<Played, 'worlds'>> {
    await this.check();
    const sessions = new Set<string>();
    let limited = 0;
    for await (const event of this.#session.events({ follow: false, tree: true })) {
      sessions.add(event.session_id);
      if (event.type === 'limit.reached') limited++;
    }
    const { ledger, asks } = this.#books;
    await this.leave();
    if (verify) {
      const reader = await this.parts.store.openReadonly();
      await verifyStore(reader, { app: this.parts.app });
      await reader.close();
    }
    return { launches: ledger.launches, asks, crashes: this.#crashes, sessions: sessions.size, limited };
  }

  async leave(): Promise<void> {
    const under = this.#under;
    this.#under = new UnderWay(); // what is answered from here on reaches nobody
    under.endAll();
    await this.#world?.close();
    this.#world = undefined;
  }

  get #kernel() {
    if (this.#world === undefined) throw new Error('no world is open');
    return this.#world.kernel;
  }

  get #session(): Session {
    if (this.#world === undefined) throw new Error('no world is open');
    return this.#world.session(ROOT, this.#agents.lead) as Session;
  }

  async #answers(which: number, how: number, much: number): Promise<void> {
    this.#drawn = [how, much];
    if (this.#under.size === 0) return this.input(much);
    this.#under.end(which);
  }

  async #commands(how: number, much: number): Promise<void> {
    const session = this.#session;
    const options = { id: `h${this.#n++}` };
    const commands = [
      () => session.cancel({ ...options, scope: 'run' }),
      () => session.cancel({ ...options, scope: 'all' }),
      () => session.resume(options),
      () => session.pause(options),
      () => session.resume(options),
      () => session.compact(options),
      () => session.steer('more '.repeat(1 + much), options),
      () => session.followUp('then '.repeat(1 + much), options),
    ];
    await commands[how % commands.length]?.();
  }

  async #crash(): Promise<void> {
    await this.parts.store.crash();
    await this.leave();
    await this.parts.clock.settle();
    this.#crashes++;
    await this.open();
  }

  /** A model is asked: the books are read up to its launch, then it waits for its answer. */
  async #asked(
    { max_tokens }: LlmGenerateParams,
    { idempotencyKey: effect, signal }: AdapterContext,
    opened: Promise<AgentWorld>,
    under: UnderWay,
  ): Promise<Answer | undefined> {
    try {
      await this.#books.catchUp((await opened).kernel);
      this.#books.asked(effect, max_tokens);
    } catch (error) {
      if (under === this.#under) this.#wrong ??= error;
    }
    if (!(await under.wait(signal)) || under !== this.#under) return undefined;
    const [how, much] = this.#drawn;
    const usage = this.#usage(effect, how, much);
    this.#books.answered(effect, usage);
    return { how, much, usage };
  }

  /** What a call says that it used: never more than was reserved for it. */
  #usage(effect: string, how: number, much: number): Usage | undefined {
    const call = this.#books.ledger.calls.get(effect);
    if (call === undefined || how % 10 === 9) return undefined;
    const tokens_in = Math.floor((call.prompt * Math.min(100, much + 40)) / 100);
    const tokens_out = Math.floor((Math.min(call.answer, 400) * much) / 100);
    const parts = tokens_in * PRICE.in + tokens_out * PRICE.out;
    return { calls: 1, tokens_in, tokens_out, micro_money: Math.ceil(parts / 1_000_000) };
  }
}

/** What a model is to answer. */
interface Answer {
  readonly how: number;
  readonly much: number;
  readonly usage: Usage | undefined;
}

type Asking = (params: LlmGenerateParams, context: AdapterContext) => Promise<Answer | undefined>;

/** A model that answers when it is told to, spawns and leads children, and says what it used. */
class PayingLlm implements Adapter<LlmGenerateParams, LlmGenerateReceipt> {
  readonly effect = llmGenerate;
  readonly name = PAYING;

  constructor(
    private readonly judge: Judge,
    private readonly asking: Asking,
  ) {}

  async doExecute(params: LlmGenerateParams, context: AdapterContext): Promise<AdapterOutcome<LlmGenerateReceipt>> {
    const answer = await this.asking(params, context);
    if (answer === undefined) return { status: 'cancelled' };
    const { how, much, usage } = answer;
    const used = usage === undefined ? {} : { usage };
    if (how === 98) return { status: 'error', code: 'provider_error_terminal', retryable: false, ...used };
    const { content, signal, idempotencyKey } = context;
    const asked = params.summarise === undefined && how !== 99 ? callsOf(how, much) : [];
    const calls = asked.map((call, n) => ({ callId: `${idempotencyKey.slice(0, 8)}-${n}`, ...call }));
    const tool_calls = await this.judge.calls(calls, { params, content, signal });
    const texts = params.context === undefined ? await this.judge.context({ params, content, signal }) : [];
    const output = { text: 'done', tool_calls: calls.map(({ callId, ...call }) => ({ call_id: callId, ...call })) };
    return {
      status: 'ok',
      asked: { profile: 'paying', model: 'paying' },
      ...used,
      payload: {
        output_ref: await putValue(content, output),
        raw_output_ref: await putText(content, 'raw'),
        request_digest: '0'.repeat(64),
        request_bytes: 40,
        finish_reason: calls.length > 0 ? 'tool_calls' : 'stop',
        tool_calls: [...tool_calls],
        ...(texts.length === 0 ? {} : { context: [...texts] }),
      },
    };
  }
}

function callsOf(how: number, much: number): { readonly tool: string; readonly args: Value }[] {
  if (how < 20) return [];
  const child = `c${1 + (much % 3)}`;
  const most: Record<string, Value> = how % 3 === 0 ? {} : { max_tokens: SCALE * (20 + much * (how % 7)) };
  const agent = how % 2 === 0 ? 'helper' : 'leaf';
  const spawn = { tool: 'spawn_agent', args: { agent, task: 'task '.repeat(1 + much), ...most } };
  const send = { tool: 'send_input', args: { child, text: 'more '.repeat(1 + much) } };
  const wait = { tool: 'wait_agents', args: { children: ['c1', child], mode: 'any' } };
  const ops = [[spawn], [spawn, spawn], [spawn, send, send], [send], [wait], [send, send, wait], [spawn, wait]];
  return how > 94 ? [{ tool: 'close_agent', args: { child } }] : (ops[how % ops.length] ?? []);
}

function budgetsOf({ tokens, money }: TreePlan) {
  return { tokens: tokens === null ? null : tokens * SCALE, money: money === null ? null : money * SCALE };
}

function agentsOf(plan: TreePlan) {
  const { answer, own, window, wait, asks } = plan;
  const { tokens, money } = budgetsOf(plan);
  const options = answer === null ? {} : { maxTokens: answer * SCALE };
  const base = {
    model: 'main',
    options,
    cancelGrace: 500,
    loop: false,
    ...(window === null ? {} : { contextWindow: window * SCALE }),
  } as const;
  const below = own === null ? {} : { tokens: own * SCALE };
  const leaf = defineAgent({ name: 'leaf', instructions: 'Help.', ...base, limits: below });
  const helper = defineAgent({ name: 'helper', instructions: 'Help.', ...base, limits: below, spawns: [leaf] });
  const lead = defineAgent({
    name: 'lead',
    instructions: 'Lead.',
    ...base,
    spawns: [helper, leaf],
    ...(wait ? { afterAnswer: 'wait' as const } : {}),
    limits: {
      depth: 4,
      on: asks ? 'pause_and_ask' : 'fail',
      ...(tokens === null ? {} : { tokens }),
      ...(money === null ? {} : { usd: money / 1_000_000 }),
    },
  });
  return { lead, helper, leaf };
}

/** What is refused is refused: a closed session, a full queue. */
async function given(sent: Promise<unknown>): Promise<void> {
  await sent.catch((error: unknown) => {
    if (!isRepriseError(error, 'request_rejected')) throw error;
  });
}
