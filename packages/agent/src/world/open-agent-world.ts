/** Opens worlds of agents: binds tools, models and people to the kernel's world. */
import type { LlmGenerateParams, LlmGenerateReceipt, Value } from '@reprise/contracts';
import type { Adapter, AnyAdapter, App, OpenKernelWorldOptions, World } from '@reprise/kernel';
import type { ViewStore } from '@reprise/kernel/views';
import { openKernelWorld, systemClock } from '@reprise/kernel/world';
import type { AgentDeps, AnyAgent } from '../define/agent.js';
import { agentOf } from '../define/agent-of.js';
import { requirePrices } from '../define/price.js';
import { type ModelInfos, requireModel } from '../define/store-agent.js';
import { type Judge, recordedJudge } from '../judge/index.js';
import { LiveAnswers } from '../session/run/live.js';
import { humanAskAdapter } from '../tools/adapters/human-adapter.js';
import { toolCallAdapter } from '../tools/adapters/tool-adapter.js';
import { toolsetAdoptAdapter, toolsetRefreshAdapter } from '../tools/adapters/toolset-adapters.js';
import type { OutputPolicies } from '../tools/output/families.js';
import type { Tool } from '../tools/tool/tool.js';
import { AGENT_POLICY, agentApp } from './app.js';
import { OpenParts, partHost, type WorldObserver } from './open-parts.js';
import { ownerCaller } from './owner-calls.js';
import { appOf, type WorldPart } from './part.js';
import { Registry } from './registry.js';
import { AgentWorld, type AgentWorldParts } from './world.js';
import { worldReader } from './world-reader.js';

/** The options of a world of agents. */
export interface AgentWorldOptions<A extends readonly AnyAgent[]>
  extends Omit<OpenKernelWorldOptions, 'app' | 'adapters'> {
  /** The agents with code in this process, including those that they spawn. */
  readonly agents?: A;
  /**
   * Tools for agents that have no code in this process, because an earlier process added them by `world.define`. A
   * definition finds its tools here by name and fingerprint.
   */
  readonly tools?: readonly Tool[];
  /**
   * Parts of other packages, or of the app, whose cells live in this world beside the sessions of agents. Their policy
   * rules stand behind those of the app.
   */
  readonly parts?: readonly WorldPart[];
  /** Facts about the models, by alias. An agent whose model is not listed is refused. */
  readonly models: ModelInfos;
  /** Makes the adapter of `llm.generate@2`; it passes each answer to the judge. */
  readonly llm: (judge: Judge) => Adapter<LlmGenerateParams, LlmGenerateReceipt>;
  /** Makes `ctx.deps` for tools, by the labels of the session. Never journaled. */
  readonly deps?: (labels: Readonly<Record<string, string>>) => AgentDeps<A> | Promise<AgentDeps<A>>;
  /**
   * Wraps a tool's functions wherever they are used: for tracing, or with a fake in a test. The recorded form stays the
   * same.
   */
  readonly wrapTool?: (tool: Tool) => Tool;
  /** The bounds of tool outputs for the model, by family. */
  readonly outputs?: OutputPolicies;
  /** Watch the world from when it is open, behind its parts, until before it closes. They change nothing of it. */
  readonly observers?: readonly WorldObserver[];
  /** The store of the world's views; in memory, rebuilt in each process, when absent. */
  readonly views?: ViewStore;
}

/** Requires `deps` when a tool needs them. */
export type NeedsDeps<A extends readonly AnyAgent[]> =
  unknown extends AgentDeps<A> ? unknown : { readonly deps: NonNullable<AgentWorldOptions<A>['deps']> };

/** The options of a world of agents. */
export type OpenAgentWorldOptions<A extends readonly AnyAgent[]> = AgentWorldOptions<A> & NeedsDeps<A>;

/**
 * Opens a world of agents.
 *
 * @throws RepriseError `unknown_model` when an agent's model is not among `models`; `invalid_definition` for a limit in
 * money where a model has no price; `duplicate_definition` when two agents or two tools share a name; the errors of the
 * kernel's `openWorld`
 */
