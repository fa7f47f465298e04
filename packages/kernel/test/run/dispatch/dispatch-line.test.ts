import { describe, expect, it } from 'vitest';
import { type AnyAdapter, memory, openKernelWorld } from '../../../src/index.js';
import { LazyHeap } from '../../../src/ports/time/lazy-heap.js';
import { Dispatcher } from '../../../src/run/dispatch/dispatcher.js';
import { crashable } from '../../support/crashable-store.js';
import { faultyStore } from '../../support/faulty-store.js';
import { closeSound, codeOf, isPending, recordsOf, until } from '../../support/judge.js';
import { again, ask, cancel, lab, once, seen, start, tellCell } from '../../support/lab.js';
import { ok, outside } from '../../support/outside.js';
import { TestClock } from '../../support/test-clock.js';

const { app } = lab({
  *call(input, plan) {
    const { status, attempts } = yield* plan.awaitReceipt(plan.emitEffect(once, input));
    tellCell(plan, 'got', [status, attempts]);
  },
  *timed(input, plan) {
    const { status, attempts } = yield* plan.awaitReceipt(plan.emitEffect(once, null, { timeoutMs: input as number }));
    tellCell(plan, 'got', [status, attempts]);
  },
  *timedAgain(input, plan) {
    const { status, attempts } = yield* plan.awaitReceipt(plan.emitEffect(again, null, { timeoutMs: input as number }));
    tellCell(plan, 'got', [status, attempts]);
  },
});

function given(options: Partial<Parameters<typeof openKernelWorld>[0]> = {}) {
  const clock = new TestClock();
  const inner = crashable();
  const store = faultyStore(inner);
  const adapter = outside(once, { concurrency: 1 });
  const open = (more: typeof options = {}) =>
    openKernelWorld({ store, app, clock, recheckEvery: 1, adapters: [adapter], ...options, ...more });
  return { clock, inner, store, adapter, open };
}

const emitted = (effect: string) => [{ effect, name: once.name }];

/** A dispatcher whose attempts are placed and durable when the test says so. */
function bare(concurrency: number) {
  const arms: { readonly effect: string; readonly placed: () => void; readonly end: (armed: boolean) => void }[] = [];
  const dispatcher = new Dispatcher({
    adapters: [outside(once, { concurrency }) as AnyAdapter],
    content: undefined as never,
    clock: new TestClock(),
    now: () => 0,
    secret: async () => '',
    progress: () => undefined,
    arm: (effect, _attempt, placed) => new Promise((end) => arms.push({ effect, placed, end })),
    settle: async () => undefined,
    defer: async () => true,
    ask: async () => undefined,
    rights: async () => ({ may: {} }),
  });
  dispatcher.enable();
  const adopt = (effect: string, seq: number) =>
    dispatcher.adopt(effect, {
      plan: ['lab/Cell@1', 'x', 0],
      emission: 0,
      name: once.name,
      params: null,
      guarantee: 'at_most_once',
      deadline: null,
      queued: [seq, 1],
      attempt: 0,
    });
  return { dispatcher, arms, adopt };
}

describe('given effects of one kind that want to start with their frame', () => {
  it('an effect waits when one of an earlier frame of the same batch waits for a place [EFF-4]', () => {
    const { dispatcher } = bare(1);
    expect(dispatcher.reserve(emitted('a'))).toEqual(['a']);
    expect(dispatcher.reserve(emitted('b'))).toEqual([]);
    dispatcher.release(['a']);
    expect(dispatcher.reserve(emitted('c'))).toEqual([]);
    dispatcher.follow([], [], []); // the batch is durable
    expect(dispatcher.reserve(emitted('d'))).toEqual(['d']);
  });

  it('effects do not overtake an earlier one whose attempt is not folded yet', () => {
    const { dispatcher, arms, adopt } = bare(2);
    adopt('a', 1);
    dispatcher.follow([], [], []);
    expect(arms.map(({ effect }) => effect)).toEqual(['a']);
    expect(dispatcher.reserve(emitted('b'))).toEqual([]);
    dispatcher.follow([], [], []);
    arms[0]?.placed();
    expect(dispatcher.reserve(emitted('c'))).toEqual(['c']);
  });
});

