import { describe, expect, it } from 'vitest';
import {
  EMPTY_HEAD,
  isKeyed,
  memory,
  openKernelWorld,
  portableSha256,
  readFrame,
  requestKey,
  type Store,
  verifyStore,
  type World,
} from '../../../../src/index.js';
import { recordsOf } from '../../../support/judge.js';
import {
  add,
  ask,
  cell,
  does,
  fact,
  note,
  numberOf,
  pingPong,
  seen,
  send,
  sendMany,
  start,
  wake,
  when,
} from '../../../support/lab.js';
import { app, given } from '../cell/greedy.js';

/** These journals are long: one verification, with the app, is enough for each. */
async function closeVerified(world: World, store: Store): Promise<void> {
  await world.close();
  const reading = await store.openReadonly();
  await verifyStore(reading, { app });
  await reading.close();
}

describe('given a cascade over its total bound', () => {
  it('two cells that send to each other without end fail, the rest stands and the world is usable [RED-13]', async () => {
    const { store, world } = await given();
    await ask(world, 'calm', [add(1)]);
    await ask(world, 'ping', [add(1), pingPong('pong'), send('calm', add(1))]);
    expect(await numberOf(world, 'calm')).toBe(2);
    const faults = await recordsOf(store, 'fault');
    expect(faults.map(({ code }) => code)).toEqual(['cascade_exceeded']);
    const codes = await Promise.all(['ping', 'pong'].map((key) => ask(world, key, [add(1)]).catch(({ code }) => code)));
    expect(codes.filter((code) => code === 'cell_failed')).toHaveLength(1);
    await ask(world, 'calm', [add(1)]);
    await closeVerified(world, store);
  });

  it('a timer that begins an endless cascade is journaled once and does not fire again', async () => {
    const { store, world, clock } = await given({ drive: 'manual' });
    await ask(world, 'ping', [wake('bell', 5), when('bell', pingPong('pong'))]);
    clock.advance(5);
    await world.pump();
    expect((await recordsOf(store, 'timer')).length).toBe(1);
    const { head } = world;
    await world.close();
    const again = await openKernelWorld({ store, app, clock, drive: 'manual' });
    await again.pump();
    expect(again.head).toEqual(head);
    await closeVerified(again, store);
  });

  it('a plan that continues as itself without end ends in error', async () => {
    const { store, world } = await given();
    await ask(world, 'x', [start('again', 1)]);
    const ended = await recordsOf(store, 'plan_ended');
    expect(ended.at(-1)).toMatchObject({ status: 'error', code: 'cascade_exceeded' });
    expect(ended.filter(({ status }) => status === 'error')).toHaveLength(1);
    await ask(world, 'other', [add(1)]);
    await closeVerified(world, store);
  });

  it('the delivery that exceeds the bound faults when a few events have far too many receivers, and the rest stands', async () => {
    const { store, world } = await given();
    await ask(world, 'x', [sendMany(4, 'c', sendMany(2_600, 'd', add(1))), note('sent')]);
    expect(await seen(world, 'x')).toEqual(['sent', 'Undeliverable faulted']);
    expect(await numberOf(world, 'd0')).toBe(3);
    expect(await numberOf(world, 'd2599')).toBe(3);
    expect(await world.state(cell('c3'))).toBeUndefined();
    expect((await recordsOf(store, 'fault')).map(({ code }) => code)).toEqual(['cascade_exceeded']);
    await closeVerified(world, store);
  });

  it('the delivery that exceeds the bound faults when too many bytes would wait [RED-13]', async () => {
    const { store, world } = await given();
    for (let i = 0; i < 20; i++) await ask(world, `h${i}`, [when('go', send('sink', fact('w'.repeat(50_000))))]);
    await ask(world, 'x', [sendMany(20, 'h', ...Array(12).fill(does('go')))]);
    const faults = await recordsOf(store, 'fault');
    expect(faults.length).toBeGreaterThan(0);
    expect(new Set(faults.map(({ code }) => code))).toEqual(new Set(['cascade_exceeded']));
    await ask(world, 'other', [add(1)]);
    await closeVerified(world, store);
  });

  it('a cascade that writes far more than may wait takes place whole, in frames that keep their bound [RED-13]', async () => {
    const { store, world } = await given();
    for (let i = 0; i < 20; i++) await ask(world, `h${i}`, [when('go', ...Array(16).fill(fact('w'.repeat(3_500))))]);
    const { seq } = await ask(world, 'x', [sendMany(20, 'h', ...Array(12).fill(does('go')))]);
    expect(await recordsOf(store, 'fault')).toEqual([]);
    expect(await recordsOf(store, 'fact')).toHaveLength(20 * 12 * 16);
    expect(world.head.seq - seq).toBeGreaterThan(4);
    await closeVerified(world, store);
  });

  it('a cell that writes without end fails when its cascade has written as much as one may [RED-13]', async () => {
    const { store, world } = await given();
    await ask(world, 'h', [when('go', ...Array(16).fill(fact('w'.repeat(3_500))))]);
    await ask(world, 'h', [when('again', ...Array(15).fill(does('go')), send('h', does('again')))]);
    await ask(world, 'h', [does('again')]);
    expect((await recordsOf(store, 'fault')).map(({ code }) => code)).toEqual(['cascade_exceeded']);
    expect((await recordsOf(store, 'fact')).length * 3_500).toBeGreaterThan(128 * 1024 * 1024);
    await ask(world, 'other', [add(1)]);
  });
});

describe('given a cascade of several frames', () => {
  it('the next opening completes a cascade of which only the first frame is durable, with the same result [RED-3]', async () => {
    const [store, cut] = [memory(), memory()];
    const world = await openKernelWorld({ store, app });
    const { seq } = await ask(world, 'x', [sendMany(300, 'to', add(1))]);
    const { head } = world;
    expect(head.seq).toBeGreaterThan(seq);
    await world.close();
    const [all, open] = [await store.openReadonly(), await cut.open()];
    let at = EMPTY_HEAD;
    for await (const frame of all.journal.read(0, seq)) {
      const { ingress } = readFrame(frame.bytes, frame.seq);
      const key = isKeyed(ingress) ? { key: requestKey(ingress, portableSha256) } : {};
      at = await open.journal.append([{ ...frame, ...key }], at);
    }
    await open.close();
    const again = await openKernelWorld({ store: cut, app });
    await again.pump();
    expect([again.head.seq, await numberOf(again, 'to299')]).toEqual([head.seq, 1]);
    await closeVerified(again, cut);
  });
});
