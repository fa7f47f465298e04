/**
 * Scenarios × protocols × modes: fresh, replayed from genesis and from every snapshot, with each frame checked
 * as it is written, tampered with, and in another place. The mode `crash` is in `crash.test.ts`. The costly modes go
 * through a sample of the cases, a fourth of it for each change, and through some tamperings of each; all of it: `scripts/long/scenarios.ts`.
 */

import { agentApp } from '@reprise/agent';
import { creates, defineApp, defineReducer, openKernelWorld, verifyStore } from '@reprise/kernel';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ELSEWHERE, type Place, printedAt } from '../elsewhere.js';
import { spread, stepOf } from '../part.js';
import { quickMemory } from '../quick-memory.js';
import { randomFrom } from '../random.js';
import { type GoldenScenarios, readGoldens } from '../scenarios/goldens.js';
import type { ProfileName } from '../scenarios/profiles.js';
import { replay, tapeOf } from '../scenarios/run-scenario.js';
import { load, rechained, storeOf } from '../tamper/sample.js';
import { expectFound } from '../tamper/trials.js';
import { CASES, caseOf, freshOf, SAMPLED, titled } from './cases.js';
import { holdToGolden, holdToScenario } from './fresh.js';
import { findingNone, holdSnapshots, holdStates, snapshotsIn, statesAt, statesSinceGenesis } from './snapshots.js';
import { someOf, tamperings } from './tampering.js';

const SEED = 20_26;
const TAMPERINGS = 6;
const goldens = readGoldens();
const pinnedOf = ({ scenario, profile }: (typeof CASES)[number]) => goldens[scenario.name]?.[profile];

describe('fresh [MOD-2, DET-10]', () => {
  it('the pinned heads belong to the scenarios and to nothing else', () => {
    const pinned = Object.entries(goldens).flatMap(([name, own]) => Object.keys(own).map((at) => `${name} × ${at}`));
    expect(pinned.sort()).toEqual(CASES.map(({ title }) => title).sort());
  });

  it.each(titled(CASES))('%s', async (_, one) => {
    const replayed = await freshOf(one);
    holdToScenario(one, replayed);
    await holdToGolden(replayed, pinnedOf(one));
  });

  describe('mutants', () => {
    const one = caseOf('no-tool', 'openai-responses');

    it('a changed byte of an answer gives another run', async () => {
      const tape = changed(one, (exchange) => ({ pieces: exchange.pieces.map(said('Hello', 'Hallo')) }));
      const replayed = await replay(one.scenario, one.profile, { tape });
      expect(() => holdToScenario(one, replayed)).toThrow('Hallo');
      await expect(holdToGolden(replayed, pinnedOf(one))).rejects.toThrow('head');
    });

    it('a changed byte of a recorded request is found', async () => {
      const tape = changed(one, (exchange) => ({ request: said('Add.', 'Sum.')(exchange.request) }));
      await expect(replay(one.scenario, one.profile, { tape })).rejects.toThrow('is not the recorded one');
    });

    it('an additional recorded request is found as not sent', async () => {
      const tape = tapeOf(one.profile, one.scenario.name);
      await expect(replay(one.scenario, one.profile, { tape: [...tape, ...tape] })).rejects.toThrow('were not made');
    });

    it('a changed digit of a golden head is found', async () => {
      const pinned = pinnedOf(one);
      const other = pinned && { ...pinned, head: pinned.head.replace(/^./, (digit) => (digit === '0' ? '1' : '0')) };
      await expect(holdToGolden(await freshOf(one), other)).rejects.toThrow('head');
    });
  });
});

describe('genesis [RPL-1]', () => {
  it.each(titled(CASES))('%s', async (_, one) => {
    const { store } = await freshOf(one);
    const head = pinnedOf(one)?.head ?? 'none is pinned';
    const { replayed, unverified, frames } = await verifyStore(await store.openReadonly(), {
      app: agentApp,
      expect: head,
    });
    expect([replayed, unverified]).toEqual([frames, 0]);
  });

  it('mutant: a request of another event, all heads made to fit, cannot be replayed', async () => {
    const { frames, blobs } = await load(
      await (await freshOf(caseOf('no-tool', 'openai-responses'))).store.openReadonly(),
    );
    const at = frames.findIndex(({ kind }) => kind === 'request');
    const forged = frames.map((frame, i) =>
      i === at ? { ...frame, bytes: said('AgentAdopted', 'AgentAbopted')(frame.bytes) } : frame,
    );
    const verified = verifyStore(storeOf({ frames: rechained(forged), blobs }), { app: agentApp });
    await expect(verified).rejects.toMatchObject({ code: 'replay_divergence' });
  });
});

describe('thorough [RPL-29]', () => {
  it.each(titled(spread(4, SAMPLED)))('%s', async (_, one) => {
    const { store } = await freshOf(one);
    // The frames were written, and are replayed here, from kept values; thoroughly, each is folded from bytes.
    const kept = await verifyStore(await store.openReadonly(), { app: agentApp });
    expect(await verifyStore(await store.openReadonly(), { app: agentApp, thorough: true })).toEqual(kept);
  });
});

