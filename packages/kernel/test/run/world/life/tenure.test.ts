/** A world on a store that another process can take over: what it does from the moment in which it may not own it any more. */
import { describe, expect, it } from 'vitest';
import { memory, openKernelWorld, type Store, type World } from '../../../../src/index.js';
import { codeOf, isPending, recordsOf, until } from '../../../support/judge.js';
import { add, again, ask, lab, numberOf, once, rejectUnless, seen, start, tellCell } from '../../../support/lab.js';
import { ok, outside } from '../../../support/outside.js';
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

/** A store in memory whose openings have a tenure; each append waits for `before`. */
function leased() {
  const inner = memory();
  const self = {
    epoch: 0,
    holds: true,
    lose: (): void => undefined,
    before: (): Promise<void> => Promise.resolve(),
    /** After the frames are durable and before the world learns it. */
    after: (): void => undefined,
    store: { ...inner } as Store,
  };
  self.store = {
    ...inner,
    open: async () => {
      const open = await inner.open();
      const epoch = ++self.epoch;
      const lost = new Promise<void>((resolve) => {
        self.lose = resolve;
      });
      self.holds = true;
      return {
        ...open,
        tenure: { epoch, holds: () => self.holds && self.epoch === epoch, lost },
        journal: {
          ...open.journal,
          append: async (frames, expected) => {
            await self.before();
            const head = await open.journal.append(frames, expected);
            self.after();
            return head;
          },
        },
      };
    },
  };
  return self;
}

/** A world, opened again by another process after the first has lost it. */
async function nextOwner(place: ReturnType<typeof leased>, first: World, adapters: ReturnType<typeof outside>[]) {
  await first.close();
  return openKernelWorld({ store: place.store, app, adapters });
}