export async function openAgentWorld<const A extends readonly AnyAgent[] = readonly []>(
  options: OpenAgentWorldOptions<A>,
): Promise<AgentWorld> {
  const world = new AgentWorld(...(await openAgentParts(options)));
  return world.startParts();
}

/**
 * The parts that {@link openAgentWorld} makes a world from, for code that makes another kind of world.
 *
 * @param app the reducers and plans, in place of those of agents: for tests that plant a defect
 */
export async function openAgentParts<const A extends readonly AnyAgent[]>(
  options: OpenAgentWorldOptions<A>,
  app: App = agentApp,
): Promise<[kernel: World, parts: AgentWorldParts]> {
  const {
    agents = [],
    models,
    llm,
    deps,
    outputs,
    tools: catalog = [],
    views,
    wrapTool,
    onProgress,
    parts: given = [],
    observers = [],
    policy,
    ...rest
  } = options as AgentWorldOptions<A>;
  const closing = new AbortController();
  const parts = new OpenParts(given, observers);
  const registry = new Registry(wrapTool, closing.signal, withThose(catalog, parts.tools));
  const live = new LiveAnswers();
  let world: World | undefined;
  let ready: (world: AgentWorld) => void = () => undefined;
  // Recovery may execute a call, which reads the world, before this function has returned.
  const opened = new Promise<AgentWorld>((resolve) => {
    ready = resolve;
  });
  const clock = rest.clock ?? systemClock;
  const now = (): number => world?.now ?? clock.wall();
  const host = partHost(opened, { registry, parts, models: Object.keys(models), now });
  registry.add(withThose(agents, parts.agents(host)));
  for (const name of registry.names) requireModelOf(registry, name, models);
  await registry.load();
  const tools = toolCallAdapter(registry, {
    now,
    closing: closing.signal,
    world: worldReader(opened),
    owner: ownerCaller(
      opened.then(({ kernel }) => kernel),
      registry,
    ),
    agentOf: async (session) => agentOf((await opened).kernel, session),
    ...(deps === undefined ? {} : { deps }),
    ...(outputs === undefined ? {} : { outputs }),
  });
  const whole = appOf(parts.all, app.policy === undefined ? { ...app, policy: AGENT_POLICY } : app);
  const rules = parts.policy(policy);
  world = await openKernelWorld({
    ...rest,
    ...(rules === undefined ? {} : { policy: rules }),
    app: whole,
    adapters: [
      ...parts.adapters(host),
      endingWith(llm(recordedJudge(registry)), live),
      tools,
      humanAskAdapter,
      toolsetRefreshAdapter(registry),
      toolsetAdoptAdapter,
    ],
    onProgress: (effect, note: Value) => {
      live.take(effect, note);
      onProgress?.(effect, note);
    },
  });
  const random = rest.random ?? ((length: number) => crypto.getRandomValues(new Uint8Array(length)));
  return [world, { registry, models, live, random, viewStore: views, closing, ready, opened: parts }];
}

/** The adapter of models; it announces the end of each answer. */
function endingWith(adapter: Adapter<LlmGenerateParams, LlmGenerateReceipt>, live: LiveAnswers): AnyAdapter {
  const { effect, name, concurrency } = adapter;
  const doReconcile = adapter.doReconcile?.bind(adapter);
  return {
    effect,
    name,
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(doReconcile === undefined ? {} : { doReconcile }),
    doExecute: (params: LlmGenerateParams, context) =>
      adapter.doExecute(params, context).finally(() => live.end(context.idempotencyKey)),
  };
}

function requireModelOf(registry: Registry, name: string, models: ModelInfos): void {
  const agent = registry.find(name);
  if (agent === undefined) return;
  requireModel(models, agent.model, `agent ${name}`);
  requirePrices(models, agent);
}

/** What the options list, and what parts bring, each once. Anything but a list goes on as it is: it is refused in words. */
function withThose<T>(listed: readonly T[], brought: readonly T[]): readonly T[] {
  return Array.isArray(listed) ? [...new Set<T>([...listed, ...brought])] : listed;
}