describe('given effects that wait for a place', () => {
  it('the place of an effect that is settled before it starts goes to the next', async () => {
    const { dispatcher, arms, adopt } = bare(1);
    adopt('a', 1);
    adopt('b', 2);
    dispatcher.follow([], [], []);
    arms[0]?.end(false);
    await until(() => arms.length === 2, 'the next attempt');
    expect(arms[1]?.effect).toBe('b');
  });

  it('waiting effects get the places of a frame that did not become durable', () => {
    const { dispatcher, arms, adopt } = bare(1);
    expect(dispatcher.reserve(emitted('a'))).toEqual(['a']);
    adopt('b', 1);
    dispatcher.follow([], [], []);
    expect(arms).toEqual([]);
    dispatcher.release(['a']);
    expect(arms.map(({ effect }) => effect)).toEqual(['b']);
  });

  it('the world continues with the next effect when the first is cancelled at the same moment', async () => {
    const { store, adapter, open } = given();
    const world = await open();
    await ask(world, 'x', [start('call', 0)]);
    await ask(world, 'y', [start('call', 1)]);
    await ask(world, 'z', [start('call', 2)]);
    (await adapter.call(0)).answer(ok({ got: 0 }));
    await ask(world, 'y', [cancel('all')]);
    const last = await Promise.race([adapter.call(2), adapter.call(1)]);
    last.answer(ok({ got: 1 }));
    adapter.answerAll(() => ok({ got: 1 }));
    await world.pump();
    expect(await seen(world, 'z')).toEqual(['got=["ok",1]']);
    await closeSound(world, store, app);
  });

  it('the cost of a long line grows with its logarithm, for entering and for serving', () => {
    const count = 8_000;
    let compared = 0;
    const gone = new Set<number>();
    const heap = new LazyHeap<number>(
      (a, b) => {
        compared++;
        return a < b;
      },
      (item) => !gone.has(item),
    );
    for (let i = 0; i < count; i++) heap.push((i * 7_919) % count);
    const order: number[] = [];
    for (let next = heap.first(); next !== undefined; next = heap.first()) {
      order.push(next);
      gone.add(next);
    }
    expect(order).toEqual(Array.from({ length: count }, (_, i) => i));
    expect(compared / count).toBeLessThan(8 * Math.log2(count));
  });

  it('the line keeps its order when effects leave it in any order', () => {
    const live = new Set<number>();
    const heap = new LazyHeap<number>(
      (a, b) => a < b,
      (item) => live.has(item),
    );
    let state = 1;
    for (let i = 0; i < 5_000; i++) {
      state = (state * 48_271) % 2_147_483_647;
      if (!live.has(state)) {
        live.add(state);
        heap.push(state);
      }
      if (i % 3 !== 0) live.delete([...live][state % live.size] as number);
      if (i % 50 === 0) expect(heap.first()).toBe(live.size === 0 ? undefined : Math.min(...live));
    }
  });
});

describe('given effects with deadlines that wait', () => {
  it('each effect times out at its own deadline, in any order of emission, and none starts', async () => {
    const { store, clock, adapter, open } = given();
    const world = await open();
    await ask(world, 'hog', [start('call', 0)]);
    const hog = await adapter.call(0);
    await ask(world, 'late', [start('timed', 300)]);
    await ask(world, 'soon', [start('timed', 100)]);
    for (const [ms, key] of [
      [100, 'soon'],
      [200, 'late'],
    ] as const) {
      expect(await seen(world, key)).toEqual([]);
      clock.advance(ms);
      await until(async () => (await seen(world, key))?.length === 1, `the timeout of ${key}`);
      expect(await seen(world, key)).toEqual(['got=["timeout",0]']);
    }
    hog.answer(ok({ got: 1 }));
    await world.pump();
    expect(adapter.calls).toHaveLength(1);
    await closeSound(world, store, app);
  });

  it('a world under manual drive journals no timeout until it is pumped', async () => {
    const { store, clock, adapter, open } = given({ drive: 'manual' });
    const world = await open();
    await ask(world, 'x', [start('timed', 100)]);
    const { head } = world;
    clock.advance(1_000);
    await isPending(Promise.resolve());
    expect(world.head).toEqual(head);
    await world.pump();
    expect(await seen(world, 'x')).toEqual(['got=["timeout",0]']);
    expect(adapter.calls).toEqual([]);
    await closeSound(world, store, app);
  });

  it('an effect whose deadline passes while its attempt is being written never starts [EFF-18]', async () => {
    const { store, clock, adapter, open } = given();
    const world = await open();
    let land = (): void => undefined;
    store.slow = new Promise<void>((resolve) => {
      land = resolve;
    });
    const asking = ask(world, 'x', [start('timed', 100)]);
    await isPending(asking);
    clock.advance(100);
    store.slow = undefined;
    land();
    await asking;
    await world.pump();
    expect(await seen(world, 'x')).toEqual(['got=["timeout",1]']);
    expect(adapter.calls).toEqual([]);
    await closeSound(world, store, app);
  });

  it('an interrupted effect whose deadline passed is not executed again', async () => {
    const { store, clock, inner, open } = given();
    const first = outside(again);
    const dying = await open({ adapters: [first] });
    await ask(dying, 'x', [start('timedAgain', 100)]);
    await first.call(0);
    await inner.crash();
    clock.advance(100);
    const second = outside(again);
    const world = await open({ adapters: [second] });
    await world.pump();
    expect(await seen(world, 'x')).toEqual(['got=["timeout",1]']);
    expect(second.calls).toEqual([]);
    expect(await recordsOf(store, 'attempt')).toHaveLength(1);
    await closeSound(world, store, app);
  });
});

describe('given an adapter that says how many may run at once', () => {
  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '2'])(
    'a world does not open when an adapter declares %s as its concurrency',
    async (concurrency) => {
      const adapter = { ...outside(once), concurrency: concurrency as number };
      expect(await codeOf(openKernelWorld({ store: memory(), app, adapters: [adapter] }))).toBe('invalid_definition');
    },
  );
});
