/** The world that `reprise serve` opens: with what a module exports, or only with what the world has recorded. */
import { type AgentWorld, type AgentWorldOptions, type AnyAgent, openAgentWorld } from '@reprise/agent';
import { isObject, isRepriseError, RepriseError } from '@reprise/contracts';
import { missingDefinitions, readFrame } from '@reprise/kernel';
import { llmGenerateAdapter, type ModelClient } from '@reprise/providers';
import { sqlite } from '@reprise/store-sqlite';
import { loadModule, unusable } from '../app.js';
import { agentsOnly } from '../built-in.js';
import { infosOf } from '../model-infos.js';
import { withWorld } from '../open.js';

/** What a module exports for its worlds: the options of `openWorld` without the store. */
type ServedApp = Omit<AgentWorldOptions<readonly AnyAgent[]>, 'llm' | 'models' | 'store'> & {
  readonly models?: Readonly<Record<string, ModelClient>>;
};

/** How a world is opened for its clients. */
interface ServedWorldOptions {
  /** The module that exports the app. */
  readonly app?: string;
  /** Resolves secrets of the server; undefined for those of the app. */
  readonly secret: (name: string) => string | undefined;
}

/**
 * Opens a world for its clients. Without a module nothing runs in it: what it has recorded is read.
 *
 * @throws RepriseError `invalid_argument` for a module that exports no app, and for a world that needs one; `world_locked`
 */
export async function openServed(file: string, options: ServedWorldOptions): Promise<AgentWorld> {
  if (options.app === undefined) await requireSessionsOnly(file);
  const { models = {}, secrets, ...app } = options.app === undefined ? {} : await loadServedApp(options.app);
  try {
    return await openAgentWorld({
      drive: options.app === undefined ? 'manual' : 'auto',
      ...app,
      store: sqlite(file),
      models: infosOf(models),
      llm: (judge) => llmGenerateAdapter(models, { judge }),
      secrets: async (name) => options.secret(name) ?? (await (secrets ?? noSecret)(name)),
    } as Parameters<typeof openAgentWorld>[0]);
  } catch (error) {
    throw heldByOther(error, file);
  }
}

async function loadServedApp(module: string): Promise<ServedApp> {
  const loaded = await loadModule(module, '--app');
  const inner = loaded.default as Record<string, unknown> | undefined;
  const given = loaded.world ?? inner?.world ?? inner?.default ?? inner;
  const app: unknown = typeof given === 'function' ? await given() : given;
  if (isServedApp(app)) return app;
  const names = Object.keys(loaded).join(', ');
  throw unusable(
    'the module exports nothing that a world can be opened with',
    module,
    'Export the options of openWorld, without the store, as the default export or under the name world; or a function that makes them.',
    {
      expected: 'an export default or world: { models, agents, parts, secrets, … }',
      actual: names === '' ? 'no exports' : names,
    },
  );
}

const APP_PARTS = ['parts', 'agents', 'models'];

function isServedApp(thing: unknown): thing is ServedApp {
  return isObject(thing) && !('reducers' in thing) && APP_PARTS.some((name) => name in thing);
}

/** A world with other reducers would begin another era, or not open. */
async function requireSessionsOnly(file: string): Promise<void> {
  const lacking = await withWorld(file, async (store) => {
    const stored = await store.journal.findLast('manifest', Number.MAX_SAFE_INTEGER);
    if (stored === undefined) return [];
    const { ingress } = readFrame(stored.bytes, stored.seq);
    const { app } = await agentsOnly();
    return ingress.kind === 'manifest' ? missingDefinitions(ingress, app) : [];
  });
  if (lacking.length === 0) return;
  throw new RepriseError('invalid_argument', 'the world has more than sessions of agents', {
    where: file,
    actual: lacking.slice(0, 5).join(', '),
    hint: 'Name the module with its parts: --app MODULE.',
  });
}

function heldByOther(error: unknown, file: string): unknown {
  if (!isRepriseError(error, 'world_locked')) return error;
  return new RepriseError('world_locked', 'another process has this world', {
    ...error.details,
    where: file,
    hint: 'Serve it in that process: serveHttp(world, …) of reprise/server. Or end that process first.',
  });
}

async function noSecret(name: string): Promise<string> {
  throw new RepriseError('invalid_argument', `the app has no secret ${name}`, {
    where: '--app',
    hint: 'Export secrets.',
  });
}
