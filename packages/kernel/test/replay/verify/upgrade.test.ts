/** A world whose app changes: what becomes of its cells, its plans and its past. */
import { describe, expect, it } from 'vitest';
import {
  type App,
  defineApp,
  memory,
  type OpenKernelWorldOptions,
  openKernelWorld,
  type Store,
  verifyStore,
  worldAt,
} from '../../../src/index.js';
import { decode, encode, FRAME_DEPTH_MAX } from '../../../src/pure/codec/index.js';
import { type CellLeaf, cellKey } from '../../../src/pure/engine/index.js';
import { replayTo } from '../../../src/replay/verify/at.js';
import { framesOf, recordsOf, refusal } from '../../support/judge.js';
import {
  added,
  appOf,
  asked,
  counter,
  counter1,
  counter2,
  counter3,
  forgetfulPlan,
  payer,
  payPlan,
} from './versions.js';

const ONE = appOf(counter1());
const TWO = appOf(counter2());

async function opened(store: Store, app: App, more: Partial<OpenKernelWorldOptions> = {}) {
  return openKernelWorld({ store, app, recheckEvery: 1, snapshotEvery: 0, ...more });
}

/** A world of version 1: counter `a` at 3, `other` at 5. */
async function written(app: App = ONE, snapshot = false): Promise<Store> {
  const store = memory();
  await using world = await opened(store, app);
  await world.request(counter('a'), added(3));
  await world.request(counter('other'), added(5));
  if (snapshot) await world.snapshot();
  return store;
}

async function leafOf(store: Store, apps: readonly App[], key: string): Promise<Uint8Array | undefined> {
  const reader = await store.openReadonly();
  const { replayer } = await replayTo(reader, apps, (await reader.journal.head()).seq);
  const leaf = await replayer.table.read(cellKey(counter(key)));
  return leaf && encode(leaf, FRAME_DEPTH_MAX);
}

const kindsOf = async (store: Store) => (await framesOf(store)).map(([ingress]) => ingress?.kind);

