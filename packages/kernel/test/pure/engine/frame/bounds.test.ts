import { describe, expect, it } from 'vitest';
import { VALUE_BYTES_MAX } from '../../../../src/pure/engine/index.js';
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
  it('a long cascade continues in frames that follow at once, with nothing between, and every cell gets its event [JRN-24]', async () => {
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

  it('a cascade continues in the next frame before its deliveries produce too many bytes', async () => {
    const { store, world } = await given({ recheckEvery: 1 });
    for (let i = 0; i < 40; i++) await ask(world, `h${i}`, [when('go', fact('w'.repeat(50_000)))]);
    await ask(world, 'x', [sendMany(40, 'h', does('go'))]);
    const last = (await framesOf(store)).slice(-2);
    expect(last.map(([ingress]) => ingress?.kind)).toEqual(['request', 'continue']);
    for (const frame of last) expect(frame.filter(({ kind }) => kind === 'fact').length).toBeLessThan(25);
    expect(last.flat().filter(({ kind }) => kind === 'fact')).toHaveLength(40);
    await closeSound(world, store, app);
  });

  it('a snapshot requested during a cascade comes before or after it [JRN-24]', async () => {
    const { store, world } = await given();
    const asking = ask(world, 'x', [sendMany(700, 'c', add(1))]);
    const snapshot = world.snapshot();
    await Promise.all([asking, snapshot]);
    const kinds = (await framesOf(store)).map(([ingress]) => ingress?.kind).join(' ');
    expect(kinds).toContain('request continue continue');
    await closeSound(world, store, app);
  });
});

describe('given a delivery that produces more than it may', () => {
  it('a request is refused when a reducer sends too much, and nothing is journaled', async () => {
    const { store, world } = await given();
    const { head } = world;
    const error = await refusal(ask(world, 'x', [sendMany(1_000_000, 'c', add(1))]));
    expect([error.code, error.details.fault]).toEqual(['delivery_faulted', 'record_too_large']);
    expect(world.head).toEqual(head);
    await closeSound(world, store, app);
  });

  it('a plan that raises too much after a receipt ends in error, and the receipt stands', async () => {
    const { store, world, adapter } = await given();
    await ask(world, 'x', [start('flood', 1)]);
    (await adapter.call(0)).answer(ok({ got: 1 }));
    await world.pump();
    expect(await seen(world, 'x')).toEqual(['PlanFailed record_too_large']);
    expect(await world.openEffects()).toEqual([]);
    await closeSound(world, store, app);
  });

  it('a plan with too many open effects ends in error before its leaf is too large [PLAN-12]', async () => {
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

  it('a request that is too large is refused with bound_exceeded', async () => {
    const { store, world } = await given();
    const { head } = world;
    expect(await codeOf(ask(world, 'x', [note(text(VALUE_BYTES_MAX))]))).toBe('bound_exceeded');
    expect(world.head).toEqual(head);
    await closeSound(world, store, app);
  });

  it('a delivery that would exceed the bound of the state is dropped, and the last state stands [RED-12]', async () => {
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

  it('a cell stays small while its log grows, and every item can be read [RED-26]', async () => {
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

  it('no item is refused when all inline items of a log have the largest size', async () => {
    const { store, world } = await given();
    for (let i = 0; i < 2 * LOG_CHUNK_ITEMS; i++) await ask(world, 'x', [log(text(60_000)), add(1)]);
    expect(await numberOf(world, 'x')).toBe(2 * LOG_CHUNK_ITEMS);
    await closeSound(world, store, app);
  });
});
