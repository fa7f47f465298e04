/**
 * What a tree costs in CPU, in one process:
 *
 *   npx tsx --conditions=@reprise/source conformance/tree-cpu.ts [--rounds 40] [--nodes 10000]
 *
 * `--rounds N`: N rounds of a tree with 60 leaves beside 62 bare sessions, each with two calls of the model. The quotient is
 * the median over the rounds, of user CPU. It is to be at most 1.15; it is printed and not enforced: with 16 rounds one run
 * differs from the next by 0.05, with 40 by 0.01, and on a machine that others load by more.
 *
 * The two sides are alike in what a model is shown and answers: as many runs, two calls of the model in each, a prompt of
 * like length, the same tools offered, one tool call with the same result. They differ in this:
 *
 * - A bare session executes its tool by an effect, which costs a frame of its own. A node's call is answered by the tree in
 *   the frame of the model's answer; its prompt is composed by an effect, which costs such a frame as well.
 * - The root of the tree makes sixty calls more, one for each leaf, and reads all results once more: the tree pays for them.
 * - Each bare session is followed by the app that waits for its text, as apps do; of the tree the app waits for one result.
 *   Some tenth of a bare session's CPU is for that.
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
