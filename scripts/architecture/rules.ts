/**
 * The architecture as data. Changing a table here is a decision about the architecture: say why in the commit,
 * and amend ARCHITECTURE.md with it. Tests: `scripts/test/architecture.test.ts`.
 */

/** Which packages of this repository a package may import. Imports only point up this list. */
export const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  contracts: [],
  kernel: ['contracts'],
  packs: ['contracts', 'kernel'],
  'store-sqlite': ['contracts', 'kernel', 'packs'],
  'store-postgres': ['contracts', 'kernel', 'packs'],
  'objects-s3': ['contracts', 'kernel'],
  fleet: ['contracts', 'kernel', 'store-postgres'],
  agent: ['contracts', 'kernel'],
  org: ['contracts', 'kernel', 'agent'],
  providers: ['contracts', 'kernel', 'agent'],
  tools: ['contracts', 'kernel', 'agent'],
  server: ['contracts', 'kernel', 'agent'],
  client: ['contracts', 'agent'],
  tree: ['contracts', 'kernel', 'agent', 'org', 'tools', 'server'],
  specialists: ['contracts', 'kernel', 'agent', 'org'],
  society: ['contracts', 'kernel', 'agent', 'org'],
  ui: ['contracts', 'agent'],
  sandbox: ['contracts', 'kernel'],
  testkit: ['contracts', 'kernel', 'agent'],
  operators: ['contracts', 'kernel', 'agent', 'org', 'tree', 'specialists', 'society', 'providers', 'tools', 'server'],
  otel: ['contracts', 'kernel', 'agent', 'org', 'tree', 'specialists', 'society'],
  webhooks: ['contracts', 'kernel', 'agent', 'tools'],
  inspect: [
    'contracts',
    'kernel',
    'agent',
    'org',
    'tree',
    'specialists',
    'society',
    'operators',
    'providers',
    'tools',
    'server',
  ],
  cli: [
    'contracts',
    'kernel',
    'agent',
    'org',
    'tree',
    'specialists',
    'society',
    'operators',
    'otel',
    'webhooks',
    'inspect',
    'packs',
    'store-sqlite',
    'store-postgres',
    'objects-s3',
    'providers',
    'tools',
    'server',
    'sandbox',
  ],
  reprise: [
    'contracts',
    'kernel',
    'agent',
    'org',
    'tree',
    'specialists',
    'society',
    'operators',
    'otel',
    'webhooks',
    'inspect',
    'packs',
    'store-sqlite',
    'store-postgres',
    'objects-s3',
    'fleet',
    'providers',
    'tools',
    'server',
    'client',
    'ui',
    'sandbox',
    'testkit',
    'cli',
  ],
};

/** Packages that run in browsers as well as in Node: nothing of a host may appear in them. */
export const HOST_FREE: readonly string[] = ['contracts', 'kernel', 'agent', 'org', 'tree', 'ui', 'client'];

/**
 * Folders of such packages that are for Node all the same: they have an entry of their own, and the rest of the package
 * does not import them. What only they may import of this repository stands beside them.
 */
export const NODE_FOLDERS: Readonly<Record<string, readonly string[]>> = {
  'packages/tree/src/serve': ['tools', 'server'],
};

/** The source files of one folder at most, without those of its own folders: more than that nobody overlooks. */
export const ROOM_FILES_MAX = 20;

/** Folders that still hold more, with their files: a number only falls. */
export const CROWDED_ROOMS: Readonly<Record<string, number>> = {};

/** Libraries that only one folder may import, and why. */
export const LIBRARIES: Readonly<Record<string, { readonly only: readonly string[]; readonly why: string }>> = {
  immer: {
    only: ['packages/kernel/src/pure/reduce'],
    why: 'the engine folds on owned state; immer backs `reduce()` alone',
  },
  'cbor-x': { only: [], why: 'it is not canonical and its decoder is lenient' },
  libsql: { only: ['packages/store-sqlite/src'], why: 'one driver owns the database' },
  pg: { only: ['packages/store-postgres/src/connection'], why: 'one file owns what is particular to the library' },
  aws4fetch: { only: ['packages/objects-s3/src'], why: 'one file signs requests' },
  '@modelcontextprotocol/client': {
    only: ['packages/tools/src/mcp'],
    why: 'who uses no MCP server loads nothing of it: the folder has a subpath of its own',
  },
  '@modelcontextprotocol/server': {
    only: ['packages/server/src'],
    why: 'one package speaks for a server: bounds and errors are the same wherever it stands',
  },
  yaml: {
    only: ['packages/specialists/src/skills'],
    why: 'only skill files are YAML, and one reader refuses what it can do too much of',
  },
  'lossless-json': {
    only: ['packages/contracts/src'],
    why: 'one parser reads all JSON, and decides once which tokens are numbers',
  },
  commander: { only: ['packages/cli/src'], why: 'only the command parses command lines' },
  esbuild: {
    only: ['packages/sandbox/src', 'packages/inspect/src/page'],
    why: 'pure code is bundled where its author asks for it, and the page before it is published',
  },
  vitest: { only: ['packages/testkit/src'], why: 'only the testkit runs inside a test runner' },
  'fast-check': { only: ['packages/testkit/src'], why: 'only the testkit makes arbitraries' },
};

