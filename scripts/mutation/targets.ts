/** The mutated sources, and the tests that judge them. */

/** Sources, and the tests that are theirs. */
export interface Target {
  readonly name: string;
  /** Folders of sources. */
  readonly sources: string;
  /** The beginnings of the paths of its test files. */
  readonly tests: readonly string[];
  /** The test files that run only for mutants that no other test found, however long they take: random searches. */
  readonly last?: readonly string[];
  /** The mutated code runs in a sandbox's realm, where the reached mutants are not counted. */
  readonly elsewhere?: true;
}

const kernel = (folder: string, ...tests: readonly string[]): Target => ({
  name: `kernel/${folder}`,
  sources: `packages/kernel/src/${folder}/`,
  tests: tests.map((test) => (/^(?:conformance|packages)\//.test(test) ? test : `packages/kernel/test/${test}`)),
});

const AT_LENGTH = ['codec/any-bytes.', 'codec/encoders-agree.', 'schema/zod-agrees.', 'authority/patterns.'].map(
  (test) => `packages/kernel/test/${test}`,
);
const CELLS = ['plans/', 'laws/tables.', 'effects/outcomes.', 'failures/throws.', 'failures/cascades.'];
const GATE = ['authority/', 'outside/', 'inputs/authority.', 'forks/fork.', 'eras/upgrade.'];
const AT_ITS_EDGES = ['failures/', 'tables/', 'forks/', 'time/', 'laws/logs.', 'laws/frames.', 'laws/erase.'];
const WORLDS = ['failures/', 'stores/expected-head.', 'inputs/world.', 'inputs/reading.', 'time/'];
const AROUND = ['effects/', 'outside/', 'plans/cells.', 'tables/', 'host/host.', 'laws/erase.', 'laws/frames.'];
const RIGHTS = ['authority/gate.', 'authority/standing.', 'authority/revocation.', 'authority/frames.'];
const TOLD = [
  'laws/logs.',
  'laws/handlers.',
  'laws/replay.',
  'eras/upgrade.',
  'forks/fork.',
  'forks/dry.',
  'views/projection.',
];
const PERFORMED = ['effects/', 'outside/', 'forks/dry', 'host/shared-limits.', 'host/host.', 'failures/throws.'];
const KEPT = [
  'tables/',
  'laws/tables.',
  'laws/replay.',
  'laws/erase.',
  'failures/commit.',
  'failures/at-work.',
  'host/host.',
];
const TAMPER = ['conformance/tamper/', 'packages/store-sqlite/test/tamper/'];
const OTHERWISE = ['conformance/divergence/', ...TAMPER];

/** In the order in which they are tried. */
export const TARGETS: readonly Target[] = [
  {
    name: 'agent/reducer',
    sources: 'packages/agent/src/reducer/',
    tests: [
      'packages/agent/test/reducer/',
      'packages/agent/test/budgets/',
      'packages/agent/test/ends/',
      'packages/agent/test/api/',
    ],
  },
  { ...kernel('codec', 'codec/', 'views/ordered.', 'failures/traces.'), last: AT_LENGTH },
  { ...kernel('authority', 'authority/'), last: AT_LENGTH },
  { ...kernel('schema', 'schema/', 'inputs/definitions.'), last: AT_LENGTH },
  kernel('define', 'inputs/', 'schema/', 'failures/illegal-values.', 'eras/', 'authority/gate.', 'views/'),
  kernel('map', 'laws/map.', 'laws/tables.', 'laws/damaged-nodes.'),
  kernel('journal', 'stores/', 'inputs/', 'failures/commit.', 'laws/frames.', 'forks/fork.', ...TAMPER),
  kernel('time', 'time/'),
  kernel('engine', ...CELLS, ...GATE, ...AT_ITS_EDGES),
  kernel('world', ...WORLDS, ...AROUND, ...RIGHTS, ...TOLD),
  kernel('adapter', ...PERFORMED),
  kernel('replay', 'eras/', 'laws/', 'inputs/', 'forks/eras.', 'packages/sandbox/test/', ...OTHERWISE),
  kernel('fork', 'forks/'),
  kernel('state', ...KEPT, 'eras/upgrade.', 'eras/against.'),
  kernel(
    'content',
    'laws/erase.',
    'laws/logs.',
    'laws/damaged-nodes.',
    'stores/',
    'inputs/',
    'failures/commit.',
    'effects/outcomes.',
  ),
  kernel('store', 'stores/', 'inputs/reading.', 'failures/commit.', 'failures/poison.', 'host/memory-directory.'),
  kernel('text', 'text/', 'views/'),
  kernel('views', 'views/'),
  kernel('host', 'host/'),
  kernel('json-schema', 'json-schema/', 'packages/kernel/test/pure/json-schema/'),
  kernel('scrub', 'scrub/', 'effects/secrets.', 'effects/dispatch'),
  { name: 'providers', sources: 'packages/providers/src/', tests: ['packages/providers/test/'] },
  { name: 'store-sqlite', sources: 'packages/store-sqlite/src/', tests: ['packages/store-sqlite/test/'] },
  { ...kernel('sandbox', 'packages/sandbox/test/'), elsewhere: true },
];
