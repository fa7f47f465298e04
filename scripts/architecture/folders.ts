/**
 * Which folders of a package may import which: the folder rules as data. Tests: `scripts/test/architecture.test.ts`.
 */

const PORTS = [
  'ports/time',
  'ports/journal',
  'ports/content',
  'ports/store',
  'ports/scrub',
  'ports/adapter',
  'ports/views',
];
const STATE = ['state/map', 'state'];
const RUN_BELOW_WORLD = ['run/callers', 'run/dispatch'];

/** The folders below the rooms of the engine: all rooms use them. */
const UNDER_ENGINE = ['pure/codec', 'pure/authority', 'pure/schema', 'pure/define', 'pure/record'];

/** The folders below the rooms of the reducer of projects: all rooms use them. */
const UNDER_SPECIALISTS = ['pure/contracts', 'pure/plans'];

/** The folders below the rooms of a society's reducers: all rooms use them. */
const UNDER_SOCIETY = ['pure/contracts', 'pure/compile', 'pure/plans'];

/** Rooms of the contracts of a society. */
function societyContracts(...rooms: readonly string[]): readonly string[] {
  return rooms.map((room) => `pure/contracts/${room}`);
}

/** What every room of the reducer of trees may import. */
const UNDER_TREE = ['pure/contracts', 'pure/plans'];

/** Rooms of a reducer. */
function reducerRooms(...rooms: readonly string[]): readonly string[] {
  return rooms.map((room) => `pure/reducer/${room}`);
}

/**
 * Which folders of its own package a folder may import, by their paths in `src`; `.` is the package's top folder. A
 * name stands for the folders below it as well. Every folder may import itself, and everything may import packages as
 * `PACKAGES` says. Rooms of one of the {@link FLOORS} may import each other's types freely.
 */
