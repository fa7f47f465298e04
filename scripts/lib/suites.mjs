/*
 * Which test files `npm test` leaves to `npm run test:rest`: those of `HEAVY`, each with its reason, and those of
 * `slow-tests.json`, which `scripts/slow-tests.ts` writes from the times of a run. Everything else belongs to
 * `npm test`, new files too.
 *
 * Of the rest, the deep files (`deep-tests.json`, from the same times) take most of the time and are the only ones to test
 * no clause: `test:rest` runs one share of them, chosen by the commit, and `test:nightly` all. See `conformance/shares.mjs`.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { deepFilesBeside } from './deep-tests.mjs';
import { ROOT } from './root.mjs';

/** The files that a run has measured as slow. Four of five seconds of all tests are theirs. */
export const SLOW_LIST = path.join(ROOT, 'scripts/lib/slow-tests.json');
export const SLOW = JSON.parse(readFileSync(SLOW_LIST, 'utf8')).files;

/** What every change is held against at once, however long it takes: the rules of the code, its words, its bytes. */
export const AT_ONCE = [
  'conformance/golden/golden.test.ts',
  'scripts/test/architecture.test.ts',
  'scripts/test/spec.test.ts',
  'scripts/test/words.test.ts',
];

/** @type {readonly (readonly [folder: string, why: string])[]} */
export const HEAVY = [
  ['scripts/test/api.test.ts', 'asks the compiler for the type of every public name'],
  ['scripts/test/divergence-page.test.ts', 'runs every row of the divergence matrix again for its page'],
  ['scripts/test/nameable.test.ts', 'compiles a program that exports what every entry offers'],
  ['scripts/test/docs.test.ts', 'installs the built packages and runs the code of every page'],
  ['scripts/test/mistakes.test.ts', 'compiles and runs the mistakes of a page'],
  ['scripts/test/passes.test.ts', 'bundles the sources with counters, and runs turns and effects'],
  ['scripts/test/speed.test.ts', 'measures, so it wants the machine for itself'],
  ['scripts/test/readme.test.ts', 'builds, and runs the examples of the README as a user would'],
  ['examples/', 'runs every example as a program'],
  ['scripts/test/hostile/', 'runs every example in a pseudo-terminal, on a model of hostile words'],
  ['conformance/modes/', 'every scenario in every mode, on every protocol'],
  ['conformance/tamper/', 'every frame and blob of a world, tampered with'],
  ['conformance/senders/', 'every event of every cell from every sender, and broken builds of the check'],
  ['conformance/society/content/mutants.test.ts', 'broken builds of a society'],
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
  ['packages/inspect/test/', 'real servers, living writers, and every screen in a real browser'],
  ['packages/agent/test/reducer/owner-law.test.ts', 'thousands of random histories, and mistakes that they find'],
  ['packages/webhooks/test/processes/', 'kills the owner of a world several times, beside receivers that stay'],
  ['packages/otel/test/processes/', 'kills a tree several times, and exports it from processes of their own'],
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
  ['packages/store-postgres/test/', 'a real PostgreSQL, and processes that are stopped and killed'],
  ['packages/fleet/test/fleet.test.ts', 'a real PostgreSQL'],
  ['packages/fleet/test/elsewhere/', 'a real PostgreSQL'],
  ['packages/fleet/test/processes/', 'a real PostgreSQL, and processes that are stopped and killed'],
  ['packages/reprise/test/fleet/', 'a real PostgreSQL, and processes that are replaced'],
  ['packages/cli/test/postgres/', 'the command as processes, and a real PostgreSQL'],
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
  ['conformance/deployments/', 'random deployments, and broken builds that they find'],
  ['conformance/society/content.test.ts', 'random societies beside an oracle of who reads what'],
  ['packages/kernel/test/run/world/write/snapshots.test.ts', 'worlds of thousands of frames'],
  ['packages/kernel/test/serve/host/crash.test.ts', 'a host that dies at each append'],
  ['packages/kernel/test/serve/fleet/', 'random lives of three machines'],
  ['packages/kernel/test/serve/host/shared-laws.test.ts', 'random lives of three machines'],
  ['packages/kernel/test/serve/host/many-worlds.test.ts', 'thousands of worlds in one process'],
  ['packages/providers/test/prompt-memory.test.ts', 'random conversations in every wire format'],
  ['packages/society/test/arguments.test.ts', 'odd arguments of every tool of a society'],
  ['packages/operators/test/memory-law.test.ts', 'random societies that write, judge and erase, each place replayed'],
  ['packages/society/test/laws.test.ts', 'the laws of reducers, for every cell of a society'],
  ['packages/society/test/one-encoding.test.ts', 'every tool of a society by every way'],
  ['packages/specialists/test/arguments.test.ts', 'odd arguments of every tool of a team'],
  ['packages/specialists/test/failing-law.test.ts', 'a team whose cells fail at every place'],
  ['packages/store-sqlite/test/kept-packs.test.ts', 'broken builds of packs that are kept'],
  ['packages/store-sqlite/test/packing.test.ts', 'random histories of packs, and broken builds that they find'],
  ['packages/tree/test/tools/arguments.test.ts', 'odd arguments of every tool of a node'],
  ['scripts/test/first-mistakes.test.ts', 'runs every mistake of a page as a program'],
];

const SERVER_OF_OTHERS = 'starts the mock provider of others, which makes each promise of its process dearer for good';

