/**
 * Forks of a tree of thirty nodes, cut before the launch of node 4:
 *
 *   npx tsx --conditions=@reprise/source conformance/tree-fork.ts [--mutant handlers]
 *
 * The dry fork makes every node again, without a call of the model and without being fed. The live one continues with
 * another model: the first launch whose run gives something else is where it departs. `--mutant handlers` lets nodes make
 * children by a tool that sends requests, in place of calls of their owner: the dry fork has no such requests.
 */
import { parseArgs } from 'node:util';
import { CUT_AT, growAndFork } from './tree/fork.js';

const { values: options } = parseArgs({ options: { mutant: { type: 'string' } } });
if (options.mutant !== undefined && options.mutant !== 'handlers') throw new Error('--mutant takes: handlers');

const { nodes, dry, live } = await growAndFork(options.mutant === 'handlers' ? 'handlers' : 'owner calls');
console.log(`${dry.nodes} of ${nodes} nodes, ${dry.calls} calls made, ${dry.isSameResult ? 'same' : 'another'} result`);
if (dry.missing > 0) console.log(`${dry.missing} nodes are missing`);
const { departs } = live;
console.log(
  departs === undefined
    ? 'live with another model: it does not depart'
    : `live with another model: departs at #${departs.n}'s launch ${departs.launch}, frame ${departs.frame}; frame ${departs.original} of the original`,
);
const isDry = dry.nodes === nodes && dry.calls === 0 && dry.isSameResult && dry.unmatched === 0;
if (!isDry || departs?.n !== CUT_AT) process.exitCode = 1;
