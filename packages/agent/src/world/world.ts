/** A world of agents: the kernel's world with the agent app, its tools and its models bound. */
import type { Address, Ref, Settlement } from '@reprise/contracts';
import {
  aFunction,
  aPrincipal,
  aText,
  fieldsOf,
  isFilled,
  isKeyText,
  isWhole,
  type KnownOptions,
  kindOfThing,
  oneOf,
  promiseHint,
  REQUEST_ID_MAX,
  RepriseError,
  requireArgument,
  requireCallable,
  requireFields,
  requireKnownOptions,
  textOf,
  textsByName,
  wholeFrom,
} from '@reprise/contracts';
import type {
  Ack,
  Backup,
  ForkOptions,
  MadeFork,
  PendingItem,
  PumpReport,
  RequestOptions,
  SettleAck,
  Trouble,
  TroubleListener,
  VerifyReport,
  World,
  WorldAt,
} from '@reprise/kernel';
import { toHex } from '@reprise/kernel/codec';
import type { ViewDefinition, ViewStore, Views } from '@reprise/kernel/views';
import type { AgentEvent } from '../contracts/agent-event.js';
import type { Adopted, Tally } from '../contracts/config.js';
import { type Duration, durationMs } from '../contracts/duration.js';
import { LIFECYCLES, type Lifecycle } from '../contracts/lifecycle.js';
import { SESSION_REDUCER } from '../contracts/session.js';
import { type AnyAgent, type ReturnOf, requireAgents } from '../define/agent.js';
import { type ModelInfos, StoredAgents } from '../define/store-agent.js';
import { worldRequestId } from '../session/request-id.js';
import {
  type BesideOptions,
  type PlacedBeside,
  WATCH_OPTIONS,
  type WatchOptions,
  watch,
} from '../session/run/events.js';
import type { LiveAnswers } from '../session/run/live.js';
import type { Pending } from '../session/run/pending.js';
import type { RunPlace } from '../session/run/run.js';
import { Session } from '../session/session.js';
import { OPTION_NAMES, type SessionOptions } from '../session/session-options.js';
import { eventPlaces, pastBefore } from '../timeline/event-places.js';
import type { Past } from '../timeline/event-scope.js';
import { runs, sessionLabels, sessions, sessionTree } from '../timeline/sessions.js';
import { type Decision, readPending } from './decision.js';
import type { OpenParts } from './open-parts.js';
import type { Organization, Served, WorldPart } from './part.js';
import {
  type Decided,
  type DecideOptions,
  decide,
  openItems,
  type PendingQuery,
  requireDecideOptions,
} from './people.js';
import type { Registry } from './registry.js';

/** Selects sessions of a list. */
export interface SessionQuery {
  readonly status?: Lifecycle;
  readonly agent?: string;
  /** Sessions with all of these labels. */
  readonly label?: Readonly<Record<string, string>>;
  /** The length of a page; 100 when absent, 1,000 at most. */
  readonly limit?: number;
  /** Begins behind a page: its `next`. */
  readonly after?: string;
}

const SESSION_QUERY: KnownOptions<SessionQuery> = {
  status: oneOf(...LIFECYCLES),
  agent: aText,
  label: textsByName,
  limit: wholeFrom(1, 1_000),
  after: aText,
};

/** A session in a list. */
export interface SessionInfoRow {
  readonly key: string;
  readonly agent: string;
  readonly model: string;
  readonly status: Lifecycle;
  readonly closed: boolean;
  readonly labels: Readonly<Record<string, string>>;
  /** When it was made and last changed, in journal milliseconds. */
  readonly made: number;
  readonly updated: number;
  readonly runs: number;
  /** The usage of its ended runs. */
  readonly usage: Tally;
}

/** A session that another has spawned. */
export interface ChildRow {
  readonly session: string;
  /** The name that its parent's model uses for it. */
  readonly child: string;
  readonly agent: string;
  readonly status: 'spawned' | 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled' | 'closed';
}

/** A tool that a person has approved for all calls of a session, as it was then. */
export interface Remembered {
  readonly tool: string;
  /** The meaning and the words that were approved; calls of another version of the tool are asked about. */
  readonly meaning: string;
  /** When the approval ends, in journal milliseconds; null until it is taken back. */
  readonly until: number | null;
}

/** The name of a remembered approval of calls of a tool: a name without a meaning covers nothing. */
const REMEMBERED = /^tool\.call@1#(?<tool>.+)#(?<meaning>[0-9a-f]{32}\.[0-9a-f]{32})$/;