/** The pure wing: replayed code. The same list is in `tsconfig.pure.json`, which compiles it without host types. */
export const PURE_WING: readonly string[] = [
  'packages/contracts/src',
  'packages/kernel/src/pure',
  'packages/agent/src/contracts',
  'packages/agent/src/reducer',
  'packages/agent/src/plans',
  'packages/org/src/pure',
  'packages/server/src/pure',
  'packages/tree/src/pure',
  'packages/specialists/src/pure',
  'packages/society/src/pure',
  'packages/webhooks/src/pure',
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

/** The replacements of other members of Math; the last line covers the rest. */
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
export const WAIVERS: readonly { readonly file: string; readonly contains: string; readonly why: string }[] = [
  {
    file: 'packages/contracts/src/text/json.ts',
    contains: 'the JSON nests too deep',
    why: 'adapters parse, and what they found is in their receipt; no reducer and no plan parses JSON',
  },
  {
    file: 'packages/kernel/src/pure/engine/cell/purity.ts',
    contains: 'throw classify(thrown)',
    why: 'classify() makes `Exhausted` of the end of the stack, for everyone who calls code of authors',
  },
  {
    file: 'packages/kernel/src/pure/reduce/index.ts',
    contains: 'throw errorOf(thrown)',
    why: 'errorOf() makes `stack_exhausted` of the end of the stack',
  },
];

/** Files that describe things for messages of errors. No such text is ever journaled, and describing must not throw. */
export const DESCRIBERS: readonly string[] = [
  'packages/contracts/src/errors/arguments.ts',
  'packages/contracts/src/errors/errors.ts',
];

/**
 * The largest size of the kernel, bundled and minified with its dependencies, in bytes. Browsers load all of it
 * before the first answer. Raise it in the change that needs it, and add a line here with the reason:
 * - 2026-11-21: the spine measures 210,455, of which zod is 101,402; the rest of the spine is still to come.
 * - 2026-11-22: 369,363 with the scrubber (8,000) and the details of errors: all input from outside passes both.
 * - 2026-11-23: 380,067 with the notice of a failed cell, and errors that look through no more than a thousand parts.
 * - 2026-11-23: 389,310 with verification in ranges, whose coordinator must run wherever a verification does.
 * - 2026-11-23: 303,686 without zod, which was 101,000 of it.
 * - 2026-11-23: 320,586 with the names of all options: a misspelled one is refused, and the nearest one suggested.
 * - 2026-11-23: 328,900 with digests written as their bytes, which saves 5 % of a frame.
 * - 2026-11-27: 333,640 with the rights of `human:*`, requests in the name of cells, and orders of keys that are remembered.
 * - 2026-11-27: 346,600, since worlds import verification and forks on request: in one file, esbuild wraps the
 *   initialization of all that they reach. With code splitting the pieces have 337,600 together.
 * - 2026-11-27: 347,578 with erasures of what other cells passed on, and the cells that keep shared content.
 * - 2026-11-27: 348,047 with open effects that are listed without a look at all other leaves, and kept rights of chains.
 * - 2026-11-28: 348,660 with content that its owner erases while a verification runs.
 * - 2026-11-28: 353,112 with the actors of requests and decisions and the remains that name who was first, 359,809
 *   with the declared senders of events, and 362,700 with holds.
 * - 2026-11-28: 368,836 with holds, the failed cells of a world and the answers that their askers get, and lengths in code
 *   points.
 * - 2026-11-28: 381,974 with slow stores, services that fail and clock jumps as troubles, recorded values that are held
 *   against changed schemas, tools whose meaning is approved, and rights whose excess is cut.
 * - 2026-11-28: 386,225 with a watch over every call of a store, and troubles that other processes read.
 * - 2026-11-28: 390,000 with arguments that are refused by name where they enter, in place of a TypeError from inside.
 * - 2026-11-29: 392,756 with waits of an effect for itself, which are refused.
 * - 2026-11-29: 393,732 with descriptions in the definitions of schemas: tools are stated once by them.
 * - 2026-11-30: 397,000 with forks that take other outcomes in place of recorded ones, and a reader of states for a kept replayer.
 * - 2026-11-30: 397,600 with openings whose store can be taken over: what starts and what is answered asks for it.
 * - 2026-11-30: 403,000 with worlds that move between stores, and directories and limits that hosts share.
 * - 2026-11-30: 404,000 with contexts whose parts are made when an adapter asks for them, and an executed effect as a thing
 *   of its own; the rest is room for the codes of errors.
 * - 2026-12-01: 412,100 with normal form and schema in one walk, beside the two that decide about all that it leaves, and
 *   with watchers that share the records of a frame.
 * - 2026-12-01: 415,700 with maps that empty their entries, values that may come at once, and logs that are read so.
 */
export const KERNEL_BUNDLE_MAX = 415_700;

/** Files that may not be in the kernel's bundle. */
export const NOT_IN_KERNEL_BUNDLE: readonly { readonly pattern: RegExp; readonly why: string }[] = [
  { pattern: /node_modules\/immer\//, why: 'immer belongs to `@reprise/kernel/reduce`' },
  { pattern: /node_modules\/cbor-x\//, why: 'the codec is ours' },
  { pattern: /node_modules\/zod\//, why: 'the vocabulary is declared by `@reprise/contracts/schema`' },
  { pattern: /^node:/, why: 'browsers have no such module' },
];

const LATER = 'an `import()` where it is needed, or an entry of its own';

/** Files and packages that an import of `reprise` or `reprise/providers` may not load. */
export const NOT_IN_COLD_IMPORT: readonly { readonly pattern: RegExp; readonly use: string }[] = [
  { pattern: /node_modules\/zod\//, use: '`@reprise/contracts/schema`, which declares the vocabulary without zod' },
  { pattern: /node_modules\/(?!@noble\/hashes\/|lossless-json\/|zod\/)/, use: LATER },
  { pattern: /^(@modelcontextprotocol\/|libsql$|pg$|esbuild$|node:)/, use: LATER },
  {
    pattern:
      /^packages\/(cli|client|fleet|inspect|objects-s3|operators|org|otel|packs|sandbox|server|store-postgres|store-sqlite|testkit|tools|ui|webhooks)\//,
    use: LATER,
  },
  { pattern: /^packages\/kernel\/src\/(run|replay|serve)\//, use: 'types only, and the engine when a world is opened' },
  {
    pattern: /^packages\/kernel\/src\/pure\/(engine\/(?!leaf\/bounds)|reduce|json-schema)/,
    use: 'types only, and the engine when a world is opened',
  },
  {
    pattern: /^packages\/agent\/src\/(session|timeline|judge|world\/(?!app\.))/,
    use: 'types only, and the engine when a world is opened',
  },
];

/**
 * Files and packages that an import of `reprise/kernel` may not load: authors of reducers, stores and views need no session,
 * no zod and no database.
 */
export const NOT_IN_KERNEL_IMPORT: readonly { readonly pattern: RegExp; readonly use: string }[] = [
  { pattern: /node_modules\/(?!@noble\/hashes\/)/, use: LATER },
  { pattern: /^(@modelcontextprotocol\/|libsql$|pg$|esbuild$|node:)/, use: LATER },
  { pattern: /^packages\/(?!contracts\/|kernel\/|reprise\/)/, use: LATER },
];

/**
 * Files and packages that an import of `reprise/org` may not load: an organization needs its agents, and no provider, server
 * or other organization. It loads zod, which writes the schemas of its tools.
 */
export const NOT_IN_ORG_IMPORT: readonly { readonly pattern: RegExp; readonly use: string }[] = [
  { pattern: /node_modules\/(?!@noble\/hashes\/|lossless-json\/|zod\/)/, use: LATER },
  { pattern: /^(@modelcontextprotocol\/|libsql$|pg$|esbuild$|node:)/, use: LATER },
  {
    pattern:
      /^packages\/(cli|client|fleet|inspect|objects-s3|operators|otel|packs|providers|sandbox|server|society|specialists|store-postgres|store-sqlite|testkit|tools|tree|ui|webhooks)\//,
    use: LATER,
  },
];

/**
 * The largest sizes of bundled agents, in bytes after minifying and gzip: of the entry and what it imports statically, of
 * all that a run of it loads, and of one file with everything. Raise one in the change that needs it.
 * - 2026-11-28: 2,300 more with a JSON parser that keeps the digits of large numbers, and what reads odd answers.
 * - 2026-11-29: 4,500 more with the step that writes the schemas of tools as each format accepts them, and 5,500 with
 *   images that are judged by their content, the bounds of each format, and the drop of a refused part.
 * - 2026-11-29: 1,000 more in one file, and 500 in a run: watchers get written frames without reading their bytes again.
 * - 2026-11-30: 1,000 more with what receipts say of a model call (whom it asked, which model answered, when it began)
 *   and with the items that each message of a request comes from.
 * - 2026-11-29: 100 more in one file: the check of a view's mark is a module of its own, for drivers without the engine.
 * - 2026-11-30: 100 more in one file: an item is decided by the first digits of its id, which operators copy from a list.
 * - 2026-11-30: 100 more in a run and 200 in one file: `world.at(…)` tells the rights of a holder and of those above it.
 * - 2026-11-30: 600 more in one file: a dry fork takes other outcomes in place of recorded ones.
 * - 2026-11-30: 200 more: an opening whose store can be taken over asks whether it still owns it, before effects and answers.
 * - 2026-11-30: 200 more: a store whose world has moved elsewhere is not opened as a world.
 * - 2026-11-30: 1,200 more: effects without a controller of their own, and codes of errors.
 * - 2026-11-30: 800 more in a run for observers of worlds, and 15,000 in one file for the telemetry that \`openWorld\` loads
 *   when it is asked for it.
 * - 2026-12-01: 1,000 more: requests with a traceparent, events made beside those of sessions, organizations for servers.
 * - 2026-12-01: 700 more in the entry and 1,800 in a run: normal form and schema in one walk, and watchers that share the
 *   records of a frame.
 */
export const HELLO_BUNDLE_MAX: Readonly<
  Record<string, { readonly entry: number; readonly run: number; readonly whole: number }>
> = {
  'scripts/bench/cold/hello-reprise.mjs': { entry: 132_900, run: 255_700, whole: 308_700 },
  'scripts/bench/cold/hello-tool-reprise.mjs': { entry: 154_800, run: 277_600, whole: 330_800 },
};

/** The file that parses JSON of others, and the one that parses what this library wrote. */
export const JSON_PARSERS = [
  'packages/contracts/src/text/json.ts',
  'packages/contracts/src/text/own-json.ts',
  'packages/client/src/server-json.ts',
];

/**
 * Programs of the examples that hand a stream of the process on, to what escapes each text itself. Their tests start them
 * in a pseudo-terminal, on a model that writes escape sequences.
 */
export const PRINTERS: Readonly<Record<string, string>> = {
  'examples/coding-agent/src/main.ts': 'its screen draws',
  'examples/review-team/src/main.ts': 'its picture is drawn again in its place',
};

/**
 * Recipes that read the sender of an event, at most eight, each with its reason; today the list is empty. Recipes declare their
 * senders beside the schemas of their events, and answer to `ctx.caller`.
 */
export const RECIPES_WITH_A_SENDER: Readonly<Record<string, string>> = {};

/**
 * Sources that say of a text that it needs no marks (`authored`, a cast to `Marked`), each with its reason. In every
 * other file words of others reach a prompt through `said`, `bare`, `own` or `party` only.
 */
export const MARKED_BY_HAND: Readonly<Record<string, string>> = {
  'packages/contracts/src/words/marks.ts': 'makes the marks',
  'packages/providers/src/prompt/assemble-prompt.ts': 'the request for a summary is a text of the session',
  'packages/providers/src/prompt/user-words.ts': 'texts of the user, and those that a part of the world has composed',
  'packages/org/src/adapters/lay-out.ts': 'words of the owner, whose names are cleaned where they are read',
  'packages/specialists/src/prompts/specialist.ts': 'the rules of specialists are fixed',
};

/** The one file of a society that names the effects which read a store. */
export const CONTENT_GATE = 'packages/society/src/pure/plans/content-gate.ts';

/** Files of a society that turn links into texts, each with what lets them: add one only with a row in docs/explanation/content.md. */
export const CONTENT_READERS: Readonly<Record<string, string>> = {
  'packages/society/src/answers/shown.ts': 'texts of answers, whose links the gate let through',
  'packages/society/src/adapters/archive.ts':
    'the hot context of an agent, which its maker may read, put into an item of the maker',
  'packages/society/src/adapters/conflicts.ts': 'an effect with the store as its object compares texts, and shows none',
  'packages/society/src/adapters/verify.ts': 'digests of what an agent has signed',
  'packages/society/src/adapters/member.ts': 'goal, task and outputs of a swarm, for the agent that works on them',
  'packages/society/src/api/merge-fork.ts': 'items of a fork whose file the caller holds; they enter by staging',
  'packages/society/src/api/repeated.ts': 'compares the texts of a call with those of the same call before',
  'packages/society/src/answers/words.ts':
    'words of results and of the synthesis of a swarm, for its creator and those above it',
};
