/** Every call of a store is watched, and what lasts is posted for other processes. */
import { describe, expect, it } from 'vitest';
import { postedTroubles } from '../../../../src/driver.js';
import { memory, type OpenStore, openKernelWorld, type Store, type World } from '../../../../src/index.js';
import { StoreWatch } from '../../../../src/run/world/write/store-watch.js';
import { watchedStore } from '../../../../src/run/world/write/watched-store.js';
import { until } from '../../../support/judge.js';
import { add, ask, lab, once, start, tellCell } from '../../../support/lab.js';
import { ok, outside } from '../../../support/outside.js';
import { TestClock } from '../../../support/test-clock.js';

const BYTES = new Uint8Array([1, 2, 3]);

const { app } = lab({
  *call(input, plan) {
    const receipt = yield* plan.awaitReceipt(plan.emitEffect(once, input));
    tellCell(plan, 'call', receipt.status);
  },
});

/** Time passes, second by second, and what waits for it goes on. */
async function pass(clock: TestClock, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
    clock.advance(1_000);
  }
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
}

/** A store in memory, watched, each of whose calls hangs after `hang`. */
async function hanging() {
  const clock = new TestClock();
  const reports: string[] = [];
  const watch = new StoreWatch({
    ...{ where: 'disk', clock, now: () => clock.wall(), began: () => undefined, changed: () => undefined },
    report: ({ code }) => void reports.push(code),
  });
  let gate: Promise<void> | undefined;
  let release = (): void => undefined;
  const late =
    <A extends unknown[], T>(call: (...args: A) => Promise<T>) =>
    async (...args: A): Promise<T> => {
      await gate;
      return call(...args);
    };
  const lateEach = <A extends unknown[], T>(each: (...args: A) => AsyncIterable<T>) =>
    async function* (...args: A): AsyncGenerator<T> {
      await gate;
      yield* each(...args);
    };
  const inner = await memory().open();
  const { journal, content } = inner;
  const slow: OpenStore = {
    ...inner,
    mark: late(inner.mark),
    journal: {
      head: late(journal.head),
      read: lateEach(journal.read),
      findLast: late(journal.findLast),
      findKey: late(journal.findKey),
      append: late(journal.append),
    },
    content: {
      get: late(content.get),
      has: late(content.has),
      erasedBy: late(content.erasedBy),
      erasedThrough: late(content.erasedThrough),
      put: late(content.put),
      putStream: late(content.putStream),
      erase: late(content.erase),
      list: lateEach(content.list),
    },
  };
  const ref = await content.put(BYTES);
  const hang = (): void => {
    gate = new Promise((resolve) => {
      release = resolve;
    });
  };
  const heal = (): void => release();
  return { clock, watch, store: watchedStore(slow, watch), reports, ref, hang, heal };
}

async function read(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items);
}

describe('the watch over the calls of a store', () => {
  it('each call of a store that hangs is reported and listed until it ends: an adversary is a call that was passed on unwatched [JRN-40]', async () => {
    const { clock, watch, store, reports, ref, hang, heal } = await hanging();
    const { journal, content } = store;
    const calls: Readonly<Record<string, () => Promise<unknown>>> = {
      head: () => journal.head(),
      read: () => read(journal.read(0)),
      findLast: () => journal.findLast('snapshot', 0),
      findKey: () => journal.findKey('k'),
      append: () => journal.append([], { seq: -1, digest: '' } as never),
      mark: () => store.mark('note'),
      get: () => content.get(ref),
      has: () => content.has(ref),
      erasedBy: () => content.erasedBy(ref),
      erasedThrough: () => content.erasedThrough(),
      put: () => content.put(BYTES),
      putStream: () => content.putStream(pieces()),
      list: () => read(content.list()),
      erase: () => content.erase([], 0),
    };
    for (const [name, call] of Object.entries(calls)) {
      hang();
      const called = call().catch(() => undefined);
      await pass(clock, 1);
      expect([name, reports]).toEqual([name, []]);
      await pass(clock, 1);
      expect([name, reports, watch.troubles.map(({ code }) => code)]).toEqual([name, ['store_slow'], ['store_slow']]);
      heal();
      await called;
      await until(() => watch.troubles.length === 0);
      reports.splice(0);
    }
  });

  it('a stream whose source is slow is not reported, and one whose store is slow is [JRN-40]', async () => {
    const { clock, store, reports, hang, heal } = await hanging();
    let more = (): void => undefined;
    const next = new Promise<void>((resolve) => {
      more = resolve;
    });
    async function* waiting(): AsyncGenerator<Uint8Array> {
      yield BYTES;
      await next;
      yield BYTES;
    }
    const put = store.content.putStream(waiting());
    await pass(clock, 10);
    expect(reports).toEqual([]);
    more();
    expect((await put).bytes).toBe(6);
    hang();
    const slow = store.content.putStream(waiting());
    await pass(clock, 2);
    expect(reports).toEqual(['store_slow']);
    heal();
    await slow;
  });

  it('a reader who takes long over what it has read is not reported as a slow store [JRN-40]', async () => {
    const { clock, store, reports } = await hanging();
    for await (const _ of store.content.list()) await pass(clock, 5);
    expect(reports).toEqual([]);
  });

  it('a driver that blocks the process is reported when it returns, once [JRN-40]', async () => {
    const { clock, watch, reports } = await hanging();
    await watch.during(async () => clock.advance(5_000));
    await watch.during(async () => clock.advance(1_000));
    await pass(clock, 3);
    expect(reports).toEqual(['store_slow']);
  });

  it('an opening that takes longer than two seconds is reported before there is a world [JRN-40]', async () => {
    const clock = new TestClock();
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const inner = memory();
    const store: Store = { ...inner, open: () => gate.then(() => inner.open()) };
    const told: unknown[] = [];
    const opening = openKernelWorld({ store, app, clock, onError: (_, origin) => void told.push(origin) });
    await pass(clock, 3);
    expect(told).toEqual([{ source: 'world', code: 'store_slow' }]);
    release();
    await (await opening).close();
  });
});

