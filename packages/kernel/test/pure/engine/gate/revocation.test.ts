/** Taking a right away from many: all of it ends, and nobody who is told is taken for a runaway. */
import { describe, expect, it, vi } from 'vitest';
import { openKernelWorld } from '../../../../src/index.js';
import { ENDINGS_AT_ONCE } from '../../../../src/pure/engine/leaf/bounds.js';
import { crashable } from '../../../support/crashable-store.js';
import { closeSound, framesOf, recordsOf } from '../../../support/judge.js';
import { ask, cell, kernel, lab, once, seen, sendMany, start } from '../../../support/lab.js';

const { app } = lab({
  /** What it says when it is told takes a tenth of what a cascade may give. */
  *use(input, plan) {
    const { code } = yield* plan.awaitReceipt(plan.emitEffect(once, input));
    const atLength = { steps: [['add', 1, 'w'.repeat(60_000)]] };
    for (let n = 0; n < 14; n++) plan.raiseEvent({ name: 'lab/Do@1', value: atLength });
    plan.raiseEvent({ name: 'lab/Got@1', value: { what: 'ended', value: code ?? null } });
  },
});

const { app: quiet } = lab({
  *use(input, plan) {
    yield* plan.awaitReceipt(plan.emitEffect(once, input));
  },
});

const CELLS = 12;
const NARROW = { holder: `cell:${cell('lead').join('/')}`, grant: { may: { effect: [] as string[] } } };

/** A lead with cells below, each with an effect that waits for approval. */
async function givenManyOpen() {
  const store = crashable();
  const policy = [{ effect: '*', decision: 'require_approval' } as const, { send: '*', decision: 'allow' } as const];
  const world = await openKernelWorld({ store, app, recheckEvery: 0, policy });
  await ask(world, 'lead', [sendMany(CELLS, 'x', start('use'))]);
  expect(await world.openEffects()).toHaveLength(CELLS);
  return { store, world };
}

type Given = Awaited<ReturnType<typeof givenManyOpen>>;

async function expectAllTold({ world, store }: Given, from: number): Promise<void> {
  for (let n = 0; n < CELLS; n++) expect((await seen(world, `x${n}`))?.at(-1)).toBe('ended="cap_denied/revoked"');
  expect(await world.openEffects()).toEqual([]);
  expect(await recordsOf(store, 'fault')).toEqual([]);
  const records = (await framesOf(store)).slice(from).flat();
  const lastEnd = records.findLastIndex(({ kind }) => kind === 'settled');
  const firstWord = records.findIndex((record) => record.kind === 'event' && record.event.name === 'lab/Got@1');
  expect(lastEnd).toBeLessThan(firstWord); // nobody goes on while something forbidden is open
  await closeSound(world, store, app);
}

describe('given open effects whose plans together send more than one cascade may', () => {
  it('when the operator revokes their right, every effect ends, every plan is notified, and no cell fails [GATE-19]', async () => {
    const given = await givenManyOpen();
    const { seq } = await given.world.command('sys/SetRights@1', NARROW);
    await expectAllTold(given, seq);
  });

  it('when a cell above revokes their right, every effect ends in the same way [GATE-19]', async () => {
    const given = await givenManyOpen();
    const { seq } = await ask(given.world, 'lead', [kernel('sys/SetRights@1', NARROW)]);
    await expectAllTold(given, seq);
  });
});

describe('given a world of which a snapshot was written', () => {
  it('the end of many effects reads no leaf for each of them', async () => {
    const store = crashable();
    const policy = [{ effect: '*', decision: 'require_approval' } as const, { send: '*', decision: 'allow' } as const];
    const world = await openKernelWorld({ store, app: quiet, recheckEvery: 0, policy });
    const begin = Array.from({ length: 20 }, () => start('use'));
    await ask(world, 'lead', [sendMany(3, 'x', ...begin)]);
    await world.snapshot();
    const asked = vi.spyOn(quiet.effects, 'get'); // each time that an effect is judged
    await world.command('sys/SetRights@1', NARROW);
    expect(await recordsOf(store, 'settled')).toHaveLength(60);
    expect(asked.mock.calls.length).toBeLessThan(60 * 4);
    asked.mockRestore();
    await closeSound(world, store, quiet);
  });
});

describe('given more open effects than one frame checks again', () => {
  it('however often rights change in a frame, it ends no more than its bound, and all end before the next input [GATE-19]', async () => {
    const store = crashable();
    const world = await openKernelWorld({
      store,
      app: quiet,
      recheckEvery: 1, // what waits for the next frame is read from bytes
      policy: [{ effect: '*', decision: 'require_approval' } as const, { send: '*', decision: 'allow' } as const],
    });
    const begin = Array.from({ length: 40 }, () => start('use'));
    for (let n = 0; n < 5; n++) await ask(world, 'lead', [sendMany(24, `x${n}.`, ...begin)]);
    const opened = (await world.openEffects()).length;
    expect(opened).toBeGreaterThan(ENDINGS_AT_ONCE);
    const nothing = { may: { effect: [] as string[] } };
    const { seq } = await ask(world, 'lead', [
      kernel('sys/SetRights@1', NARROW),
      kernel('sys/SetRights@1', { holder: `cell:${cell('x0.0').join('/')}`, exercise: nothing }),
    ]);
    await ask(world, 'lead', []);
    const frames = (await framesOf(store)).slice(seq);
    const ends = frames.map((records) => records.filter(({ kind }) => kind === 'settled').length);
    expect(Math.max(...ends)).toBe(ENDINGS_AT_ONCE);
    expect(ends.reduce((sum, count) => sum + count)).toBe(opened);
    const next = frames.findIndex(([ingress], at) => at > 0 && ingress?.kind === 'request');
    expect(ends.slice(next).every((count) => count === 0)).toBe(true);
    await closeSound(world, store, quiet);
  });
});
