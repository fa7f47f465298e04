import { describe, expect, it } from 'vitest';
import {
  type App,
  forkReport,
  forkWorld,
  memory,
  openKernelWorld,
  type Store,
  verifyStore,
} from '../../../src/index.js';
import { codeOf } from '../../support/judge.js';
import { TestClock } from '../../support/test-clock.js';
import { added, appOf, counter, counter1, counter2 } from '../verify/versions.js';

const ONE = appOf(counter1());
const TWO = appOf(counter2({}, 'demo/Counter@1'));
const WITHOUT = { app: TWO } as const;
const WITH = { app: TWO, legacy: [ONE] } as const;

/** Events of the first era: its log has chunks enough that the records of state name them by a digest alone. */
const FIRST = 100;

/** A world of two eras: a hundred events in the first, and one in the second. */
async function twoEras() {
  const store = memory();
  const clock = new TestClock();
  const old = await openKernelWorld({ store, app: ONE, clock });
  for (let i = 0; i < FIRST; i++) await old.request(counter('a'), added(1));
  const at = old.head.seq;
  await old.close();
  const world = await openKernelWorld({ store, ...WITH, clock });
  await world.request(counter('a'), added(1));
  await world.close();
  return { source: await store.openReadonly(), at };
}

async function opened(store: Store, app: App, legacy: readonly App[] = []) {
  const world = await openKernelWorld({ store, app, legacy, clock: new TestClock() });
  const state = await world.state(counter('a'));
  const history: unknown[] = [];
  for await (const item of world.log(counter('a'), 'history')) history.push(item);
  await world.close();
  return { state, history: history.length };
}

describe('given a world whose app has changed', () => {
  it('a fork in the first era continues that era or begins another, as any world does', async () => {
    const { source, at } = await twoEras();
    const [goesOn, changes] = [memory(), memory()];
    for (const into of [goesOn, changes]) await forkWorld(source, { ...WITH, at, into });
    expect(await opened(goesOn, ONE)).toEqual({ state: { count: FIRST, heard: [] }, history: FIRST });
    expect(await opened(changes, TWO, [ONE])).toEqual({ state: { n: FIRST, since: 2, heard: [] }, history: FIRST });
    for (const into of [goesOn, changes]) {
      expect(await verifyStore(await into.openReadonly(), WITH)).toMatchObject({ unverified: 0 });
    }
  });

  it('a fork whose first era no app can replay begins behind that era, with everything that its state links [FORK-10]', async () => {
    const { source, at } = await twoEras();
    expect(await codeOf(forkWorld(source, { ...WITHOUT, at, into: memory() }))).toBe('era_unverified');
    const into = memory();
    await forkWorld(source, { ...WITHOUT, into });
    expect(await opened(into, TWO)).toEqual({ state: { n: FIRST + 1, since: 2, heard: [] }, history: FIRST + 1 });
    const { unverified, replayed } = await verifyStore(await into.openReadonly(), WITHOUT);
    expect([unverified > FIRST, replayed > 3]).toEqual([true, true]);
  });

  it('a fork with another version reports where its inputs lead to a difference [FORK-4]', async () => {
    const { source } = await twoEras();
    const into = memory();
    await forkWorld(source, { ...WITH, at: 30, into });
    const other = appOf(counter2({ factor: 2 }, counter1()));
    const fork = await openKernelWorld({ store: into, app: other, clock: new TestClock(), drive: 'manual' });
    expect(await fork.feed(source)).toEqual({ sent: FIRST - 29, refused: [] });
    expect(await fork.state(counter('a'))).toEqual({ n: 30 + 2 * (FIRST - 29), since: 2, heard: [] });
    await fork.close();
    const { departure, matched, unmatched } = await forkReport(await into.openReadonly(), source);
    expect([departure?.original, matched, unmatched]).toEqual([31, [], []]);
  });
});
