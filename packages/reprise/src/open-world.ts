import type {
  AgentWorld,
  AgentWorldOptions,
  AnyAgent,
  Judge,
  ModelInfos,
  ModelsOf,
  NeedsDeps,
  OpenAgentWorldOptions,
} from '@reprise/agent';
import {
  type ArgumentCheck,
  aFunction,
  checkOf,
  fieldsOf,
  isFunction,
  isObject,
  type KnownOptions,
  requireKnownOptions,
} from '@reprise/contracts';
import type { TelemetryOptions } from '@reprise/otel';
import type { llmGenerateAdapter, ModelClient } from '@reprise/providers';

const require: ArgumentCheck = checkOf('invalid_argument', 'invalid option of openWorld');

/** The models behind the aliases that agents name. */
export type Models = Readonly<Record<string, ModelClient>>;

/** How a world is opened by an app. */
export type OpenWorldOptions<A extends readonly AnyAgent[] = readonly AnyAgent[]> = Omit<
  AgentWorldOptions<A>,
  'llm' | 'models' | 'observers'
> & {
  /**
   * Sends what agents do as spans of OpenTelemetry while the world runs, behind its commits: see `reprise/otel`. Nothing is
   * loaded for it when it is absent.
   */
  readonly telemetry?: TelemetryOptions;
  /** The models behind the aliases that agents name. */
  readonly models: Models;
} & NeedsDeps<A>;

/** Requires each model that an agent names, where the aliases of the given models are known to the compiler. */
export type NeedsModels<A extends readonly AnyAgent[], M> = string extends keyof M | ModelsOf<A>
  ? unknown
  : { readonly models: { readonly [alias in Exclude<ModelsOf<A>, keyof M>]: ModelClient } };

/**
 * Opens a world of agents, creating it when absent. One process holds a world at a time. Without `onError`, each kind of
 * error is written once on standard error, in one line.
 *
 * @throws RepriseError `invalid_argument`, `unknown_model`, `duplicate_definition`, `world_locked`, `manifest_mismatch`, `journal_damaged`,
 *   `replay_divergence`, `store_failed`
 * @example
 * await using world = await openWorld({ store: sqlite('world.db'), models: { main: openAiCompatible({ … }) }, agents: [hello] })
 * const run = await world.session('me', hello).send('Hi')
 * console.log(await run.text())
 */
export async function openWorld<const A extends readonly AnyAgent[] = readonly [], const M extends Models = Models>(
  options: OpenWorldOptions<A> & { readonly models: M } & NeedsModels<A, M>,
): Promise<AgentWorld> {
  // Not before: an app that only defines agents, or has none to open yet, does not wait for the engine.
  const { llmGenerateAdapter, openAgentWorld, reportOnce } = await import('./world-parts.js');
  const bound = withModels<A>(options, llmGenerateAdapter);
  return openAgentWorld({ ...bound, onError: bound.onError ?? reportOnce((line) => toStandardError(line)) });
}

/** One line of an app that has no `onError`. */
function toStandardError(line: string, hint = 'Pass onError to openWorld to receive every error.'): void {
  process.stderr.write(`reprise: ${line} ${hint}\n`);
}

/** The options of {@link openWorld}. A misspelled one, such as `agent`, would otherwise be ignored. */
const OPTIONS: KnownOptions<OpenWorldOptions> = {
  store: true,
  models: true,
  telemetry: true,
  agents: true,
  tools: true,
  parts: true,
  deps: true,
  wrapTool: true,
  outputs: true,
  views: true,
  legacy: true,
  plansInFlight: true,
  policy: true,
  code: true,
  drive: true,
  snapshotEvery: true,
  recheckEvery: true,
  secrets: true,
  conceal: true,
  onError: aFunction,
  onProgress: aFunction,
  onLargeState: aFunction,
  throttle: true,
  clockJump: true,
  onClockJump: aFunction,
  expectHead: true,
  clock: true,
  random: true,
};

/** The same options with what executes model calls, and what is known of the models. */
export function withModels<A extends readonly AnyAgent[]>(
  options: OpenWorldOptions<A>,
  adapterOf: typeof llmGenerateAdapter,
  call = 'openWorld',
): OpenAgentWorldOptions<A> {
  require(isObject(options), 'options', 'an object with a store and models', typeof options);
  requireKnownOptions(options, OPTIONS, call);
  const { models, telemetry, ...rest } = options;
  requireModels(models);
  const observers = telemetry === undefined ? {} : { observers: [observerOf(telemetry)] };
  const bound = { ...rest, ...observers, models: infosOf(models), llm: (judge: Judge) => adapterOf(models, { judge }) };
  // What is left out and put in its place keeps what `deps` has to be.
  return bound as unknown as OpenAgentWorldOptions<A>;
}

/** Starts the telemetry of a world, whose code is loaded here and not before. */
function observerOf(telemetry: TelemetryOptions): (world: AgentWorld) => Promise<() => Promise<void>> {
  return async ({ kernel }) => {
    const { startTelemetry } = await import('@reprise/otel');
    const told = new Set<string>();
    const once = (error: unknown): void => {
      const words = error instanceof Error ? error.message : String(error);
      if (!told.has(words)) toStandardError(words, 'Pass onError to telemetry to receive every error.');
      told.add(words);
    };
    return startTelemetry(kernel, { ...telemetry, onError: telemetry.onError ?? once });
  };
}

function infosOf(models: Models): ModelInfos {
  return Object.fromEntries(
    Object.entries(models).map(([alias, { profile }]) => {
      const { context_window_hint: contextWindow, price } = profile;
      const window = contextWindow === undefined ? {} : { contextWindow };
      return [alias, { ...window, ...(price === undefined ? {} : { price }) }];
    }),
  );
}

/** Refuses what is not a list of models by alias. Shows types only, since a client may hold a key. */
function requireModels(models: unknown): void {
  require(isObject(models), 'models', 'models by alias, such as { main: openAiCompatible({ … }) }', typeof models);
  for (const [alias, client] of Object.entries(models)) {
    const isClient = isObject(fieldsOf(client).profile) && isFunction(fieldsOf(client).generate);
    require(isClient, `models.${alias}`, 'a model from reprise/providers, such as openAiCompatible({ … })', typeof client);
  }
}
