/** What an operator is told while nothing fails for good: a slow store, a service that fails, a clock that jumped. */
import { describe, expect, it } from 'vitest';
import { memory, openKernelWorld, type Trouble } from '../../../../src/index.js';
import type { EffectErrorOrigin } from '../../../../src/run/dispatch/reported-errors.js';
import { faultyStore } from '../../../support/faulty-store.js';
import { codeOf, until } from '../../../support/judge.js';
import { add, ask, lab, once, start, tellCell } from '../../../support/lab.js';
import { ok, outside } from '../../../support/outside.js';
import { TestClock } from '../../../support/test-clock.js';

const { app } = lab({
  *call(input, plan) {
    const receipt = yield* plan.awaitReceipt(plan.emitEffect(once, input));
    tellCell(plan, 'call', receipt.status);
  },
});

/** A world whose clock a test moves, with what it told its operator. */
async function given(adapter = outside(once)) {
  const clock = new MovedClock();
  const store = faultyStore(memory());
  const told: { code: string; origin: unknown }[] = [];
  const began: Trouble[] = [];
  const onError = (error: unknown, origin: unknown) =>
    void told.push({ code: String((error as { code?: unknown }).code ?? (error as Error).message), origin });
  const world = await openKernelWorld({ store, app, clock, adapters: [adapter], onError });
  world.on('trouble', (trouble) => began.push(trouble));
  const codes = () => told.map(({ code }) => code);
  return { clock, store, world, told, began, codes };
}

/** A clock whose wall may jump, as one does that a person sets. */
class MovedClock extends TestClock {
  ahead = 0;

  override wall(): number {
    return super.wall() + this.ahead;
  }
}

/** Time passes, second by second, and what waits for it goes on. */
async function pass(clock: TestClock, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    clock.advance(1_000);
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
  }
}

describe('a store that does not answer', () => {
  it('a commit that takes longer than two seconds is reported at once and every minute, is listed although the store answers nothing, and is over with the commit [JRN-40]', async () => {
    const { clock, store, world, began, codes } = await given();
    let release = (): void => undefined;
    store.slow = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { tried } = store;
    const asked = ask(world, 'x', [add(1)]);
    await until(() => store.tried > tried);
    await pass(clock, 1);
    expect(codes()).toEqual([]);
    await pass(clock, 1);
    expect(codes()).toEqual(['store_slow']);
    const trouble = { kind: 'store_slow', where: store.label, code: 'store_slow', since: 1_000_500, waiting: 1 };
    expect(await world.trouble()).toEqual([trouble]);
    await pass(clock, 59);
    expect(codes()).toEqual(['store_slow']);
    await pass(clock, 2);
    expect(codes()).toEqual(['store_slow', 'store_slow']);
    store.slow = undefined;
    release();
    await asked;
    await pass(clock, 120);
    expect([await world.trouble(), codes().length]).toEqual([[], 2]);
    expect(began).toEqual([trouble]);
    await world.close();
  });

  it('a content that an adapter stores counts as well, and commits that are quick are not reported [JRN-40]', async () => {
    let release = (): void => undefined;
    const adapter = outside(once);
    const { clock, store, world, codes } = await given(adapter);
    const slow = new Promise<void>((resolve) => {
      release = resolve;
    });
    for (let n = 0; n < 5; n++) await ask(world, 'x', [add(1)]);
    await ask(world, 'x', [start('call', 1)]);
    const call = await adapter.call(0);
    store.slowPut = slow;
    const put = call.context.content.put(new Uint8Array([1, 2, 3]));
    await pass(clock, 3);
    expect(codes()).toEqual(['store_slow']);
    store.slowPut = undefined;
    release();
    await put;
    call.answer(ok({ got: 1 }));
    await until(async () => (await world.trouble()).length === 0);
    await world.close();
  });
});

describe('a store that does not answer any more', () => {
  it('a content that is never stored is reported until the world is closed, and not after that [JRN-40]', async () => {
    const { clock, store, world, codes } = await given();
    store.slowPut = new Promise<void>(() => undefined);
    void world.content.put(new Uint8Array([1, 2, 3])).catch(() => undefined);
    await pass(clock, 3);
    expect(codes()).toEqual(['store_slow']);
    store.slowPut = undefined;
    await world.close();
    await pass(clock, 180);
    expect(codes()).toEqual(['store_slow']);
  });
});

