import { afterEach, describe, expect, it } from 'vitest';
import { memory, openKernelWorld, type Store, type World } from '../../../../src/index.js';
import { faultyStore } from '../../../support/faulty-store.js';
import { closeSound, codeOf, framesOf, isPending, until } from '../../../support/judge.js';
import { ask, does, fact, lab, note, numberOf, seen, sendMany, when } from '../../../support/lab.js';
import { TestClock } from '../../../support/test-clock.js';

const { app } = lab({});
const worlds: World[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.close();
});

const random = (length: number): Uint8Array => new Uint8Array(length).fill(7);
const clock = (): TestClock => new TestClock();

/** The cells that write, each 48 kB of its own: a frame holds equal values once. */
const CELLS = 100;

/** A world whose next request may write some 5 MB. */
async function given(store: Store = memory(), time = clock()) {
  const faulty = faultyStore(store);
  const world = await openKernelWorld({ store: faulty, app, recheckEvery: 1, clock: time, random });
  worlds.push(world);
  for (let i = 0; i < CELLS; i++) {
    const words = Array.from({ length: 16 }, (_, k) => fact(`${i}.${k}`.padEnd(3_000, '-')));
    await ask(world, `h${i}`, [when('go', ...words)], { id: `h${i}` });
  }
  return { store: faulty, world };
}

const long = (world: World) => ask(world, 'x', [sendMany(CELLS, 'h', does('go'))], { id: 'long' });

/** Lets the next appends wait. @returns lets them go on */
function waiting(store: ReturnType<typeof faultyStore>): () => void {
  let release = (): void => undefined;
  store.slow = new Promise<void>((resolve) => {
    release = resolve;
  });
  return release;
}

/** The frames of the long cascade, by the kind of their input. */
async function kindsAfter(store: Store, seq: number): Promise<string[]> {
  const frames = await framesOf(store);
  return frames.slice(seq).map(([ingress]) => ingress?.kind ?? '');
}

describe('a cascade of more bytes than one piece of it may have', () => {
  it('every piece is durable before the next one, nothing comes between them, and the answer comes with the last [JRN-24]', async () => {
    const { store, world } = await given();
    const before = store.tried;
    const first = waiting(store);
    const asked = long(world);
    const other = ask(world, 'y', [note('after')], { id: 'other' });
    await until(() => store.tried > before);
    const second = waiting(store);
    first();
    await until(() => store.tried > before + 1);
    expect(await isPending(Promise.race([asked, other, numberOf(world, 'x')]))).toBe(true);
    store.slow = undefined;
    second();
    const { seq } = await asked;
    await other;
    const kinds = await kindsAfter(store, seq);
    expect(kinds.length).toBeGreaterThan(5);
    expect(new Set(kinds.slice(1, -1))).toEqual(new Set(['continue']));
    expect(kinds.at(-1)).toBe('request');
    expect(store.tried - before).toBeGreaterThan(3);
    await closeSound(world, store, app);
  });

  it('a disk that is full between two pieces delays the rest, which has the same bytes [JRN-13, JRN-24]', async () => {
    const calm = await given();
    await long(calm.world);
    const time = clock();
    const { store, world } = await given(memory(), time);
    store.appends.push('ok', 'full', 'full');
    const before = store.tried;
    const asked = long(world);
    const other = codeOf(ask(world, 'y', [note('after')], { id: 'other' }));
    expect(await other).toBe('commit_failed');
    expect(await isPending(asked)).toBe(true);
    time.advance(1_000);
    await until(() => store.tried > before + 2);
    time.advance(1_000);
    await asked;
    expect(world.head).toEqual(calm.world.head);
    await closeSound(world, store, app);
  });

  it('a world that can write no more between two pieces is closed, and the next opening goes on first [JRN-24]', async () => {
    const calm = await given();
    await long(calm.world);
    const { store, world } = await given();
    store.appends.push('ok', 'broken');
    const { seq } = await long(world);
    expect(await codeOf(ask(world, 'y', [note('after')]))).toBe('store_failed');
    await world.close();
    const half = (await kindsAfter(store, seq)).length;
    const again = await openKernelWorld({ store, app, clock: clock(), random });
    worlds.push(again);
    await ask(again, 'y', [note('after')]);
    const kinds = await kindsAfter(store, seq);
    expect(half).toBeGreaterThan(0);
    expect(kinds.length).toBeGreaterThan(half + 1);
    expect(new Set(kinds.slice(1, -1))).toEqual(new Set(['continue']));
    expect(again.head.seq).toBe(calm.world.head.seq + 1);
    expect(await seen(again, 'y')).toEqual(['after']);
    await closeSound(again, store, app);
  });
});
