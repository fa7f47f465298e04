/** A cell below another whose rights change: what the rights of both came to is forgotten with either of them. */
import assert from 'node:assert/strict';
import { seededRandom, VirtualClock } from '@reprise/testkit';
import { memory, openKernelWorld } from '../../src/index.js';
import { ask, cell, lab, once, sendMany, start } from '../support/lab.js';

const { app } = lab({
  *use(input, plan) {
    yield* plan.awaitReceipt(plan.emitEffect(once, input));
  },
});

const POLICY = [
  { effect: '*', decision: 'require_approval' },
  { send: '*', decision: 'allow' },
] as const;

/** Holds the effects that a cell may have to the rights of the cell above it. @throws Error when they differ */
export async function holdChains(): Promise<void> {
  const [store, clock, random] = [memory(), new VirtualClock(), seededRandom('chains')];
  await using world = await openKernelWorld({ store, app, clock, random, policy: POLICY });
  const open = async () => (await world.openEffects()).length;
  const rights = (of: string, side: 'exercise' | 'grant', effect: string[]) =>
    world.command('sys/SetRights@1', { holder: `cell:${cell(of).join('/')}`, [side]: { may: { effect } } });
  await ask(world, 'lead', [sendMany(1, 'x')]);
  await rights('x0', 'exercise', ['*']);
  await ask(world, 'x0', [start('use')]);
  assert.equal(await open(), 1, 'its rights permit an effect');
  await rights('lead', 'grant', []);
  assert.equal(await open(), 0, 'the right above it was taken back');
  await ask(world, 'x0', [start('use')]);
  assert.equal(await open(), 0, 'no further effect is permitted');
  await rights('lead', 'grant', ['*']);
  await ask(world, 'x0', [start('use')]);
  assert.equal(await open(), 1, 'the right above it was given again');
}
