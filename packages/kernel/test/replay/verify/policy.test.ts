import type { PolicyRule } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import { openKernelWorld } from '../../../src/index.js';
import { crashable } from '../../support/crashable-store.js';
import { closeSound, recordsOf } from '../../support/judge.js';
import { again, ask, lab, once, seen, start, tellCell } from '../../support/lab.js';
import { ok, outside } from '../../support/outside.js';
import { TestClock } from '../../support/test-clock.js';

const { app } = lab({
  *pay(input, plan) {
    const { status, code } = yield* plan.awaitReceipt(plan.emitEffect(once, input));
    tellCell(plan, 'pay', [status, code ?? null]);
  },
  *look(input, plan) {
    const { status, code } = yield* plan.awaitReceipt(plan.emitEffect(again, input));
    tellCell(plan, 'look', [status, code ?? null]);
  },
});

const ALLOW: readonly PolicyRule[] = [
  { effect: '*', decision: 'allow' },
  { send: '*', decision: 'allow' },
];
const FORBID: readonly PolicyRule[] = [{ effect: once.name, decision: 'deny' }, ...ALLOW];

function given() {
  const store = crashable();
  const clock = new TestClock();
  const adapters = [outside(once), outside(again)] as const;
  const open = (policy?: readonly PolicyRule[]) =>
    openKernelWorld({ store, app, clock, adapters, drive: 'manual', recheckEvery: 1, ...(policy && { policy }) });
  return { store, adapters, open };
}

describe('given a world that is opened with another policy', () => {
  it('an effect that the new policy forbids ends in the frame that begins the era, and the rest continues [RPL-18]', async () => {
    const { store, adapters, open } = given();
    adapters[1].answerAll(() => ok({ got: 1 }));
    const first = await open(ALLOW);
    await ask(first, 'x', [start('pay'), start('look')]);
    await first.close();
    const second = await open(FORBID);
    const [settled] = await recordsOf(store, 'settled');
    expect([settled?.status, settled?.code, settled?.by]).toEqual(['denied', 'policy_denied', 'gate']);
    expect((await recordsOf(store, 'manifest')).map(({ policy }) => policy.length)).toEqual([2, 3]);
    await second.pump();
    expect(adapters[0].calls).toHaveLength(0);
    expect(await seen(second, 'x')).toEqual(['pay=["denied","policy_denied"]', 'look=["ok",null]']);
    await closeSound(second, store, app);
  });

  it('an effect that the new policy does not mention ends as if it were forbidden [RPL-18]', async () => {
    const { store, adapters, open } = given();
    const first = await open(ALLOW);
    await ask(first, 'x', [start('pay'), start('look')]);
    await first.close();
    const second = await open([
      { effect: again.name, decision: 'allow' },
      { send: '*', decision: 'allow' },
    ]);
    adapters[1].answerAll(() => ok({ got: 1 }));
    await second.pump();
    expect(await seen(second, 'x')).toEqual(['pay=["denied","policy_denied"]', 'look=["ok",null]']);
    expect(adapters[0].calls).toHaveLength(0);
    await closeSound(second, store, app);
  });

  it('the era continues when the policy is the same or absent [RPL-12]', async () => {
    const { store, open } = given();
    for (const policy of [FORBID, FORBID, undefined]) {
      const world = await open(policy);
      await ask(world, 'x', [start('pay')]);
      await world.close();
    }
    expect(await recordsOf(store, 'manifest')).toHaveLength(1);
    const world = await open();
    expect(await seen(world, 'x')).toEqual(new Array(3).fill('pay=["denied","policy_denied"]'));
    await closeSound(world, store, app);
  });

  it('a wider policy leaves refused effects refused, and allows the next one [RPL-18]', async () => {
    const { store, adapters, open } = given();
    adapters[0].answerAll(() => ok({ got: 1 }));
    const first = await open(FORBID);
    await ask(first, 'x', [start('pay')]);
    await first.close();
    const second = await open(ALLOW);
    await ask(second, 'x', [start('pay')]);
    await second.pump();
    expect(await seen(second, 'x')).toEqual(['pay=["denied","policy_denied"]', 'pay=["ok",null]']);
    await closeSound(second, store, app);
  });
});