describe('given a store that another process can take over', () => {
  it('an effect whose frame became durable as the lease ended does not start, and the next owner settles it truthfully [EFF-28]', async () => {
    const [place, adapter] = [leased(), outside(once)];
    const world = await openKernelWorld({ store: place.store, app, adapters: [adapter] });
    place.after = () => {
      place.holds = false;
    };
    await ask(world, 'x', [start('call', 1)]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(adapter.calls).toHaveLength(0);
    const next = outside(once);
    place.after = () => undefined;
    const second = await nextOwner(place, world, [next]);
    expect(await seen(second, 'x')).toEqual(['call="outcome_unknown"']);
    expect(next.calls).toHaveLength(0);
    await second.close();
  });

  it('an effect that may be repeated and did not start is offered by the next owner once [EFF-28]', async () => {
    const [place, adapter] = [leased(), outside(again)];
    const world = await openKernelWorld({ store: place.store, app, adapters: [adapter] });
    place.after = () => {
      place.holds = false;
    };
    await ask(world, 'x', [start('callAgain', 1)]);
    const next = outside(again);
    place.after = () => undefined;
    const second = await nextOwner(place, world, [next]);
    (await next.call(0)).answer(ok({ got: 1 }));
    await until(async () => (await seen(second, 'x'))?.includes('call="ok"') === true);
    expect([adapter.calls.length, next.calls.length]).toEqual([0, 1]);
    await second.close();
  });

  it('an adapter gets the number of the opening that executes its effect, which rises [EFF-29, JRN-44]', async () => {
    const [place, adapter] = [leased(), outside(once)];
    const first = await openKernelWorld({ store: place.store, app, adapters: [adapter] });
    await ask(first, 'x', [start('call', 1)]);
    const call = await adapter.call(0);
    expect(call.context.epoch).toBe(1);
    call.answer(ok({ got: 1 }));
    await first.close();
    const second = await openKernelWorld({ store: place.store, app, adapters: [adapter] });
    await ask(second, 'y', [start('call', 1)]);
    expect((await adapter.call(1)).context.epoch).toBe(2);
    await second.close();
  });

  it('an adapter on a store with a lock gets no such number', async () => {
    const adapter = outside(once);
    const world = await openKernelWorld({ store: memory(), app, adapters: [adapter] });
    await ask(world, 'x', [start('call', 1)]);
    expect('epoch' in (await adapter.call(0)).context).toBe(false);
    await world.close();
  });

  it('a read is refused once the lease has ended, also when it ends while the read is under way [JRN-45]', async () => {
    const place = leased();
    const world = await openKernelWorld({ store: place.store, app });
    await ask(world, 'x', [add(1)]);
    expect(await numberOf(world, 'x')).toBe(1);
    const reading = codeOf(numberOf(world, 'x'));
    place.holds = false;
    expect(await reading).toBe('fenced');
    expect(await codeOf(numberOf(world, 'x'))).toBe('fenced');
    await world.close();
  });

  it('a request that the state in memory would refuse gets fenced, and not the refusal of an old state [JRN-45]', async () => {
    const place = leased();
    const world = await openKernelWorld({ store: place.store, app });
    await ask(world, 'x', [add(1)]);
    expect(await codeOf(ask(world, 'x', [rejectUnless(2, 'not yet')]))).not.toBe('fenced');
    place.holds = false;
    expect(await codeOf(ask(world, 'x', [rejectUnless(2, 'not yet')]))).toBe('fenced');
    await world.close();
  });

  it('a world whose lease has ended closes with fenced, and tells its running effects why [JRN-45, EFF-25]', async () => {
    const [place, adapter] = [leased(), outside(once)];
    const world = await openKernelWorld({ store: place.store, app, adapters: [adapter] });
    await ask(world, 'x', [start('call', 1)]);
    const call = await adapter.call(0);
    place.holds = false;
    place.lose();
    await until(() => world.closedBy !== undefined);
    expect(world.closedBy?.code).toBe('fenced');
    expect(String(call.context.signal.reason)).toBe('AbortError: the effect was told to stop: fenced');
    await world.close();
  });

  it('a lease that ends during a commit loses neither the frame nor its answer, and nothing follows [JRN-11, JRN-45]', async () => {
    const [place, clock] = [leased(), new TestClock()];
    const world = await openKernelWorld({ store: place.store, app, clock });
    let release = (): void => undefined;
    place.before = () =>
      new Promise((resolve) => {
        release = resolve;
      });
    const asking = ask(world, 'x', [add(1)]);
    await new Promise((resolve) => setTimeout(resolve, 0));
    place.holds = false;
    place.lose();
    expect(await isPending(asking)).toBe(true);
    release();
    expect((await asking).seq).toBe(1);
    expect(await codeOf(ask(world, 'x', [add(1)]))).toBe('fenced');
    place.before = () => Promise.resolve();
    const second = await nextOwner(place, world, []);
    expect(await numberOf(second, 'x')).toBe((await recordsOf(place.store, 'request')).length);
    await second.close();
  });

  it('a lease that ended while the journal was replayed refuses the opening, and nothing is left unhandled [JRN-45]', async () => {
    const place = leased();
    const world = await openKernelWorld({ store: place.store, app });
    await ask(world, 'x', [add(1)]);
    await world.close();
    const { store } = place;
    const late: Store = {
      ...store,
      open: async () => {
        const open = await store.open();
        place.holds = false;
        return { ...open, tenure: { epoch: 9, holds: () => false, lost: Promise.resolve() } };
      },
    };
    expect(await codeOf(openKernelWorld({ store: late, app }))).toBe('fenced');
    const again = await openKernelWorld({ store, app });
    expect(await numberOf(again, 'x')).toBe(1);
    await again.close();
  });

  it('an effect that waits behind a shared limit while the lease ends is not executed [EFF-28]', async () => {
    const [place, adapter] = [leased(), outside(once)];
    let admit = (): void => undefined;
    const throttle = {
      enter: () =>
        new Promise<() => void>((resolve) => {
          admit = () => resolve(() => undefined);
        }),
    };
    const world = await openKernelWorld({ store: place.store, app, adapters: [adapter], throttle });
    await ask(world, 'x', [start('call', 1)]);
    await new Promise((resolve) => setImmediate(resolve));
    place.holds = false;
    admit();
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(adapter.calls).toHaveLength(0);
    await world.close();
  });

  it('a reader of the frames of a world that was taken over gets fenced, and not the end of the frames [JRN-45]', async () => {
    const place = leased();
    const world = await openKernelWorld({ store: place.store, app });
    const frames = world.frames(1);
    const waiting = codeOf(frames.next());
    place.holds = false;
    place.lose();
    expect(await waiting).toBe('fenced');
    await world.close();
  });
});
