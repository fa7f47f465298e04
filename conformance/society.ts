/**
 * Random trees of agents, memberships, tiers and revocations at the level of compiled rights, against an oracle that shares
 * no code with the compiler or the kernel.
 *
 *   npx tsx --conditions=@reprise/source conformance/society.ts [--trees 1000000] [--seed N]
 */
import { parseArgs } from 'node:util';
import { judgeTrees } from './society/trees.js';

const { values: options } = parseArgs({
  options: {
    trees: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: String(Date.now() & 0x3fffffff) },
  },
});
const [trees, seed] = [Number(options.trees), Number(options.seed)];
const started = performance.now();
const found = judgeTrees(trees, seed);
if (found.first !== undefined) {
  console.error(found.first);
  console.error(
    `rerun: npx tsx --conditions=@reprise/source conformance/society.ts --trees 1 --seed ${seed + found.trees - 1}`,
  );
}
const seconds = Math.round((performance.now() - started) / 1_000);
console.log(`${found.questions} questions, ${found.allowed} allowed; seed ${seed}, ${seconds} s`);
console.log(`${found.trees} trees, ${found.disagreements} disagreements`);
process.exitCode = found.disagreements === 0 && found.trees === trees ? 0 : 1;