describe('a new version of a reducer', () => {
  it('a new version of a reducer opens a new era, right after a snapshot [RPL-12]', async () => {
    const store = await written();
    await (await opened(store, TWO)).close();
    expect(await kindsOf(store)).toEqual(['manifest', 'request', 'request', 'snapshot', 'manifest']);
    const [, era] = await recordsOf(store, 'manifest');
    expect(era?.reducers.map(({ name }) => name)).toEqual(['demo/Counter@2']);
    expect(era).not.toHaveProperty('compatible');
  });

  it('no second snapshot is taken when the world ends in one, and no second era begins when nothing changed [RPL-12]', async () => {
    const store = await written(ONE, true);
    await (await opened(store, TWO)).close();
    await (await opened(store, TWO)).close();
    expect(await kindsOf(store)).toEqual(['manifest', 'request', 'request', 'snapshot', 'manifest']);
  });

  it('an upgraded cell is reached under either name, and its records have the oldest name [RPL-19]', async () => {
    const store = await written();
    await using world = await opened(store, TWO);
    await world.request(counter('a', 1), added(1));
    await world.request(counter('a', 2), added(1));
    await world.request(counter('a', 2), asked('send'));
    const fresh = await world.request(counter('fresh', 2), added(9), { id: 'x' });
    expect(await world.request(counter('fresh', 1), added(9), { id: 'x' })).toEqual({ ...fresh, duplicate: true });
    expect(await world.state(counter('a', 1))).toEqual({ n: 5, since: 2, heard: [] });
    expect(await world.state(counter('a', 2))).toEqual({ n: 5, since: 2, heard: [] });
    const to = [...(await recordsOf(store, 'request')), ...(await recordsOf(store, 'event'))].map(
      (record) => record.to[0],
    );
    expect(new Set(to)).toEqual(new Set(['demo/Counter@1']));
    expect((await recordsOf(store, 'event')).map((record) => record.to)).toEqual([counter('other')]);
  });

  it('an upgrade migrates a cell at its first delivery and leaves the bytes of an untouched cell as they are [RPL-14]', async () => {
    const store = await written();
    const before = await leafOf(store, [ONE], 'other');
    await using world = await opened(store, TWO);
    await world.request(counter('a'), added(1));
    const [a, other] = [await leafOf(store, [TWO], 'a'), await leafOf(store, [TWO], 'other')];
    expect(other).toEqual(before);
    expect(decode(a as Uint8Array)).toMatchObject({ v: 'demo/Counter@2', state: { n: 4, since: 2 } });
    expect(decode(other as Uint8Array)).not.toHaveProperty('v');
  });

  it('readers and plans see the migrated form before the first delivery [RPL-14]', async () => {
    const store = await written();
    await using world = await opened(store, TWO);
    expect(await world.state(counter('other'))).toEqual({ n: 5, since: 2, heard: [] });
    expect(await (await world.at(world.head.seq)).state(counter('other', 2))).toEqual({ n: 5, since: 2, heard: [] });
    expect(await (await world.at(2)).state(counter('other', 2))).toEqual({ count: 5, heard: [] });
    await world.request(counter('a'), asked('peek'));
    const { heard } = (await world.state(counter('a'))) as { heard: { value: { seen: unknown } }[] };
    expect(heard[0]?.value.seen).toEqual({ n: 5, since: 2, heard: [] });
  });

  it('rules and rights for a cell apply under every name of the cell [RPL-19]', async () => {
    const store = memory();
    const policy = [
      { read: 'demo/Counter@1/a', decision: 'deny', who: '*' },
      { effect: '*', decision: 'allow' },
    ] as const;
    await using world = await opened(store, TWO, { policy });
    await world.request(counter('a', 2), added(1));
    for (const version of [1, 2]) {
      expect((await refusal(world.as('human:eve').state(counter('a', version)))).code).toBe('policy_denied');
    }
    const narrow = { exercise: { may: { effect: [] } } };
    await world.command('sys/SetRights@1', { holder: 'cell:demo/Counter@2/a', ...narrow });
    expect((await world.rights('cell:demo/Counter@1/a')).declared).toMatchObject(narrow);
    expect(await world.rights('cell:demo/Counter@2/a')).toEqual(await world.rights('cell:demo/Counter@1/a'));
  });

  it('a migration leaves the items of a log as they were written, and the log continues after them', async () => {
    const store = await written();
    await using world = await opened(store, TWO);
    await world.request(counter('a'), added(1));
    const items = [];
    for await (const item of world.log(counter('a', 2), 'history')) items.push(item);
    expect(items).toEqual([3, 4]);
  });

  it.each<[string, readonly App[]]>([
    ['one after the other', [TWO, appOf(counter3())]],
    ['at once', [appOf(counter3())]],
  ])('a cell is migrated along the whole chain of versions, %s', async (_, apps) => {
    const store = await written();
    for (const app of apps) await (await opened(store, app)).close();
    await using world = await opened(store, apps.at(-1) as App);
    expect(await world.state(counter('a', 3))).toEqual({ total: 3, since: 3 });
    await world.request(counter('a', 2), added(1));
    expect(await world.state(counter('a'))).toEqual({ total: 4, since: 3 });
  });

  it('a failing migration faults the delivery and leaves the state as it was [RPL-15]', async () => {
    const store = await written();
    const broken = appOf(counter2({ migrate: () => ({ n: 'three' }) as never }));
    const before = await leafOf(store, [ONE], 'a');
    await using world = await opened(store, broken);
    const head = world.head.seq;
    expect(await refusal(world.request(counter('a'), added(1)))).toMatchObject({
      code: 'delivery_faulted',
      details: { fault: 'migration_failed' },
    });
    expect(world.head.seq).toBe(head);
    expect(await refusal(world.state(counter('a')))).toMatchObject({ code: 'migration_failed' });
    await world.request(counter('new'), added(1));
    await world.request(counter('new'), asked('send'));
    expect(await recordsOf(store, 'fault')).toMatchObject([{ target: counter('other'), code: 'migration_failed' }]);
    const other = decode((await leafOf(store, [broken], 'other')) as Uint8Array) as unknown as CellLeaf;
    expect(other).toMatchObject({ failed: 'migration_failed', state: { count: 5 } });
    expect(await leafOf(store, [broken], 'a')).toEqual(before);
  });

  it('a request is refused with the message of the migration that throws', async () => {
    const store = await written();
    const broken = appOf(
      counter2({
        migrate: (() => {
          throw new Error('a defect');
        }) as never,
      }),
    );
    await using world = await opened(store, broken);
    expect((await refusal(world.request(counter('a'), added(1)))).message).toContain('a defect');
  });

  it('frames after the last snapshot need the earlier definition; a world that ends in a snapshot does not', async () => {
    const named = appOf(counter2({}, 'demo/Counter@1'));
    const store = await written();
    const kinds = await kindsOf(store);
    const error = await refusal(opened(store, named));
    expect(error).toMatchObject({ code: 'manifest_mismatch', details: { actual: 'demo/Counter@1' } });
    expect(error.message).toContain('legacy');
    expect(await kindsOf(store)).toEqual(kinds);
    await (await opened(store, named, { legacy: [ONE] })).close();
    expect((await kindsOf(store)).slice(-2)).toEqual(['snapshot', 'manifest']);
    const other = await written(ONE, true);
    await using world = await opened(other, named);
    expect(await world.state(counter('a'))).toEqual({ n: 3, since: 2, heard: [] });
  });

  it('a new version can be reverted before any cell is migrated, and not afterwards', async () => {
    const store = await written();
    await (await opened(store, TWO)).close();
    const back = await opened(store, ONE, { legacy: [TWO] });
    await back.request(counter('a'), added(1));
    expect(await back.state(counter('a'))).toMatchObject({ count: 4 });
    await back.close();
    const again = await opened(store, TWO);
    await again.request(counter('a'), added(1));
    await again.close();
    expect(await refusal(opened(store, ONE, { legacy: [TWO] }))).toMatchObject({
      code: 'manifest_mismatch',
      details: { actual: 'demo/Counter@1 (1 alive)' },
    });
    const reader = await store.openReadonly();
    const report = await verifyStore(reader, { app: TWO, legacy: [ONE] });
    expect(report).toMatchObject({ unverified: 0, replayed: report.frames });
    expect(report.eras).toHaveLength(4);
  });
});

