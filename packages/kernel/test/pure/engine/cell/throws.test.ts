import type { ErrorCode, JournalRecord } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import { memory, openKernelWorld, type Store, type World } from '../../../../src/index.js';
import {
  bytesOf,
  closeSound,
  codeOf,
  expectDocumented,
  framesOf,
  lastFrame,
  refusal,
  until,
} from '../../../support/judge.js';
import {
  add,
  ask,
  askPresent,
  cell,
  command,
  deaf,
  fact,
  fail,
  lab,
  log,
  note,
  numberOf,
  once,
  order,
  reject,
  type Seen,
  type Step,
  seen,
  send,
  start,
  THROWN,
  tell,
  tellCell,
  thrownThing,
  wake,
  when,
} from '../../../support/lab.js';
import { ok, outside } from '../../../support/outside.js';
import { TestClock } from '../../../support/test-clock.js';

const { app } = lab({
  *call(input, plan) {
    const receipt = yield* plan.awaitReceipt(plan.emitEffect(once, input));
    tellCell(plan, 'call', receipt.status);
  },
  // biome-ignore lint/correctness/useYield: it throws before it could
  *throwAtStart(input, plan) {
    plan.emitEffect(once, input);
    tellCell(plan, 'never', 1);
    throw thrownThing(String(input));
  },
  *throwLater(input, plan) {
    const first = plan.emitEffect(once, input);
    const second = plan.emitEffect(once, input);
    yield* plan.awaitReceipt(first);
    plan.emitEffect(once, second.emission);
    tellCell(plan, 'never', 1);
    throw new Error('after a receipt');
  },
});

async function given(options: Partial<Parameters<typeof openKernelWorld>[0]> = {}) {
  const store = memory();
  const clock = new TestClock();
  const world = await openKernelWorld({ store, app, clock, recheckEvery: 1, ...options });
  return { store, clock, world };
}

/** Kinds of a frame's records, the ingress's first. */
function kinds(records: readonly JournalRecord[]): string[] {
  return records.map((record) => (record.kind === 'event' ? record.event.name : record.kind));
}

async function stateBytes(world: World, keys: readonly string[]): Promise<string> {
  return JSON.stringify(await Promise.all(keys.map((key) => world.state(cell(key)))));
}

describe('given a request whose own delivery faults', () => {
  it.each(THROWN)(
    'a request is refused when the reducer throws (%s), and nothing is journaled [REQ-5, REQ-6]',
    async (how) => {
      const { store, world } = await given();
      await ask(world, 'x', [add(1)]);
      const [before, head] = [await stateBytes(world, ['x', 'y']), world.head];
      const error = await refusal(ask(world, 'x', [add(5), log('l'), fact('f'), send('y', add(1)), fail(how)]));
      expect(error.code).toBe('delivery_faulted');
      expect(error.details.fault).toBe('threw');
      expectDocumented(error);
      expect(world.head).toEqual(head);
      expect(await stateBytes(world, ['x', 'y'])).toBe(before);
      await ask(world, 'x', [add(1)]);
      expect(await numberOf(world, 'x')).toBe(2);
      await closeSound(world, store, app);
    },
  );

  it('a cell that throws in its creating event does not exist, and a later event creates it', async () => {
    const { store, world } = await given();
    expect(await codeOf(ask(world, 'x', [add(1), fail()]))).toBe('delivery_faulted');
    expect(await world.state(cell('x'))).toBeUndefined();
    expect(await codeOf(askPresent(world, 'x', [add(1)]))).toBe('cell_absent');
    await ask(world, 'x', [add(1)]);
    await closeSound(world, store, app);
  });

  it('an id that is sent again after a refusal is a new request [REQ-5]', async () => {
    const { store, world } = await given();
    expect(await codeOf(ask(world, 'x', [fail()], { id: 'a' }))).toBe('delivery_faulted');
    expect((await ask(world, 'x', [add(1)], { id: 'a' })).duplicate).toBe(false);
    await closeSound(world, store, app);
  });
});

