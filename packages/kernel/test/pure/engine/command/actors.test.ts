/** Who acted: stated by a command or a request, or following from its principal; and who is told of it. */

import type { PolicyRule } from '@reprise/contracts';
import { ACTOR_BYTES_MAX, type Actor, actorOf, actorWords } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import { openKernelWorld, type World } from '../../../../src/index.js';
import { crashable } from '../../../support/crashable-store.js';
import { closeSound, codeOf, framesOf, refusal, until } from '../../../support/judge.js';
import { again, ask, cell, lab, once, seen, start, tellCell } from '../../../support/lab.js';
import { ok, outside } from '../../../support/outside.js';
import { TestClock } from '../../../support/test-clock.js';

const DAY = 86_400_000;
const RULE: Actor = { kind: 'rule', id: 'always:pay', granted_by: 'ann' };
const ANN = { by: 'human:ann', actor: { kind: 'person', id: 'ann' } };

const { app } = lab({
  *pay(input, plan) {
    const receipt = yield* plan.awaitReceipt(plan.emitEffect(once, input));
    const { status, by, actor, reason_ref } = receipt;
    tellCell(plan, 'paid', [status, by ?? null, actor?.kind ?? null, reason_ref?.hex.slice(0, 4) ?? null]);
  },
  *look(input, plan) {
    tellCell(plan, 'looked', (yield* plan.awaitReceipt(plan.emitEffect(again, input))).status);
  },
});

const POLICY: readonly PolicyRule[] = [
  { effect: once.name, decision: 'require_approval', to: 'human:a*' },
  { effect: '*', decision: 'allow' },
  { send: '*', decision: 'allow' },
];

async function given(policy = POLICY) {
  const clock = new TestClock();
  const store = crashable();
  const adapters = [outside(once), outside(again)] as const;
  const open = () => openKernelWorld({ store, app, clock, policy, recheckEvery: 1, adapters });
  return { clock, store, adapters, open, world: await open() };
}

const firstOf = async (world: World) => (await world.pending())[0]?.id as string;
const reason = async (world: World, text: string) => ({
  reason_ref: await world.content.put(new TextEncoder().encode(text)),
});

describe('given a decision that comes second', () => {
  it('a late decision is refused and names who was first, days and processes later, to those who could have decided [ASK-14]', async () => {
    const { world, clock, open, store, adapters } = await given();
    await ask(world, 'x', [start('pay', 5)]);
    const id = await firstOf(world);
    expect(await world.decidedBy(id)).toBeUndefined();
    adapters[0].answerAll(() => ok({ got: 5 }));
    await world.decide(id, { approve: true }, { as: 'human:ann', actor: RULE });
    await world.pump();
    const late = await refusal(world.decide(id, { approve: false }, { as: 'human:abe' }));
    expect([late.code, late.details.by, late.details.actor]).toEqual(['effect_settled', 'human:ann', RULE]);
    expect(await codeOf(world.decide(id, { approve: false }, { as: 'human:bob' }))).toBe('cap_denied');
    clock.advance(30 * DAY);
    await world.close();
    const later = await open();
    expect(await later.decidedBy(id)).toEqual({ by: 'human:ann', actor: RULE });
    expect(await later.as('human:abe').decidedBy({ id, kind: 'approval' })).toEqual({ by: 'human:ann', actor: RULE });
    expect(await later.as('human:bob').decidedBy(id)).toBeUndefined();
    await closeSound(later, store, app);
  });

  it('a decision about an effect that runs since it was approved names who approved it [ASK-14]', async () => {
    const { world, adapters, store } = await given();
    await ask(world, 'x', [start('pay', 5)]);
    const id = await firstOf(world);
    await world.decide(id, { approve: true }, { as: 'human:ann' });
    const call = await adapters[0].call(0);
    const late = await refusal(world.decide(id, { approve: false }));
    expect([late.code, late.details.by, late.details.actor]).toEqual(['effect_settled', ANN.by, ANN.actor]);
    call.answer(ok({ got: 5 }));
    await until(async () => (await seen(world, 'x'))?.length === 1);
    expect(await world.decidedBy(id)).toEqual(ANN);
    await closeSound(world, store, app);
  });

  it('a late outcome and a late answer name who was first, also after the effect has ended [ASK-14]', async () => {
    const { world, adapters, store } = await given();
    await ask(world, 'x', [start('look')]);
    const { context, answer } = await adapters[1].call(0);
    const asked = context.ask({ question: 'door?' });
    await until(async () => (await world.pending()).length === 1);
    const id = await firstOf(world);
    await world.answer(id, 'left', { as: 'human:ann' });
    expect((await refusal(world.answer(id, 'right', { as: 'human:abe' }))).details.actor).toEqual(ANN.actor);
    expect(await asked).toMatchObject({ how: 'answered', by: 'human:ann', value: 'left' });
    answer(ok({ got: 1 }));
    await until(async () => (await seen(world, 'x'))?.length === 1);
    expect((await refusal(world.answer(id, 'right', { as: 'human:abe' }))).details.actor).toEqual(ANN.actor);
    expect(await world.decidedBy(id)).toEqual(ANN);
    expect(await codeOf(world.settle(id.slice(0, 64), { status: 'ok', payload: { got: 2 } }))).toBe('effect_settled');
    await closeSound(world, store, app);
  });

  it('equal outcomes of two actors are two decisions: the second is told who was first [ASK-14]', async () => {
    const { world, adapters, store } = await given([{ effect: '*', decision: 'allow' }, ...POLICY.slice(2)]);
    await ask(world, 'x', [start('pay')]);
    (await adapters[0].call(0)).answer({ status: 'deferred' });
    await until(async () => (await world.pending()).length === 1);
    const id = await firstOf(world);
    const done = { status: 'ok', payload: { got: 1 } } as const;
    expect((await world.settle(id, done, { actor: RULE })).status).toBe('applied');
    const second = await world.settle(id, done);
    expect([second.status, second.by, second.actor]).toEqual(['already_settled', 'operator', RULE]);
    await closeSound(world, store, app);
  });
});

