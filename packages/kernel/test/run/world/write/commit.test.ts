import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isRepriseError, RepriseError } from '@reprise/contracts';
import { sqlite } from '@reprise/store-sqlite';
import { afterEach, describe, expect, it } from 'vitest';
import { randomFrom } from '../../../../../../conformance/random.js';
import { memory, openKernelWorld, type Store, type Trouble, type World } from '../../../../src/index.js';
import { crashable } from '../../../support/crashable-store.js';
import { type FaultyStore, faultyStore } from '../../../support/faulty-store.js';
import { closeSound, codeOf, framesOf, isPending, recordsOf, refusal, until } from '../../../support/judge.js';
import {
  add,
  again,
  ask,
  fact,
  lab,
  log,
  note,
  numberOf,
  once,
  rejectUnless,
  seen,
  send,
  start,
  tellCell,
  wake,
} from '../../../support/lab.js';
import { ok, outside } from '../../../support/outside.js';
import { PLACES } from '../../../support/places.js';
import { TestClock } from '../../../support/test-clock.js';

const { app } = lab({
  *call(input, plan) {
    const receipt = yield* plan.awaitReceipt(plan.emitEffect(once, input));
    tellCell(plan, 'call', receipt.status);
  },
  *callAgain(input, plan) {
    const receipt = yield* plan.awaitReceipt(plan.emitEffect(again, input));
    tellCell(plan, 'call', receipt.status);
  },
});

const removals: (() => void)[] = [];
afterEach(() => {
  for (const remove of removals.splice(0)) remove();
});

async function given(place: (typeof PLACES)[number], options: Partial<Parameters<typeof openKernelWorld>[0]> = {}) {
  const { store: inner, remove } = place.make();
  removals.push(remove);
  const store = faultyStore(inner);
  const world = await openKernelWorld({ store, app, recheckEvery: 1, ...options });
  return { store, world };
}

/** Lets what has just been answered reach the queue of the world. */
const tick = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

/** Nothing that waits is told before its commit: the write takes until `release`. */
function slowly(store: FaultyStore): () => void {
  let release = (): void => undefined;
  store.slow = new Promise<void>((resolve) => {
    release = () => {
      store.slow = undefined;
      resolve();
    };
  });
  return release;
}

describe.each(PLACES)('given a full disk after the fold, on $name', (place) => {
  it('answers that depend on lost frames are not sent, and the same ids succeed later [JRN-11, JRN-13]', async () => {
    const { store, world } = await given(place);
    const head = world.head;
    store.appends.push('full');
    const release = slowly(store);
    const made = ask(world, 'x', [add(1)], { id: 'A' });
    const refused = ask(world, 'x', [rejectUnless(0, 'exists')], { id: 'B' });
    const repeated = ask(world, 'x', [add(1)], { id: 'A' });
    const conflicting = ask(world, 'x', [add(2)], { id: 'A' });
    await until(() => store.tried === 2);
    const reading = numberOf(world, 'x');
    expect(await isPending(Promise.race([made, refused, repeated, conflicting, reading]))).toBe(true);
    release();
    for (const answer of [made, refused, repeated, conflicting]) expect(await codeOf(answer)).toBe('commit_failed');
    expect(await reading).toBeUndefined();
    expect(world.head).toEqual(head);

    const first = await ask(world, 'x', [add(1)], { id: 'A' });
    expect(first.duplicate).toBe(false);
    expect((await refusal(ask(world, 'x', [rejectUnless(0, 'exists')], { id: 'B' }))).details.reason).toBe('exists');
    expect(await ask(world, 'x', [add(1)], { id: 'A' })).toEqual({ ...first, duplicate: true });
    expect(await codeOf(ask(world, 'x', [add(2)], { id: 'A' }))).toBe('request_conflict');
    expect(await numberOf(world, 'x')).toBe(1);
    await closeSound(world, store, app);
  });

  it('a repeated request that is durable is answered at once, and stays durable [JRN-27]', async () => {
    const { store, world } = await given(place);
    const first = await ask(world, 'x', [add(1)], { id: 'A' });
    store.appends.push('full');
    const release = slowly(store);
    const lost = ask(world, 'x', [add(5)], { id: 'B' });
    const repeated = ask(world, 'x', [add(1)], { id: 'A' });
    const conflicting = ask(world, 'x', [add(2)], { id: 'A' });
    expect(await repeated).toEqual({ ...first, duplicate: true });
    expect(await codeOf(conflicting)).toBe('request_conflict');
    expect(await isPending(lost)).toBe(true);
    release();
    expect(await codeOf(lost)).toBe('commit_failed');
    await closeSound(world, store, app);
  });

  it('the frames after a failed batch are those that an undisturbed world writes [JRN-13]', async () => {
    const clock = new TestClock();
    const random = (length: number) => new Uint8Array(length).fill(7);
    const { store, world } = await given(place, { clock, random });
    await ask(world, 'x', [add(1), log('a'), wake('t', 50)], { id: '1' });
    store.appends.push('full');
    const lost = [
      ask(world, 'x', [add(5), log('lost'), fact('lost'), send('y', add(9)), wake('t', 70)], { id: 'l1' }),
      ask(world, 'y', [note('lost'), start('call')], { id: 'l2' }),
    ];
    for (const answer of lost) expect(await codeOf(answer)).toBe('commit_failed');
    await ask(world, 'x', [add(2), log('b'), send('y', add(1))], { id: '2' });

    const calm = await openKernelWorld({ store: fresh(), app, clock, random });
    await ask(calm, 'x', [add(1), log('a'), wake('t', 50)], { id: '1' });
    await ask(calm, 'x', [add(2), log('b'), send('y', add(1))], { id: '2' });
    expect(world.head).toEqual(calm.head);
    await calm.close();
    await closeSound(world, store, app);
  });
});

