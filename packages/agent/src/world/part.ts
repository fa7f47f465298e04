/**
 * Parts of a world: what a package brings so that its cells live beside the sessions of agents, and act on them.
 *
 * Owns: the shape of a part, and the app that parts make together. Does not own: when a part is started
 * (`open-parts.ts`), what its cells do.
 */
import {
  type ArgumentCheck,
  checkOf,
  fieldsOf,
  type PolicyRule,
  type Principal,
  RepriseError,
  type Value,
  type ValueMap,
} from '@reprise/contracts';
import type { AnyAdapter, ContentStore, PendingItem, WorldFrame, WorldView } from '@reprise/kernel';
import { type App, type AppSpec, defineApp, senderRules } from '@reprise/kernel/define';
import type { ViewDefinition } from '@reprise/kernel/views';
import type { Adopted } from '../contracts/config.js';
import type { AnyAgent } from '../define/agent.js';
import type { Tool } from '../tools/tool/tool.js';
import { agentApp } from './app.js';
import type { AgentWorld } from './world.js';

const require: ArgumentCheck = checkOf('invalid_definition', 'invalid part of a world');

/**
 * A part of a world: reducers and plans, what executes their effects, and a handle for the app.
 *
 * @typeParam H what `world.part(part)` returns
 * @example
 * const counters: WorldPart<Counters> = {
 *   name: 'counters',
 *   reducers: [counter],
 *   handle: (world) => ({ add: (key) => world.kernel.request(['app/Counter@1', key], { name: 'app/Add@1', value: {} }) }),
 * }
 * await using world = await openWorld({ store, models, parts: [counters] })
 * await world.part(counters).add('visits')
 */
export interface WorldPart<H = unknown> {
  /** The name, which no other part of a world has. */
  readonly name: string;
  /** Parts that it needs; each is opened once, and started before. */
  readonly uses?: readonly WorldPart[];
  readonly reducers?: AppSpec['reducers'];
  readonly plans?: AppSpec['plans'];
  /** Makes the adapters of its effects. */
  readonly adapters?: (host: PartHost) => readonly AnyAdapter[];
  /**
   * Its policy rules: they stand behind the rules of the app. Those that let declared senders of its reducers reach their
   * cells are derived, and stand behind them.
   */
  readonly policy?: readonly PolicyRule[];
  /**
   * Agents whose sessions its cells make. A function makes them for each world: for agents whose context sources read the
   * world that they are in.
   */
  readonly agents?: readonly AnyAgent[] | ((host: PartHost) => readonly AnyAgent[]);
  /**
   * Makes an agent by a name that this part knows, such as `skill:research`; undefined for any other name. Other parts ask
   * for it through {@link PartHost.agent}.
   */
  agentOf?(name: string, host: PartHost): Promise<AnyAgent | undefined>;
  /** Tools that definitions of an earlier process may list. */
  readonly tools?: readonly Tool[];
  /** Views beside those of sessions: `(await world.views()).view(definition)`. */
  readonly views?: readonly ViewDefinition[];
  /** What a server offers for it to clients outside. */
  readonly served?: Served;
  /** Makes what a server offers, in place of `served`, once for each open world: several worlds may have the same part. */
  servedIn?(world: AgentWorld): Served;
  /** The kinds of its cells that clients outside follow, each with the sessions that belong to it. */
  organizations?(world: AgentWorld): readonly Organization[];
  /** The title of a pending item of one of its cells, for people. */
  titleOf?(item: PendingItem): string | undefined;
  /** Called when the world is open. What it returns is called when the world closes. */
  started?(world: AgentWorld): Promise<undefined | (() => Promise<void>)>;
  /** Makes what `world.part(part)` returns; called once for each open world. */
  handle(world: AgentWorld): H;
}

/** What the adapters of a part may use. */
export interface PartHost {
  /** The content of the world. Before the world is open, a call waits. */
  readonly content: ContentStore;
  /** The world, when it is open. */
  readonly world: Promise<AgentWorld>;
  /** The journal's time in milliseconds. */
  now(): number;
  /** Stores an agent's definition, and those of the agents below it, as a session adopts them. */
  adopt(agent: AnyAgent): Promise<{ readonly adopted: Adopted; readonly agents: readonly Adopted[] }>;
  /** The agent of a name: one with code in this process, or one that a part makes by that name. */
  agent(name: string): Promise<AnyAgent | undefined>;
  /** A tool of the world's agents and catalogs. */
  tool(name: string): Tool | undefined;
  /** The aliases of the world's models. */
  readonly models: readonly string[];
}

/** A JSON Schema, as clients outside are told it. */
export type ServedSchema = Readonly<Record<string, Value>>;

/** A tool that a server offers to clients outside. */
export interface ServedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: ServedSchema;
  readonly outputSchema: ServedSchema;
}

/** A piece of an answer that is more than data: what a model sees or hears. */
export type ServedContent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'audio'; readonly mediaType: string; readonly bytes: Uint8Array }
  | { readonly type: 'resource'; readonly uri: string; readonly mediaType: string; readonly text: string };

/** The answer to a client's call. */
export interface ServedAnswer {
  /** Data, as the tool's output schema describes it; of an error, what the client may know of it. */
  readonly structured: Value;
  /** What a model reads, sees or hears. Absent: `structured` as JSON. */
  readonly content?: readonly ServedContent[];
  readonly isError: boolean;
}

/** A call that is under way. */
export interface ServedCall {
  /** Aborted when the client cancels the call, or is gone. What the call has begun in the world goes on. */
  readonly signal: AbortSignal;
  /** Tells the client how far the call is; absent when it did not ask. Each notice has a larger number than the last. */
  readonly progress?: (done: number, message?: string) => void;
}

