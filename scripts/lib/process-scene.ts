/** What test files of one process could change for each other. */

/** Values of the process by what they are called. */
export type Scene = ReadonlyMap<string, unknown>;

/** Events of a process whose listeners decide how it ends. */
const EVENTS = ['unhandledRejection', 'uncaughtException', 'SIGINT', 'SIGTERM'] as const;

/** Variables that vitest sets for each file. */
const OF_VITEST = /^VITEST_/;

/** The globals that tests replace: timers that are faked, and what stands in for the world. */
const GLOBALS = ['Date', 'setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'fetch', 'process'] as const;

/**
 * What each promise of the process carries: one value for every `AsyncLocalStorage` that was ever used, up to Node 22. A
 * hundred of them made every test after them five times slower. The kernel has one for the process, which does not count.
 */
function storagesOfPromises(): number {
  const carried = Object.getOwnPropertySymbols(Promise.resolve()).filter((key) => key.description === 'kResourceStore');
  const { kResourceStore: ofKernel } = ((globalThis as Record<symbol, unknown>)[
    Symbol.for('@reprise/kernel carrier of callers')
  ] ?? {}) as { readonly kResourceStore?: symbol };
  return carried.filter((key) => key !== ofKernel).length;
}

/** The process as it is now. */
export function sceneNow(): Scene {
  const environment = Object.entries(process.env).filter(([name]) => !OF_VITEST.test(name));
  return new Map<string, unknown>([
    ['the folder', process.cwd()],
    ['process.exitCode', process.exitCode],
    ['Math.random', Math.random],
    ['AsyncLocalStorage objects that are in use', storagesOfPromises()],
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