function fresh() {
  const { store, remove } = (PLACES[0] as (typeof PLACES)[number]).make();
  removals.push(remove);
  return store;
}

describe('given a full disk, on which inputs are tried again until they are durable, once', () => {
  const memory = PLACES[0] as (typeof PLACES)[number];

  it('an effect whose receipt cannot be written is not executed again, and its plan continues later [JRN-14, EFF-3]', async () => {
    const adapter = outside(once);
    const { store, world } = await given(memory, { adapters: [adapter] });
    await ask(world, 'x', [start('call', 1)]);
    const call = await adapter.call(0);
    store.full = true;
    const tried = store.tried;
    call.answer(ok({ got: 1 }));
    await until(() => store.tried >= tried + 2, 'a second try');
    const meanwhile = ask(world, 'y', [add(1)], { id: 'm' });
    expect(await codeOf(meanwhile)).toBe('commit_failed');
    store.full = false;
    await until(async () => (await seen(world, 'x'))?.includes('call="ok"') === true);
    expect(adapter.calls).toHaveLength(1);
    expect(await recordsOf(store, 'receipt')).toHaveLength(1);
    await closeSound(world, store, app);
  });

  it('a store that is full while nobody waits is reported at once, then every minute, until it has room [JRN-38]', async () => {
    const [clock, adapter] = [new TestClock(), outside(once)];
    const [reported, began]: [string[], Trouble[]] = [[], []];
    const onError = (error: unknown) => void reported.push((error as RepriseError).code);
    const { store, world } = await given(memory, { clock, adapters: [adapter], onError });
    world.on('trouble', (trouble) => began.push(trouble));
    await ask(world, 'x', [start('call', 1)]);
    const call = await adapter.call(0);
    store.full = true;
    call.answer(ok({ got: 1 }));
    await until(() => reported.length === 1, 'the first report');
    const trouble = { kind: 'store_full', where: store.label, code: 'store_full', waiting: 1 };
    expect(await world.trouble()).toMatchObject([trouble]); // although the next try is still to come
    const pass = async (seconds: number) => {
      for (let second = 0; second < seconds; second++) {
        clock.advance(1_000);
        for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
      }
    };
    await pass(55);
    expect(reported).toEqual(['store_full']);
    await pass(15);
    expect(reported).toEqual(['store_full', 'store_full']);
    const refused = refusal(ask(world, 'y', [add(1)]));
    await pass(6);
    const told = await refused;
    expect([told.code, told.details.actual]).toEqual(['commit_failed', expect.stringContaining('store_full')]);
    store.full = false;
    await pass(6);
    expect(await seen(world, 'x')).toContain('call="ok"');
    expect(await world.trouble()).toEqual([]);
    expect(began).toMatchObject([trouble]);
    await closeSound(world, store, app);
  });

  it('a timer that cannot be written fires once, later [JRN-14]', async () => {
    const clock = new TestClock();
    const { store, world } = await given(memory, { clock });
    await ask(world, 'x', [wake('bell', 100)]);
    store.appends.push('full', 'full');
    clock.advance(100);
    await until(() => store.appends.length < 2);
    for (let i = 0; i < 20 && (await recordsOf(store, 'timer')).length === 0; i++) {
      clock.advance(1_000);
      await isPending(Promise.resolve());
    }
    expect(await seen(world, 'x')).toEqual(['timer bell']);
    expect(await recordsOf(store, 'timer')).toHaveLength(1);
    await closeSound(world, store, app);
  });

  it('an effect whose attempt cannot be written does not start before it is durable [EFF-2]', async () => {
    const adapter = outside(again, { concurrency: 1 });
    const { store, world } = await given(memory, { adapters: [adapter] });
    await ask(world, 'x', [start('callAgain', 1), start('callAgain', 2)]);
    (await adapter.call(0)).answer(ok({ got: 1 }));
    await until(() => adapter.calls.length === 2);
    expect(await recordsOf(store, 'attempt')).toHaveLength(2);
    await ask(world, 'x', [start('callAgain', 3)]);
    store.appends.push('ok', 'full', 'full'); // the second receipt lands, the third attempt does not
    adapter.calls[1]?.answer(ok({ got: 2 }));
    await until(() => store.appends.length === 0);
    expect(adapter.calls.length).toBe(2);
    await until(() => adapter.calls.length === 3);
    const attempts = await recordsOf(store, 'attempt');
    expect(attempts.map(({ attempt }) => attempt)).toEqual([1, 1, 1]);
    adapter.answerAll(() => ok({ got: 3 }));
    await world.pump();
    await closeSound(world, store, app);
  });

  it('several waiting inputs become durable in the order of their arrival [JRN-14]', async () => {
    const adapter = outside(once);
    const { store, world } = await given(memory, { adapters: [adapter] });
    await ask(world, 'x', [start('call', 0), start('call', 1), start('call', 2)]);
    await adapter.call(2);
    store.full = true;
    const tried = store.tried;
    for (const n of [2, 0, 1]) adapter.calls[n]?.answer(ok({ got: n }));
    await until(() => store.tried >= tried + 2);
    store.full = false;
    await world.pump();
    const got = (await recordsOf(store, 'receipt')).map(({ receipt }) => (receipt.payload as { got: number }).got);
    expect(got).toEqual([2, 0, 1]);
    await closeSound(world, store, app);
  });

  it('older inputs of a failed commit become durable before newer ones that wait behind them [JRN-14]', async () => {
    const adapter = outside(once);
    const { store, world } = await given(memory, { adapters: [adapter] });
    await ask(world, 'x', [start('call', 0), start('call', 1), start('call', 2), start('call', 3)]);
    await adapter.call(3);
    store.appends.push('full');
    const tried = store.tried;
    const release = slowly(store);
    for (const n of [2, 0]) adapter.calls[n]?.answer(ok({ got: n }));
    await until(() => store.tried > tried); // both are in the commit that is about to fail
    for (const n of [1, 3]) adapter.calls[n]?.answer(ok({ got: n }));
    await tick();
    release();
    await world.pump();
    const got = (await recordsOf(store, 'receipt')).map(({ receipt }) => (receipt.payload as { got: number }).got);
    expect(got).toEqual([2, 0, 1, 3]);
    await closeSound(world, store, app);
  });

  it('effects of a lost frame did not start, and their places are free [EFF-3]', async () => {
    const adapter = outside(once, { concurrency: 1 });
    const { store, world } = await given(memory, { adapters: [adapter] });
    store.appends.push('full');
    expect(await codeOf(ask(world, 'x', [start('call', 1)]))).toBe('commit_failed');
    expect(adapter.calls).toHaveLength(0);
    await ask(world, 'x', [start('call', 2)]);
    const call = await adapter.call(0);
    expect(call.params).toBe(2);
    call.answer(ok({ got: 2 }));
    await world.pump();
    await closeSound(world, store, app);
  });

  it('closing does not wait for a full disk', async () => {
    const adapter = outside(once);
    const { store, world } = await given(memory, { adapters: [adapter] });
    await ask(world, 'x', [start('call', 1)]);
    const call = await adapter.call(0);
    store.full = true;
    const tried = store.tried;
    call.answer(ok({ got: 1 }));
    await until(() => store.tried > tried);
    await world.close();
    store.full = false;
    const reopened = await openKernelWorld({ store, app, adapters: [adapter] });
    await reopened.pump();
    expect(await seen(reopened, 'x')).toEqual(['call="outcome_unknown"']);
    expect(adapter.calls).toHaveLength(1);
    await closeSound(reopened, store, app);
  });

  it('opening a world on a full disk reports that, and may be tried again [REC-10]', async () => {
    const adapter = outside(once);
    const disk = crashable();
    const store = faultyStore(disk);
    const world = await openKernelWorld({ store, app, adapters: [adapter] });
    await ask(world, 'x', [start('call', 1)]);
    await adapter.call(0);
    await disk.crash();
    store.full = true;
    expect(await codeOf(openKernelWorld({ store, app, adapters: [adapter] }))).toBe('store_full');
    store.full = false;
    const reopened = await openKernelWorld({ store, app, adapters: [adapter] });
    await reopened.pump();
    expect(await seen(reopened, 'x')).toEqual(['call="outcome_unknown"']);
    await closeSound(reopened, store, app);
  });

  it('opening a new world on a full disk reports that, and may be tried again [REC-10]', async () => {
    const store = faultyStore(fresh());
    store.full = true;
    expect(await codeOf(openKernelWorld({ store, app }))).toBe('store_full');
    store.full = false;
    const world = await openKernelWorld({ store, app });
    await ask(world, 'x', [add(1)]);
    await closeSound(world, store, app);
  });

  it('a request whose content cannot be written fails, and other requests do not', async () => {
    const { store, world } = await given(memory);
    store.putFull = true;
    const long = Array.from({ length: 40 }, (_, i) => log(i)); // a chunk of a log is content
    expect(await codeOf(ask(world, 'x', long))).toBe('commit_failed');
    expect((await ask(world, 'x', [add(1)])).duplicate).toBe(false);
    store.putFull = false;
    await ask(world, 'x', long);
    await closeSound(world, store, app);
  });
});