describe('a reducer that the app no longer has', () => {
  it('an app without the reducer of a living cell is refused, and the old app still opens the world [RPL-13, RPL-17]', async () => {
    const store = await written(ONE, true);
    const error = await refusal(opened(store, defineApp({ reducers: [] })));
    expect(error).toMatchObject({ code: 'manifest_mismatch', details: { actual: 'demo/Counter@1 (2 alive)' } });
    await (await opened(store, ONE)).close();
    expect(await recordsOf(store, 'manifest')).toHaveLength(1);
  });

  it('an app may drop a reducer that never had a cell', async () => {
    const store = memory();
    await (await opened(store, ONE)).close();
    await (await opened(store, defineApp({ reducers: [] }))).close();
    expect(await kindsOf(store)).toEqual(['manifest', 'snapshot', 'manifest']);
  });

  it('a replacement that knows only a later name of the living cells is refused: cells have their oldest name', async () => {
    const two = appOf(counter2());
    const store = memory();
    {
      await using world = await opened(
        store,
        defineApp({ reducers: [{ ...counter2(), lineage: [] }], plans: [...two.plans.values()] }),
      );
      await world.request(['demo/Counter@2', 'a'], added(1));
      await world.snapshot();
    }
    const error = await refusal(opened(store, appOf({ ...counter2(), digest: 'f'.repeat(64) })));
    expect(error.code).toMatch(/manifest_mismatch|era_incompatible/);
  });
});