describe('given a delivery inside a frame that faults', () => {
  it('a faulted delivery drops only the changes of its receiver, and the sender is notified [RED-3, RED-4, RED-7]', async () => {
    const { store, world } = await given();
    await ask(world, 'b', [add(1)]);
    await ask(world, 'a', [add(1), send('b', add(7), send('c', add(1)), fact('no'), fail()), send('d', add(1))]);
    expect(await numberOf(world, 'a')).toBe(1);
    expect(await numberOf(world, 'b')).toBe(1);
    expect(await numberOf(world, 'c')).toBeUndefined();
    expect(await numberOf(world, 'd')).toBe(1);
    expect(await seen(world, 'a')).toEqual(['Undeliverable faulted']);
    expect(kinds(await lastFrame(store))).toEqual([
      'request',
      'lab/Do@1',
      'lab/Do@1',
      'fault',
      'sys/Undeliverable@1',
      'state',
    ]);
    expect((await bytesOf(store)).includes('as told')).toBe(false);
    await closeSound(world, store, app);
  });

  it('a fault answers a command that requests a reply [RED-7]', async () => {
    const { store, world } = await given();
    await ask(world, 'b', [add(1)]);
    await ask(world, 'a', [command('b', fail()), order('nobody', add(1)), command('b', add(1))]);
    expect(await seen(world, 'a')).toEqual([
      'reply rejected faulted',
      'reply rejected cell_absent',
      'reply rejected cell_failed',
    ]);
    await closeSound(world, store, app);
  });

  it('a fact records the notice for a sending cell that takes no notices [RED-9]', async () => {
    const { store, world } = await given();
    await world.request(deaf('a'), { name: 'lab/Do@1', value: { steps: [tell('nobody', add(1)) as unknown as Step] } });
    const frame = await lastFrame(store);
    expect(kinds(frame)).toEqual(['request', 'lab/Must@1', 'fact', 'state']);
    expect(frame[2]).toMatchObject({ name: 'sys/Undeliverable@1', value: { to: cell('nobody'), code: 'cell_absent' } });
    await closeSound(world, store, app);
  });

  it('a fault in the handling of a notice fails the cell, and no further notice is made [RED-8]', async () => {
    const { store, world } = await given();
    await ask(world, 'a', [when('sys/Undeliverable@1', fail())]);
    await ask(world, 'a', [add(1), tell('nobody', add(1))]);
    const frame = await lastFrame(store);
    expect(kinds(frame)).toEqual(['request', 'lab/Must@1', 'sys/Undeliverable@1', 'fault', 'fact', 'state']);
    expect(await codeOf(ask(world, 'a', [add(1)]))).toBe('cell_failed');
    await world.revive(cell('a'));
    expect(await numberOf(world, 'a')).toBe(1);
    await closeSound(world, store, app);
  });
});

describe('given a timer whose reducer throws', () => {
  it('a due timer that throws fails the cell with its last state, and never fires again [JRN-25]', async () => {
    const { store, clock, world } = await given({ drive: 'manual' });
    await ask(world, 'x', [add(3), wake('bell', 10), when('bell', add(1), fail())]);
    clock.advance(10);
    await world.pump();
    expect(kinds(await lastFrame(store))).toEqual(['timer', 'fault', 'fact', 'state']);
    expect(await numberOf(world, 'x')).toBe(3);
    expect(await codeOf(ask(world, 'x', [add(1)]))).toBe('cell_failed');
    await ask(world, 'other', [add(1)]);
    const { head } = world;
    await world.close();
    const again = await openKernelWorld({ store, app, clock, drive: 'manual' });
    expect((await again.pump()).nextWakeAt).toBeUndefined();
    expect(again.head).toEqual(head);
    await again.revive(cell('x'));
    await ask(again, 'x', [add(1)]);
    expect(await numberOf(again, 'x')).toBe(4);
    await closeSound(again, store, app);
  });
});

describe('given a receipt whose cascade throws', () => {
  it('a fault in an event that a plan raised leaves the effect settled, the plan ended and the world usable [JRN-25]', async () => {
    const adapter = outside(once);
    const { store, world } = await given({ adapters: [adapter] });
    await ask(world, 'x', [add(1), start('call', 7), when('call', add(1), send('y', add(1)), fail())]);
    (await adapter.call(0)).answer(ok({ got: 1 }));
    await world.pump();
    expect(await world.openEffects()).toEqual([]);
    expect(await numberOf(world, 'x')).toBe(1);
    expect(await numberOf(world, 'y')).toBeUndefined();
    expect(await codeOf(ask(world, 'x', [add(1)]))).toBe('cell_failed');
    const frame = await lastFrame(store);
    expect(kinds(frame)).toEqual(['receipt', 'lab/Got@1', 'plan_ended', 'fault', 'fact', 'state']);
    await world.revive(cell('x'));
    expect(await seen(world, 'x')).toEqual([]);
    await closeSound(world, store, app);
  });

  it('a fault in a later cell leaves everything before it unchanged [RED-3]', async () => {
    const adapter = outside(once);
    const { store, world } = await given({ adapters: [adapter] });
    await ask(world, 'b', [add(1)]);
    await ask(world, 'x', [start('call', 7), when('call', add(2), send('b', fail()))]);
    (await adapter.call(0)).answer(ok({ got: 1 }));
    await world.pump();
    expect(await numberOf(world, 'x')).toBe(2);
    expect(await seen(world, 'x')).toEqual(['call="ok"', 'Undeliverable faulted']);
    expect(await numberOf(world, 'b')).toBe(1);
    await closeSound(world, store, app);
  });
});

