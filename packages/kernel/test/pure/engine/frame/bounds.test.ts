import { describe, expect, it } from 'vitest';
import { VALUE_BYTES_MAX } from '../../../../src/index.js';
import { LOG_CHUNK_ITEMS } from '../../../../src/pure/engine/leaf/bounds.js';
import { closeSound, codeOf, framesOf, refusal } from '../../../support/judge.js';
import {
  add,
  ask,
  cell,
  does,
  fact,
  log,
  note,
  numberOf,
  seen,
  send,
  sendMany,
  start,
  when,
} from '../../../support/lab.js';
import { ok } from '../../../support/outside.js';
import { app, given } from '../cell/greedy.js';

describe('given a cascade over the bound of a frame', () => {
  it('when it goes on, then continue frames follow at once, nothing comes between, and every cell got its event [JRN-24]', async () => {
    const { store, world } = await given({ recheckEvery: 1 });
    const asked = [
      ask(world, 'x', [sendMany(700, 'c', add(1))]),
      ask(world, 'y', [add(1)]),
      ask(world, 'z', [sendMany(300, 'c', add(1))]),
    ];
    const acks = await Promise.all(asked);
    expect(acks.map(({ seq }) => seq)).toEqual([1, 4, 5]);
    const kinds = (await framesOf(store)).map(([ingress]) => ingress?.kind);
    expect(kinds).toEqual(['manifest', 'request', 'continue', 'continue', 'request', 'request', 'continue']);
    for (const [key, n] of [
      ['c0', 2],
      ['c299', 2],
      ['c300', 1],
      ['c699', 1],
    ] as const) {
      expect(await numberOf(world, key)).toBe(n);
    }
    await closeSound(world, store, app);
  });

  it('when its deliveries give many bytes, then it goes on in the next frame before there are too many', async () => {
    const { store, world } = await given({ recheckEvery: 1 });
    for (let i = 0; i < 40; i++) await ask(world, `h${i}`, [when('go', fact('w'.repeat(50_000)))]);
    await ask(world, 'x', [sendMany(40, 'h', does('go'))]);
    const last = (await framesOf(store)).slice(-2);
    expect(last.map(([ingress]) => ingress?.kind)).toEqual(['request', 'continue']);
    for (const frame of last) expect(frame.filter(({ kind }) => kind === 'fact').length).toBeLessThan(25);
    expect(last.flat().filter(({ kind }) => kind === 'fact')).toHaveLength(40);
    await closeSound(world, store, app);
  });

  it('when a snapshot is asked for in the middle, then it comes before or after the cascade [JRN-24]', async () => {
    const { store, world } = await given();
    const asking = ask(world, 'x', [sendMany(700, 'c', add(1))]);
    const snapshot = world.snapshot();
    await Promise.all([asking, snapshot]);
    const kinds = (await framesOf(store)).map(([ingress]) => ingress?.kind).join(' ');
    expect(kinds).toContain('request continue continue');
    await closeSound(world, store, app);
  });
});

describe('given more than one delivery may give', () => {
  it('when a reducer sends too much, then the request is refused and nothing is journaled', async () => {
    const { store, world } = await given();
    const { head } = world;
    const error = await refusal(ask(world, 'x', [sendMany(1_000_000, 'c', add(1))]));
    expect([error.code, error.details.fault]).toEqual(['delivery_faulted', 'record_too_large']);
    expect(world.head).toEqual(head);
    await closeSound(world, store, app);
  });

  it('when a plan raises too much after a receipt, then it ends in error and the receipt stands', async () => {
    const { store, world, adapter } = await given();
    await ask(world, 'x', [start('flood', 1)]);
    (await adapter.call(0)).answer(ok({ got: 1 }));
    await world.pump();
    expect(await seen(world, 'x')).toEqual(['PlanFailed record_too_large']);
    expect(await world.openEffects()).toEqual([]);
    await closeSound(world, store, app);
  });

  it('when a plan keeps too many effects open, then it ends in error before its leaf is too large [PLAN-12]', async () => {
    const { store, world, adapter } = await given();
    await ask(world, 'x', [start('many', 700)]);
    expect(await seen(world, 'x')).toEqual(['PlanFailed plan_too_large']);
    expect(await world.openEffects()).toEqual([]);
    expect(adapter.calls).toEqual([]);
    adapter.answerAll(() => ok({ got: 1 }));
    await ask(world, 'y', [start('many', 300)]);
    await world.pump();
    expect(adapter.calls).toHaveLength(300);
    expect(await seen(world, 'y')).toEqual([]);
    await closeSound(world, store, app);
  });
});

describe('given values at their bounds', () => {
  const text = (bytes: number) => 'x'.repeat(bytes);

  it('when a request is too large, then it is refused with bound_exceeded', async () => {
    const { store, world } = await given();
    const { head } = world;
    expect(await codeOf(ask(world, 'x', [note(text(VALUE_BYTES_MAX))]))).toBe('bound_exceeded');
    expect(world.head).toEqual(head);
    await closeSound(world, store, app);
  });

  it('when a state outgrows its bound, then the delivery that would is dropped and the last state stays [RED-12]', async () => {
    const { store, world } = await given();
    await ask(world, 'x', [note(text(60_000))]);
    const error = await refusal(ask(world, 'x', [note(text(10_000))]));
    expect([error.code, error.details.fault]).toEqual(['delivery_faulted', 'state_too_large']);
    await ask(world, 'y', [send('x', note(text(10_000)))]);
    expect(await codeOf(ask(world, 'x', [add(1)]))).toBe('cell_failed');
    await world.revive(cell('x'));
    expect((await seen(world, 'x'))?.length).toBe(1);
    await closeSound(world, store, app);
  });

  it('when a log grows without end, then its cell stays small and every item can be read [RED-26]', async () => {
    const { store, world } = await given();
    for (let i = 0; i < 5; i++)
      await ask(
        world,
        'x',
        Array.from({ length: 500 }, (_, k) => log(i * 500 + k)),
      );
    const items: unknown[] = [];
    for await (const item of world.log(cell('x'), 'history')) items.push(item);
    expect(JSON.stringify(items)).toBe(JSON.stringify(Array.from({ length: 2_500 }, (_, i) => i)));
    await closeSound(world, store, app);
  });

  it('when the items that a log keeps inline are as large as items may be, then none of them is refused', async () => {
    const { store, world } = await given();
    for (let i = 0; i < 2 * LOG_CHUNK_ITEMS; i++) await ask(world, 'x', [log(text(60_000)), add(1)]);
    expect(await numberOf(world, 'x')).toBe(2 * LOG_CHUNK_ITEMS);
    await closeSound(world, store, app);
  });
});