describe('a plan that runs when its app changes', () => {
  async function paying(): Promise<Store> {
    const store = memory();
    await using world = await opened(store, ONE, { adapters: [payer()], drive: 'manual' });
    await world.request(counter('a'), added(1));
    await world.request(counter('a'), asked('rent'));
    await world.snapshot();
    return store;
  }
  const withoutPlan = appOf(counter2({ plan: payPlan(2) }), [payPlan(2)]);

  it('a running plan continues under the new version of its cell', async () => {
    const store = await paying();
    const adapter = payer();
    await using world = await opened(store, TWO, { adapters: [adapter] });
    while (adapter.asked.length === 0) await new Promise(setImmediate);
    adapter.answer({ status: 'ok', payload: 1 });
    await world.pump();
    expect(await world.state(counter('a'))).toMatchObject({
      heard: [{ name: 'demo/Paid@1', value: { status: 'ok' } }],
      since: 2,
    });
  });

  it('a world with a running plan that the app no longer has does not open, and the error names the plan [RPL-17]', async () => {
    const store = await paying();
    const kinds = await kindsOf(store);
    const error = await refusal(opened(store, withoutPlan));
    expect(error).toMatchObject({
      code: 'plan_in_flight',
      details: { where: 'demo/Counter@1/a #0', expected: 'demo/pay_plan@1', count: 1 },
    });
    expect(await kindsOf(store)).toEqual(kinds);
  });

  it('a running plan is cancelled on request: its effects end, and its cell is notified', async () => {
    const store = await paying();
    await using world = await opened(store, withoutPlan, { plansInFlight: 'cancel' });
    expect(await recordsOf(store, 'plan_ended')).toMatchObject([{ plan: [...counter('a'), 0], status: 'cancelled' }]);
    expect(await recordsOf(store, 'settled')).toMatchObject([{ status: 'cancelled', by: 'cancel' }]);
    expect(await world.openEffects()).toEqual([]);
    expect(await world.state(counter('a'))).toMatchObject({
      n: 1,
      heard: [{ name: 'sys/PlanFailed@1', value: { name: 'demo/pay_plan@1', code: 'plan_unknown' } }],
    });
    const [, era] = await recordsOf(store, 'manifest');
    expect(era?.cancels).toEqual([[...counter('a'), 0]]);
    await world.close();
    const reader = await store.openReadonly();
    expect(await verifyStore(reader, { app: withoutPlan, legacy: [ONE] })).toMatchObject({ unverified: 0 });
  });

  it('an intent with the name of a replaced plan starts the replacement', async () => {
    const replacing = payPlan(2, { replaces: 'demo/pay_plan@1' });
    await using world = await opened(memory(), appOf(counter1(), [replacing]), { drive: 'manual' });
    await world.request(counter('a'), added(1));
    await world.request(counter('a'), asked('rent'));
    expect((await world.openEffects()).length).toBe(1);
    const frames = [];
    for await (const { records } of world.frames()) {
      frames.push(...records);
      if (records.some(({ kind }) => kind === 'intent')) break;
    }
    expect(frames.find(({ kind }) => kind === 'intent')).toMatchObject({ name: 'demo/pay_plan@2' });
  });

  it('an app must keep the effect that an ended plan left open [RPL-17]', async () => {
    const store = memory();
    const forgetful = appOf(counter1({ plan: forgetfulPlan }), [forgetfulPlan]);
    {
      await using world = await opened(store, forgetful, { drive: 'manual' });
      await world.request(counter('a'), added(1));
      await world.request(counter('a'), asked('rent'));
    }
    const without = appOf(counter2(), []);
    const error = await refusal(opened(store, without, { legacy: [forgetful] }));
    expect(error).toMatchObject({ code: 'manifest_mismatch', details: { actual: 'demo.pay@1 (1 open)' } });
    await (await opened(store, TWO, { legacy: [forgetful] })).close();
  });

  it('an ended plan does not stop an upgrade, and its replacement can replay the end of the journal', async () => {
    const store = memory();
    const adapter = payer();
    {
      await using world = await opened(store, ONE, { adapters: [adapter] });
      await world.request(counter('a'), added(1));
      await world.request(counter('a'), asked('rent'));
      adapter.answer({ status: 'ok', payload: 1 });
      await world.pump();
    }
    const kinds = await kindsOf(store);
    expect((await refusal(opened(store, withoutPlan))).code).toBe('manifest_mismatch');
    expect(await kindsOf(store)).toEqual(kinds);
    const bringing = payPlan(2, { replaces: payPlan() });
    await (await opened(store, appOf(counter2({ plan: bringing }), [bringing]))).close();
  });
});

