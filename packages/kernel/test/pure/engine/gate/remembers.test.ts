/** Approvals that are remembered for one value of a parameter, such as the digest of what was approved. */

import type { PolicyRule } from '@reprise/contracts';
import { value } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineEffect, openKernelWorld } from '../../../../src/index.js';
import { crashable } from '../../../support/crashable-store.js';
import { closeSound, codeOf } from '../../../support/judge.js';
import { ask, cell, lab, seen, start, tellCell } from '../../../support/lab.js';
import { ok, outside } from '../../../support/outside.js';
import { TestClock } from '../../../support/test-clock.js';

const effectWith = (params: z.ZodObject) =>
  defineEffect({
    kind: 'desk.say@1',
    params: params as never,
    receipt: z.strictObject({ got: value() }),
    subject: 'who',
    remembers: 'text',
  });

const say = effectWith(z.strictObject({ who: z.string(), text: z.exactOptional(z.string()) }));

const appOf = (effect: typeof say) =>
  lab(
    {
      *say(input, plan) {
        const { status } = yield* plan.awaitReceipt(plan.emitEffect(effect, input as never));
        tellCell(plan, 'said', status);
      },
    },
    [effect],
  ).app;
const app = appOf(say);

const POLICY: readonly PolicyRule[] = [
  { effect: 'desk.say@1#no', decision: 'deny' },
  { effect: say.name, decision: 'require_approval' },
  { send: '*', decision: 'allow' },
];

const ANN = { as: 'human:ann' } as const;

async function given() {
  const store = crashable();
  const adapter = outside(say);
  adapter.answerAll(() => ok({ got: 0 }));
  const open = (of = app, by = adapter, policy = POLICY) =>
    openKernelWorld({ store, app: of, clock: new TestClock(), policy, adapters: [by] });
  return { store, adapter, open, world: await open() };
}

describe('an effect whose approvals are remembered for one value', () => {
  it('a remembered approval covers the same value only, and rules see the subject without it [GATE-38]', async () => {
    const { store, adapter, world } = await given();
    const says = (params: Readonly<Record<string, string>>) => ask(world, 'x', [start('say', params)]);
    await says({ who: 'ann', text: 'hello' });
    const [first] = await world.pending();
    await world.decide(first as never, { approve: true, remember: { until: null } }, ANN);
    for (const text of ['hello', 'bye', 'hello#', undefined])
      await says(text === undefined ? { who: 'ann' } : { who: 'ann', text });
    await says({ who: 'bob', text: 'hello' });
    await says({ who: 'no', text: 'hello' });
    await world.pump();
    expect(adapter.calls.map(({ params }) => params)).toEqual([
      { who: 'ann', text: 'hello' },
      { who: 'ann', text: 'hello' },
    ]);
    expect((await world.pending()).map(({ value: params }) => params)).toEqual([
      { who: 'ann', text: 'bye' },
      { who: 'ann', text: 'hello#' },
      { who: 'ann' },
      { who: 'bob', text: 'hello' },
    ]);
    expect((await seen(world, 'x'))?.at(-1)).toBe('said="denied"');
    await closeSound(world, store, app);
  });

  it.each(['desk.say@1', 'desk.say@1#ann', 'desk.say@1#ann#*', '*'])(
    'a remembered name such as %s, without the value, covers nothing [GATE-38]',
    async (name) => {
      const { store, adapter, world } = await given();
      await world.command('sys/SetRights@1', { holder: `cell:${cell('x').join('/')}`, approved: [[name, null]] });
      await ask(world, 'x', [start('say', { who: 'ann', text: 'hello' })]);
      await world.pump();
      expect([adapter.calls.length, (await world.pending()).length]).toEqual([0, 1]);
      await closeSound(world, store, app);
    },
  );

  it.each(['ann#hello', 'hello*', '*'])(
    'an approval of the value %s, whose name would cover something else, is not remembered [GATE-38]',
    async (text) => {
      const { store, adapter, world } = await given();
      await ask(world, 'x', [start('say', { who: 'ann', text })]);
      const [item] = await world.pending();
      const remember = { approve: true, remember: { until: null } } as const;
      expect(await codeOf(world.decide(item as never, remember, ANN))).toBe('invalid_argument');
      expect([adapter.calls.length, (await world.pending()).length]).toEqual([0, 1]);
      await closeSound(world, store, app);
    },
  );

  it('an approval of an effect without the value is not remembered, and the effect waits on', async () => {
    const { store, world } = await given();
    await ask(world, 'x', [start('say', { who: 'ann' })]);
    const [item] = await world.pending();
    const remember = { approve: true, remember: { until: null } } as const;
    expect(await codeOf(world.decide(item as never, remember, ANN))).toBe('invalid_argument');
    expect(await world.pending()).toHaveLength(1);
    await closeSound(world, store, app);
  });

  it('an approval of parameters that a changed definition does not take is refused, and the effect waits on [GATE-39]', async () => {
    const { adapter, world, open } = await given();
    await ask(world, 'x', [start('say', { who: 'ann' })]);
    await world.close();
    const other = await open(app, adapter, POLICY.slice(1)); // an era of its own, in which no call was emitted
    await other.close();
    const changed = effectWith(z.strictObject({ who: z.string(), text: z.string() }));
    const again = outside(changed);
    again.answerAll(() => ok({ got: 0 }));
    const later = await open(appOf(changed), again, POLICY.slice(1));
    const [item] = await later.pending();
    expect(await codeOf(later.decide(item as never, { approve: true }, ANN))).toBe('event_invalid');
    expect(await later.pending()).toHaveLength(1);
    await later.decide(item as never, { approve: true, params: { who: 'ann', text: 'hello' } }, ANN);
    await later.pump();
    expect(again.calls.map(({ params }) => params)).toEqual([{ who: 'ann', text: 'hello' }]);
    await later.close();
  });
});
