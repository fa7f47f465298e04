/** What would happen is what happens: the report before, and the opening after. */
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  type App,
  checkAgainst,
  creates,
  defineApp,
  defineReducer,
  memory,
  openKernelWorld,
  type Store,
} from '../../../src/index.js';
import { refusal } from '../../support/judge.js';
import { added, appOf, asked, counter, counter1, counter2, payPlan } from './versions.js';

const ONE = appOf(counter1());
const TWO = appOf(counter2());

async function written(asks: readonly string[] = []): Promise<Store> {
  const store = memory();
  await using world = await openKernelWorld({ store, app: ONE, drive: 'manual' });
  for (const key of ['a', 'b']) await world.request(counter(key), added(1));
  for (const what of asks) await world.request(counter('a'), asked(what));
  await world.snapshot();
  return store;
}

/** A reducer beside the counters. */
const PLAIN = {
  state: z.strictObject({}),
  events: { 'demo/Met@1': creates(z.int()) },
  init: () => ({}),
  reduce: () => undefined,
};

const reportOf = async (store: Store, app: App) => checkAgainst(await store.openReadonly(), app);

describe('checkAgainst', () => {
  it('checkAgainst reports the same era for the same app, and a new world for a journal without frames', async () => {
    expect(await reportOf(await written(), ONE)).toMatchObject({ verdict: 'same', era: 0, change: null });
    const empty = memory();
    await (await empty.open()).close();
    expect(await reportOf(empty, ONE)).toMatchObject({ verdict: 'new', era: null, head: { seq: -1 } });
  });

  it('checkAgainst counts the cells that migrate', async () => {
    expect(await reportOf(await written(), TWO)).toMatchObject({
      verdict: 'new_era',
      change: {
        added: ['demo/Counter@2'],
        dropped: ['demo/Counter@1'],
        compatible: [],
        migrates: [{ reducer: 'demo/Counter@2', cells: 2 }],
        inFlight: [],
      },
      unmigrated: { cells: 0 },
    });
  });

  it('checkAgainst counts a changed cell and a new cell since the last snapshot once each', async () => {
    const store = await written();
    {
      await using world = await openKernelWorld({ store, app: ONE, drive: 'manual' });
      for (const key of ['a', 'c']) await world.request(counter(key), added(1));
    }
    expect((await reportOf(store, TWO)).change?.migrates).toEqual([{ reducer: 'demo/Counter@2', cells: 3 }]);
  });

  it('checkAgainst names the cells that do not migrate', async () => {
    const broken = appOf(counter2({ migrate: ({ count }: { count: number }) => ({ n: count }) as never }));
    const { verdict, unmigrated } = await reportOf(await written(), broken);
    expect([verdict, unmigrated.cells]).toEqual(['new_era', 2]);
    expect(unmigrated.first[0]?.why).toContain('demo/Counter@2');
  });

  it('checkAgainst names compatible edits and running plans', async () => {
    const edited = appOf(counter1({ extra: true }));
    expect(await reportOf(await written(), edited)).toMatchObject({
      verdict: 'new_era',
      change: { compatible: ['demo/Counter@1'] },
    });
    const without = appOf(counter2({ plan: payPlan(2) }), [payPlan(2)]);
    expect(await reportOf(await written(['rent']), without)).toMatchObject({
      verdict: 'plans_in_flight',
      change: { inFlight: [{ plan: ['demo/Counter@1', 'a', 0], name: 'demo/pay_plan@1' }] },
    });
  });

  it('checkAgainst names plans in the order of their cells and starts, and replacements by their names', async () => {
    const store = memory();
    const others = ['Zebra', 'Yak', 'Xerus', 'Wombat'].map((name) =>
      defineReducer({ ...PLAIN, name: `demo/${name}@1` }),
    );
    {
      await using world = await openKernelWorld({
        store,
        app: defineApp({ reducers: [counter1(), ...others], plans: [payPlan()] }),
        drive: 'manual',
      });
      for (const { name } of others) await world.request([name, 'z'], { name: 'demo/Met@1', value: 1 });
      for (const key of ['b', 'a']) await world.request(counter(key), added(1));
      for (let n = 0; n < 11; n++) await world.request(counter('b'), asked(`rent ${n}`));
      for (const what of ['rent', 'food']) await world.request(counter('a'), asked(what));
      await world.snapshot();
    }
    const without = await reportOf(
      store,
      defineApp({ reducers: [counter2({ plan: payPlan(2) }), ...others], plans: [payPlan(2)] }),
    );
    expect(without.change?.inFlight.map(({ plan: [, key, ordinal] }) => [key, ordinal])).toEqual([
      ['a', 0],
      ['a', 1],
      ...Array.from({ length: 11 }, (_, n) => ['b', n]),
    ]);
    const heirs = ['Aardvark', 'Bee', 'Cat', 'Dog'].map((name, n) =>
      defineReducer({ ...PLAIN, name: `demo/${name}@2`, migrates: { from: others[n] as never, state: () => ({}) } }),
    );
    const both = await reportOf(store, defineApp({ reducers: [...heirs, counter2()], plans: [payPlan()] }));
    expect(both.change?.migrates).toEqual([
      ...heirs.map(({ name }) => ({ reducer: name, cells: 1 })).slice(0, 2),
      { reducer: 'demo/Cat@2', cells: 1 },
      { reducer: 'demo/Counter@2', cells: 2 },
      { reducer: 'demo/Dog@2', cells: 1 },
    ]);
  });

  it.each<[string, App, readonly string[]]>([
    ['the same app', ONE, []],
    ['a new version', TWO, []],
    ['a compatible edit', appOf(counter1({ extra: true })), []],
    ['an incompatible edit', appOf(counter1({ extra: true, factor: 2 })), []],
    ['an app without the reducer', defineApp({ reducers: [] }), []],
    ['an app without a running plan', appOf(counter2({ plan: payPlan(2) }), [payPlan(2)]), ['rent']],
    ['an app without any plan', appOf(counter2(), []), ['rent', 'food']],
  ])('given %s, opening does what checkAgainst reported [RPL-20]', async (_, app, asks) => {
    const store = await written(asks);
    const { verdict, refusal: foretold, change, head } = await reportOf(store, app);
    const opening = openKernelWorld({ store, app, drive: 'manual' });
    if (verdict === 'same' || verdict === 'new_era') {
      const world = await opening;
      expect(world.head.seq).toBe(verdict === 'same' ? head.seq : head.seq + 1);
      return world.close();
    }
    const error = await refusal(opening);
    expect(error.code).toBe(verdict === 'plans_in_flight' ? 'plan_in_flight' : foretold?.code);
    if (verdict === 'plans_in_flight') expect(error.details.count).toBe(change?.inFlight.length);
    expect((await (await store.openReadonly()).journal.head()).digest).toBe(head.digest);
  });
});
