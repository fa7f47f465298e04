/** The world that `reprise serve` opens: with what a module exports, with a society, or only with what it has recorded. */
import { existsSync } from 'node:fs';
import {
  type AgentWorld,
  type AgentWorldOptions,
  type AnyAgent,
  appOf,
  openAgentWorld,
  type WorldPart,
} from '@reprise/agent';
import { reportOnce } from '@reprise/agent/history';
import { isObject, isRepriseError, RepriseError } from '@reprise/contracts';
import { type App, missingDefinitions } from '@reprise/kernel';
import { readFrame } from '@reprise/kernel/store';
import { llmGenerateAdapter, type ModelClient } from '@reprise/providers';
import type { Society, TokenIssuer } from '@reprise/society';
import { loadModule, unusable } from '../world/app.js';
import { agentsOnly } from '../world/built-in.js';
import { infosOf } from '../world/model-infos.js';
import { isThere, withWorld } from '../world/open.js';
import { isDatabase, requireFile, storeAt } from '../world/place.js';

/** What a module exports for its worlds: the options of `openWorld` without the store. */
type ServedApp = Omit<AgentWorldOptions<readonly AnyAgent[]>, 'llm' | 'models' | 'store'> & {
  readonly models?: Readonly<Record<string, ModelClient>>;
};

/** How a world is opened for its clients. */
interface ServedWorldOptions {
  /** The module that exports the app. */
  readonly app?: string;
  /** The principal of clients on standard input, or of the token that is written. */
  readonly as?: string;
  /** Receives what fails, each kind of error once, in a line, where the app has no `onError`. */
  readonly report: (line: string) => void;
  /** Resolves secrets of the server; undefined for those of the app. */
  readonly secret: (name: string) => string | undefined;
  /** Makes tokens for agents that prove who they are; absent where no client could use one. */
  readonly tokens?: (world: AgentWorld) => TokenIssuer;
}

/**
 * Opens a world for its clients. Without a module a new world, and one that has a society, is served with its society; of a
 * world that has only sessions, what it has recorded is read, and nothing runs in it.
 *
 * @throws RepriseError `invalid_argument` for a module that exports no app, and for a world that needs one; `world_locked`
 */
export async function openServed(file: string, options: ServedWorldOptions): Promise<AgentWorld> {
  const part = options.app === undefined ? await societyIn(file, options.tokens) : undefined;
  const { models = {}, secrets, ...app } = options.app === undefined ? {} : await loadServedApp(options.app);
  try {
    const world = await openAgentWorld({
      onError: reportOnce(options.report),
      drive: options.app === undefined && part === undefined ? 'manual' : 'auto',
      ...(part === undefined ? {} : { parts: [part] }),
      ...app,
      store: storeAt(file),
      models: infosOf(models),
      llm: (judge) => llmGenerateAdapter(models, { judge }),
      secrets: async (name) => options.secret(name) ?? (await (secrets ?? noSecret)(name)),
    } as Parameters<typeof openAgentWorld>[0]);
    const person = personOf(options.as);
    if (part !== undefined && person !== undefined) await world.part(part).human(person);
    return world;
  } catch (error) {
    throw heldByOther(error, file);
  }
}

/** The name of the person that a principal is. */
function personOf(principal = ''): string | undefined {
  return principal.startsWith('human:') ? principal.slice('human:'.length) : undefined;
}

/** The society of a world that is new or has one; undefined for a world that has sessions alone. */
async function societyIn(file: string, tokens: ServedWorldOptions['tokens']): Promise<WorldPart<Society> | undefined> {
  const { fileVault, society } = await import('@reprise/society');
  const open = () => {
    requireFile(file, 'a society whose keys lie beside its world', 'Name the module with its parts: --app MODULE.');
    return society({ keys: fileVault(`${file}.keys`), ...(tokens === undefined ? {} : { tokens }) });
  };
  if (!(isDatabase(file) ? await isThere(file) : existsSync(file))) return open();
  const { app: sessions } = await agentsOnly();
  if ((await lackingIn(file, sessions)).length === 0) return undefined;
  const part = open();
  const lacking = await lackingIn(file, appOf([part]));
  if (lacking.length === 0) return part;
  throw new RepriseError('invalid_argument', 'the world has more than sessions of agents and a society', {
    where: file,
    actual: lacking.slice(0, 5).join(', '),
    hint: 'Name the module with its parts: --app MODULE.',
  });
}

/** What a world uses and an app does not have: such a world would begin another era, or not open. */
async function lackingIn(file: string, app: App): Promise<readonly string[]> {
  return withWorld(file, async (store) => {
    const stored = await store.journal.findLast('manifest', Number.MAX_SAFE_INTEGER);
    if (stored === undefined) return [];
    const { ingress } = readFrame(stored.bytes, stored.seq);
    return ingress.kind === 'manifest' ? missingDefinitions(ingress, app) : [];
  });
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
      actual: names === '' ? 'no exports' : `no such thing among its exports: ${names}`,
    },
  );
}

const APP_PARTS = ['parts', 'agents', 'models'];

function isServedApp(thing: unknown): thing is ServedApp {
  return isObject(thing) && !('reducers' in thing) && APP_PARTS.some((name) => name in thing);
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
