/** Taking a right away from very many: all of it ends, nobody is taken for a runaway, and each costs what one costs. */
import { encode } from '@reprise/kernel';
import { describe, expect, it } from 'vitest';
import { memory, openWorld, type Store, verifyStore, type World } from '../../src/index.js';
import { framesOf, recordsOf } from '../support/judge.js';
import { add, ask, cell, kernel, lab, numberOf, once, sendMany, start, when } from '../support/lab.js';

const { app } = lab({
  *use(input, plan) {
    const { code } = yield* plan.awaitReceipt(plan.emitEffect(once, input));
    plan.raiseEvent({ name: 'lab/Got@1', value: { what: code ?? 'none', value: null } });
  },
});

const CELLS = 260;
const EACH = 20;
const EFFECTS = CELLS * EACH;
const NARROW = { holder: `cell:${cell('lead').join('/')}`, grant: { may: { effect: [] as string[] } } };

/** A lead with many cells below, each with effects that wait for approval: more than half of what a cascade may be. */
async function givenManyOpen(): Promise<{ store: Store; world: World }> {
  const store = memory();
  const world = await openWorld({
    store,
    app,
    recheckEvery: 0,
    policy: [{ effect: '*', decision: 'require_approval' }],
  });
  const begin = Array.from({ length: EACH }, (_, n) => start('use', n));
  await ask(world, 'lead', [sendMany(CELLS, 'x', when('cap_denied/revoked', add(1)), ...begin)]);
  expect(await world.openEffects()).toHaveLength(EFFECTS);
  return { store, world };
}

async function expectAllTold(world: World, store: Store, from: number): Promise<void> {
  const told = await Promise.all(Array.from({ length: CELLS }, (_, n) => numberOf(world, `x${n}`)));
  expect(new Set(told)).toEqual(new Set([EACH]));
  expect(await world.openEffects()).toEqual([]);
  expect(await recordsOf(store, 'fault')).toEqual([]);
  expect((await recordsOf(store, 'plan_ended')).map(({ status }) => status)).toEqual(Array(EFFECTS).fill('ok'));
  const frames = (await framesOf(store)).slice(from);
  const records = frames.flat();
  const lastEnd = records.findLastIndex(({ kind }) => kind === 'settled');
  const firstEnded = records.findIndex(({ kind }) => kind === 'plan_ended');
  expect(lastEnd).toBeLessThan(firstEnded); // nobody goes on while something forbidden is open
  expect(Math.max(...frames.map((frame) => encode(frame, 64).length))).toBeLessThan(4 * 1024 * 1024);
  await world.close();
  const reading = await store.openReadonly();
  await verifyStore(reading, { app });
  await reading.close();
}

describe('given more open effects than a cascade has deliveries for', () => {
  it('when the host takes their right away, then each ends, each plan is told, and no cell fails', async () => {
    const { store, world } = await givenManyOpen();
    const { seq } = await world.command('sys/SetRights@1', NARROW);
    await expectAllTold(world, store, seq);
  }, 60_000);

  it('when a cell above takes it away, then the same', async () => {
    const { store, world } = await givenManyOpen();
    const { seq } = await ask(world, 'lead', [kernel('sys/SetRights@1', NARROW)]);
    await expectAllTold(world, store, seq);
  }, 60_000);
});
