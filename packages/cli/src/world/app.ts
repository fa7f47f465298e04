/** Finds the app that can replay a journal: the app of a module that the user names, or the built-in one. */
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type IngressOf, isRepriseError, RepriseError } from '@reprise/contracts';
import { type App, missingDefinitions, type ReadonlyStore, type StoredFrame } from '@reprise/kernel';
import { readFrame } from '@reprise/kernel/store';
import { agentsOnly, allPackages, BUILT_IN_NAMES } from './built-in.js';
import { whileLoading } from './loading.js';

/** The app that was chosen for a journal. */
export interface Chosen {
  /** Undefined when no available app has all definitions of the journal. */
  readonly app: App | undefined;
  /** Earlier apps, for earlier eras. */
  readonly legacy: readonly App[];
  /** The name of the app in the report. */
  readonly name: string;
  /** The definitions of the journal that the built-in app lacks, when it was not chosen because of them. */
  readonly lacking: readonly string[];
}

/** The modules that the user named. */
interface NamedModules {
  readonly app?: string;
  readonly legacy?: readonly string[];
}

/** The app of a module, or the built-in app when it has every definition of the journal. */
export async function chooseApp(store: ReadonlyStore, modules: NamedModules): Promise<Chosen> {
  const legacy = await loadApps(modules.legacy);
  if (modules.app !== undefined)
    return { app: await loadApp(modules.app, '--app'), legacy, name: modules.app, lacking: [] };
  const none = { app: undefined, legacy, name: 'none', lacking: [] };
  const manifest = await newestManifest(store);
  if (manifest === undefined) return none;
  let lacking: string[] = [];
  for (const load of [agentsOnly, allPackages]) {
    const { app, name } = await load();
    lacking = missingDefinitions(manifest, app);
    if (lacking.length === 0) return { app, legacy, name, lacking };
  }
  return { ...none, lacking };
}

/** The app that replays a world. @throws RepriseError `invalid_argument` when none is at hand */
export async function requireApp(store: ReadonlyStore, options: NamedModules): Promise<Chosen & { readonly app: App }> {
  const chosen = await chooseApp(store, options);
  const { app, lacking } = chosen;
  if (app !== undefined) return { ...chosen, app };
  throw new RepriseError('invalid_argument', 'no app for this journal is at hand: a state is shown by replaying it', {
    ...(lacking.length === 0 ? {} : { actual: `the built-in app, ${BUILT_IN_NAMES}, lacks ${lacking.join(', ')}` }),
    hint: 'Name the app: --app MODULE.',
  });
}

/** Loads the app of each module that `--legacy` named, as {@link loadApp} does. */
export async function loadApps(paths: readonly string[] = []): Promise<App[]> {
  const apps: App[] = [];
  for (const path of paths) apps.push(await loadApp(path, '--legacy'));
  return apps;
}

/**
 * Loads an app from a module: its default export, or its export `app`.
 *
 * @param option the option that named it
 * @throws RepriseError `invalid_argument` when there is no such file, it throws while it loads, or has no app
 */
export async function loadApp(path: string, option: string): Promise<App> {
  const loaded = await loadModule(path, option);
  const inner = loaded.default as Record<string, unknown> | undefined;
  // The last two: a CommonJS module, whose exports stand under `default`.
  const app = [loaded.default, loaded.app, inner?.default, inner?.app].find(isApp);
  if (app !== undefined) return app;
  const names = Object.keys(loaded).join(', ');
  throw unusable(
    'the module exports no app',
    path,
    'Export the result of defineApp as the default export, or under the name app.',
    {
      expected: 'an export default or app, made by defineApp',
      actual: names === '' ? 'no exports' : `no app among its exports: ${names}`,
    },
  );
}

/**
 * Loads a module that the user named.
 *
 * @param option the option that named it
 * @throws RepriseError `invalid_argument` when there is no such file, or it throws while it loads
 */
export async function loadModule(path: string, option: string): Promise<Record<string, unknown>> {
  const file = resolve(path);
  if (!existsSync(file) || !statSync(file).isFile()) {
    const what = existsSync(file) ? 'the path of the module is no file' : 'the module does not exist';
    throw unusable(what, path, `Set ${option} to the path of a JavaScript module, relative to ${process.cwd()}.`);
  }
  return load(file, path);
}

async function load(file: string, path: string): Promise<Record<string, unknown>> {
  try {
    return await whileLoading(path, () => import(pathToFileURL(file).href));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException | null)?.code === 'ERR_UNKNOWN_FILE_EXTENSION') {
      const hint = "Compile it, or load it with tsx: NODE_OPTIONS='--import tsx' npx reprise …";
      throw unusable('Node cannot load a module of this type', path, hint, { cause });
    }
    // Node does not tell where the error is in the text.
    const hint = cause instanceof SyntaxError ? `node ${path} shows the line.` : 'Fix it, or name another module.';
    throw unusable('the module throws while it loads', path, hint, { cause, thrown_at: placeOf(cause) });
  }
}

/** The first place in a source file that a stack names; Node's own modules are no such place. */
function placeOf(thrown: unknown): string | undefined {
  const stack = thrown instanceof Error && typeof thrown.stack === 'string' ? thrown.stack : '';
  return /(?<![^\s(])(?:file:\/\/)?\/[^\s()]+:\d+(?::\d+)?/.exec(stack)?.[0];
}

/** Checks the shape, not the class: the module may bring its own copy of the kernel. */
function isApp(thing: unknown): thing is App {
  if (typeof thing !== 'object' || thing === null) return false;
  const { reducers, plans, effects } = thing as Partial<App>;
  return [reducers, plans, effects].every((part) => part instanceof Map);
}

/**
 * The newest manifest by the index or, when the index is damaged, the first manifest. Undefined for a damaged journal:
 * the verification, which reads every frame, reports the damage.
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

/** The error for a module that cannot be used. */
export function unusable(what: string, where: string, hint: string, facts: Record<string, unknown> = {}): RepriseError {
  return new RepriseError('invalid_argument', what, { where, hint, ...facts });
}
