/**
 * The laws of authority over random lattices, chains of grants and ledgers, in the long form:
 *
 *   npx tsx --conditions=@reprise/source scripts/long/authority.ts [--runs 1000000] [--seed N]
 *
 * A run is one lattice law over three capabilities, or one revocation in a tree of holders; every twentieth comes with
 * a ledger of accounts under random work. All are reserved to models that are written without the code they judge. Cases
 * come in batches, each with a seed of its own; a failure shows the smallest case that was found and the command for
 * its batch alone. In the end the bare functions are timed, on capabilities as large as people write them.
 */
import { parseArgs } from 'node:util';
import type { Account, Capability, Rights } from '@reprise/contracts';
import { effectiveExercise, reserve as holdAmounts, meet, permits, settle } from '@reprise/kernel/authority';
import fc from 'fast-check';
import {
  anyCapability,
  anyTree,
  judgeLattice,
  judgeTree,
  OURS,
} from '../../packages/kernel/test/pure/authority/capabilities.js';
import { anyWork, judgeWork, OURS as OUR_LEDGER } from '../../packages/kernel/test/pure/authority/ledgers.js';
import { hold } from '../../packages/kernel/test/support/laws/hold.js';

/** Small enough to say where a run stands every few seconds, and to run one again. */
const BATCH = 50_000;

const COMMAND = 'npx tsx --conditions=@reprise/source scripts/long/authority.ts';

const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: String(Date.now() & 0x7fffffff) },
  },
});
const [runs, seed] = [Number(options.runs), Number(options.seed)];
const started = performance.now();
const sum = {
  lattices: 0,
  trees: 0,
  revocations: 0,
  effective: 0,
  ledgers: 0,
  granted: 0,
  refused: 0,
  settled: 0,
  late: 0,
};
console.log(`authority, long form: ${runs} lattices and revocations, seed ${seed}`);

const lattices = fc.property(anyCapability, anyCapability, anyCapability, (a, b, c) => {
  judgeLattice(OURS, a, b, c);
  sum.lattices++;
});
const trees = fc.property(anyTree, (tree) => {
  sum.effective += judgeTree(OURS, tree);
  sum.revocations += tree.revocations.length;
  sum.trees++;
});
const ledgers = fc.property(anyWork, (work) => {
  const { granted, refused, settled, late } = judgeWork(OUR_LEDGER, work);
  sum.granted += granted;
  sum.refused += refused;
  sum.settled += settled;
  sum.late += late;
  sum.ledgers++;
});

for (let batch = 0; sum.lattices + sum.revocations < runs; batch++) {
  const numRuns = Math.min(BATCH, runs - sum.lattices - sum.revocations);
  const batchSeed = (seed + batch) | 0;
  const command = `${COMMAND} --runs ${numRuns} --seed ${batchSeed}`;
  // Half of a batch are lattices; a tree has two revocations on average, and two are as many holders to compute again.
  await hold(lattices, { numRuns: Math.ceil(numRuns / 2), seed: batchSeed, command });
  await hold(trees, { numRuns: Math.ceil(numRuns / 4), seed: batchSeed, command });
  await hold(ledgers, { numRuns: Math.ceil(numRuns / 20), seed: batchSeed, command });
  console.log(`${sum.lattices + sum.revocations} of ${runs}, ${seconds()} s`);
}

console.log(
  `authority, long form: ok; ${sum.lattices} lattices, ${sum.revocations} revocations in ${sum.trees} trees with ` +
    `${sum.effective} effective capabilities; ${sum.ledgers} ledgers: ${sum.granted} holds granted, ${sum.refused} refused, ` +
    `${sum.settled} settlements, ${sum.late} late reports; seed ${seed}, ${seconds()} s`,
);
for (const [what, run] of Object.entries(timed()))
  console.log(`${what}: ${perSecond(run).toLocaleString('en')} a second`);

/** The bare functions on what people write: a dozen names in each of three dimensions, eight holders, eight accounts. */
function timed(): Record<string, () => unknown> {
  const named = (kind: string): string[] =>
    Array.from({ length: 12 }, (_, i) => `${kind}.${i % 3}.name-${i}${i % 4 === 0 ? '*' : '@1'}`);
  const one: Capability = { may: { effect: named('llm'), tool: named('fs'), send: ['shop/*'] }, max_parallel: 4 };
  const other: Capability = {
    may: { effect: ['llm.0*', 'llm.1*'], tool: named('fs'), read: ['shop/*'] },
    expires_at: 9,
  };
  const chain: Rights[] = Array.from({ length: 8 }, (_, i) => ({ exercise: i % 2 === 0 ? one : other }));
  const accounts: Account[] = Array.from({ length: 8 }, () => ({
    parent: null,
    limits: { tokens: 1e9 },
    spent: {},
    reserved: {},
  }));
  const ask = { tokens: 1_000, calls: 1, parallel: 1 };
  const reserved = holdAmounts(accounts, ask);
  return {
    permits: () => permits(one, 'tool', 'fs.2.name-11@1'),
    meet: () => meet(one, other),
    'effectiveExercise of 8 holders': () => effectiveExercise(chain),
    'hold at 8 accounts': () => holdAmounts(accounts, ask),
    'settle at 8 accounts': () => reserved.ok && settle(reserved.chain, ask, { tokens: 700, calls: 1 }),
  };
}

function perSecond(run: () => unknown): number {
  const began = performance.now();
  let times = 0;
  for (let ms = 0; ms < 500; ms = performance.now() - began) for (let i = 0; i < 200; i++, times++) run();
  return Math.round((times / (performance.now() - began)) * 1000);
}

function seconds(): string {
  return ((performance.now() - started) / 1000).toFixed(0);
}