/** A text that a store cannot make small by compressing it: 9,000 characters. */
function words(seed: number): string {
  const random = randomFrom(seed);
  return Array.from({ length: 900 }, () => random().toString(36).slice(2, 12).padEnd(10)).join('');
}

describe('given a real quota of the store', () => {
  it('at the quota requests fail, durable frames are sound, and with more space everything continues [JRN-17]', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'reprise-quota-'));
    removals.push(() => rmSync(dir, { recursive: true, force: true }));
    const path = join(dir, 'w.db');
    const world = await openKernelWorld({ store: sqlite(path, { maxPageCount: 96 }), app });
    const bulk = (n: number) => ask(world, 'x', [add(1), fact(words(n))], { id: `${n}` });
    let last = await bulk(0);
    let refused = 0;
    for (let n = 1; n < 60 && refused === 0; n++) {
      try {
        last = await bulk(n);
      } catch (error) {
        expect(isRepriseError(error, 'commit_failed')).toBe(true);
        refused = n;
      }
    }
    expect(refused).toBeGreaterThan(1);
    expect(await numberOf(world, 'x')).toBe(refused);
    expect(world.head.digest).toBe(last.head);
    await world.close();
    const roomy = await openKernelWorld({ store: sqlite(path), app });
    await ask(roomy, 'x', [add(1)], { id: `${refused}b` });
    expect(await numberOf(roomy, 'x')).toBe(refused + 1);
    await closeSound(roomy, sqlite(path), app);
  });
});