export const FOLDERS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  kernel: {
    'pure/codec': [],
    'pure/authority': [],
    'pure/schema': ['pure/codec'],
    'pure/json-schema': [],
    'pure/text': [],
    'pure/define': ['pure/codec', 'pure/schema', 'pure/text'],
    'pure/record': ['pure/codec'],
    'pure/engine/leaf': UNDER_ENGINE,
    'pure/engine/frame': [...UNDER_ENGINE, 'pure/engine/leaf'],
    'pure/engine/ledger': [...UNDER_ENGINE, 'pure/engine/leaf', 'pure/engine/frame'],
    'pure/engine/gate': [...UNDER_ENGINE, 'pure/engine/leaf', 'pure/engine/frame', 'pure/engine/ledger'],
    'pure/engine/table': [...UNDER_ENGINE, 'pure/engine/leaf', 'pure/engine/frame'],
    'pure/engine/command': [
      ...UNDER_ENGINE,
      'pure/engine/leaf',
      'pure/engine/frame',
      'pure/engine/ledger',
      'pure/engine/gate',
    ],
    'pure/engine/cell': [
      ...UNDER_ENGINE,
      'pure/engine/leaf',
      'pure/engine/frame',
      'pure/engine/ledger',
      'pure/engine/gate',
      'pure/engine/table',
      'pure/engine/command',
    ],
    'pure/engine/plan': [
      ...UNDER_ENGINE,
      'pure/engine/leaf',
      'pure/engine/frame',
      'pure/engine/ledger',
      'pure/engine/gate',
      'pure/engine/table',
      'pure/engine/command',
      'pure/engine/cell',
    ],
    'pure/engine': [
      ...UNDER_ENGINE,
      ...['leaf', 'frame', 'ledger', 'gate', 'table', 'command', 'cell', 'plan'].map((room) => `pure/engine/${room}`),
    ],
    'pure/arguments': ['pure/define', 'pure/engine'],
    'pure/reduce': ['pure/codec', 'pure/schema', 'pure/define', 'pure/engine'],
    'ports/time': [],
    'ports/journal': ['pure/codec', 'pure/schema', 'pure/record'],
    'ports/content': ['pure', 'ports/time'],
    'ports/store': ['pure/codec', 'ports/journal', 'ports/content'],
    'ports/views': [],
    'ports/scrub': ['pure/codec'],
    'ports/adapter': ['pure', 'ports/content', 'ports/scrub'],
    'state/map': ['pure', 'ports/content'],
    state: ['pure', 'ports/content', 'state/map'],
    'replay/guard': ['pure/engine'],
    'replay/verify/era': ['pure', ...PORTS, ...STATE],
    'replay/verify/walk': ['pure', ...PORTS, ...STATE, 'replay/verify/era'],
    'replay/verify': ['pure', ...PORTS, ...STATE, 'replay/verify/era', 'replay/verify/walk'],
    'replay/fork': ['pure', ...PORTS, ...STATE, 'replay/verify'],
    'replay/sandbox': ['pure', ...PORTS, ...STATE, 'replay/verify', 'replay/guard'],
    'run/callers': ['ports/time'],
    'run/dispatch': ['pure', ...PORTS, 'replay/fork', 'run/callers'],
    'run/world/write': ['pure', ...PORTS, ...STATE, ...RUN_BELOW_WORLD],
    'run/world/open': ['pure', ...PORTS, ...STATE, ...RUN_BELOW_WORLD, 'replay', 'run/world/write'],
    'run/world/ask': ['pure', ...PORTS, ...STATE, ...RUN_BELOW_WORLD, 'run/world/open', 'run/world/write'],
    'run/world/read': ['pure', ...PORTS, ...STATE, ...RUN_BELOW_WORLD, 'replay', 'run/world/ask', 'run/world/write'],
    'run/world/life': [
      'pure',
      ...PORTS,
      ...STATE,
      ...RUN_BELOW_WORLD,
      'replay',
      'run/world/ask',
      'run/world/read',
      'run/world/write',
    ],
    'run/world': [
      'pure',
      ...PORTS,
      ...STATE,
      ...RUN_BELOW_WORLD,
      'replay',
      ...['open', 'write', 'ask', 'read', 'life'].map((room) => `run/world/${room}`),
    ],
    'serve/views/provided': ['pure', 'ports'],
    'serve/views': ['serve/views/provided', 'pure', 'ports', 'run/world'],
    'serve/host': ['pure', ...PORTS, ...RUN_BELOW_WORLD, 'run/world'],
    '.': ['pure', 'ports', 'state', 'run', 'replay'],
  },
  agent: {
    contracts: [],
    'tools/schema': ['contracts'],
    'tools/output': ['contracts', 'tools/schema'],
    'tools/toolset': ['contracts', 'tools/schema'],
    'tools/tool': ['contracts', 'tools/schema', 'tools/output', 'tools/toolset'],
    'tools/adapters': ['contracts', 'tools/schema', 'tools/output', 'tools/toolset', 'tools/tool'],
    tools: ['contracts', ...['schema', 'output', 'toolset', 'tool', 'adapters'].map((room) => `tools/${room}`)],
    judge: ['contracts', 'tools'],
    plans: ['contracts'],
    'reducer/transcript': ['contracts'],
    'reducer/account': ['contracts', 'reducer/transcript'],
    'reducer/call': ['contracts', 'plans', 'reducer/transcript', 'reducer/account'],
    'reducer/model': ['contracts', 'plans', 'reducer/transcript', 'reducer/account', 'reducer/call'],
    'reducer/run': [
      'contracts',
      'plans',
      ...['transcript', 'account', 'call', 'model'].map((room) => `reducer/${room}`),
    ],
    reducer: [
      'contracts',
      'plans',
      ...['transcript', 'account', 'call', 'model', 'run'].map((room) => `reducer/${room}`),
    ],
    timeline: ['contracts', 'reducer'],
    content: ['contracts'],
    define: ['contracts', 'content', 'tools', 'judge', 'reducer', 'plans'],
    'session/run': ['contracts', 'content', 'tools', 'judge', 'reducer', 'plans', 'timeline', 'define'],
    session: ['contracts', 'content', 'tools', 'judge', 'reducer', 'plans', 'timeline', 'define', 'session/run'],
    history: ['contracts', 'content', 'timeline', 'tools', 'session'],
    world: ['contracts', 'content', 'tools', 'judge', 'reducer', 'plans', 'timeline', 'define', 'session'],
    '.': [
      ...['contracts', 'content', 'tools', 'judge', 'reducer', 'plans', 'timeline', 'define', 'session', 'history'],
      'world',
    ],
  },
  providers: {
    model: [],
    transport: ['model'],
    prompt: ['model'],
    schemas: ['model'],
    wire: ['model', 'transport', 'prompt', 'schemas'],
    openai: ['model', 'transport', 'prompt', 'schemas', 'wire'],
    anthropic: ['model', 'transport', 'prompt', 'schemas', 'wire'],
    'ai-sdk': ['model', 'transport', 'prompt', 'schemas', 'wire'],
    scripted: ['model', 'transport', 'wire'],
    generate: ['model', 'transport', 'prompt', 'schemas', 'wire', 'openai', 'anthropic', 'ai-sdk'],
    '.': ['model', 'transport', 'prompt', 'schemas', 'wire', 'openai', 'anthropic', 'ai-sdk', 'scripted', 'generate'],
  },
  contracts: {
    schema: [],
    text: [],
    errors: ['text'],
    wire: ['schema', 'text', 'errors'],
    checks: ['schema', 'text', 'errors', 'wire'],
    words: ['text', 'errors', 'wire'],
    '.': ['schema', 'text', 'errors', 'wire', 'checks', 'words'],
  },
  org: {
    'pure/kit': [],
    'pure/flow': ['pure/kit'],
    'pure/job': ['pure/kit', 'pure/flow'],
    'pure/store': ['pure/kit'],
    pure: ['pure/kit', 'pure/flow', 'pure/job', 'pure/store'],
    handle: ['pure'],
    adapters: ['pure', 'handle'],
    tools: ['pure', 'handle'],
    '.': ['pure', 'handle', 'adapters', 'tools'],
  },
  'store-sqlite': {
    database: [],
    packs: ['database'],
    file: ['database', 'packs'],
    '.': ['database', 'packs', 'file'],
  },
  tools: {
    slices: [],
    'workspace/folder': [],
    'workspace/edit': ['workspace/folder'],
    'workspace/find': ['slices', 'workspace/folder'],
    workspace: ['workspace/folder', 'workspace/edit', 'workspace/find'],
    process: ['workspace'],
    http: ['workspace'],
    'mcp/judge': [],
    'mcp/entry': [],
    'mcp/transport': ['process', 'mcp/judge'],
    'mcp/answer': ['mcp/judge'],
    mcp: ['slices', 'process', 'mcp/judge', 'mcp/entry', 'mcp/transport', 'mcp/answer'],
    external: ['process', 'mcp'],
    '.': ['http', 'process', 'workspace'],
  },
  server: {
    pure: [],
    protocol: [],
    world: ['protocol', 'pure'],
    http: ['protocol', 'world', 'pure'],
    '.': ['http', 'protocol', 'world', 'pure'],
  },
  tree: {
    'pure/contracts': [],
    'pure/plans': ['pure/contracts'],
    'pure/reducer/delivery': UNDER_TREE,
    'pure/reducer/node': [...UNDER_TREE, ...reducerRooms('delivery')],
    'pure/reducer/ask': [...UNDER_TREE, ...reducerRooms('delivery', 'node')],
    'pure/reducer/run': [...UNDER_TREE, ...reducerRooms('delivery', 'node', 'ask')],
    'pure/reducer/input': [...UNDER_TREE, ...reducerRooms('delivery', 'node', 'ask', 'run')],
    'pure/reducer': [...UNDER_TREE, ...reducerRooms('delivery', 'node', 'ask', 'run', 'input')],
    pure: ['pure/contracts', 'pure/plans', 'pure/reducer'],
    tools: ['pure'],
    adapters: ['pure', 'tools'],
    views: ['pure'],
    api: ['pure', 'tools', 'adapters', 'views'],
    serve: ['pure', 'adapters'],
    '.': ['pure', 'tools', 'adapters', 'views', 'api'],
  },
  specialists: {
    'pure/contracts': [],
    'pure/plans': ['pure/contracts'],
    'pure/reducer/project': UNDER_SPECIALISTS,
    'pure/reducer/task': [...UNDER_SPECIALISTS, 'pure/reducer/project'],
    'pure/reducer/coordinator': [...UNDER_SPECIALISTS, 'pure/reducer/project'],
    'pure/reducer/call': [
      ...UNDER_SPECIALISTS,
      ...['project', 'task', 'coordinator'].map((room) => `pure/reducer/${room}`),
    ],
    'pure/reducer': [
      ...UNDER_SPECIALISTS,
      ...['project', 'task', 'coordinator', 'call'].map((room) => `pure/reducer/${room}`),
    ],
    pure: ['pure/contracts', 'pure/plans', 'pure/reducer'],
    prompts: ['pure'],
    skills: ['pure'],
    tools: ['pure'],
    adapters: ['pure', 'prompts', 'skills'],
    api: ['pure', 'prompts', 'skills', 'tools', 'adapters'],
    '.': ['pure', 'skills', 'api'],
  },
  society: {
    'pure/contracts/cell': [],
    'pure/contracts/call': [],
    'pure/contracts/agent': societyContracts('cell'),
    'pure/contracts/memory': societyContracts('cell', 'agent'),
    'pure/contracts/entity': societyContracts('cell', 'agent', 'memory'),
    'pure/contracts/group': societyContracts('cell', 'agent', 'memory', 'entity'),
    'pure/contracts/staging': societyContracts('cell', 'agent', 'memory', 'entity'),
    'pure/contracts/swarm': societyContracts('cell', 'agent', 'entity', 'group'),
    'pure/contracts': societyContracts('cell', 'call', 'agent', 'memory', 'entity', 'group', 'staging', 'swarm'),
    'pure/compile': ['pure/contracts'],
    'pure/plans': ['pure/contracts'],
    'pure/reducer/context': UNDER_SOCIETY,
    'pure/reducer/call': [...UNDER_SOCIETY, ...reducerRooms('context')],
    'pure/reducer/rights': [...UNDER_SOCIETY, ...reducerRooms('context', 'call')],
    'pure/reducer/group': [...UNDER_SOCIETY, ...reducerRooms('context', 'call', 'rights')],
    'pure/reducer/inbox': [...UNDER_SOCIETY, ...reducerRooms('context', 'call', 'rights', 'group')],
    'pure/reducer/memory': [...UNDER_SOCIETY, ...reducerRooms('context', 'call', 'rights', 'group', 'inbox')],
    'pure/reducer/status': [...UNDER_SOCIETY, ...reducerRooms('context', 'call', 'rights', 'inbox')],
    'pure/reducer/staging': [...UNDER_SOCIETY, ...reducerRooms('context', 'call', 'rights', 'inbox', 'memory')],
    'pure/reducer/swarm': [...UNDER_SOCIETY, ...reducerRooms('context', 'call', 'rights', 'status')],
    'pure/reducer/entity': [
      ...UNDER_SOCIETY,
      ...reducerRooms('context', 'call', 'rights', 'group', 'inbox', 'memory', 'status', 'staging', 'swarm'),
    ],
    pure: ['pure/contracts', 'pure/compile', 'pure/plans', 'pure/reducer'],
    wire: ['pure'],
    call: ['pure', 'wire'],
    tools: ['pure', 'wire', 'call'],
    adapters: ['pure', 'tools'],
    audit: ['pure', 'adapters'],
    answers: ['pure', 'wire'],
    api: ['pure', 'wire', 'call', 'tools', 'audit', 'answers'],
    served: ['pure', 'wire', 'answers', 'api'],
    '.': ['pure', 'tools', 'adapters', 'audit', 'api', 'served'],
  },
  ui: { '.': [] },
  sandbox: { child: [], '.': ['child'] },
  testkit: {
    clock: [],
    given: [],
    suite: [],
    adapters: [],
    agents: ['clock'],
    arbitraries: ['adapters', 'given'],
    reducers: ['arbitraries', 'clock', 'given', 'suite'],
    ports: ['arbitraries', 'given', 'reducers', 'suite'],
    simulator: ['clock'],
    '.': ['adapters', 'agents', 'clock', 'given'],
  },
  operators: {
    diff: [],
    prompt: [],
    '.': ['diff', 'prompt'],
  },
  cli: {
    text: [],
    process: ['text'],
    history: ['text'],
    world: ['text', 'process'],
    serve: ['world'],
    verify: ['world'],
    'tree/rules': [],
    tree: ['text', 'process', 'world', 'tree/rules'],
    'tree/screen': ['text', 'process', 'tree'],
    'team/rules': ['tree/rules'],
    team: ['process', 'world', 'tree', 'team/rules'],
    'verbs/prompt': ['text', 'process', 'world'],
    'verbs/society': ['text', 'process', 'world'],
    'verbs/team': ['text', 'process', 'world', 'tree', 'team'],
    'verbs/tree': ['text', 'process', 'world', 'tree'],
    verbs: ['text', 'process', 'world', 'history', 'serve', 'verify'],
    '.': ['text', 'process', 'world', 'history', 'serve', 'verify', 'tree', 'team', 'verbs'],
  },
  reprise: { '.': [], org: [], testing: ['.'] },
};

/**
 * Folders whose rooms may import each other's types in any order: a type is gone when the code runs, and orders nothing.
 * `.` stands for all rooms of the package.
 */
export const FLOORS: Readonly<Record<string, readonly string[]>> = {
  kernel: ['pure/engine', 'run/world'],
  agent: ['reducer', 'tools', 'session'],
  tools: ['mcp'],
  'store-sqlite': ['.'],
};