/**
 * Test files that each have a process of their own, and why. All other files share a few processes, so that each module
 * is loaded once and not once for each file: loading took as long as the tests themselves. A file that shares leaves
 * nothing behind: no global, no variable of the environment, no replaced module, no process, no world at work. What can
 * be compared of this is compared after each file, by `scripts/lib/leaves-nothing.ts`.
 *
 * @type {readonly (readonly [path: string, why: string])[]}
 */
export const APART = [
  ['conformance/profiles/', SERVER_OF_OTHERS],
  ['packages/agent/test/processes/', 'kills processes'],
  ['packages/agent/test/quarantine/', 'replaces a module'],
  ['packages/cli/test/postgres/worlds.test.ts', 'starts a PostgreSQL'],
  ['packages/cli/test/team/failed.test.ts', 'replaces a module'],
  ['packages/cli/test/verify-requests.test.ts', SERVER_OF_OTHERS],
  ['packages/cli/test/tree/', 'sets the environment and the folder of the process'],
  ['packages/kernel/test/ports/content/host-hash.test.ts', 'loads a module again as on another platform'],
  ['packages/kernel/test/pure/codec/decode.test.ts', 'measures memory'],
  ['packages/kernel/test/replay/guard/', 'replaces globals by traps'],
  ['packages/org/test/flow/crash/', 'kills processes'],
  ...['ai-sdk', 'ai-sdk-generations', 'aimock', 'many-calls'].map((name) => [
    `packages/providers/test/${name}.test.ts`,
    SERVER_OF_OTHERS,
  ]),
  ['packages/reprise/test/canary/', 'scans all that its process writes'],
  ['packages/reprise/test/interrupt/', 'interrupts processes'],
  ['packages/sandbox/test/damaged-bundles.test.ts', 'starts processes with damaged code'],
  ['packages/sandbox/test/hostile.test.ts', 'starts processes with hostile code'],
  ['packages/server/test/mcp.test.ts', 'measures memory'],
  ['packages/store-postgres/test/', 'starts a PostgreSQL, and processes that are stopped and killed'],
  ['packages/fleet/test/', 'starts a PostgreSQL, and processes that are stopped and killed'],
  ['packages/cli/test/postgres/fleet.test.ts', 'starts a PostgreSQL'],
  ['packages/reprise/test/fleet/', 'starts a PostgreSQL'],
  ['packages/store-sqlite/test/backup.test.ts', 'replaces a module'],
  ['packages/store-sqlite/test/crash/', 'kills processes'],
  ['packages/store-sqlite/test/damaged-packs.test.ts', 'measures memory'],
  ['packages/store-sqlite/test/faults/', 'locks files against other processes'],
  ['packages/store-sqlite/test/hostile-files/', 'starts processes with little memory'],
  ['packages/store-sqlite/test/one-writer.test.ts', 'locks files against other processes'],
  ['packages/store-sqlite/test/processes.test.ts', 'locks files against other processes'],
  ['packages/store-sqlite/test/store.test.ts', 'measures memory'],
  ['packages/store-sqlite/test/syncs.test.ts', 'counts system calls'],
  ['packages/tools/test/external/', 'starts hostile programs'],
  ['packages/tools/test/http-hostile.test.ts', 'measures memory'],
  ['packages/tools/test/large-folder.test.ts', 'measures turns of the event loop'],
  ['packages/tools/test/mcp/', 'starts hostile programs'],
  ['packages/tools/test/output/', 'measures memory'],
  ['packages/tools/test/owner.test.ts', 'kills processes'],
  ['packages/tools/test/process.test.ts', 'kills processes, and sets the environment'],
  ['packages/tools/test/races.test.ts', 'replaces modules'],
  ['packages/tools/test/recent-bytes.test.ts', 'measures memory'],
  ['packages/tree/test/serve/', 'sets the environment of programs that serve'],
  ['scripts/test/hostile/', 'starts programs in pseudo-terminals'],
  ['scripts/test/speed.test.ts', 'measures'],
];

const isFolder = (place) => place.endsWith('/');
const pattern = (place) => (isFolder(place) ? `${place}**/*.test.ts` : place);
const contains = (place, other) => place === other || (isFolder(place) && other.startsWith(place));

/** Whether a test file has a process of its own. */
export function isApart(file) {
  return APART.some(([place]) => contains(place, file));
}

/** Whether `HEAVY` names a test file, or a folder that holds it. */
export function isHeavy(file) {
  return HEAVY.some(([place]) => contains(place, file));
}

/** The paths that are in both lists: of two that overlap, the narrower. */
function both(list, other) {
  return list.flatMap((one) => other.flatMap((two) => (contains(one, two) ? [two] : contains(two, one) ? [one] : [])));
}

/**
 * What vitest runs for a suite, `quick`, `rest` or all: the files that share processes, and those that do not.
 *
 * @param {string | undefined} name
 * @param {readonly string[]} all the patterns of all test files
 * @param {number | undefined} [share] of the deep files, the rest runs these alone; without it all of them
 */
export function suiteOf(name, all, share) {
  const heavy = [...HEAVY.map(([place]) => place), ...SLOW];
  const alone = APART.map(([place]) => place);
  const patterns = (paths) => paths.map(pattern);
  const apart = patterns(alone);
  if (name === 'rest') {
    const beside = deepFilesBeside(share);
    return {
      shared: { include: patterns(heavy), exclude: [...apart, ...beside] },
      apart: { include: patterns(both(heavy, alone)), exclude: beside },
    };
  }
  const left = name === 'quick' ? patterns(heavy) : [];
  return { shared: { include: all, exclude: [...left, ...apart] }, apart: { include: apart, exclude: left } };
}