describe('given an append whose answer is lost', () => {
  it('each request is acknowledged once and no frame is repeated when the frames were written [JRN-12]', async () => {
    const { store, world } = await given(PLACES[1] as (typeof PLACES)[number]);
    store.appends.push('reply lost');
    const acks = await Promise.all([
      ask(world, 'x', [add(1)], { id: 'A' }),
      ask(world, 'x', [add(1)], { id: 'A' }),
      ask(world, 'y', [add(2)], { id: 'B' }),
    ]);
    expect(acks.map(({ duplicate }) => duplicate)).toEqual([false, true, false]);
    expect(await numberOf(world, 'x')).toBe(1);
    expect((await framesOf(store)).length).toBe(3); // manifest, A, B
    expect((await ask(world, 'x', [add(1)], { id: 'A' })).duplicate).toBe(true);
    await closeSound(world, store, app);
  });

  it('the plan continues and the effect is not settled twice when the receipt was written [JRN-12]', async () => {
    const adapter = outside(once);
    const { store, world } = await given(PLACES[0] as (typeof PLACES)[number], { adapters: [adapter] });
    await ask(world, 'x', [start('call', 1)]);
    store.appends.push('reply lost');
    (await adapter.call(0)).answer(ok({ got: 1 }));
    await world.pump();
    expect(await seen(world, 'x')).toEqual(['call="ok"']);
    expect(await recordsOf(store, 'receipt')).toHaveLength(1);
    await closeSound(world, store, app);
  });

  it('a snapshot is taken although the reply of its append was lost', async () => {
    const { store, world } = await given(PLACES[0] as (typeof PLACES)[number]);
    await ask(world, 'x', [add(1)]);
    store.appends.push('reply lost');
    const { seq } = await world.snapshot();
    expect(seq).toBe(world.head.seq);
    await ask(world, 'x', [add(1)]);
    await closeSound(world, store, app);
  });
});

