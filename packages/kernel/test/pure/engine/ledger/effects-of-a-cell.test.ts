/** What a cell can do about the effects of its plans, and what it is told of them. */

import type { PolicyRule } from '@reprise/contracts';
import { NOTICES, value } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { creates, defineApp, defineEffect, definePlan, defineReducer, openKernelWorld } from '../../../../src/index.js';
import { crashable } from '../../../support/crashable-store.js';
import { closeSound } from '../../../support/judge.js';
import { ok, outside } from '../../../support/outside.js';
import { TestClock } from '../../../support/test-clock.js';

const call = defineEffect({
  kind: 'desk.call@1',
  params: z.strictObject({ who: z.string() }),
  receipt: z.strictObject({ got: value() }),
  subject: 'who',
});

const order = z.strictObject({ calls: z.array(z.string()), approval: z.boolean() });

const ring = definePlan({
  name: 'desk/ring_plan@1',
  input: order,
  effects: [call],
  *run({ calls, approval }, plan) {
    const handles = calls.map((who) =>
      plan.emitEffect(call, { who }, approval ? { approval: { to: 'human:a*' } } : {}),
    );
    for (const [i, handle] of handles.entries()) {
      const { status, attempts } = yield* plan.awaitReceipt(handle);
      plan.raiseEvent({ name: 'desk/Heard@1', value: { what: `${calls[i]} ${status} ${attempts}` } });
    }
  },
});

const heard = z.strictObject({ what: z.string() });

const desk = defineReducer({
  name: 'desk/Desk@1',
  state: z.strictObject({ heard: z.array(z.string()), plan: z.int() }),
  events: {
    'desk/Order@1': creates(order),
    'desk/Stop@1': z.strictObject({ graceMs: z.int() }),
    'desk/Heard@1': heard,
    'sys/EffectWaiting@1': NOTICES['sys/EffectWaiting@1'],
    'sys/EffectGoesOn@1': NOTICES['sys/EffectGoesOn@1'],
    'sys/EffectLate@1': NOTICES['sys/EffectLate@1'],
  },
  init: () => ({ heard: [], plan: -1 }),
  reduce(draft, event, ctx) {
    switch (event.name) {
      case 'desk/Order@1':
        draft.plan = ctx.emit({ plan: ring, input: event.value });
        return;
      case 'desk/Stop@1':
        return ctx.stop(draft.plan, event.value);
      case 'desk/Heard@1':
        draft.heard.push(event.value.what);
        return;
      case 'sys/EffectWaiting@1':
        draft.heard.push(`waits for ${event.value.for} by ${event.value.to}`);
        return;
      case 'sys/EffectGoesOn@1':
        draft.heard.push('goes on');
        return;
      default:
        draft.heard.push(`late ${event.value.settled} ${event.value.status} ${JSON.stringify(event.value.params)}`);
    }
  },
});

const app = defineApp({ reducers: [desk], plans: [ring] });
const DESK = ['desk/Desk@1', 'd'] as const;

async function given(policy?: readonly PolicyRule[]) {
  const clock = new TestClock();
  const store = crashable();
  const adapter = outside(call);
  const world = await openKernelWorld({
    store,
    app,
    clock,
    recheckEvery: 1,
    adapters: [adapter],
    ...(policy === undefined ? {} : { policy }),
  });
  const tell = (name: string, what: unknown) => world.request([...DESK], { name, value: what });
  const words = async () => ((await world.state([...DESK])) as unknown as { heard: string[] }).heard;
  const quiet = async () => {
    for (let i = 0; i < 10; i++) await new Promise((resolve) => setImmediate(resolve));
  };
  return { clock, store, adapter, world, tell, words, quiet };
}

describe('a cell that stops the open effects of its plan', () => {
  it('a plan is informed of each stopped effect: waiting ones at once, a running one after its grace', async () => {
    const { clock, store, adapter, world, tell, words, quiet } = await given();
    await tell('desk/Order@1', { calls: Array.from({ length: 9 }, (_, i) => `n${i}`), approval: false });
    await adapter.call(7); // eight places: the ninth waits
    await tell('desk/Stop@1', { graceMs: 1_000 });
    await quiet();
    expect(adapter.calls.every(({ context }) => context.signal.aborted)).toBe(true);
    adapter.calls[0]?.answer(ok({ got: 0 }));
    await quiet();
    clock.advance(1_000);
    await quiet();
    const told = await words();
    expect(told).toHaveLength(9);
    expect(told[0]).toBe('n0 ok 1');
    expect(told[1]).toBe('n1 cancelled 1');
    expect(told[8]).toBe('n8 cancelled 0');
    expect(adapter.calls).toHaveLength(8);
    adapter.calls[1]?.answer(ok({ got: 1 }));
    await quiet();
    expect((await words()).at(-1)).toBe('late cancelled ok {"who":"n1"}');
    for (const { answer } of adapter.calls) answer(ok({ got: 0 }));
    await closeSound(world, store, app);
  });

  it('stopping the effects of an ended plan does nothing', async () => {
    const { store, adapter, world, tell, words, quiet } = await given();
    adapter.answerAll(() => ok({ got: 0 }));
    await tell('desk/Order@1', { calls: ['a'], approval: false });
    await quiet();
    await tell('desk/Stop@1', { graceMs: 0 });
    expect(await words()).toEqual(['a ok 1']);
    await closeSound(world, store, app);
  });
});

describe('a plan that requests approval for its effect', () => {
  it('an effect that the policy allows waits for the person that its plan names, and its cell is notified', async () => {
    const { store, adapter, world, tell, words, quiet } = await given();
    adapter.answerAll(() => ok({ got: 0 }));
    await tell('desk/Order@1', { calls: ['ann'], approval: true });
    await quiet();
    expect(adapter.calls).toHaveLength(0);
    const [item] = await world.pending();
    expect(item).toMatchObject({ kind: 'approval', to: 'human:a*' });
    await world.decide(item as never, { approve: true }, { as: 'human:ann' });
    await quiet();
    expect(await words()).toEqual(['waits for approval by human:a*', 'goes on', 'ann ok 1']);
    await closeSound(world, store, app);
  });

  it('a remembered approval covers only effects of the same subject [ASK-9]', async () => {
    const { store, adapter, world, tell, words, quiet } = await given();
    adapter.answerAll(() => ok({ got: 0 }));
    await tell('desk/Order@1', { calls: ['ann'], approval: true });
    const [first] = await world.pending();
    await world.decide(first as never, { approve: true, remember: { until: null } }, { as: 'human:ann' });
    await tell('desk/Order@1', { calls: ['ann', 'bob'], approval: true });
    await quiet();
    expect((await world.pending()).map(({ value: params }) => params)).toEqual([{ who: 'bob' }]);
    expect((await words()).filter((word) => word.startsWith('ann'))).toEqual(['ann ok 1', 'ann ok 1']);
    await closeSound(world, store, app);
  });
});

describe('a policy rule that names a subject', () => {
  it('a rule for one subject leaves other effects of the kind to the next rule [GATE-12]', async () => {
    const { store, adapter, world, tell, words, quiet } = await given([
      { effect: 'desk.call@1#ann', decision: 'deny' },
      { effect: 'desk.call@1', decision: 'allow' },
      { send: '*', decision: 'allow' },
    ]);
    adapter.answerAll(() => ok({ got: 0 }));
    await tell('desk/Order@1', { calls: ['ann', 'bob', 'ann b'], approval: false });
    await quiet();
    expect(await words()).toEqual(['ann denied 0', 'bob ok 1', 'ann b ok 1']);
    await closeSound(world, store, app);
  });
});
