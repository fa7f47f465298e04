/**
 * The architecture as data. Changing a table here is a decision about the architecture: say why in the commit,
 * and amend ARCHITECTURE.md with it. Tests: `scripts/test/architecture.test.ts`.
 */

/** Which packages of this repository a package may import. Imports only point up this list. */
export const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  contracts: [],
  kernel: ['contracts'],
  'store-sqlite': ['contracts', 'kernel'],
  agent: ['contracts', 'kernel'],
  flow: ['contracts', 'kernel'],
  providers: ['contracts', 'kernel', 'agent'],
  tools: ['contracts', 'kernel', 'agent'],
  ui: ['contracts', 'agent'],
  capsule: ['contracts', 'kernel'],
  testkit: ['contracts', 'kernel', 'agent'],
  cli: ['contracts', 'kernel', 'agent', 'store-sqlite', 'capsule'],
  reprise: [
    'contracts',
    'kernel',
    'agent',
    'flow',
    'store-sqlite',
    'providers',
    'tools',
    'ui',
    'capsule',
    'testkit',
    'cli',
  ],
};

/** Packages that run in browsers as well as in Node: nothing of a host may appear in them. */
export const HOST_FREE: readonly string[] = ['contracts', 'kernel', 'agent', 'flow', 'ui'];

const PURE_BELOW_ENGINE = ['codec', 'authority', 'schema', 'json-schema', 'define'];
const PURE = [...PURE_BELOW_ENGINE, 'engine'];
const PORTS = ['time', 'journal', 'content', 'store', 'map', 'state', 'adapter'];

/**
 * Which folders of its own package a folder may import; `.` is the package's top folder. Every folder may import
 * itself, and everything may import packages as {@link PACKAGES} says.
 */
export const FOLDERS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  kernel: {
    codec: [],
    authority: [],
    schema: ['codec'],
    'json-schema': [],
    text: [],
    define: ['codec', 'schema', 'text'],
    engine: PURE_BELOW_ENGINE,
    journal: ['codec', 'schema'],
    content: ['codec', 'engine', 'time'],
    time: [],
    store: ['codec', 'journal', 'content'],
    map: ['codec', 'engine', 'content'],
    state: [...PURE, 'content', 'map'],
    scrub: ['codec'],
    adapter: [...PURE, 'content', 'time', 'scrub'],
    replay: [...PURE, ...PORTS],
    fork: [...PURE, ...PORTS, 'replay'],
    world: [...PURE, ...PORTS, 'scrub', 'replay', 'fork'],
    views: [...PURE, 'text', 'time', 'journal', 'content', 'store', 'world'],
    host: [...PURE, ...PORTS, 'world'],
    reduce: PURE,
    guard: ['engine'],
    capsule: [...PURE, ...PORTS, 'replay', 'guard'],
    '.': [...PURE, ...PORTS, 'scrub', 'world', 'replay', 'fork'],
  },
  agent: {
    contracts: [],
    tools: ['contracts'],
    judge: ['contracts', 'tools'],
    plans: ['contracts'],
    reducer: ['contracts', 'plans'],
    projection: ['contracts', 'reducer'],
    world: ['contracts', 'reducer', 'plans', 'projection'],
    '.': ['contracts', 'tools', 'judge', 'reducer', 'plans', 'projection', 'world'],
  },
};

/** Libraries that only one folder may import, and why. */
export const LIBRARIES: Readonly<Record<string, { readonly only: readonly string[]; readonly why: string }>> = {
  immer: { only: ['packages/kernel/src/reduce'], why: 'the engine folds on owned state; immer backs `reduce()` alone' },
  'cbor-x': { only: [], why: 'it is not canonical and its decoder is lenient' },
  libsql: { only: ['packages/store-sqlite/src'], why: 'one driver owns the database' },
  '@modelcontextprotocol/client': {
    only: ['packages/tools/src/mcp'],
    why: 'who uses no MCP server loads nothing of it: the folder has a subpath of its own',
  },
  commander: { only: ['packages/cli/src'], why: 'only the command parses command lines' },
  esbuild: { only: ['packages/capsule/src'], why: 'only pure code is bundled, and only where its author asks for it' },
  vitest: { only: ['packages/testkit/src'], why: 'only the testkit runs inside a test runner' },
  'fast-check': { only: ['packages/testkit/src'], why: 'only the testkit makes arbitraries' },
};