async function* pieces(): AsyncGenerator<Uint8Array> {
  yield BYTES;
}

/** A store whose posts are kept, as another process reads them. */
function posting(): Store & { readonly posts: (string | null)[]; posted(): ReturnType<typeof postedTroubles> } {
  const inner = memory();
  const posts: (string | null)[] = [];
  return {
    ...inner,
    posts,
    open: async () => ({ ...(await inner.open()), post: async (text) => void posts.push(text) }),
    posted: () => {
      const posted = posts.at(-1);
      return postedTroubles({
        status: async () => ({ writer: 'open', ...(typeof posted === 'string' && { posted }) }),
      });
    },
  };
}

/** The troubles of a world as another process reads them, when they are the same. */
async function same(world: World, store: ReturnType<typeof posting>): Promise<readonly string[]> {
  let [here, there]: [readonly unknown[], readonly { readonly code: string }[]] = [[], []];
  await until(async () => {
    [here, there] = [await world.trouble(), (await store.posted()).troubles];
    return JSON.stringify(here) === JSON.stringify(there);
  });
  return there.map(({ code }) => code);
}

describe('what is posted for other processes', () => {
  it('another process reads what the world lists, as long as it lasts, and nothing is posted of a world without trouble [JRN-41]', async () => {
    const [store, adapter] = [posting(), outside(once)];
    const world = await openKernelWorld({ store, app, adapters: [adapter] });
    await ask(world, 'x', [start('call', 1)]);
    const call = await adapter.call(0);
    await new Promise(setImmediate);
    expect(store.posts).toEqual([]);
    const down = { code: 'provider_error_retryable/network', error: new Error('no answer'), again: true };
    call.context.serviceFails?.('models.example', down);
    expect(await same(world, store)).toEqual([down.code]);
    call.context.serviceFails?.('models.example', { ...down, code: 'provider_error_retryable/overloaded' });
    expect(await same(world, store)).toEqual(['provider_error_retryable/overloaded']);
    call.answer(ok({ got: 1 }));
    await until(async () => (await store.posted()).troubles[0]?.waiting === 0);
    call.context.serviceWorks?.('models.example');
    expect(await same(world, store)).toEqual([]);
    expect(store.posts.at(-1)).toBeNull();
    await world.close();
  });

  it('the frames of a world are the same bytes, whether or not its troubles are posted [JRN-41]', async () => {
    const heads: string[] = [];
    for (const store of [memory(), posting()]) {
      const clock = new TestClock();
      const world = await openKernelWorld({ store, app, clock, random: (length) => new Uint8Array(length) });
      clock.advance(400 * 86_400_000);
      await ask(world, 'x', [add(1)]);
      heads.push(world.head.digest);
      await world.close();
    }
    expect(heads[0]).toBe(heads[1]);
  });

  it('a post that is half written, foreign or of a later version is read as far as it is understood [JRN-41]', async () => {
    const known = { kind: 'store_full', where: 'disk', code: 'store_full', since: 1, waiting: 2 };
    const posts = [
      '',
      '[',
      '{}',
      'null',
      '[1,null,"x",{}]',
      JSON.stringify([
        { ...known, kind: 'toString' },
        { ...known, since: 'x' },
        { ...known, kind: 'service_failing' },
      ]),
    ];
    for (const posted of posts) {
      const read = await postedTroubles({ status: async () => ({ writer: 'open', posted }) });
      expect([posted, read.troubles]).toEqual([posted, []]);
    }
    const read = await postedTroubles({
      status: async () => ({ writer: 'open', posted: JSON.stringify([known, { kind: 'later' }]) }),
    });
    expect(read.troubles).toEqual([known]);
  });

  it('a world that an error closed is listed by itself and posted, and its listener is told [JRN-43]', async () => {
    const store = posting();
    const broken: Store = {
      ...store,
      open: async () => {
        const open = await store.open();
        const append: typeof open.journal.append = async (frames, expected) => {
          if (fails) throw new Error('the disk is gone');
          return open.journal.append(frames, expected);
        };
        return { ...open, journal: { ...open.journal, append } };
      },
    };
    let fails = false;
    const world = await openKernelWorld({ store: broken, app });
    const began: string[] = [];
    world.on('trouble', ({ kind, code }) => began.push(`${kind} ${code}`));
    fails = true;
    await ask(world, 'x', [add(1)]).catch(() => undefined);
    expect(await world.trouble()).toMatchObject([{ kind: 'world_ended', where: 'memory', code: 'store_failed' }]);
    expect(began).toEqual(['world_ended store_failed']);
    await until(async () => (await store.posted()).troubles[0]?.code === 'store_failed');
    await world.close();
  });
});