describe('a service outside that fails', () => {
  it('an adapter that goes on after its effect has ended holds up nothing [EFF-26]', async () => {
    const adapter = outside(once);
    const { world } = await given(adapter);
    await ask(world, 'x', [start('call', 1)]);
    const call = await adapter.call(0);
    call.answer({ status: 'error', code: 'provider_error_retryable/network', retryable: true });
    await until(async () => (await world.openEffects()).length === 0);
    call.context.serviceFails?.('models.example', { code: 'provider_error_retryable/network', again: true });
    expect(await world.trouble()).toMatchObject([{ kind: 'service_failing', waiting: 0, cells: [] }]);
    await world.close();
  });

  it('the first failure is reported at once, with its effect, and again a minute later, and stands in the list until the service works [EFF-26]', async () => {
    const adapter = outside(once);
    const { clock, world, told, began, codes } = await given(adapter);
    await ask(world, 'x', [start('call', 1)]);
    const call = await adapter.call(0);
    const down = { code: 'provider_error_retryable/network', error: new Error('no answer'), again: true };
    for (let attempt = 0; attempt < 4; attempt++) {
      call.context.serviceFails?.('models.example', down);
      await pass(clock, 20);
    }
    expect(codes()).toEqual(['no answer', 'no answer']);
    expect(told[0]?.origin as EffectErrorOrigin).toMatchObject({ source: 'effect', name: once.name, code: down.code });
    const [{ cells, ...trouble }] = (await world.trouble()) as [Trouble & { kind: 'service_failing' }];
    expect(trouble).toEqual({
      ...{ kind: 'service_failing', where: 'models.example', code: down.code, since: 1_000_000, waiting: 1 },
      error: { name: 'Error', message: 'no answer' },
    });
    expect(cells.map(([, key]) => key)).toEqual(['x']);
    call.answer({ status: 'error', code: down.code, retryable: true });
    await until(async () => (await world.trouble())[0]?.waiting === 0);
    call.context.serviceWorks?.('models.example');
    expect(await world.trouble()).toEqual([]);
    expect(began).toHaveLength(1);
    await world.close();
  });
});

describe('listeners whose promises are rejected', () => {
  it('an error that onError or a listener of troubles meets later ends nothing [JRN-40]', async () => {
    const lost: unknown[] = [];
    const keep = (error: unknown) => void lost.push(error);
    process.on('unhandledRejection', keep);
    const fails = async () => {
      throw new Error('the pager is down');
    };
    const [clock, store] = [new TestClock(), faultyStore(memory())];
    const world = await openKernelWorld({ store, app, clock, onError: fails });
    world.on('trouble', fails as () => void);
    store.slowPut = new Promise<void>(() => undefined);
    void world.content.put(new Uint8Array([1])).catch(() => undefined);
    await pass(clock, 3);
    await new Promise(setImmediate);
    expect([(await world.trouble()).length, lost]).toEqual([1, []]);
    process.off('unhandledRejection', keep);
    await world.close();
  });
});

describe('a wall clock that jumps too far ahead', () => {
  it('the jump is reported when it is seen, and listed until the clock is right again [TIME-9]', async () => {
    const { clock, world, began, codes } = await given();
    clock.ahead = 366 * 86_400_000;
    await ask(world, 'x', [add(1)]);
    expect(codes()).toEqual(['clock_mismatch']);
    expect(await world.trouble()).toEqual([
      { kind: 'clock_jump', where: 'clock', code: 'clock_mismatch', since: 1_000_000, waiting: 0 },
    ]);
    expect(began).toHaveLength(1);
    clock.ahead = 0;
    await ask(world, 'x', [add(1)]);
    expect([await world.trouble(), codes()]).toEqual([[], ['clock_mismatch']]);
    await world.close();
  });
});

describe('a disk that can be read only', () => {
  it('a write that fails is reported at once, and ends everybody who waits with its reason', async () => {
    const { store, world, codes } = await given();
    store.appends.push('broken');
    expect(await codeOf(ask(world, 'x', [add(1)]))).toBe('store_failed');
    expect(codes()).toEqual(['store_failed']);
    expect(world.closedBy?.code).toBe('store_failed');
  });
});