/** The parts of a world of agents besides the kernel's. */
export interface AgentWorldParts {
  readonly registry: Registry;
  readonly models: ModelInfos;
  readonly live: LiveAnswers;
  readonly random: (length: number) => Uint8Array;
  readonly viewStore: ViewStore | undefined;
  /** Called when the world closes. */
  readonly closing: AbortController;
  /** The parts that the world was opened with. */
  readonly opened: OpenParts;
  /** Passes the world to the tools that read it. */
  ready(world: AgentWorld): void;
}

/** A world of agents. Made by `openAgentWorld`. */
export class AgentWorld implements AsyncDisposable {
  #views: Promise<Views> | undefined;
  #served: readonly Served[] | undefined;
  #organizations: readonly Organization[] | undefined;
  /** The view of event places, kept from the first resumed watch on. */
  #places: Promise<Views> | undefined;

  readonly #stored: StoredAgents;

  constructor(
    /** The kernel's world: frames, state, rights, time travel. */
    readonly kernel: World,
    private readonly parts: AgentWorldParts,
  ) {
    this.#stored = new StoredAgents(kernel.content, parts.models);
    parts.ready(this);
  }

  /** Whether the world did not exist at this place before this opening. */
  get created(): boolean {
    return this.kernel.created;
  }

  /** The agents with code in this process: those that the world was opened with, those below them, and those defined later. */
  get agents(): readonly AnyAgent[] {
    const { registry } = this.parts;
    return registry.names.flatMap((name) => registry.find(name) ?? []);
  }

  /** Copies this world to another place while it runs. See `World.backup`. */
  backup(to: string): Promise<Backup> {
    return this.kernel.backup(to);
  }

  /**
   * A session under a key. Nothing is written before its first input.
   *
   * @param key the session's key, without personal data
   * @throws RepriseError `unknown_agent` when the agent is not one of this world's
   */
  session<A extends AnyAgent>(key: string, agent: A, options: SessionOptions = {}): Session<ReturnOf<A>> {
    requireKey(key, 'world.session');
    requireKnownOptions(options, OPTION_NAMES.session, 'world.session');
    const { registry, models, live } = this.parts;
    if (!registry.has(agent)) throw unknownAgent(agent, registry.names);
    return new Session(
      {
        world: this.kernel,
        models,
        stored: this.#stored,
        live,
        newId: () => toHex(this.parts.random(16)),
        placesOf: (session, run) => this.#placesOf(session, run),
        pastBefore: (frame) => this.#pastBefore(frame),
        pending: (of) => this.pending({ session: of }),
      },
      key,
      agent,
      options,
    );
  }

  /** Sessions, the last changed first; with a status, those that have had it longest first. */
  async sessions(
    query: SessionQuery = {},
  ): Promise<{ readonly items: readonly SessionInfoRow[]; readonly next?: string }> {
    requireKnownOptions(query, SESSION_QUERY, 'sessions');
    const views = await this.views();
    const page = await pageOf(views, query);
    const items: SessionInfoRow[] = [];
    for (const key of page.keys) {
      const row = await views.view(sessions).get(key);
      if (row === undefined) continue;
      const { at: updated, agent, model, status, closed, labels, made, runs: number, usage } = row;
      const isMeant =
        (query.status === undefined || status === query.status) &&
        (query.agent === undefined || agent === query.agent) &&
        Object.entries(query.label ?? {}).every(([name, text]) => labels[name] === text);
      if (isMeant) items.push({ key, agent, model, status, closed, labels, made, updated, runs: number, usage });
    }
    return { items, ...(page.cursor === undefined ? {} : { next: page.cursor }) };
  }

  /** The sessions that a session has spawned, in the order in which they were made. */
  async children(session: string): Promise<readonly ChildRow[]> {
    requireKey(session, 'world.children', 'session');
    const view = (await this.views()).view(sessionTree);
    const found: ChildRow[] = [];
    for await (const { key, row } of view.each({ index: 'parent', under: session })) {
      const { child, agent, status } = row;
      found.push({ session: String(key), child, agent, status });
    }
    return found;
  }

