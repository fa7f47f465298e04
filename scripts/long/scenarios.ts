/**
 * Scenarios × protocols × modes, with nothing left out:
 *
 *   npx tsx --conditions=@reprise/source scripts/long/scenarios.ts [--only SCENARIO] [--pairs 6] [--flips 8] [--seed N]
 *
 * Each case is replayed and held to its golden head, replayed from genesis and from every snapshot, with each
 * frame checked as it is written; killed around every append and at every start of something outside; killed again at
 * so many seeded places while it recovers from another; and tampered with: so many bits of every frame and blob, every
 * frame removed, repeated, exchanged.
 */
import assert from 'node:assert/strict';
import { parseArgs } from 'node:util';
import { agentApp } from '@reprise/agent';
import { verifyStore } from '@reprise/kernel';
import { CASES, type Case, freshOf } from '../../conformance/modes/cases.js';
import { blowsOf, survive } from '../../conformance/modes/crash.js';
import { holdToGolden, holdToScenario } from '../../conformance/modes/fresh.js';
import type { Blow } from '../../conformance/modes/mortal.js';
import { holdSnapshots } from '../../conformance/modes/snapshots.js';
import { tamperings } from '../../conformance/modes/tampering.js';
import { randomFrom } from '../../conformance/random.js';
import { readGoldens } from '../../conformance/scenarios/goldens.js';
import { replay } from '../../conformance/scenarios/run-scenario.js';
import { expectFound } from '../../conformance/tamper/trials.js';
import { holdReplay } from '../../packages/kernel/test/replay/verify/replay-law.js';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    pairs: { type: 'string', default: '6' },
    flips: { type: 'string', default: '8' },
    seed: { type: 'string', default: String(Date.now() & 0x7fffffff) },
  },
});
const [seed, pairs, flips] = [Number(options.seed), Number(options.pairs), Number(options.flips)];
const goldens = readGoldens();
const sum = { cases: 0, frames: 0, snapshots: 0, blows: 0, pairs: 0, tamperings: 0 };
const began = performance.now();
const seconds = () => `${((performance.now() - began) / 1000).toFixed(0)} s`;

async function holdPerformances(one: Case): Promise<void> {
  const pinned = goldens[one.scenario.name]?.[one.profile];
  const fresh = await freshOf(one);
  holdToScenario(one, fresh);
  await holdToGolden(fresh, pinned);
  await holdToGolden(await replay(one.scenario, one.profile, { recheckEvery: 1 }), pinned);
  const report = await verifyStore(await fresh.store.openReadonly(), { app: agentApp });
  assert.equal(report.replayed, report.frames);
  sum.snapshots += await holdSnapshots(await fresh.store.openReadonly());
  await holdReplay(await fresh.store.openReadonly(), { app: agentApp });
  sum.frames += report.frames;
}

async function strike(one: Case, random: () => number): Promise<void> {
  const blows = await blowsOf(one);
  for (const blow of blows) await survive(one, [blow]);
  sum.blows += blows.length;
  for (let i = 0; i < pairs; i++) {
    const first = blows[Math.floor(random() * blows.length)] as Blow;
    // Whatever is left to do, opening what was left behind takes a process at least one append.
    const again: Blow = { step: 'append', n: 1, side: random() < 0.5 ? 'before' : 'after' };
    await survive(one, [first, again]);
    sum.pairs++;
  }
}

async function tamper(one: Case, random: () => number): Promise<void> {
  const { store } = await freshOf(one);
  for (const trial of await tamperings(await store.openReadonly(), flips, random)) {
    await expectFound(trial);
    sum.tamperings++;
  }
}

console.log(`scenarios, long form: ${CASES.length} cases, seed ${seed}`);
for (const [i, one] of CASES.entries()) {
  if (options.only !== undefined && options.only !== one.scenario.name) continue;
  const random = randomFrom(Math.imul(seed, 7919) + i);
  await holdPerformances(one);
  await strike(one, random);
  await tamper(one, random);
  sum.cases++;
  console.log(`${one.title}: ok; ${seconds()}`);
}
if (sum.cases === 0) throw new Error(`there is no scenario ${options.only}`);
console.log(
  `scenarios, long form: ok; ${sum.cases} cases, ${sum.frames} frames, ${sum.snapshots} snapshots; killed ${sum.blows} times ` +
    `once and ${sum.pairs} times twice; ${sum.tamperings} tamperings found, each in its place; seed ${seed}, ${seconds()}`,
);
process.exit();
