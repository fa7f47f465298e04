/**
 * Trees of agents against their oracle, in the long form:
 *
 *   npx tsx --conditions=@reprise/source conformance/tree-long.ts [--schedules 100000] [--worlds 1000] [--calls 10000]
 *     [--size 20000 [--hanging 5000]] [--kill 200] [--budget] [--seed 1]
 *
 * `--schedules N`: random trees on the reducer alone. Nodes make children with needs, end well and badly, ask and answer;
 * people stop, pause, retry, add and answer. A plain program says of each step what must follow; in the end each tree must
 * end. A failure shows the smallest schedule that was found and the command for its batch alone.
 *
 * `--worlds N`: the same in real worlds, with sessions, models, time, and processes that die; every eighth world is a file.
 * What the journal says that the tree took is told to the same plain program, and each world is replayed.
 *
 * `--calls N`: random calls of random nodes, some of which name another's session, against a table of what is allowed.
 *
 * `--size N [--hanging M]`: a tree of N nodes, made by commands and stopped at its root while other inputs wait. Without
 * M its process is killed when a part of the stop is durable, and another process goes on; with M, eighty nodes have M calls
 * of tools under way that never return.
 *
 * `--kill N [--mutant launches]`: real worlds on SQLite files, whose owner is killed N times in all over twenty trees. Calls of the model are
 * counted by a server; a tool marks each run in a file. With the mutant, an owner knows of launches only what is in its
 * memory: nodes are launched twice, or lost.
 *
 * `--budget [--trees 20] [--mutant reserve]`: trees with a budget in money and eight nodes at once, beside a ledger of its
 * own that reads all frames. With the mutant a launch sets aside more than the tree has left.
 */
import { parseArgs } from 'node:util';
import { tryCalls } from './tree/authority.js';
import { CAP, playBudgets } from './tree/budget.js';
import { withoutReserve } from './tree/budget-mutant.js';
import { holdSchedules } from './tree/hold.js';
import { killOwners } from './tree/kill.js';
import { treeReducer } from './tree/reducer.js';
import { killLarge, stopLarge } from './tree/size.js';
import { holdWorlds } from './tree/worlds/hold.js';

const COMMAND = 'npx tsx --conditions=@reprise/source conformance/tree-long.ts';
const BATCH = 5_000;
const WORLDS = 100;

const { values: options } = parseArgs({
  options: {
    schedules: { type: 'string', default: '0' },
    worlds: { type: 'string', default: '0' },
    calls: { type: 'string', default: '0' },
    size: { type: 'string', default: '0' },
    hanging: { type: 'string', default: '0' },
    kill: { type: 'string', default: '0' },
    budget: { type: 'boolean', default: false },
    trees: { type: 'string', default: '20' },
    mutant: { type: 'string' },
    seed: { type: 'string', default: '1' },
  },
});
const seed = Number(options.seed);

if (Number(options.schedules) > 0) playSchedules(Number(options.schedules));
if (Number(options.worlds) > 0) await playWorlds(Number(options.worlds));
if (Number(options.calls) > 0) makeCalls(Number(options.calls));
if (Number(options.size) > 0) await stopAtRoot(Number(options.size), Number(options.hanging));
if (Number(options.kill) > 0) await kill(Number(options.kill), Number(options.trees), options.mutant === 'launches');
if (options.budget) await keepBudgets(Number(options.trees), options.mutant === 'reserve');

/** Plays schedules on the reducer alone. */
function playSchedules(total: number): void {
  const sum = { nodes: 0, syntheses: 0 };
  for (let done = 0, batch = seed; done < total; batch++) {
    const runs = Math.min(BATCH, total - done);
    const command = `${COMMAND} --schedules ${runs} --seed ${batch}`;
    const { nodes, syntheses } = holdSchedules(treeReducer, { runs, seed: batch, command });
    sum.nodes += nodes;
    sum.syntheses += syntheses;
    done += runs;
  }
  console.log(`${total} schedules, ${sum.nodes} nodes, ${sum.syntheses} syntheses: as the oracle says; stuck 0`);
}

/** Plays schedules in real worlds. */
async function playWorlds(total: number): Promise<void> {
  const sum = { nodes: 0, syntheses: 0, crashes: 0, answers: 0, verified: 0 };
  for (let done = 0, batch = seed; done < total; batch++) {
    const runs = Math.min(WORLDS, total - done);
    const command = `${COMMAND} --worlds ${runs} --seed ${batch}`;
    const played = await holdWorlds({ runs, seed: batch, command });
    for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += played[name];
    done += runs;
  }
  const { nodes, syntheses, crashes, answers, verified } = sum;
  console.log(`${total} schedules in real worlds: as the oracle says; frames verified ${verified}`);
  console.log(`${nodes} nodes, ${syntheses} syntheses, ${crashes} crashes, ${answers} answers`);
}

/** Kills the owners of trees. */
async function kill(total: number, trees: number, forgets: boolean): Promise<void> {
  const { kills, ended, twice, lost, unverified, requests } = await killOwners({ kills: total, trees, seed, forgets });
  const verified = unverified === 0 ? 'verify identical' : `${unverified} frames unverified`;
  console.log(`${kills} kills: ${ended} trees ended, launched twice ${twice}, lost ${lost}, ${verified}`);
  console.log(`${requests} requests of the model`);
  if (ended < trees || twice > 0 || lost > 0 || unverified > 0) process.exitCode = 1;
}

/** Plays trees with a budget. */
async function keepBudgets(trees: number, isMutant: boolean): Promise<void> {
  const play = isMutant ? await withoutReserve() : playBudgets;
  const { most, atOnce, frames, launches, differences } = await play(trees, seed);
  const sign = most <= CAP ? '≤' : '>';
  console.log(
    `max(spent + reserved) = ${most} ${sign} ${CAP} micro-dollars over ${frames} frames of ${trees} trees, ` +
      `${launches} launches, ${atOnce} at once; differences from the ledger ${differences.length}`,
  );
  for (const difference of differences.slice(0, 8)) console.log(`  ${difference}`);
  if (most > CAP || atOnce < 8 || differences.length > 0) process.exitCode = 1;
}

/** Makes random calls of random nodes. */
function makeCalls(total: number): void {
  const { allowed, refused, differences } = tryCalls(treeReducer, total, seed);
  console.log(`allowed ${allowed}, refused ${refused}, differences ${differences.length}`);
  for (const difference of differences.slice(0, 8)) console.log(`  ${difference}`);
  if (differences.length > 0) process.exitCode = 1;
}

/** Stops a large tree. */
async function stopAtRoot(nodes: number, hanging: number): Promise<void> {
  const killed = hanging > 0 ? undefined : await killLarge({ nodes, hanging });
  const { ended, deliveries, bytes, between, frames, isOver, unverified } = killed ?? (await stopLarge(nodes, hanging));
  const durable = killed === undefined ? '' : `, killed when ${killed.durable} of them were durable`;
  console.log(
    `${nodes} nodes, ${hanging} hanging calls: ${ended === nodes && isOver ? 'all' : ended} ended in ${frames} frames` +
      `${durable}, largest frame ${deliveries} deliveries (≤ 256), ${bytes} bytes (≤ 1 MiB), ` +
      `ingress between ${between}, unverified ${unverified}`,
  );
  const isBounded = deliveries <= 256 && bytes <= 1024 * 1024;
  const isKilled = killed === undefined || (killed.durable > 0 && killed.durable < frames);
  if (ended < nodes || !isOver || !isBounded || !isKilled || between > 0 || unverified > 0) process.exitCode = 1;
}