/** The pure wing: replayed code. The same list stands in `tsconfig.pure.json`, which compiles it without host types. */
export const PURE_WING: readonly string[] = [
  'packages/contracts/src',
  'packages/kernel/src/codec',
  'packages/kernel/src/authority',
  'packages/kernel/src/schema',
  'packages/kernel/src/json-schema',
  'packages/kernel/src/text',
  'packages/kernel/src/define',
  'packages/kernel/src/engine',
  'packages/agent/src/contracts',
  'packages/agent/src/reducer',
  'packages/agent/src/plans',
  'packages/flow/src',
];

/** Names that may not be used in the pure wing at all, with what to use instead. */
export const BANNED_NAMES: Readonly<Record<string, string>> = {
  Date: '`ctx.now`, the time of the frame',
  performance: '`ctx.now`, the time of the frame',
  crypto: '`ctx.id(label)` or `ctx.random()`, which replay gives again',
  Intl: 'code that reads no locale (contracts: `asciiLower`, integer money)',
  setTimeout: '`ctx.timer(name, at)`',
  setInterval: '`ctx.timer(name, at)`',
  setImmediate: 'a delivery: `ctx.send` or an intent',
  queueMicrotask: 'a delivery: `ctx.send` or an intent',
  fetch: 'an effect, performed by an adapter',
  XMLHttpRequest: 'an effect, performed by an adapter',
  WebSocket: 'an effect, performed by an adapter',
  process: 'a value in the event or the manifest',
  Buffer: '`Uint8Array`',
  console: '`ctx.record(fact)`, or a projection',
  Promise: 'a plan: `yield* plan.awaitReceipt(handle)`',
  WeakRef: 'a strong reference: collection differs from run to run',
  FinalizationRegistry: 'explicit removal: collection differs from run to run',
  SharedArrayBuffer: 'plain values',
  Atomics: 'plain values',
  globalThis: 'an import or an argument',
  eval: 'code that is there when the manifest is written',
  Function: 'code that is there when the manifest is written',
};

/** The functions of Math that give the same bits on every engine. */
export const PORTABLE_MATH: readonly string[] = [
  'abs',
  'ceil',
  'clz32',
  'floor',
  'fround',
  'imul',
  'max',
  'min',
  'round',
  'sign',
  'sqrt',
  'trunc',
];

/** What to use instead of other members of Math; the last line answers for the rest. */
export const MATH_INSTEAD: Readonly<Record<string, string>> = {
  random: '`ctx.random()`',
  pow: 'multiplication, or `mulDiv` of the contracts',
  log2: '`31 - Math.clz32(n)`',
  PI: 'a literal of the digits you mean',
  E: 'a literal of the digits you mean',
  '*': 'integers or fixed-point: engines and patch releases round it differently',
};

/** Methods that answer differently on another engine, release or locale, with what to use instead. */
export const BANNED_METHODS: Readonly<Record<string, string>> = {
  toLowerCase: '`asciiLower` of the contracts',
  toUpperCase: 'an ASCII table: case mapping follows the Unicode version of the engine',
  toLocaleLowerCase: '`asciiLower` of the contracts',
  toLocaleUpperCase: 'an ASCII table',
  toLocaleString: 'plain digits; renderers may format',
  toLocaleDateString: 'milliseconds; renderers may format',
  toLocaleTimeString: 'milliseconds; renderers may format',
  localeCompare: '`a < b ? -1 : a > b ? 1 : 0`',
  normalize: 'text as it came, or normalise it in an adapter',
  stack: 'a code of the closed list: stacks differ between engines',
};

/** Places where a ban does not apply, each with its reason. A waiver that nothing needs any more is an error. */
export const WAIVERS: readonly { readonly file: string; readonly contains: string; readonly why: string }[] = [];

/**
 * The most that the kernel may weigh, bundled and minified with its dependencies, in bytes. Browsers load all of it
 * before the first answer. Raise it in the change that needs it, and say in a line here what was bought:
 * - 2026-11-21: the spine measures 210,455, of which zod is 101,402; the rest of the spine is still to come.
 * - 2026-11-22: 369,363 with the scrubber (8,000) and what becomes of errors: whatever comes from outside passes it.
 */
export const KERNEL_BUNDLE_MAX = 380_000;

/** What may not be in the kernel's bundle. */
export const NOT_IN_KERNEL_BUNDLE: readonly { readonly pattern: RegExp; readonly why: string }[] = [
  { pattern: /node_modules\/immer\//, why: 'immer belongs to `@reprise/kernel/reduce`' },
  { pattern: /node_modules\/cbor-x\//, why: 'the codec is ours' },
  { pattern: /^node:/, why: 'browsers have no such module' },
];
