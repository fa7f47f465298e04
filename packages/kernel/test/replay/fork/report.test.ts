/** What a report tells: effects by how they were answered, receipts that were left over, and the first frame that departs. */
import { describe, expect, it } from 'vitest';
import { deferEffect, forkReport, type Store, type World } from '../../../src/index.js';
import { codeOf, recordsOf, until } from '../../support/judge.js';
import {
  add,
  ask,
  cancel,
  does,
  fact,
  fail,
  note,
  type Step,
  seen,
  send,
  spoil,
  start,
  wake,
  when,
} from '../../support/lab.js';
import { ok } from '../../support/outside.js';
import { TestClock } from '../../support/test-clock.js';
import { forked, given } from './given-fork.js';

async function reportOf(store: Store, original?: Store) {
  return forkReport(await store.openReadonly(), await original?.openReadonly());
}

const go = (world: World) => ask(world, 'a', [does('go')], { id: 'go' });

/** A world in which `go` meant one thing, and a fork that was told otherwise before it is asked to `go`. */
async function departing(original: readonly Step[], otherwise: readonly Step[], clock = new TestClock()) {
  const { world, store, adapters } = await given();
  adapters[0].answerAll((params) => ok({ got: params }));
  await ask(world, 'a', [when('go', ...original)]);
  await ask(world, 'b', [when('go', fail())]);
  const at = world.head.seq;
  await go(world);
  await world.pump();
  const copy = await forked(world, { at }, { clock });
  await ask(copy.fork, 'a', [when('go', ...otherwise)]);
  await go(copy.fork);
  await copy.fork.pump();
  const { departure } = await reportOf(copy.store, store);
  for (const one of [copy.fork, world]) await one.close();
  return departure?.original === undefined ? undefined : departure.original - at;
}

describe('given a fork with the inputs of its original', () => {
  it.each<[string, Step[], Step[]]>([
    ['a fact', [fact('tea')], [fact('milk')]],
    ['an event to another cell', [send('b')], [send('c')]],
    ['an event with another value', [send('b')], [send('b', add(0))]],
    ['what a plan is given', [start('silent', 1)], [start('silent', 2)]],
    ['the state of a cell', [add(1)], [add(2)]],
    ['a fault', [send('b', fail())], [send('b', spoil('nan'))]],
  ])('a fork departs where %s differs', async (_, original, otherwise) => {
    expect(await departing(original, otherwise)).toBe(1);
  });

  it.each<[string, Step[]]>([
    ['an effect, whose id is another', [start('once', 1)]],
    ['a timer, which stands at another time', [wake('later', 1_000)]],
    ['a cell that it makes', [send('new', note('x'))]],
  ])('a fork that does the same departs nowhere, %s', async (_, steps) => {
    const clock = new TestClock();
    clock.advance(86_400_000);
    expect(await departing(steps, steps, clock)).toBeUndefined();
  });

  it('a report without the original does not name a departure, and a world that is not a fork has no report', async () => {
    const { world, store } = await given();
    await ask(world, 'a', [add(1)]);
    const copy = await forked(world, { at: 1 });
    await ask(copy.fork, 'a', [add(2)]);
    expect((await reportOf(copy.store)).departure).toBeUndefined();
    for (const one of [copy.fork, world]) await one.close();
    expect(await codeOf(reportOf(store))).toBe('invalid_argument');
  });
});

describe('given effects of a fork', () => {
  it('effects with the answers of the original are matched, each with the frame that emitted it', async () => {
    const { world, adapters } = await given();
    adapters[0].answerAll(() => ok({ got: 1 }));
    await ask(world, 'a', [add(1)]);
    const at = world.head.seq;
    await ask(world, 'a', [start('twice', 'x')]);
    await world.pump();
    const { store, fork } = await forked(world, { at });
    const { seq } = await ask(fork, 'a', [start('twice', 'x')]);
    await fork.pump();
    const { matched, unmatched, unused } = await reportOf(store);
    expect(matched.map(({ name, params }) => [name, params])).toEqual([
      ['lab.once@1', ['x', 1]],
      ['lab.once@1', ['x', 2]],
    ]);
    expect(matched[0]?.seq).toBe(seq);
    expect([unmatched, unused]).toEqual([[], []]);
    for (const one of [fork, world]) await one.close();
  });

  it('effects that the adapters of a live fork answered are neither matched nor denied', async () => {
    const { world } = await given();
    await ask(world, 'a', [add(1)]);
    const { store, fork, adapters } = await forked(world, { mode: 'live', grants: { may: {} } });
    adapters[0].answerAll(() => ok({ got: 1 }));
    await ask(fork, 'a', [start('once', 'x')]);
    await fork.pump();
    expect(await reportOf(store)).toMatchObject({ mode: 'live', matched: [], unmatched: [] });
    for (const one of [fork, world]) await one.close();
  });
});