describe('given a store that fails and cannot say why', () => {
  it.each(PLACES)(
    'the world closes after a failed sync, and acknowledged frames are there, on $name [JRN-16]',
    async (place) => {
      const { store, world } = await given(place);
      const acks: Awaited<ReturnType<typeof ask>>[] = [];
      for (let i = 0; i < 5; i++) acks.push(await ask(world, 'x', [add(1)], { id: `ok ${i}` }));
      store.appends.push('broken');
      const failed = ask(world, 'x', [add(1)], { id: 'lost' });
      const waiting = numberOf(world, 'x');
      expect(await codeOf(failed)).toBe('store_failed');
      await waiting.catch(() => undefined);
      expect(await codeOf(ask(world, 'x', [add(1)]))).toBe('store_failed');
      expect(await codeOf(numberOf(world, 'x'))).toBe('store_failed');
      await world.close();
      const again = await openKernelWorld({ store, app });
      expect(await numberOf(again, 'x')).toBe(5);
      for (const [i, ack] of acks.entries()) {
        expect(await ask(again, 'x', [add(1)], { id: `ok ${i}` })).toEqual({ ...ack, duplicate: true });
      }
      expect((await ask(again, 'x', [add(1)], { id: 'lost' })).duplicate).toBe(false);
      await closeSound(again, store, app);
    },
  );

  it('no caller learns that nothing was written when the head cannot be read after a failure [JRN-16]', async () => {
    const { store, world } = await given(PLACES[0] as (typeof PLACES)[number]);
    store.appends.push('reply lost');
    store.headUnreadable = true;
    const unknown = await refusal(ask(world, 'x', [add(1)], { id: 'A' }));
    expect(unknown.code).toBe('store_failed');
    await world.close();
    store.headUnreadable = false;
    const again = await openKernelWorld({ store, app });
    expect((await ask(again, 'x', [add(1)], { id: 'A' })).duplicate).toBe(true);
    await closeSound(again, store, app);
  });

  it('a timer is not quarantined when its cell cannot be read once: it fires at the next opening', async () => {
    const clock = new TestClock();
    const { store, world } = await given(PLACES[0] as (typeof PLACES)[number], { clock });
    for (let n = 0; n < 200; n++) await ask(world, `other ${n}`, [add(1)]);
    await ask(world, 'x', [wake('bell', 100)]);
    await world.snapshot();
    await world.close();
    const blind = await openKernelWorld({ store, app, clock, drive: 'manual' });
    store.unreadable = 1;
    clock.advance(100);
    await blind.pump();
    expect(blind.closedBy?.code).toBe('store_failed');
    await blind.close();
    expect(store.unreadable).toBe(0);
    const again = await openKernelWorld({ store, app, clock });
    await until(async () => (await seen(again, 'x'))?.includes('timer bell') === true);
    expect(await recordsOf(store, 'timer')).toHaveLength(1);
    await closeSound(again, store, app);
  });

  it('the world closes when a snapshot cannot be synced, as for any other frame', async () => {
    const { store, world } = await given(PLACES[0] as (typeof PLACES)[number]);
    await ask(world, 'x', [add(1)]);
    store.appends.push('broken');
    expect(await codeOf(world.snapshot())).toBe('store_failed');
    expect(await codeOf(ask(world, 'x', [add(1)]))).toBe('store_failed');
    await world.close();
    const again = await openKernelWorld({ store, app });
    expect(await numberOf(again, 'x')).toBe(1);
    await closeSound(again, store, app);
  });

  it('the world continues without a snapshot when the disk is full [RPL-11]', async () => {
    const { store, world } = await given(PLACES[0] as (typeof PLACES)[number]);
    await ask(world, 'x', [add(1)]);
    store.appends.push('full');
    expect(await codeOf(world.snapshot())).toBe('store_full');
    await ask(world, 'x', [add(1)]);
    await world.snapshot();
    await closeSound(world, store, app);
  });

  it('the streams of watchers end with the world', async () => {
    const { store, world } = await given(PLACES[0] as (typeof PLACES)[number]);
    const seqs: number[] = [];
    const watching = (async () => {
      for await (const { seq } of world.frames()) seqs.push(seq);
    })();
    await ask(world, 'x', [add(1)]);
    store.appends.push('broken');
    await codeOf(ask(world, 'x', [add(1)]));
    await watching;
    expect(seqs).toEqual([0, 1]);
    await world.close();
  });
});