describe('given the reason of a decision', () => {
  it('the plan of a denied effect reads who denied it and why; a denial that comes late leaves no reason [ASK-15]', async () => {
    const { world, adapters, store } = await given();
    adapters[0].answerAll(() => ok({ got: 5 }));
    await ask(world, 'x', [start('pay', 5)]);
    const why = await reason(world, 'too much');
    const hex = why.reason_ref.hex.slice(0, 4);
    await world.decide(await firstOf(world), { approve: false }, { as: 'human:ann', actor: RULE, ...why });
    expect(await seen(world, 'x')).toEqual([`paid=["denied","human:ann","rule","${hex}"]`]);
    await ask(world, 'y', [start('pay', 5)]);
    const id = await firstOf(world);
    await world.decide(id, { approve: true }, { as: 'human:ann' });
    expect(await codeOf(world.decide(id, { approve: false }, { as: 'human:abe', ...why }))).toBe('effect_settled');
    await world.pump();
    expect(await seen(world, 'y')).toEqual(['paid=["ok",null,null,null]']);
    const frames = (await framesOf(store)).map((frame) => JSON.stringify(frame));
    expect(frames.filter((frame) => frame.includes(why.reason_ref.hex))).toHaveLength(1); // the denial of x alone
    await closeSound(world, store, app);
  });
});

describe('given a stated actor', () => {
  it('an actor follows from the principal when none is stated, and then no person is named but a person [ASK-16]', () => {
    expect(actorOf('human:ann')).toEqual({ kind: 'person', id: 'ann' });
    for (const principal of ['operator', 'kernel', 'cell:a/b', `adapter:${'0'.repeat(64)}`] as const)
      expect(actorOf(principal)).toEqual({ kind: 'program', id: principal });
    expect(actorWords(actorOf('operator'))).toBe('operator');
    expect(actorWords(actorOf('human:operator'))).toBe('person "operator"');
    expect(actorWords(actorOf('human:rule x (granted by ann)'))).toBe('person "rule x (granted by ann)"');
    expect(actorWords({ kind: 'several', of: [RULE as never, { kind: 'node', id: 'c1' }] })).toBe(
      'rule always:pay (granted by ann), node c1',
    );
  });

  it('a person can state no other person, an adapter no person at all, and nobody an actor beyond its bound [ASK-16]', async () => {
    const { world, store } = await given();
    await ask(world, 'x', [start('pay', 5)]);
    const id = await firstOf(world);
    const said = (as: 'human:ann' | `adapter:${string}` | 'operator', actor: Actor) =>
      codeOf(world.request(cell('x'), { name: 'lab/Do@1', value: { steps: [] } }, { as, actor }));
    const bob: Actor = { kind: 'person', id: 'bob' };
    const code = await codeOf(world.decide(id, { approve: true }, { as: 'human:ann', actor: bob }));
    expect(code).toBe('cap_denied');
    expect(await said('human:ann', bob)).toBe('cap_denied');
    expect(await said('human:ann', { ...RULE, granted_by: 'bob' } as Actor)).toBe('cap_denied');
    expect(await said('human:ann', { kind: 'several', of: [{ kind: 'node', id: 'c' }, bob] } as Actor)).toBe(
      'cap_denied',
    );
    expect(await said(`adapter:${'0'.repeat(64)}`, bob)).toBe('cap_denied');
    const large: Actor = {
      kind: 'several',
      of: [1, 2, 3].map((n) => ({ kind: 'node', id: `${n}`.repeat(400) })) as never,
    };
    expect(await said('operator', large)).toBe('bound_exceeded');
    expect(ACTOR_BYTES_MAX).toBe(1024);
    expect(await said('operator', { kind: 'person' } as never)).toBe('invalid_argument');
    expect(await world.pending()).toHaveLength(1);
    await closeSound(world, store, app);
  });

  it('a request is journaled with the actor that it states, and the same id with another actor is another request [ASK-16]', async () => {
    const { world, store } = await given();
    await ask(world, 'x', []);
    const go = (actor?: Actor) =>
      world.request(cell('x'), { name: 'lab/Do@1', value: { steps: [] } }, { id: 'one', ...(actor && { actor }) });
    await go(RULE);
    expect((await framesOf(store)).at(-1)?.[0]).toMatchObject({ kind: 'request', principal: 'operator', actor: RULE });
    expect((await go(RULE)).duplicate).toBe(true);
    expect(await codeOf(go())).toBe('request_conflict');
    await closeSound(world, store, app);
  });
});