describe('given the ends of effects after the cut', () => {
  it('the report names effects that the outside, a person or a deadline ended, and not those that the cell ended', async () => {
    const { world, store, adapters, clock } = await given([
      { effect: 'lab.once@1', decision: 'require_approval' },
      { effect: 'lab.costly@1', decision: 'require_approval' },
      { effect: '*', decision: 'allow' },
      { send: '*', decision: 'allow' },
    ]);
    await ask(world, 'x', [add(1)]);
    const at = world.head.seq;
    await ask(world, 'refused', [start('once', 1)]);
    await ask(world, 'given up', [start('once', 1)]);
    await ask(world, 'given up', [cancel('all')]);
    const [item] = await world.pending();
    await world.decide(item as never, { approve: false });
    await ask(world, 'late', [start('brief', 1)]);
    const call = await adapters[1].call(0);
    clock.advance(1_000);
    await until(() => call.context.signal.aborted);
    call.answer(ok({ got: 1 }));
    await ask(world, 'expired', [start('again', 1)]);
    (await adapters[1].call(1)).answer(deferEffect({ expires: clock.wall() + 50 }));
    await until(async () => (await world.pending()).length === 1);
    clock.advance(100);
    await ask(world, 'stopped by a receipt', [start('stopping', 1)]);
    (await adapters[1].call(2)).answer(ok({ got: 1 }));
    await until(async () => (await seen(world, 'stopped by a receipt'))?.length === 1);
    await ask(world, 'stopped by a decision', [start('choosing', 1)]);
    const [, costly] = await world.pending();
    await world.decide(costly as never, { approve: false });
    await world.pump();
    const copy = await forked(world, { at });
    const { unused } = await reportOf(copy.store, store);
    expect(unused.map(({ cell: [, key], receipt }) => [key, receipt.status])).toEqual([
      ['refused', 'denied'],
      ['late', 'timeout'],
      ['expired', 'timeout'],
      ['stopped by a receipt', 'ok'],
      ['stopped by a decision', 'denied'],
    ]);
    for (const one of [copy.fork, world]) await one.close();
  });

  it('the fork settles effects that are open at the cut in the order in which the original did', async () => {
    const { world, store, adapters } = await given();
    await ask(
      world,
      'a',
      ['never', 0, 1, 2].map((n) => start('once', n)),
    );
    const calls = await Promise.all([1, 2, 3].map((n) => adapters[0].call(n)));
    const at = world.head.seq;
    for (const [told, n] of [2, 0, 1].entries()) {
      calls[n]?.answer(ok({ got: n }));
      await until(async () => (await seen(world, 'a'))?.length === told + 1);
    }
    const { store: copy, fork } = await forked(world, { at });
    const [first, second, third, last] = (await seen(fork, 'a')) ?? [];
    expect([first, second, third]).toEqual(await seen(world, 'a'));
    expect(last).toContain('outcome_unknown');
    const [never, , , , ...unanswered] = (await recordsOf(store, 'effect')).map(({ effect }) => effect);
    const settled = (await recordsOf(copy, 'settled')).map(({ effect }) => effect);
    expect(settled.slice(3), 'what has no receipt, as it was emitted').toEqual([never, ...unanswered]);
    adapters[0].calls[0]?.answer(ok({ got: 0 }));
    adapters[1].answerAll(() => ok({ got: 0 }));
    for (const one of [fork, world]) await one.close();
  });

  it('a fork with more open effects than fit in a frame begins with the whole cascade', async () => {
    const { world, adapters } = await given();
    for (let n = 0; n < 3; n++)
      await ask(
        world,
        'a',
        Array.from({ length: 100 }, () => start('again', n)),
      );
    const at = world.head.seq;
    const { fork } = await forked(world, { at });
    expect(await seen(fork, 'a')).toHaveLength(300);
    adapters[1].answerAll(() => ok({ got: 1 }));
    for (const one of [fork, world]) await one.close();
  });
});
