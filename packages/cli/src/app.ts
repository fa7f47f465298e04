/** Finds the pure wing that can replay a journal: a module that somebody names, or the built-in one. */
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type IngressOf, isRepriseError, RepriseError } from '@reprise/contracts';
import { type App, missingDefinitions, type ReadonlyStore, readFrame, type StoredFrame } from '@reprise/kernel';

/** The package whose app is tried when nobody names one. */
const BUILT_IN = '@reprise/agent';

/** What was found. */
export interface Chosen {
  /** Undefined when nothing at hand has the journal's definitions. */
  readonly app: App | undefined;
  /** Earlier apps, for earlier eras. */
  readonly legacy: readonly App[];
  /** How people call it. */
  readonly name: string;
  /** What the built-in app lacks of the journal's definitions, when it was not chosen for that. */
  readonly lacking: readonly string[];
}

/** Which modules somebody named. */
export interface NamedModules {
  readonly app?: string;
  readonly legacy?: readonly string[];
}

/** The app of a module, or the built-in agent app when it has every definition of the journal. */
export async function chooseApp(store: ReadonlyStore, modules: NamedModules): Promise<Chosen> {
  const legacy = await loadApps(modules.legacy);
  if (modules.app !== undefined) return { app: await loadApp(modules.app), legacy, name: modules.app, lacking: [] };
  const none = { app: undefined, legacy, name: 'none', lacking: [] };
  const manifest = await newestManifest(store);
  if (manifest === undefined) return none;
  const { agentApp } = await import('@reprise/agent');
  const lacking = missingDefinitions(manifest, agentApp);
  return lacking.length === 0 ? { app: agentApp, legacy, name: BUILT_IN, lacking } : { ...none, lacking };
}

/** Loads the app of each module, as {@link loadApp} does. */
export async function loadApps(paths: readonly string[] = []): Promise<App[]> {
  const apps: App[] = [];
  for (const path of paths) apps.push(await loadApp(path));
  return apps;
}

/**
 * Loads an app from a module: its default export, or its export `app`.
 *
 * @throws RepriseError `invalid_argument` when there is no such file, it throws while it loads, or has no app
 */
export async function loadApp(path: string): Promise<App> {
  const loaded = await loadModule(path, '--app');
  const inner = loaded.default as Record<string, unknown> | undefined;
  // The last two: a CommonJS module, whose exports stand under `default`.
  const app = [loaded.default, loaded.app, inner?.default, inner?.app].find(isApp);
  if (app !== undefined) return app;
  const names = Object.keys(loaded).join(', ');
  throw unusable(
    'this module exports no app',
    path,
    'Export what defineApp returns: as the default, or under the name app.',
    { expected: 'an export default or app, made by defineApp', actual: names === '' ? 'no exports' : names },
  );
}

/**
 * Loads a module that somebody named.
 *
 * @param option the option that named it
 * @throws RepriseError `invalid_argument` when there is no such file, or it throws while it loads
 */
export async function loadModule(path: string, option: string): Promise<Record<string, unknown>> {
  const file = resolve(path);
  if (!existsSync(file) || !statSync(file).isFile()) {
    throw unusable('there is no such module', path, `Give ${option} the path of a JavaScript module.`);
  }
  return load(file, path);
}

async function load(file: string, path: string): Promise<Record<string, unknown>> {
  try {
    return (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException | null)?.code === 'ERR_UNKNOWN_FILE_EXTENSION') {
      throw unusable('this Node cannot load a module of this kind', path, 'Compile it, or run reprise under tsx.', {
        cause,
      });
    }
    throw unusable('this module throws while it loads', path, 'Fix it, or name another module.', {
      cause,
      thrown_at: placeOf(cause),
    });
  }
}

/** The first place in a source file that a stack names. */
function placeOf(thrown: unknown): string | undefined {
  const stack = thrown instanceof Error ? thrown.stack : undefined;
  return stack === undefined ? undefined : /(?:file:\/\/)?\/[^\s()]+:\d+(?::\d+)?/.exec(stack)?.[0];
}

/** By shape, not by identity: the module may have a copy of the kernel of its own. */
function isApp(thing: unknown): thing is App {
  if (typeof thing !== 'object' || thing === null) return false;
  const { reducers, plans, effects } = thing as Partial<App>;
  return [reducers, plans, effects].every((part) => part instanceof Map);
}

/**
 * What the journal was last opened with: by the index, or, where that is damaged, what it began with. A damaged
 * journal has none here; whoever reads all of it names the damage.
 */
async function newestManifest(store: ReadonlyStore): Promise<IngressOf<'manifest'> | undefined> {
  try {
    const stored = (await store.journal.findLast('manifest', Number.MAX_SAFE_INTEGER)) ?? (await firstFrame(store));
    if (stored === undefined) return undefined;
    const { ingress } = readFrame(stored.bytes, stored.seq);
    return ingress.kind === 'manifest' ? ingress : undefined;
  } catch (error) {
    if (isRepriseError(error)) return undefined;
    throw error;
  }
}

async function firstFrame(store: ReadonlyStore): Promise<StoredFrame | undefined> {
  for await (const stored of store.journal.read(0, 0)) return stored;
  return undefined;
}

/** The error of a module that is not what was asked for. */
export function unusable(what: string, where: string, hint: string, facts: Record<string, unknown> = {}): RepriseError {
  return new RepriseError('invalid_argument', what, { where, hint, ...facts });
}