describe('given a plan that throws', () => {
  it.each(THROWN)(
    'a plan that throws at its start (%s) ends in error, and its cell is notified [PLAN-10]',
    async (how) => {
      const adapter = outside(once);
      const { store, world } = await given({ adapters: [adapter] });
      await ask(world, 'x', [start('throwAtStart', how)]);
      await world.pump();
      expect(adapter.calls).toHaveLength(0);
      expect(await seen(world, 'x')).toEqual(['PlanFailed threw']);
      expect(kinds(await lastFrame(store))).toEqual([
        'request',
        'intent',
        'fault',
        'plan_ended',
        'sys/PlanFailed@1',
        'state',
      ]);
      await closeSound(world, store, app);
    },
  );

  it('a plan that throws after a receipt loses its last step, and its open effects are detached [PLAN-10]', async () => {
    const adapter = outside(once);
    const { store, world } = await given({ adapters: [adapter] });
    await ask(world, 'x', [start('throwLater', 1)]);
    const second = await adapter.call(1);
    adapter.calls[0]?.answer(ok({ got: 1 }));
    await until(async () => (await seen(world, 'x'))?.length === 1);
    expect(await seen(world, 'x')).toEqual(['PlanFailed threw']);
    expect(adapter.calls).toHaveLength(2);
    expect((await world.openEffects()).length).toBe(1);
    second.answer(ok({ got: 2 }));
    await world.pump();
    expect(await world.openEffects()).toEqual([]);
    expect(kinds(await lastFrame(store))).toEqual(['receipt', 'state']);
    await closeSound(world, store, app);
  });

  it('a fact records the failure of a plan when its cell takes no notices [RED-9]', async () => {
    const { store, world } = await given();
    await world.request(deaf('x'), {
      name: 'lab/Do@1',
      value: { steps: [start('throwAtStart', 'error') as unknown as Step] },
    });
    expect(kinds(await lastFrame(store))).toEqual(['request', 'intent', 'fault', 'plan_ended', 'fact', 'state']);
    await closeSound(world, store, app);
  });

  it('a fault in the notice of a failed plan fails the cell, and nothing repeats [RED-8]', async () => {
    const { store, world } = await given();
    await ask(world, 'x', [when('sys/PlanFailed@1', fail()), start('throwAtStart', 'error')]);
    expect(await codeOf(ask(world, 'x', [add(1)]))).toBe('cell_failed');
    await closeSound(world, store, app);
  });
});

