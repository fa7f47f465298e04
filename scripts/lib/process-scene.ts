/** What test files of one process could change for each other. */

/** Values of the process by what they are called. */
export type Scene = ReadonlyMap<string, unknown>;

/** Events of a process whose listeners decide how it ends. */
const EVENTS = ['unhandledRejection', 'uncaughtException', 'SIGINT', 'SIGTERM'] as const;

/** Variables that vitest sets for each file. */
const OF_VITEST = /^VITEST_/;

/** The globals that tests replace: timers that are faked, and what stands in for the world. */
const GLOBALS = ['Date', 'setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'fetch', 'process'] as const;

/** The process as it is now. */
export function sceneNow(): Scene {
  const environment = Object.entries(process.env).filter(([name]) => !OF_VITEST.test(name));
  return new Map<string, unknown>([
    ['the folder', process.cwd()],
    ['process.exitCode', process.exitCode],
    ['Math.random', Math.random],
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