describe('given another writer', () => {
  it('the world closes as fenced after an append of another writer, and writes nothing more [JRN-15]', async () => {
    const { store, world } = await given(PLACES[0] as (typeof PLACES)[number]);
    await ask(world, 'x', [add(1)]);
    store.appends.push('stale');
    expect(await codeOf(ask(world, 'x', [add(1)]))).toBe('fenced');
    const tried = store.tried;
    expect(await codeOf(ask(world, 'x', [add(1)]))).toBe('fenced');
    expect(await codeOf(world.snapshot())).toBe('fenced');
    expect(store.tried).toBe(tried);
    await world.close();
  });

  it('the world closes as fenced when its snapshot meets another writer [JRN-15]', async () => {
    const { store, world } = await given(PLACES[0] as (typeof PLACES)[number]);
    store.appends.push('stale');
    expect(await codeOf(world.snapshot())).toBe('fenced');
    expect(await codeOf(ask(world, 'x', [add(1)]))).toBe('fenced');
    await world.close();
  });
});

/** A store that lets everybody in. */
async function withoutLock(): Promise<Store> {
  const shared = await memory().open();
  return {
    label: 'without a lock',
    open: async () => ({ ...shared, close: async () => undefined }),
    openReadonly: async () => ({ ...shared, close: async () => undefined }),
  };
}