describe('given a cell that has failed', () => {
  async function failed(): Promise<{
    store: Store;
    world: World;
    adapter: ReturnType<typeof outside>;
    clock: TestClock;
  }> {
    const adapter = outside(once, { concurrency: 1 });
    const { store, world, clock } = await given({ adapters: [adapter] });
    await ask(world, 'x', [add(4), note('kept'), log('kept'), start('call', 1), start('call', 2), wake('bell', 50)]);
    await adapter.call(0);
    await ask(world, 'other', [send('x', fail())]);
    return { store, world, adapter, clock };
  }

  it('a request to a failed cell is refused with cell_failed and nothing is journaled [RED-10]', async () => {
    const { store, world, adapter } = await failed();
    const { head } = world;
    const error = await refusal(ask(world, 'x', [add(1)]));
    expect(error.code satisfies ErrorCode).toBe('cell_failed');
    expectDocumented(error);
    expect(world.head).toEqual(head);
    adapter.answerAll(() => ({ status: 'cancelled' }));
    await closeSound(world, store, app);
  });

  it('the plans of a failed cell are cancelled: waiting effects are settled, running ones are stopped [RED-10]', async () => {
    const { store, world, adapter } = await failed();
    expect(adapter.calls).toHaveLength(1);
    expect(adapter.calls[0]?.context.signal.aborted).toBe(true);
    expect((await world.openEffects()).map(({ attempt }) => attempt)).toEqual([1]);
    const frame = await lastFrame(store);
    expect(kinds(frame).filter((kind) => ['plan_ended', 'settled'].includes(kind))).toEqual([
      'plan_ended',
      'plan_ended',
      'settled',
    ]);
    adapter.calls[0]?.answer({ status: 'cancelled' });
    await world.pump();
    expect(await world.openEffects()).toEqual([]);
    await closeSound(world, store, app);
  });

  it('a revived cell continues from its last state, with its logs [RED-10]', async () => {
    const { store, world, adapter } = await failed();
    adapter.answerAll(() => ({ status: 'cancelled' }));
    await world.revive(cell('x'));
    await ask(world, 'x', [add(1), log('more')]);
    const state = (await world.state(cell('x'))) as unknown as Seen;
    expect([state.n, state.seen]).toEqual([5, ['kept']]);
    const items: unknown[] = [];
    for await (const item of world.log(cell('x'), 'history')) items.push(item);
    expect(items).toEqual(['kept', 'more']);
    await world.pump();
    await closeSound(world, store, app);
  });

  it('a due timer of a failed cell becomes a fact, and the revived cell does not have the timer', async () => {
    const { store, world, adapter, clock } = await failed();
    adapter.answerAll(() => ({ status: 'cancelled' }));
    clock.advance(60);
    await world.pump();
    const facts = (await framesOf(store)).flat().filter((record) => record.kind === 'fact');
    expect(facts.map(({ name }) => name)).toContain('sys/TimerFired@1');
    await world.revive(cell('x'));
    expect(await seen(world, 'x')).toEqual(['kept']);
    await closeSound(world, store, app);
  });

  it('a failed cell is revived in the same way after a snapshot and a reopening [RED-10]', async () => {
    const { store, world, adapter } = await failed();
    adapter.answerAll(() => ({ status: 'cancelled' }));
    await world.pump();
    await world.snapshot();
    await world.close();
    const again = await openKernelWorld({ store, app });
    expect(await codeOf(ask(again, 'x', [add(1)]))).toBe('cell_failed');
    await again.revive(cell('x'));
    await ask(again, 'x', [add(1)]);
    expect(await numberOf(again, 'x')).toBe(5);
    await closeSound(again, store, app);
  });

  it('the revival of a cell that is missing, ended or healthy reports so or changes nothing', async () => {
    const { store, world, adapter } = await failed();
    adapter.answerAll(() => ({ status: 'cancelled' }));
    expect(await codeOf(world.revive(cell('nobody')))).toBe('cell_absent');
    await ask(world, 'gone', [add(1)]);
    await ask(world, 'gone', [['end']]);
    expect(await codeOf(world.revive(cell('gone')))).toBe('cell_absent');
    const before = await stateBytes(world, ['other']);
    await world.revive(cell('other'));
    expect(await stateBytes(world, ['other'])).toBe(before);
    await world.pump();
    await closeSound(world, store, app);
  });
});

describe('given a reducer that rejects', () => {
  it('a rejected request is refused with its code and nothing is journaled [REQ-6]', async () => {
    const { store, world } = await given();
    await ask(world, 'x', [add(1)]);
    const { head } = world;
    const error = await refusal(ask(world, 'x', [add(1), send('y', add(1)), reject('too_late')]));
    expect([error.code, error.details.reason]).toEqual(['request_rejected', 'too_late']);
    expect(world.head).toEqual(head);
    expect(await numberOf(world, 'y')).toBeUndefined();
    await closeSound(world, store, app);
  });

  it('a rejected event drops its changes, leaves the cell healthy, and answers a command [RED-11]', async () => {
    const { store, world } = await given();
    await ask(world, 'b', [add(1)]);
    await ask(world, 'a', [command('b', add(9), reject('no')), send('b', add(9), reject('no'))]);
    expect(await numberOf(world, 'b')).toBe(1);
    expect(await seen(world, 'a')).toEqual(['reply rejected no']);
    expect(kinds(await lastFrame(store))).toContain('fact');
    await ask(world, 'b', [add(1)]);
    await closeSound(world, store, app);
  });

  it('the rejection of a timer or a plan is a fact and fails nothing [RED-11]', async () => {
    const adapter = outside(once);
    const { store, clock, world } = await given({ adapters: [adapter] });
    await ask(world, 'x', [
      wake('bell', 5),
      when('bell', reject('not_now')),
      when('call', reject('nor_you')),
      start('call'),
    ]);
    (await adapter.call(0)).answer(ok({ got: 1 }));
    clock.advance(5);
    await world.pump();
    expect(await seen(world, 'x')).toEqual([]);
    await ask(world, 'x', [add(1)]);
    await closeSound(world, store, app);
  });
});