/** Content that a server offers to clients outside. */
export interface ServedResource {
  /** The URI, or a template with names in braces: `notes://{author}`; a name stands for a text without `/`. */
  readonly uri: string;
  readonly name: string;
  readonly description?: string;
  readonly mediaType: string;
  /**
   * Reads it as the principal of the view.
   *
   * @returns undefined when there is nothing under this URI; a denial of the gate counts as that
   */
  read(view: WorldView, uri: string): Promise<Uint8Array | undefined>;
  /** The URIs whose content a frame changes. Clients that follow them are told; without it they hear of no change. */
  changed?(frame: WorldFrame): readonly string[] | Promise<readonly string[]>;
}

/** Parts of an organization, as clients are shown them; `next` begins the following ones. */
export interface OrganizationParts {
  readonly items: readonly ValueMap[];
  readonly next?: string;
}

/**
 * A kind of cells that clients outside follow as a whole with the sessions that belong to it, such as trees.
 *
 * A session belongs to the nearest of them above it: the cell that made it, or the cell that made that one, and so on. Where a
 * session that a cell made has a label with the name of the kind, the label says it.
 */
export interface Organization {
  /** What one of them is called: `tree`. */
  readonly kind: string;
  /** The reducer of its cells; the key of one is its name. */
  readonly reducer: string;
  /** Its tables whose entries link content that those who may read it are shown. */
  readonly linkedFrom: readonly string[];
  /** What one of them is and does now; undefined for one that is not there. The server has asked for the rights. */
  about(name: string): Promise<ValueMap | undefined>;
  /** Its nodes, tasks or members. @param after `next` of the page before */
  parts(name: string, after?: string): Promise<OrganizationParts>;
  /**
   * Whose one of them is by the part's own rules, besides the principal that made it. They may read it also where no right
   * of theirs reaches its cell, as a society's agents and people reach a swarm by its tools alone.
   */
  holders?(name: string): Promise<readonly Principal[]>;
}

/** What a server offers for a part. */
export interface Served {
  readonly tools: readonly ServedTool[];
  /**
   * Executes a call as the principal of the view.
   *
   * @param id names the call: calls with one id are one act, and get the same answer. It has at most 70 of
   *   `A–Z a–z 0–9 . _ -`, so it can be the id of a request
   */
  call(view: WorldView, name: string, args: Value, id: string, call: ServedCall): Promise<ServedAnswer>;
  readonly resources?: readonly ServedResource[];
  /** The names of the tools that this principal has; all when absent. Asked at each list and each call. */
  listed?(view: WorldView): Promise<readonly string[]>;
  /** Whether this principal may act at all: asked at each request. Every part must agree; absent: it does. */
  admits?(view: WorldView): Promise<boolean>;
}

/**
 * All parts of a world: the given ones and those that they use, each once, a used part before its user.
 *
 * @throws RepriseError `duplicate_definition` when a part is given twice, or two parts have one name;
 *   `invalid_definition` for parts that use each other in a circle
 */
export function allParts(given: readonly WorldPart[]): readonly WorldPart[] {
  requireParts(given, 'parts');
  for (const [i, part] of given.entries()) if (given.indexOf(part) !== i) throw duplicatePart(part.name);
  const found = new Map<string, WorldPart>();
  const add = (part: WorldPart, path: readonly WorldPart[]): void => {
    if (path.includes(part)) throw circle([...path, part]);
    requireParts(part.uses ?? [], `uses of the part ${part.name}`);
    for (const used of part.uses ?? []) add(used, [...path, part]);
    const known = found.get(part.name);
    if (known !== undefined && known !== part) throw duplicatePart(part.name);
    found.set(part.name, part);
  };
  for (const part of given) add(part, []);
  return [...found.values()];
}

/**
 * The app of a world with these parts: for `reprise verify --app`, and for tests. Several parts may list the same
 * definition, such as a queue that they all use.
 *
 * @param parts the parts, as given to `openWorld`
 * @throws RepriseError `duplicate_definition` when two parts, different reducers, plans or effects have one name
 * @example export default appOf([queues, trees])
 */
export function appOf(parts: readonly WorldPart[], base: App = agentApp): App {
  const all = allParts(parts);
  if (all.length === 0) return base;
  return defineApp({
    reducers: [...new Set([...base.reducers.values(), ...all.flatMap(({ reducers = [] }) => reducers)])],
    plans: [...new Set([...base.plans.values(), ...all.flatMap(({ plans = [] }) => plans)])],
    policy: [...rulesOf(all), ...(base.policy ?? [])],
  });
}

/** The policy rules of parts: those that they state, and behind them those that follow from declared senders. */
export function rulesOf(parts: readonly WorldPart[]): readonly PolicyRule[] {
  const stated = parts.flatMap(({ policy = [] }) => policy);
  return [...stated, ...senderRules([...new Set(parts.flatMap(({ reducers = [] }) => reducers))])];
}

/** Refuses anything but parts: callers may be untyped. */
function requireParts(given: readonly WorldPart[], where: string): void {
  require(Array.isArray(given), where, 'a list of parts', typeof given);
  for (const [i, part] of given.entries()) {
    const { name, handle } = fieldsOf(part);
    const isPart = typeof name === 'string' && name !== '' && typeof handle === 'function';
    require(isPart, `${where}[${i}]`, 'a part: an object with a name and a function `handle`', part);
  }
}

function duplicatePart(name: string): RepriseError {
  return new RepriseError('duplicate_definition', `two parts have the name "${name}"`, {
    where: 'parts',
    hint: 'Give each part once; a part that another one uses need not be given.',
  });
}

function circle(path: readonly WorldPart[]): RepriseError {
  return new RepriseError('invalid_definition', 'parts use each other in a circle', {
    where: 'parts',
    actual: path.map(({ name }) => name).join(' uses '),
  });
}