  /** The pending items for people: approvals and questions of all sessions, and of other cells, the oldest first. */
  async pending(query: PendingQuery = {}): Promise<readonly Pending[]> {
    return openItems(this.#people(), query);
  }

  /**
   * Decides about an approval, or answers a question. Exactly one decision about an item is applied; a later one is
   * answered `already_settled` with the actor who was first. The reason or the comment belongs to the decision.
   *
   * @param item a pending item, which includes the digest of what was shown, or only its id
   * @param decision `{ approve: true }`, `{ deny: reason }` or `{ answer }`
   * @throws RepriseError `invalid_argument`, `invalid_value`, `cap_denied`, `policy_denied`
   * @example await world.decide(item, { approve: true, remember: { for: '1d' } }, { as: 'human:ann' })
   */
  async decide(item: Pending | string, decision: Decision, options: DecideOptions = {}): Promise<Decided> {
    requireDecideOptions(options);
    const { id, digest } = readPending(item);
    return decide(this.#people(), id, decision, digest === undefined ? options : { digest, ...options });
  }

  /** Answers a question: `decide(item, { answer })`. */
  answer(item: Pending | string, answer: unknown, options: DecideOptions = {}): Promise<Decided> {
    return this.decide(item, { answer }, options);
  }

  /**
   * Settles a call that an outside party finishes: its tool returned `deferred()`. See `World.settle`.
   *
   * @param call the effect's id, which the tool received as `ctx.idempotencyKey`
   */
  async settle(call: string, outcome: Settlement, options: RequestOptions = {}): Promise<SettleAck> {
    requireArgument(isFilled(call), 'world.settle(call)', 'the id of a call: ctx.idempotencyKey of its tool', call);
    const { status } = fieldsOf(outcome);
    const fits = status === 'ok' || status === 'error';
    requireArgument(fits, 'world.settle(outcome)', "{ status: 'ok', payload } or { status: 'error', code }", outcome);
    requireKnownOptions(outcome, OUTCOME, 'world.settle');
    return this.kernel.settle(call, outcome, named(options, 'world.settle'));
  }

  /** What needs attention: cells that have failed. See `World.trouble`. */
  trouble(): Promise<readonly Trouble[]> {
    return this.kernel.trouble();
  }

  /** Calls a listener for each new trouble. See `World.on`. @returns a function that removes the listener */
  on(event: 'trouble', listener: TroubleListener): () => void {
    requireArgument(event === 'trouble', 'world.on(event)', "'trouble'", event);
    requireCallable(listener, 'world.on', 'listener');
    return this.kernel.on(event, listener);
  }

  /**
   * Brings a failed cell back with the state it had before the fault. Its plans have ended with the fault.
   *
   * @param cell its address, or a handle: a session, a tree, a project, an entity, a swarm
   * @throws RepriseError `cell_absent`, and the refusals of the kernel
   */
  async revive(cell: Address | { readonly address: Address }, options: RequestOptions = {}): Promise<Ack> {
    const fits = Array.isArray(cell) || Array.isArray(fieldsOf(cell).address);
    requireArgument(fits, 'world.revive(cell)', 'a session, another handle, or an address, [reducer, key]', cell);
    return this.kernel.revive(cell, named(options, 'world.revive'));
  }

  /** The tools that a person has approved for all calls of the session, each in the version that was approved. */
  async remembered(session: string): Promise<readonly Remembered[]> {
    requireKey(session, 'world.remembered', 'session');
    const { declared } = await this.kernel.rights(`cell:${SESSION_REDUCER}/${session}`);
    return (declared?.approved ?? []).flatMap(([kind, until]) => {
      const { tool, meaning } = REMEMBERED.exec(kind)?.groups ?? {};
      return tool === undefined || meaning === undefined ? [] : [{ tool, meaning, until }];
    });
  }

  /** Takes such an approval back: the next call of the tool needs a decision again. */
  async forget(session: string, tool: string, options: RequestOptions = {}): Promise<void> {
    requireKey(session, 'world.forget', 'session');
    requireArgument(isFilled(tool), 'world.forget(tool)', 'the name of a tool', tool);
    const sent = named(options, 'world.forget');
    const holder = `cell:${SESSION_REDUCER}/${session}` as const;
    const { declared } = await this.kernel.rights(holder);
    const left = (declared?.approved ?? [])
      .filter(([kind]) => REMEMBERED.exec(kind)?.groups?.tool !== tool)
      .map((one): [string, number | null] => [...one]);
    await this.kernel.command('sys/SetRights@1', { holder, approved: left }, sent);
  }

  /**
   * Adds an agent while the world runs, in place of one with the same name. Its sessions adopt the changed definition
   * at their next input, as `adopt` states.
   *
   * @returns the link to the definition
   * @throws RepriseError `unknown_model`, `duplicate_definition`, `invalid_definition` for something else than an agent
   */
  async define(agent: AnyAgent): Promise<{ readonly ref: Ref }> {
    requireAgents([agent], 'world.define');
    await this.parts.registry.load([agent]);
    const { def_ref } = await this.#stored.of(agent);
    this.parts.registry.replace(agent);
    return { ref: def_ref };
  }

  /**
   * The events of all sessions, and others that are made of the same frames, such as those of an app's own cells.
   *
   * @param options `beside` makes them of a frame; each states the place of its record, where no event of a session is
   */
  events<E extends PlacedBeside>(options: WatchOptions & BesideOptions<E>): AsyncGenerator<AgentEvent | E>;
  /** The events of all sessions, in the order of the journal; with `after`, those behind that event. */
  events(options?: WatchOptions): AsyncGenerator<AgentEvent>;
  events<E extends PlacedBeside>(
    options: WatchOptions & Partial<BesideOptions<E>> = {},
  ): AsyncGenerator<AgentEvent | E> {
    requireKnownOptions(options, { ...WATCH_OPTIONS, beside: aFunction }, 'world.events');
    return watch(this.kernel, {}, (frame) => this.#pastBefore(frame), options);
  }

  /**
   * The handle of a part: what its package offers for this world.
   *
   * @param part the same object as in `openWorld({ parts })`, or one that such a part uses
   * @throws RepriseError `invalid_argument` for a part that the world was opened without
   */
  part<H>(part: WorldPart<H>): H {
    return this.parts.opened.handle(part, this);
  }

  /** What the parts of this world offer to clients outside: for a server. */
  get served(): readonly Served[] {
    this.#served ??= this.parts.opened.all.flatMap((part) => part.servedIn?.(this) ?? part.served ?? []);
    return this.#served;
  }

  /** The kinds of cells that the parts of this world let clients outside follow: for a server. */
  get organizations(): readonly Organization[] {
    this.#organizations ??= this.parts.opened.all.flatMap((part) => part.organizations?.(this) ?? []);
    return this.#organizations;
  }

  /** Stores an agent's definition, and those of the agents below it, as a session adopts them. */
  async adopted(agent: AnyAgent): Promise<{ readonly adopted: Adopted; readonly agents: readonly Adopted[] }> {
    const { def_ref, config, agents } = await this.#stored.of(agent);
    return { adopted: { def_ref, config }, agents };
  }

  /** Starts the parts; a world whose part does not start is closed. For what opens worlds. */
  async startParts(): Promise<this> {
    try {
      await this.parts.opened.start(this);
      return this;
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /** The views of this world, caught up with its head. See `openViews`. */
  async views(): Promise<Views> {
    this.#views ??= viewing().then(({ openEffects, children }) => {
      const cells = this.organizations.length === 0 ? [] : [children];
      return this.#openViews([...VIEWS, openEffects, ...cells, ...this.parts.opened.views]);
    });
    const views = await this.#views;
    await views.caughtUp();
    return views;
  }

  /** Works until nothing is left to do now. See `World.pump`. */
  pump(): Promise<PumpReport> {
    return this.kernel.pump();
  }

  /** Starts no new work, waits for running work, then stops it. */
  async drain(options: { readonly within: Duration }): Promise<{ readonly interrupted: number }> {
    requireKnownOptions(options, { within: true }, 'world.drain', "Write { within: '10s' }.");
    const { within } = options;
    return this.kernel.drain({ within: within === 0 ? 0 : durationMs(within, 'within') });
  }

  /** Replays the whole journal and compares it byte by byte. See `World.verify`. */
  verify(expect?: string): Promise<VerifyReport> {
    return this.kernel.verify(expect);
  }

  /** The world as it was after a frame. See `World.at`. */
  async at(seq: number): Promise<WorldAt> {
    requireArgument(isWhole(seq), 'world.at(seq)', 'the number of a frame, from 0', seq);
    return this.kernel.at(seq);
  }

  /** Makes another world that begins with this one's frames. Open it with `openAgentWorld`. See `World.fork`. */
  fork(options: ForkOptions): Promise<MadeFork> {
    return this.kernel.fork(options);
  }

  /** Closes the world. See `World.close`. */
  async close(): Promise<void> {
    this.parts.closing.abort();
    try {
      await this.parts.opened.stop();
    } finally {
      await (await this.#views)?.close();
      await (await this.#places)?.close();
      await this.kernel.close();
    }
  }

  /** `await using world = …` closes it. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #people() {
    const effectOf = async (effect: string) => {
      const { openEffects } = await viewing();
      return (await this.views()).view(openEffects).get(effect);
    };
    const titleOf = (item: PendingItem) => this.parts.opened.titleOf(item);
    return { world: this.kernel, build: this.parts.registry, effectOf, titleOf };
  }

  async *#placesOf(session: string, run?: number): AsyncGenerator<RunPlace> {
    const view = (await this.views()).view(runs);
    if (run !== undefined) {
      const row = await view.get([session, run]);
      if (row !== undefined) yield { session, number: row.run, seq: row.seq };
      return;
    }
    for await (const { row } of view.each({ under: [session] })) yield { session, number: row.run, seq: row.seq };
  }

  async #openViews(definitions: readonly ViewDefinition[]): Promise<Views> {
    const { viewStore: store } = this.parts;
    const { openViews } = await viewing();
    return openViews(this.kernel, definitions, store === undefined ? {} : { store });
  }

  async #pastBefore(frame: number): Promise<Past> {
    this.#places ??= this.#openViews([eventPlaces]);
    const places = await this.#places;
    await places.caughtUp(Math.min(frame - 1, this.kernel.head.seq));
    return pastBefore(places.view(eventPlaces), frame);
  }
}

let views: Promise<typeof import('./open-views.js')> | undefined;

/** Loads the runtime of views, once: the first question that a view answers needs it. */
function viewing(): Promise<typeof import('./open-views.js')> {
  views ??= import('./open-views.js');
  return views;
}

/** The views of every world of agents, besides the kernel's of open effects. */
const VIEWS = [sessions, sessionLabels, runs, sessionTree] as const;

interface KeyPage {
  readonly keys: readonly string[];
  readonly cursor?: string;
}

/** The keys of candidate sessions, by the narrowest of the views. */
async function pageOf(views: Views, { status, agent, label = {}, limit, after }: SessionQuery): Promise<KeyPage> {
  const more = { ...(limit === undefined ? {} : { limit }), ...(after === undefined ? {} : { after }) };
  const [first] = Object.entries(label);
  if (first !== undefined) {
    const page = await views.view(sessionLabels).query({ under: [...first], ...more });
    return { ...page, keys: page.rows.map(({ key }) => String([key].flat().at(-1))) };
  }
  const range =
    status !== undefined
      ? { index: 'status', under: status }
      : agent !== undefined
        ? { index: 'agent', under: agent }
        : { index: 'updated', order: 'desc' as const };
  const page = await views.view(sessions).query({ ...range, ...more });
  return { ...page, keys: page.rows.map(({ key }) => String(key)) };
}

const KEY_HINT = "Name the conversation, such as 'ticket-42'; a number as text: String(id).";

/** Refuses what is no key of a session. */
function requireKey(key: unknown, call: string, name = 'key'): void {
  const fits = typeof key === 'string' && isKeyText(key);
  requireArgument(fits, `${call}(${name})`, 'the key of a session: text of 1 to 256 bytes', key, KEY_HINT);
}

/** The fields of an outcome from outside, of either status. */
const OUTCOME = { status: true, payload: true, code: true, usage: true, retryable: true } as const;

const REQUEST_ID = textOf(REQUEST_ID_MAX);

/** Request ids about the world never equal those about its sessions. */
function named(options: RequestOptions, call: string): RequestOptions {
  requireFields(options, `${call}(options)`, 'an object with any of id, as, actor');
  const { id, ...rest }: RequestOptions = options;
  if (rest.as !== undefined) requireKnownOptions({ as: rest.as }, { as: aPrincipal }, call);
  if (id !== undefined) requireArgument(REQUEST_ID.fits(id), `${call}(options.id)`, REQUEST_ID.expected, id);
  return id === undefined ? rest : { ...rest, id: worldRequestId(id) };
}

function unknownAgent(agent: unknown, known: readonly string[]): RepriseError {
  const { type, name: own } = fieldsOf(agent);
  if (type !== 'agent') {
    return new RepriseError('unknown_agent', 'a session needs its agent', {
      expected: 'an agent that defineAgent made',
      where: 'agent',
      actual: kindOfThing(agent),
      hint: promiseHint(agent) ?? `Pass the agent itself: world.session(key, ${known[0] ?? 'agent'}).`,
    });
  }
  const name = String(own);
  if (known.includes(name)) {
    return new RepriseError('unknown_agent', `the world has another agent named "${name}"`, {
      hint: 'Pass the agent with which the world was opened: each call of defineAgent makes another one.',
    });
  }
  return new RepriseError('unknown_agent', `the world has no agent "${name}"`, {
    expected: known.length === 0 ? 'an agent of `agents`, which is empty' : known.join(', '),
    actual: name,
    hint: 'List it under `agents` when opening the world, or add it with `world.define`.',
  });
}
