/*
 * Which test files `npm test` leaves to `npm run test:rest`, and why. Everything else belongs to `npm test`, new files
 * too: a file is listed here when it takes a large part of a minute, and no sooner.
 */

/** @type {readonly (readonly [folder: string, why: string])[]} */
export const HEAVY = [
  ['scripts/test/divergence-page.test.ts', 'runs every row of the divergence matrix again for its page'],
  ['scripts/test/docs.test.ts', 'installs the built packages and runs the code of every page'],
  ['scripts/test/mistakes.test.ts', 'compiles and runs the mistakes of a page'],
  ['scripts/test/speed.test.ts', 'measures, so it wants the machine for itself'],
  ['scripts/test/readme.test.ts', 'builds, and runs the examples of the README as a user would'],
  ['examples/', 'runs every example as a program'],
  ['scripts/test/hostile/', 'runs every example in a pseudo-terminal, on a model of hostile words'],
  ['conformance/modes/', 'every scenario in every mode, on every protocol'],
  ['conformance/tamper/', 'every frame and blob of a world, tampered with'],
  ['conformance/society/kill.test.ts', 'swarms as processes that are killed'],
  ['conformance/society/revoked/kill.test.ts', 'owners of a society as processes that are killed'],
  ['conformance/team/', 'teams as processes, some of which are killed'],
  ['conformance/profiles/', 'every scenario against a live server, on every protocol'],
  ['packages/agent/test/processes/', 'kills processes while parallel calls run'],
  ['packages/agent/test/api/state-bounds.test.ts', 'sessions that are filled to their bounds'],
  ['packages/agent/test/budgets/', 'random trees of sessions, pure and on real stores that crash and fork'],
  ['packages/agent/test/ends/', 'random histories, pure and on real stores: each accepted thing ends once'],
  ['packages/agent/test/histories/', 'random histories of sessions, each audited'],
  ['packages/agent/test/resume/', 'random histories, resumed at every place'],
  ['packages/cli/test/', 'each command on worlds of its own'],
  ['packages/agent/test/reducer/owner-law.test.ts', 'thousands of random histories, and mistakes that they find'],
  ['packages/org/test/flow/acceptance.test.ts', 'a thousand of each reducer'],
  ['packages/org/test/flow/crash/', 'kills processes'],
  ['packages/kernel/test/pure/engine/gate/revocation.test.ts', 'random revocations, each audited'],
  ['packages/kernel/test/kept/', 'broken builds, and random worlds that are opened again before each request'],
  ['packages/kernel/test/replay/fork/', 'random worlds, forked at every frame'],
  ['packages/kernel/test/replay/verify/ranges.test.ts', 'random worlds, each damaged and verified in two ways'],
  ['packages/kernel/test/replay/verify/random.test.ts', 'random chains of app versions'],
  ['packages/kernel/test/replay/verify/replay.test.ts', 'random worlds, each replayed in several ways'],
  ['packages/kernel/test/replay/verify/scenarios.test.ts', 'the state of every scenario, from every frame'],
  ['packages/kernel/test/state/worlds.test.ts', 'forged worlds in a process with little memory'],
  ['packages/org/test/store/laws/', 'broken builds of a store, each played against its reference'],
  ['packages/providers/test/hostile.test.ts', 'hostile answers in a process with little memory'],
  ['packages/providers/test/prompt-laws.test.ts', 'random conversations in every wire format'],
  ['packages/reprise/test/canary/', 'a secret in every place, and a scan of all that was written'],
  ['packages/reprise/test/marks/', 'forged texts through every place of a prompt, and a broken build for each'],
  ['packages/reprise/test/interrupt/', 'apps as processes, which are interrupted'],
  ['packages/sandbox/test/damaged-bundles.test.ts', 'damaged code in processes of its own'],
  ['packages/sandbox/test/hostile.test.ts', 'hostile code in processes of its own'],
  ['packages/store-sqlite/test/crash/', 'kills processes at each step'],
  ['packages/store-sqlite/test/faults/', 'real processes beside each other on small disks'],
  ['packages/store-sqlite/test/hostile-files/', 'forged files in a process with little memory'],
  ['packages/store-sqlite/test/one-writer.test.ts', 'real processes that want the same file'],
  ['packages/store-sqlite/test/processes.test.ts', 'real processes that want the same file'],
  ['packages/store-sqlite/test/syncs.test.ts', 'system calls of both drivers'],
  ['packages/store-sqlite/test/tamper/', 'every row and blob of a file, tampered with'],
  ['packages/testkit/test/', 'the suites, laws and the simulator, each with its planted bugs'],
  ['packages/tree/test/serve/', 'programs as processes, hostile ones and killed ones among them'],
  ['packages/tree/test/oracle/', 'random schedules of trees, and broken builds that they find'],
  ['packages/org/test/job/crash.test.ts', 'a process that dies at each append, on memory and on SQLite'],
  ['packages/society/test/mcp/', 'real clients of served societies, and hundreds of agents'],
  ['packages/society/test/keys/registration-crash.test.ts', 'a process that dies at each append of registrations'],
  ['packages/society/test/keys/secrets.test.ts', 'a scan of all that a world of registrations writes'],
  ['packages/specialists/test/crash.test.ts', 'a process that dies at each append of a whole workflow'],
  ['packages/tools/test/confinement.test.ts', 'races on a real folder'],
  ['packages/tools/test/external/', 'external agents as processes, hostile ones among them'],
  ['packages/tools/test/large-folder.test.ts', 'a folder of many thousand files'],
  ['packages/tools/test/mcp/', 'MCP servers as processes, hostile ones among them'],
  ['packages/tools/test/http-hostile.test.ts', 'hostile servers, one of which waits'],
  ['packages/tools/test/output/programs.test.ts', 'programs that print in every way, and wait'],
  ['packages/tools/test/owner.test.ts', 'programs that outlive their owner'],
  ['packages/tools/test/process.test.ts', 'programs that have to be killed'],
];

const SHARING = [
  'packages/agent/test/api',
  'packages/agent/test/decisions',
  'packages/agent/test/define',
  'packages/agent/test/history',
  'packages/agent/test/judge',
  'packages/agent/test/parts',
  'packages/agent/test/reducer',
  'packages/agent/test/tools',
  'packages/contracts/test',
  'packages/org/test/flow',
  'packages/kernel/test/pure',
  'packages/kernel/test/ports',
  'packages/kernel/test/run',
  'packages/kernel/test/serve',
  'packages/org/test/store',
  'packages/providers/test',
  'packages/server/test',
  'packages/society/test',
  'packages/specialists/test',
  'packages/tree/test/adapters',
  'packages/tree/test/api',
  'packages/tree/test/tools',
  'packages/tree/test/views',
  'packages/ui/test',
  'packages/org/test/job',
  'packages/org/test/kit',
];

/**
 * Test files of `npm test` that share a process, so that each module is loaded once and not once for each file: loading
 * took as long as the tests themselves. Such a file leaves nothing behind: no global, no replaced module, no process, no
 * world that is still at work.
 */
export const SHARED = {
  folders: SHARING.map((folder) => `${folder}/**`),
  files: SHARING.map((folder) => `${folder}/**/*.test.ts`),
};

/** The files that vitest leaves out, or runs alone, for a suite: `quick`, `rest` or all. */
export function suiteOf(name) {
  const heavy = HEAVY.map(([path]) => (path.endsWith('/') ? `${path}**/*.test.ts` : path));
  if (name === 'quick') return { exclude: heavy };
  return name === 'rest' ? { include: heavy } : {};
}
