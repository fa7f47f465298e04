/**
 * Random trees of agents, memberships, tiers and revocations, against an oracle that shares no code with the compiler or the
 * kernel: at the level of compiled rights, and in real worlds of memory, where every operation is asked of the gate and some
 * are called. There 25 trees share one world, each below a person of its own; every world is verified.
 *
 *   npx tsx --conditions=@reprise/source conformance/society.ts [--trees 1000000] [--seed N]
 *   npx tsx --conditions=@reprise/source conformance/society.ts --worlds 10000 [--seed N] [--keep-going] [--mutant while-making]
 *
 * With --mutant while-making the rights of an agent are set in the delivery that makes it: a disagreement must be found.
 * With --keep-going a run of worlds goes on behind a disagreement.
 */
import { parseArgs } from 'node:util';
import { judgeTrees } from './society/trees.js';
import { judgeWorlds } from './society/worlds/judged.js';
import { rightsSetWhileMaking } from './society/worlds/mutant.js';

const { values: options } = parseArgs({
  options: {
    trees: { type: 'string', default: '1000000' },
    worlds: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() & 0x3fffffff) },
    mutant: { type: 'string', default: '' },
    'keep-going': { type: 'boolean', default: false },
  },
});
const seed = Number(options.seed);
const started = performance.now();
process.exitCode = options.worlds === undefined ? trees(Number(options.trees)) : await worlds(Number(options.worlds));

function trees(asked: number): number {
  const found = judgeTrees(asked, seed);
  told(found.first, `--trees 1 --seed ${seed + found.trees - 1}`);
  console.log(`${found.questions} questions, ${found.allowed} allowed; seed ${seed}, ${seconds()} s`);
  console.log(`${found.trees} trees, ${found.disagreements} disagreements`);
  return found.disagreements === 0 && found.trees === asked ? 0 : 1;
}

async function worlds(asked: number): Promise<number> {
  const found = await judgeWorlds(asked, seed, {
    part: options.mutant === 'while-making' ? rightsSetWhileMaking() : undefined,
    keepGoing: options['keep-going'],
    told: (what) => told(what, `--worlds 1 --seed ${/^seed (\d+)/.exec(what)?.[1]}`),
  });
  const { questions, allowed, calls, frames } = found;
  console.log(
    `${questions} questions, ${allowed} allowed, ${calls} calls, ${frames} frames verified; seed ${seed}, ${seconds()} s`,
  );
  console.log(`${found.trees} worlds, ${found.disagreements} disagreements`);
  return found.disagreements === 0 && found.trees === asked ? 0 : 1;
}

function told(first: string | undefined, again: string): void {
  if (first === undefined) return;
  console.error(first);
  console.error(`rerun: npx tsx --conditions=@reprise/source conformance/society.ts ${again}`);
}

function seconds(): number {
  return Math.round((performance.now() - started) / 1_000);
}
