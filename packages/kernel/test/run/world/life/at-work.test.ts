import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  type Adapter,
  creates,
  defineApp,
  defineReducer,
  LEAF_BYTES_MAX,
  memory,
  openKernelWorld,
  type World,
} from '../../../../src/index.js';
import { faultyStore } from '../../../support/faulty-store.js';
import { closeSound, codeOf, recordsOf, refusal, until } from '../../../support/judge.js';
import {
  add,
  ask,
  cell,
  lab,
  log,
  note,
  numberOf,
  once,
  seen,
  start,
  tellCell,
  wake,
  when,
} from '../../../support/lab.js';
import { ok, outside } from '../../../support/outside.js';
import { TestClock } from '../../../support/test-clock.js';

describe('given a world that is closed while it writes', () => {
  const { app } = lab();

  it('requests that wait for a slow commit are acknowledged before the world closes, and later ones are refused [REC-8]', async () => {
    const store = faultyStore(memory());
    const world = await openKernelWorld({ store, app });
    let release = (): void => undefined;
    store.slow = new Promise<void>((resolve) => {
      release = resolve;
    });
    const early = Array.from({ length: 5 }, (_, i) => ask(world, 'x', [note(`${i}`)]));
    await until(() => store.tried === 2);
    const queued = ask(world, 'x', [note('queued')]);
    await Promise.resolve();
    const closing = world.close();
    const late = ask(world, 'x', [note('late')]);
    release();
    for (const ack of await Promise.all([...early, queued])) expect(ack.duplicate).toBe(false);
    const verdict = await late.then(
      () => 'taken',
      ({ code }) => code as string,
    );
    expect(['taken', 'world_closed']).toContain(verdict);
    await closing;
    const again = await openKernelWorld({ store, app });
    const words = (await seen(again, 'x')) ?? [];
    expect(words.slice(0, 6)).toEqual(['0', '1', '2', '3', '4', 'queued']);
    expect(words.length).toBe(verdict === 'taken' ? 7 : 6);
    await closeSound(again, store, app);
  });
});

describe('given a world that is read while it writes', () => {
  const { app } = lab();

  it('a verification, a watcher and a look back each see a whole prefix while the world writes [RPL-7, RPL-10]', async () => {
    const store = memory();
    const world = await openKernelWorld({ store, app, snapshotEvery: 7 });
    await ask(world, 'x', [add(1), log(0)]);
    let done = false;
    const writing = (async () => {
      for (let i = 1; i <= 60; i++) await ask(world, 'x', [add(1), log(i)]);
      done = true;
    })();
    const seqs: number[] = [];
    const left = new AbortController();
    const watching = (async () => {
      for await (const { seq } of world.frames(0, left.signal)) seqs.push(seq);
    })();
    while (!done) {
      const report = await world.verify(world.head.digest);
      expect(report.frames).toBeGreaterThan(0);
      const { seq } = world.head;
      const past = await world.at(seq);
      expect(await past.state(cell('x'))).toBeDefined();
      const items: unknown[] = [];
      for await (const item of world.log(cell('x'), 'history')) items.push(item);
      expect(items).toEqual(Array.from(items, (_, i) => i));
    }
    await writing;
    await until(() => seqs.length > world.head.seq);
    left.abort();
    await watching;
    expect(seqs).toEqual(Array.from(seqs, (_, i) => i));
    await closeSound(world, store, app);
  });
});

describe('given an adapter that asks the world it serves', () => {
  const { app } = lab({
    *call(input, plan) {
      const { status } = yield* plan.awaitReceipt(plan.emitEffect(once, input));
      tellCell(plan, 'got', status);
    },
  });

  it('an adapter that sends a request to its world and waits for it does not wait for ever', async () => {
    const store = memory();
    let world: World | undefined;
    const asking: Adapter = {
      effect: once as never,
      name: 'asking',
      doExecute: async () => {
        await ask(world as World, 'y', [add(1)]);
        return { status: 'ok', payload: { got: (await numberOf(world as World, 'y')) ?? null } };
      },
    };
    world = await openKernelWorld({ store, app, adapters: [asking], recheckEvery: 1 });
    await ask(world, 'x', [start('call', 1)]);
    await world.pump();
    expect(await seen(world, 'x')).toEqual(['got="ok"']);
    await closeSound(world, store, app);
  });

  it('a payload that fits the receipt but not the plan settles the effect and ends the plan in error', async () => {
    const store = memory();
    const adapter = outside(once);
    const world = await openKernelWorld({ store, app, adapters: [adapter], recheckEvery: 1 });
    await ask(world, 'x', [start('call', 1)]);
    (await adapter.call(0)).answer(ok({ got: 'x'.repeat(LEAF_BYTES_MAX - 100) }));
    await world.pump();
    expect(await seen(world, 'x')).toEqual(['PlanFailed plan_too_large']);
    expect(await world.openEffects()).toEqual([]);
    expect((await recordsOf(store, 'receipt'))[0]?.receipt.status).toBe('ok');
    await closeSound(world, store, app);
  });
});