describe('given another writer beside it, for the lock was lost', () => {
  it('one of two writers of the same bytes has written, and its effect starts once [JRN-15]', async () => {
    const store = await withoutLock();
    const [clock, adapter] = [new TestClock(), outside(once)];
    const writers = [
      await openKernelWorld({ store, app, clock, adapters: [adapter] }),
      await openKernelWorld({ store, app, clock, adapters: [adapter] }),
    ];
    const asked = writers.map((world) => ask(world, 'x', [start('call', 1)], { id: 'the same' }));
    const told = await Promise.allSettled(asked);
    expect(told.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(told.map((one) => one.status === 'rejected' && one.reason.code).filter(Boolean)).toEqual(['fenced']);
    (await adapter.call(0)).answer(ok({ got: 1 }));
    const [writer] = writers.filter(({ closedBy }) => closedBy === undefined);
    await until(async () => (await seen(writer as World, 'x'))?.includes('call="ok"') === true);
    expect(adapter.calls).toHaveLength(1);
    for (const world of writers) await world.close();
  });

  it('a writer that does not know a frame of its request closes as fenced and answers no caller', async () => {
    const store = await withoutLock();
    const first = await openKernelWorld({ store, app });
    const second = await openKernelWorld({ store, app });
    const asked = { id: 'the same' };
    expect((await ask(second, 'x', [add(1)], asked)).seq).toBe(1);
    expect(await codeOf(ask(first, 'x', [add(1)], asked))).toBe('fenced');
    expect(await codeOf(ask(first, 'x', [rejectUnless(1, 'other')]))).toBe('fenced');
    await first.close();
    await closeSound(second, store, app);
  });

  it('a writer that looked for a world while another made it is refused, and no second genesis is written', async () => {
    const store = await withoutLock();
    let made: Awaited<ReturnType<typeof openKernelWorld>> | undefined;
    const late: Store = {
      ...store,
      open: async () => {
        const open = await store.open();
        const read: typeof open.journal.read = async function* (from, to) {
          made ??= await openKernelWorld({ store, app });
          yield* open.journal.read(from, to);
        };
        return { ...open, journal: { ...open.journal, read } };
      },
    };
    expect(await codeOf(openKernelWorld({ store: late, app }))).toBe('fenced');
    expect(await framesOf(store)).toHaveLength(1);
    if (made !== undefined) await closeSound(made, store, app);
  });
});

/** A store that the next opening takes over: the lease of the owner before is over, and its looks at the head are refused. */
async function leased() {
  const shared = await memory().open();
  let [opened, failing] = [0, false];
  const store: Store = {
    label: 'leased',
    open: async () => {
      const epoch = ++opened;
      const requireLease = (): void => {
        if (epoch < opened) throw new RepriseError('fenced', 'another process has taken this world over');
      };
      const journal: typeof shared.journal = {
        ...shared.journal,
        head: async () => {
          requireLease();
          return shared.journal.head();
        },
        append: async (frames, expected) => {
          requireLease();
          if (!failing) return shared.journal.append(frames, expected);
          failing = false;
          self.failed?.();
          await self.pause;
          throw new RepriseError('store_failed', 'the connection was lost');
        },
      };
      const ended = epoch === 1 ? 'clean' : 'lost';
      return { ...shared, journal, cleanlyClosed: ended === 'clean', ended, close: async () => undefined };
    },
    openReadonly: async () => ({ ...shared, close: async () => undefined }),
  };
  const self = {
    store,
    /** Resolves when the append that fails may answer. */
    pause: Promise.resolve(),
    failed: undefined as (() => void) | undefined,
    /** The next append writes nothing, and fails. */
    failNext: () => {
      failing = true;
    },
  };
  return self;
}

describe('given an owner whose lease is over', () => {
  it('an effect whose frame the next owner wrote with the same bytes starts at that owner alone [JRN-37]', async () => {
    const place = await leased();
    const [clock, adapter] = [new TestClock(), outside(once)];
    const open = () => openKernelWorld({ store: place.store, app, clock, adapters: [adapter] });
    const first = await open();
    let second: World | undefined;
    place.failNext();
    place.pause = new Promise((resolve) => {
      place.failed = async () => {
        second = await open();
        await ask(second, 'x', [start('call', 1)], { id: 'the same' });
        resolve();
      };
    });
    expect(await codeOf(ask(first, 'x', [start('call', 1)], { id: 'the same' }))).toBe('fenced');
    expect(first.closedBy?.code).toBe('fenced');
    (await adapter.call(0)).answer(ok({ got: 1 }));
    await until(async () => (await seen(second as World, 'x'))?.includes('call="ok"') === true);
    expect(adapter.calls).toHaveLength(1);
    for (const world of [first, second]) await world?.close();
  });

  it('an effect that runs at an owner that is fenced is told to stop at once [EFF-25]', async () => {
    const place = await leased();
    const adapter = outside(once);
    const first = await openKernelWorld({ store: place.store, app, adapters: [adapter] });
    await ask(first, 'x', [start('call', 1)]);
    const call = await adapter.call(0);
    expect(call.context.signal.aborted).toBe(false);
    const second = await openKernelWorld({ store: place.store, app });
    expect(await codeOf(ask(first, 'x', [add(1)]))).toBe('fenced');
    expect(call.context.signal.aborted).toBe(true);
    expect(String(call.context.signal.reason)).toBe('AbortError: the effect was told to stop: fenced');
    for (const world of [first, second]) await world.close();
  });
});

describe('given a slow commit', () => {
  it('no answer, read, frame or effect precedes the commit [JRN-11, EFF-2]', async () => {
    const adapter = outside(once);
    const { store, world } = await given(PLACES[0] as (typeof PLACES)[number], { adapters: [adapter] });
    const release = slowly(store);
    const asking = ask(world, 'x', [add(1), start('call', 1)]);
    await until(() => store.tried === 2);
    const reading = numberOf(world, 'x');
    const frames = world.frames(1);
    const watching = frames.next();
    expect(await isPending(Promise.race([asking, reading, watching]))).toBe(true);
    expect(adapter.calls).toHaveLength(0);
    expect(world.head.seq).toBe(0);
    release();
    expect((await asking).seq).toBe(1);
    expect(await reading).toBe(1);
    expect((await watching).value?.seq).toBe(1);
    await frames.return(undefined);
    (await adapter.call(0)).answer(ok({ got: 1 }));
    await world.pump();
    await closeSound(world, store, app);
  });
});
