/**
 * Random sequences of verdicts of a parent on the items of its agents, in one world: after each verdict the agent's tier is
 * that of an exact fraction, and its effective rights are those that are compiled for that tier.
 *
 *   npx tsx --conditions=@reprise/source conformance/society-trust.ts [--sequences 300] [--seed N] [--mutant late]
 *
 * With --mutant late the tier of the verdict before is expected: a disagreement must be found.
 */
import { parseArgs } from 'node:util';
import { judgeSequences } from './society/verdicts.js';

const { values: options } = parseArgs({
  options: {
    sequences: { type: 'string', default: '300' },
    seed: { type: 'string', default: '26' },
    mutant: { type: 'string', default: '' },
  },
});
const asked = Number(options.sequences);
const found = await judgeSequences(asked, Number(options.seed), options.mutant === 'late');
for (const line of found.first === undefined ? [] : [found.first]) console.error(line);
console.log(`${found.verdicts} verdicts, tiers seen: ${[...found.tiers].sort().join(', ')}; seed ${options.seed}`);
console.log(`${found.sequences} sequences, ${found.disagreements} disagreements`);
process.exitCode = found.disagreements === 0 && found.sequences === asked ? 0 : 1;