describe('given code that answers differently each time', () => {
  /** A cell whose reducer counts outside itself. */
  function leaky() {
    let outsideCount = 0;
    const reducer = defineReducer({
      name: 'leak/Cell@1',
      state: z.strictObject({ n: z.int() }),
      events: {
        'leak/Set@1': creates(z.strictObject({})),
        'leak/Leak@1': creates(z.strictObject({})),
        'sys/TimerFired@1': z.strictObject({ name: z.string(), due: z.int() }),
      },
      init: () => ({ n: 0 }),
      reduce: (draft, event, ctx) => {
        if (event.name === 'leak/Set@1') ctx.timer('leak', ctx.now + 10);
        else draft.n = ++outsideCount;
      },
    });
    return defineApp({ reducers: [reducer] });
  }
  const at: [string, string] = ['leak/Cell@1', 'x'];

  it('a request to such code is refused as nondeterminism and nothing is journaled [DET-6]', async () => {
    const [store, app] = [memory(), leaky()];
    const world = await openKernelWorld({ store, app, recheckEvery: 1, clock: new TestClock(Date.now()) });
    await world.request(at, { name: 'leak/Set@1', value: {} });
    const { head } = world;
    expect((await refusal(world.request(at, { name: 'leak/Leak@1', value: {} }))).code).toBe('nondeterminism');
    expect(world.head).toEqual(head);
    await world.request(at, { name: 'leak/Set@1', value: {} });
    await closeSound(world, store, app);
  });

  it('with a second fold of every third frame or of no frame, the nondeterminism is found in those frames alone [DET-6]', async () => {
    for (const [recheckEvery, found] of [
      [1, 9],
      [3, 3],
      [0, 0],
    ] as const) {
      const clock = new TestClock(Date.now());
      const world = await openKernelWorld({ store: memory(), app: leaky(), recheckEvery, clock });
      let refused = 0;
      for (let n = 0; n < 9; n++) {
        await world.request(at, { name: 'leak/Leak@1', value: {} }).catch((error: unknown) => {
          expect(error).toMatchObject({ code: 'nondeterminism' });
          refused++;
        });
      }
      expect(refused, `every ${recheckEvery}`).toBe(found);
      await world.close();
    }
  });

  it('a timer of such code is quarantined: the cell is unchanged, and the journal replays [DET-7]', async () => {
    const [store, app, clock] = [memory(), leaky(), new TestClock()];
    const world = await openKernelWorld({ store, app, clock, recheckEvery: 1, drive: 'manual' });
    await world.request(at, { name: 'leak/Set@1', value: {} });
    clock.advance(10);
    await world.pump();
    expect((await recordsOf(store, 'timer'))[0]?.quarantined).toBe(true);
    expect(await world.state(at)).toEqual({ n: 0 });
    await closeSound(world, store, app);
  });

  it('without a second fold, verification names the first frame that differs [DET-8]', async () => {
    const [store, app] = [memory(), leaky()];
    const world = await openKernelWorld({ store, app, recheckEvery: 0 });
    await world.request(at, { name: 'leak/Set@1', value: {} });
    await world.request(at, { name: 'leak/Leak@1', value: {} });
    const error = await refusal(world.verify());
    expect(error.code).toBe('replay_divergence');
    expect(String(error.details.where)).toContain('frame 2');
    expect(error.message).toContain('state.n');
    await world.close();
    expect(await codeOf(openKernelWorld({ store, app }))).toBe('replay_divergence');
  });
});

describe('given timers that are due in great number', () => {
  const { app } = lab();

  it('a thousand due timers fire once each, in order, and the world answers requests meanwhile', async () => {
    const clock = new TestClock();
    const store = memory();
    const world = await openKernelWorld({ store, app, clock, recheckEvery: 0 });
    const cells = Array.from({ length: 20 }, (_, i) => `c${i}`);
    for (const key of cells) {
      const timers = Array.from({ length: 50 }, (_, i) => wake(`t${i}`, 10 + i));
      await ask(world, key, [...timers, ...timers.map((_, i) => when(`t${i}`, add(1)))]);
    }
    clock.advance(100);
    const answer = ask(world, 'other', [add(1)]);
    await answer;
    await world.pump();
    for (const key of cells) expect(await numberOf(world, key)).toBe(50);
    const dues = (await recordsOf(store, 'timer')).map(({ due }) => due);
    expect(dues).toEqual([...dues].sort((a, b) => a - b));
    expect(dues).toHaveLength(1_000);
    await closeSound(world, store, app);
  });
});
