/** What test files of one process could change for each other. */

/** Values of the process by what they are called. */
export type Scene = ReadonlyMap<string, unknown>;

/** Events of a process whose listeners decide how it ends. */
const EVENTS = ['unhandledRejection', 'uncaughtException', 'SIGINT', 'SIGTERM'] as const;

/** Variables that vitest sets for each file. */
const OF_VITEST = /^VITEST_/;

/** The globals that tests replace: timers that are faked, and what stands in for the world. */
const GLOBALS = ['Date', 'setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'fetch', 'process'] as const;

/** What the process keeps about its storages, in one place for all copies of this module. */
interface Storages {
  /** Those that a process has once, however many files use them. */
  readonly once: Set<symbol>;
  /** The libraries that have made theirs. */
  readonly libraries: Set<string>;
}

function storagesOfProcess(): Storages {
  const scope = globalThis as { [key: symbol]: Storages | undefined };
  const key = Symbol.for('@reprise storages of the process of tests');
  const known = scope[key] ?? { once: new Set(), libraries: new Set() };
  scope[key] = known;
  return known;
}

/**
 * What each promise of the process carries: one value for every `AsyncLocalStorage` that was ever used, up to Node 22. A
 * hundred of them made every test after them five times slower. Those that a process has once do not count.
 */
function storagesOfPromises(): readonly symbol[] {
  const carried = Object.getOwnPropertySymbols(Promise.resolve()).filter((key) => key.description === 'kResourceStore');
  const { kResourceStore: ofKernel } = ((globalThis as Record<symbol, unknown>)[
    Symbol.for('@reprise/kernel carrier of callers')
  ] ?? {}) as { readonly kResourceStore?: symbol };
  return carried.filter((key) => key !== ofKernel && !storagesOfProcess().once.has(key));
}

/**
 * Starts a library that makes storages for its process at its first start, and none at the next ones: what the start
 * makes does not count for the file that happened to be first. A second start that makes one more counts.
 */
export async function startedOnce<T>(library: string, start: () => Promise<T>): Promise<T> {
  const before = storagesOfPromises();
  const started = await start();
  const { once, libraries } = storagesOfProcess();
  if (!libraries.has(library)) for (const key of storagesOfPromises()) if (!before.includes(key)) once.add(key);
  libraries.add(library);
  return started;
}

/** The process as it is now. */
export function sceneNow(): Scene {
  const environment = Object.entries(process.env).filter(([name]) => !OF_VITEST.test(name));
  return new Map<string, unknown>([
    ['the folder', process.cwd()],
    ['process.exitCode', process.exitCode],
    ['Math.random', Math.random],
    ['AsyncLocalStorage objects that are in use', storagesOfPromises().length],
    ...environment.map(([name, value]) => [`process.env.${name}`, value] as const),
    ...GLOBALS.map((name) => [name, globalThis[name]] as const),
    ...EVENTS.map((event) => [`listeners of ${event}`, process.listenerCount(event)] as const),
  ]);
}

/** What differs between two scenes. */
export function leftBehind(before: Scene, after: Scene): readonly string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => before.get(name) !== after.get(name));
}