describe('snapshots [RPL-9]', () => {
  it.each(titled(spread(4, SAMPLED)))('%s', async (_, one) => {
    const { store } = await freshOf(one);
    expect(await holdSnapshots(await store.openReadonly())).toBeGreaterThan(0);
  });

  describe('mutants', () => {
    const pastOf = async (profile: ProfileName) => (await freshOf(caseOf('single-tool', profile))).store.openReadonly();

    it('the states of another world differ from those since genesis', async () => {
      const [one, other] = await Promise.all([pastOf('openai-responses'), pastOf('openai-compatible')]);
      const states = await Promise.all([statesSinceGenesis(one), statesSinceGenesis(other)]);
      expect(() => holdStates(...states, 0)).toThrow(/the state after frame \d+ is another/);
    });

    it('a snapshot at the end of the journal is checked as well', async () => {
      const past = await pastOf('openai-responses');
      const genesis = await statesSinceGenesis(past);
      const last = genesis.size - 1;
      const since = await statesAt(past, [last]);
      holdStates(genesis, since, last);
      const forged = new Map([[last, genesis.get(0) as string]]);
      expect(() => holdStates(genesis, forged, last)).toThrow(`the state after frame ${last} is another`);
    });

    it('a replay that begins elsewhere than at the snapshot is detected', async () => {
      const past = await pastOf('openai-responses');
      const [first] = await snapshotsIn(past);
      const begun = holdSnapshots({ ...past, journal: findingNone(past.journal) });
      await expect(begun).rejects.toThrow(`the snapshot at ${first} was not begun at`);
    });
  });
});

describe('recheck', () => {
  it.each(titled(spread(4, SAMPLED)))('%s', async (_, one) => {
    const replayed = await replay(one.scenario, one.profile, { recheckEvery: 1 });
    await holdToGolden(replayed, pinnedOf(one));
  });

  it('mutant: a reducer that counts outside its state is refused [DET-6]', async () => {
    let count = 0;
    const cell = defineReducer({
      name: 'mutant/Count@1',
      state: z.strictObject({ count: z.int() }),
      events: { 'mutant/Counted@1': creates(z.strictObject({})) },
      init: () => ({ count: 0 }),
      reduce: (draft) => {
        draft.count = ++count;
      },
    });
    const app = defineApp({ reducers: [cell] });
    await using world = await openKernelWorld({ store: quickMemory(), app, recheckEvery: 1 });
    const counted = world.request([cell.name, 'c'], { name: 'mutant/Counted@1', value: {} });
    await expect(counted).rejects.toMatchObject({ code: 'nondeterminism' });
  });
});

describe(`tamper (seed ${SEED}) [JRN-21, RPL-6]`, () => {
  it.each(titled(spread(4, SAMPLED)))('%s', async (_, one) => {
    const random = randomFrom(Math.imul(SEED, 7919) + CASES.indexOf(one));
    const trials = await tamperings(await (await freshOf(one)).store.openReadonly(), 2, random);
    for (const trial of someOf(trials, TAMPERINGS, random)) await expectFound(trial);
  });

  it('mutant: an unchanged world is not reported as damaged', async () => {
    const sample = await load(await (await freshOf(caseOf('no-tool', 'openai-responses'))).store.openReadonly());
    await expect(expectFound({ what: 'nothing', place: 0, sample })).rejects.toThrow('not found');
  });
});

describe('elsewhere [DET-9]', () => {
  const heads = check(ELSEWHERE);

  it.each(titled(CASES))('%s', async (_, one) => {
    const elsewhere = (await heads) as GoldenScenarios;
    expect(elsewhere[one.scenario.name]?.[one.profile]).toEqual(pinnedOf(one));
  });

  it.each(
    (
      [
        ['time', { TZ: ELSEWHERE.TZ }],
        ['words', { LANG: ELSEWHERE.LANG, LC_ALL: ELSEWHERE.LC_ALL }],
      ] as const
    ).slice(0, 2 / stepOf(2)),
  )('mutant: a tool that answers in local %s gives another head there', async (what, there) => {
    const here = { TZ: 'UTC', LANG: 'C', LC_ALL: 'C' };
    const [one, other] = await Promise.all([here, { ...here, ...there }].map((env) => check(env, '--local', what)));
    expect(one).not.toEqual(other);
  });
});

/** The results of a process in another place. */
async function check(place: Place, ...flags: string[]): Promise<unknown> {
  return JSON.parse(await printedAt(place, new URL('../scenarios/check.ts', import.meta.url), '--json', ...flags));
}

type Exchange = ReturnType<typeof tapeOf>[number];

/** The tape of a case with its first exchange changed. */
function changed(
  { scenario, profile }: (typeof CASES)[number],
  change: (exchange: Exchange) => Partial<Exchange>,
): Exchange[] {
  return tapeOf(profile, scenario.name).map((exchange, i) =>
    i === 0 ? { ...exchange, ...change(exchange) } : exchange,
  );
}

/** Bytes with words exchanged for others of the same length. */
function said(words: string, others: string): (bytes: Uint8Array) => Uint8Array {
  return (bytes) => {
    const text = Buffer.from(bytes).toString('latin1').replaceAll(words, others);
    return new Uint8Array(Buffer.from(text, 'latin1'));
  };
}
