/**
 * Random deployments over worlds in which calls and people wait, beside an oracle that shares no code with the library:
 * edits of a tool's schema, words, guarantee, approval, time limit and answers, of the agent and what it returns, of other
 * tools, of their questions and of the policy, while calls wait in sessions, below sessions and in trees, questions of tools
 * and of nodes are open, and a session listens until its time is over.
 *
 *   npx tsx --conditions=@reprise/source conformance/deployments.ts [--deployments 10000] [--seed N] [--keep-going]
 *
 * It ends with 1 when a decision was void in silence, a call ran with another meaning, or a person was asked needlessly.
 */
import { parseArgs } from 'node:util';
import { judge } from './deployments/judged.js';

const { values: options } = parseArgs({
  options: {
    deployments: { type: 'string', default: '10000' },
    seed: { type: 'string', default: String(Date.now() & 0x3fffffff) },
    'keep-going': { type: 'boolean', default: false },
  },
});
const seed = Number(options.seed);
const started = performance.now();
const found = await judge(Number(options.deployments), seed, { goesOn: options['keep-going'] });
for (const { one, why } of found.examples) console.error(`${why}\n${JSON.stringify(one)}`);
const { deployments, waits, voided, elsewhere, needless, other } = found;
console.log(
  `${deployments} deployments, ${waits} waits; seed ${seed}, ${Math.round((performance.now() - started) / 1_000)} s`,
);
console.log(
  `void in silence ${voided}, executed against another meaning ${elsewhere}, asked needlessly ${needless}, other ${other}`,
);
process.exitCode = voided + elsewhere + needless + other === 0 ? 0 : 1;