describe('a digest that changed under its name', () => {
  it('a changed digest opens a compatible era when the current era replays to the same bytes [RPL-16]', async () => {
    const store = await written();
    await using world = await opened(store, appOf(counter1({ extra: true })));
    const [, era] = await recordsOf(store, 'manifest');
    expect(era?.compatible).toEqual(['demo/Counter@1']);
    await world.request(counter('a'), added(1));
    expect(await world.state(counter('a'))).toMatchObject({ count: 4 });
  });

  it('a changed digest is refused with the first divergence when the era replays differently, and nothing is written [RPL-16]', async () => {
    const store = await written(ONE, true);
    const kinds = await kindsOf(store);
    const error = await refusal(opened(store, appOf(counter1({ extra: true, factor: 2 }))));
    expect(error.code).toBe('era_incompatible');
    expect(error.details).toMatchObject({
      divergence: { seq: 1, path: '$.leaves[cell demo/Counter@1 a].state.count', recorded: 3, regenerated: 6 },
    });
    expect(error.message).toContain('demo/Counter@1');
    expect(await kindsOf(store)).toEqual(kinds);
    await (await opened(store, ONE)).close();
    expect(await kindsOf(store)).toEqual(kinds);
  });

  it('a changed digest is checked against the current era alone: older eras are unverified history', async () => {
    const store = await written();
    await (await opened(store, TWO)).close();
    const edited = appOf({ ...counter2({ factor: 2 }), digest: 'e'.repeat(64) });
    await using world = await opened(store, edited);
    await world.request(counter('a'), added(1));
    expect(await world.state(counter('a'))).toMatchObject({ n: 5 });
    expect((await recordsOf(store, 'manifest')).map(({ compatible }) => compatible)).toEqual([
      undefined,
      undefined,
      ['demo/Counter@2'],
    ]);
  });

  it('a changed plan is refused when a waiting run of the plan could not continue from its position', async () => {
    const store = memory();
    {
      await using world = await opened(store, ONE, { drive: 'manual' });
      await world.request(counter('a'), added(1));
      await world.request(counter('a'), asked('rent'));
    }
    await (await opened(store, TWO, { drive: 'manual' })).close(); // the plan was started in the era before
    const mutant = { ...payPlan(), digest: 'a'.repeat(64), *run() {} } as never;
    const error = await refusal(opened(store, appOf(counter2(), [mutant]), { drive: 'manual' }));
    expect(error).toMatchObject({ code: 'era_incompatible' });
    expect(error.details.where).toContain('demo/Counter@1/a #0');
  });
});

describe('code that changed under an unchanged digest', () => {
  it('changed code under an unchanged digest is refused with the first divergence that the tail shows', async () => {
    const store = await written();
    const error = await refusal(opened(store, appOf(counter1({ factor: 2 }))));
    expect(error).toMatchObject({ code: 'replay_divergence', details: { divergence: { seq: 1 } } });
    expect(await kindsOf(store)).toEqual(['manifest', 'request', 'request']);
  });
});

describe('the past of an upgraded world', () => {
  it('an upgraded world without its earlier app is refused as unverified, except for the frames of snapshots [RPL-10]', async () => {
    const named = appOf(counter2({}, 'demo/Counter@1'));
    const store = await written(ONE, true);
    await using world = await opened(store, named);
    expect(await refusal(world.at(1))).toMatchObject({ code: 'era_unverified' });
    expect(await (await world.at(3)).state(counter('a'))).toEqual({ count: 3, heard: [] });
    const reader = await store.openReadonly();
    const then = await worldAt(reader, named, 1, { legacy: [ONE] });
    expect(await then.state(counter('a', 2))).toEqual({ count: 3, heard: [] });
  });
});
