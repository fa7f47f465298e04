import { afterEach, describe, expect, it } from 'vitest';
import { memory, openKernelWorld, type Store, type World } from '../../../../src/index.js';
import { VALUE_DEPTH_MAX } from '../../../../src/pure/codec/index.js';
import { crashable } from '../../../support/crashable-store.js';
import { closeSound, codeOf, framesOf, lastFrame, recordsOf, refusal, until } from '../../../support/judge.js';
import {
  add,
  ask,
  askPresent,
  cancel,
  cell,
  command,
  end,
  fact,
  fail,
  lab,
  log,
  name,
  note,
  numberOf,
  once,
  order,
  parent,
  reject,
  seen,
  send,
  start,
  tell,
  unwake,
  wake,
  when,
} from '../../../support/lab.js';
import { ok, outside } from '../../../support/outside.js';
import { PLACES } from '../../../support/places.js';
import { TestClock } from '../../../support/test-clock.js';

const { app } = lab({
  *call(input, plan) {
    yield* plan.awaitReceipt(plan.emitEffect(once, input));
  },
});

async function given(options: Partial<Parameters<typeof openKernelWorld>[0]> = {}) {
  const store = memory();
  const clock = new TestClock();
  const world = await openKernelWorld({ store, app, clock, recheckEvery: 1, drive: 'manual', ...options });
  return { store, clock, world };
}

describe('given a missing cell', () => {
  it('a request that does not create the cell is refused and nothing is journaled [RED-16]', async () => {
    const { store, world } = await given();
    const { head } = world;
    expect(await codeOf(askPresent(world, 'x', [add(1)]))).toBe('cell_absent');
    expect(await world.state(cell('x'))).toBeUndefined();
    expect(world.head).toEqual(head);
    await closeSound(world, store, app);
  });

  it('the sender of an event to a missing cell is notified, and its own changes stand [RED-16]', async () => {
    const { store, world } = await given();
    await ask(world, 'a', [add(1), tell('nobody', add(1)), send('made', add(1))]);
    expect(await seen(world, 'a')).toEqual(['Undeliverable cell_absent']);
    expect([await numberOf(world, 'a'), await numberOf(world, 'made')]).toEqual([1, 1]);
    await closeSound(world, store, app);
  });

  it('a command to a missing cell is answered with that error and changes nothing else [RED-17]', async () => {
    const { store, world } = await given();
    await ask(world, 'a', [order('nobody', add(1))]);
    expect(await seen(world, 'a')).toEqual(['reply rejected cell_absent']);
    await closeSound(world, store, app);
  });

  it('a fact records the notice when the sender has ended as well', async () => {
    const { store, world } = await given();
    await ask(world, 'a', [tell('nobody', add(1)), end()]);
    expect((await recordsOf(store, 'fact')).map((record) => record.name)).toEqual(['sys/Undeliverable@1']);
    await closeSound(world, store, app);
  });
});

describe('given commands between cells', () => {
  it('each command is answered once, in order, whether it was accepted or rejected [RED-17]', async () => {
    const { store, world } = await given();
    await ask(world, 'a', [command('b', add(1)), command('b', reject('busy')), command('b', add(1))]);
    expect(await seen(world, 'a')).toEqual(['reply accepted', 'reply rejected busy', 'reply accepted']);
    expect(await numberOf(world, 'b')).toBe(2);
    await closeSound(world, store, app);
  });

  it('a cell that commands itself answers itself', async () => {
    const { store, world } = await given();
    await ask(world, 'a', [command('a', add(1))]);
    expect([await numberOf(world, 'a'), await seen(world, 'a')]).toEqual([1, ['reply accepted']]);
    await closeSound(world, store, app);
  });
});

describe('given several sends in one frame', () => {
  it('sends are delivered first in, first out, over all cells [RED-15]', async () => {
    const { store, world } = await given();
    await ask(world, 'a', [
      send('b', note('1'), send('c', note('3'), send('b', note('5')))),
      send('c', note('2'), send('b', note('4'), send('c', note('6')))),
      note('0'),
    ]);
    expect(await seen(world, 'a')).toEqual(['0']);
    expect(await seen(world, 'b')).toEqual(['1', '4', '5']);
    expect(await seen(world, 'c')).toEqual(['2', '3', '6']);
    const frame = await lastFrame(store);
    expect(frame.map(({ kind }) => kind)).toEqual(['request', ...Array(6).fill('event'), 'state']);
    await closeSound(world, store, app);
  });

  it('each record names the delivery that produced it, and not the request [JRN-4]', async () => {
    const { store, world } = await given();
    await ask(world, 'a', [fact('a'), send('b', fact('b'), send('c', fact('c'))), send('d', fail())]);
    const told = (await lastFrame(store)).map((record) =>
      'c' in record ? `${record.kind} of ${record.c}` : record.kind,
    );
    expect(told).toEqual([
      'request',
      'fact of 0',
      'event of 0', // to b
      'event of 0', // to d
      'fact of 2',
      'event of 2', // to c
      'fault of 3',
      'event of 6', // that the one to d was undeliverable
      'fact of 5',
      'state',
    ]);
    await closeSound(world, store, app);
  });

  it('an event of a cell to itself is delivered after what was sent before [RED-15]', async () => {
    const { store, world } = await given();
    await ask(world, 'a', [send('b', send('a', note('from b'))), send('a', note('from a'))]);
    expect(await seen(world, 'a')).toEqual(['from a', 'from b']);
    await closeSound(world, store, app);
  });
});

describe('given a cell that ends', () => {
  it('a cell that is made again is another generation: fresh state, other identifiers, no old log [RED-18]', async () => {
    const { store, world } = await given();
    await ask(world, 'x', [add(5), log('old'), name('id')]);
    const first = await seen(world, 'x');
    await ask(world, 'x', [end()]);
    expect(await world.state(cell('x'))).toBeUndefined();
    expect(await codeOf(askPresent(world, 'x', [add(1)]))).toBe('cell_absent');
    await ask(world, 'x', [add(1), log('new'), name('id')]);
    const second = await seen(world, 'x');
    expect(await numberOf(world, 'x')).toBe(1);
    expect(first?.length).toBe(2);
    expect(second?.some((word) => first?.includes(word))).toBe(false);
    const items: unknown[] = [];
    for await (const item of world.log(cell('x'), 'history')) items.push(item);
    expect(items).toEqual(['new']);
    await closeSound(world, store, app);
  });

  it('the effects of a new generation have other identities, even for the same plan [RED-18]', async () => {
    const { store, world } = await given();
    await ask(world, 'x', [start('call', 1)]);
    await ask(world, 'x', [end()]);
    await ask(world, 'x', [start('call', 1)]);
    const effects = await recordsOf(store, 'effect');
    expect(new Set(effects.map(({ effect }) => effect)).size).toBe(2);
    await closeSound(world, store, app);
  });

  it('the end of a cell drops its timers and cancels its plans [RED-18, RED-21]', async () => {
    const adapter = outside(once);
    const { store, clock, world } = await given({ adapters: [adapter] });
    await ask(world, 'x', [wake('bell', 10), start('call', 1)]);
    await ask(world, 'x', [end()]);
    clock.advance(100);
    const { head } = world;
    expect(await world.pump()).toEqual({ quiescent: true, nextWakeAt: undefined });
    expect(world.head).toEqual(head);
    expect(adapter.calls).toEqual([]);
    await closeSound(world, store, app);
  });

  it('a cell that ends in its creating event leaves only its generation number', async () => {
    const { store, world } = await given();
    await ask(world, 'x', [add(1), send('y', add(1)), end()]);
    expect(await world.state(cell('x'))).toBeUndefined();
    expect(await numberOf(world, 'y')).toBe(1);
    await ask(world, 'x', [name('id')]);
    await closeSound(world, store, app);
  });
});

describe('given identifiers and random values', () => {
  it('identifiers differ by label, by draw, by delivery and by cell, and are the same in every replay [DET-2]', async () => {
    const { store, world } = await given();
    await ask(world, 'x', [name('a'), name('a'), name('b')]);
    await ask(world, 'x', [name('a')]);
    await ask(world, 'y', [name('a')]);
    const all = [...((await seen(world, 'x')) ?? []), ...((await seen(world, 'y')) ?? [])];
    expect(new Set(all).size).toBe(10);
    const ids = all.filter((word) => /^[0-9a-f]{32}$/.test(word));
    const chances = all.filter((word) => !ids.includes(word)).map(Number);
    expect(ids).toHaveLength(5);
    expect(chances.every((chance) => chance >= 0 && chance < 1)).toBe(true);
    await closeSound(world, store, app); // verification draws them again
  });
});

describe('given cells that make cells', () => {
  it('the parent of a cell is always the cell that made it [RED-19]', async () => {
    const { store, world } = await given();
    await ask(world, 'root', [parent(), send('child', parent())]);
    await ask(world, 'other', [send('child', parent())]);
    expect(await seen(world, 'root')).toEqual(['parent none']);
    expect(await seen(world, 'child')).toEqual(['parent lab/Cell@1/root', 'parent lab/Cell@1/root']);
    await ask(world, 'child', [end()]);
    await ask(world, 'other', [send('child', parent())]);
    expect(await seen(world, 'child')).toEqual(['parent lab/Cell@1/other']);
    await closeSound(world, store, app);
  });
});

describe('given timers', () => {
  it('due timers fire one by one, by due time and then by address [RED-23]', async () => {
    const { store, clock, world } = await given();
    await ask(world, 'b', [wake('late', 30), wake('early', 10)]);
    await ask(world, 'a', [wake('early', 10), wake('middle', 20)]);
    clock.advance(100);
    await world.pump();
    const timers = await recordsOf(store, 'timer');
    expect(timers.map((record) => [record.cell[1], record.name])).toEqual([
      ['a', 'early'],
      ['b', 'early'],
      ['a', 'middle'],
      ['b', 'late'],
    ]);
    await closeSound(world, store, app);
  });

  it('a timer that is set again has only its last time; a cleared one never fires [RED-21]', async () => {
    const { store, clock, world } = await given();
    await ask(world, 'x', [wake('moved', 10), wake('moved', 50), wake('gone', 10), wake('kept', 20)]);
    await ask(world, 'x', [wake('moved', 60), unwake('gone'), unwake('never set')]);
    clock.advance(20);
    await world.pump();
    expect(await seen(world, 'x')).toEqual(['timer kept']);
    clock.advance(40);
    const report = await world.pump();
    expect(await seen(world, 'x')).toEqual(['timer kept', 'timer moved']);
    expect(report.nextWakeAt).toBeUndefined();
    await closeSound(world, store, app);
  });

  it('a timer in the past fires at once, in its own frame [RED-22]', async () => {
    const { store, world } = await given();
    await ask(world, 'x', [wake('past', -1_000)]);
    expect(await seen(world, 'x')).toEqual([]);
    await world.pump();
    expect(await seen(world, 'x')).toEqual(['timer past']);
    await closeSound(world, store, app);
  });

  it('a timer that sets itself again fires once each time [RED-22]', async () => {
    const { store, clock, world } = await given();
    await ask(world, 'x', [wake('tick', 10), when('tick', wake('tick', 10), add(1))]);
    for (let i = 0; i < 5; i++) {
      clock.advance(10);
      await world.pump();
    }
    expect(await numberOf(world, 'x')).toBe(5);
    await closeSound(world, store, app);
  });

  it('either the timer or its clearing wins, cleanly, when both come in the same moment', async () => {
    const { store, clock, world } = await given({ drive: 'auto' });
    await ask(world, 'x', [wake('bell', 10)]);
    clock.advance(10);
    await ask(world, 'x', [unwake('bell')]);
    await world.pump();
    expect([[], ['timer bell']]).toContainEqual(await seen(world, 'x'));
    await closeSound(world, store, app);
  });

  it('a timer 30 days and more away does not fire early [RED-22]', async () => {
    const { store, clock, world } = await given({ drive: 'auto' });
    const days = 24 * 3_600_000;
    await ask(world, 'x', [wake('far', 40 * days)]);
    clock.advance(39 * days);
    await world.pump();
    expect(await seen(world, 'x')).toEqual([]);
    clock.advance(1 * days);
    await until(async () => (await seen(world, 'x'))?.length === 1);
    await closeSound(world, store, app);
  });

  it('timers that came due while the world was closed fire at the opening, once [RED-24]', async () => {
    const { store, clock, world } = await given();
    await ask(world, 'x', [wake('a', 10), wake('b', 20)]);
    await world.snapshot();
    await world.close();
    clock.advance(1_000);
    const later = await openKernelWorld({ store, app, clock });
    await later.pump();
    expect(await seen(later, 'x')).toEqual(['timer a', 'timer b']);
    await closeSound(later, store, app);
  });

  it('journal time does not go back with the wall clock, and timers still fire [TIME-1]', async () => {
    const { store, clock, world } = await given();
    await ask(world, 'x', [wake('bell', 50)]);
    const wall = clock.wall.bind(clock);
    clock.wall = () => wall() - 3_600_000;
    clock.advance(49);
    await world.pump();
    expect(await seen(world, 'x')).toEqual([]);
    clock.advance(1);
    await world.pump();
    expect(await seen(world, 'x')).toEqual(['timer bell']);
    const times = (await framesOf(store)).map(([ingress]) => (ingress as { at: number }).at);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    await closeSound(world, store, app);
  });
});

describe.each(PLACES)('given requests that are sent again, on $name', (place) => {
  const removals: (() => void)[] = [];
  afterEach(() => {
    for (const remove of removals.splice(0)) remove();
  });

  async function placed(): Promise<{ store: Store; world: World; crash: () => Promise<void> }> {
    const { store: inner, remove } = place.make();
    removals.push(remove);
    const store = crashable(inner);
    const world = await openKernelWorld({ store, app, recheckEvery: 1 });
    return { store, world, crash: () => store.crash() };
  }

  it('a repeated request with equal id and content gets the first answer, also after snapshot, reopening and crash [REQ-1]', async () => {
    const { store, world, crash } = await placed();
    const first = await ask(world, 'x', [add(1)], { id: 'a' });
    await ask(world, 'x', [add(1)], { id: 'b' });
    const repeated = { ...first, duplicate: true };
    expect(await ask(world, 'x', [add(1)], { id: 'a' })).toEqual(repeated);
    await world.snapshot();
    expect(await ask(world, 'x', [add(1)], { id: 'a' })).toEqual(repeated);
    await crash();
    const second = await openKernelWorld({ store, app });
    const { head } = second;
    expect(await ask(second, 'x', [add(1)], { id: 'a' })).toEqual(repeated);
    expect(second.head).toEqual(head);
    expect(await numberOf(second, 'x')).toBe(2);
    await closeSound(second, store, app);
  });

  it('a repeated id with different content is a conflict and changes nothing [REQ-2]', async () => {
    const { store, world } = await placed();
    await ask(world, 'x', [add(1)], { id: 'a' });
    const { head } = world;
    const others = [
      () => ask(world, 'x', [add(2)], { id: 'a' }),
      () => ask(world, 'y', [add(1)], { id: 'a' }),
      () => askPresent(world, 'x', [add(1)], { id: 'a' }),
      () => world.revive(cell('x'), { id: 'a' }),
    ];
    for (const other of others) expect(await codeOf(other())).toBe('request_conflict');
    await world.snapshot();
    const error = await refusal(ask(world, 'x', [add(2)], { id: 'a' }));
    expect([error.code, error.details.where]).toEqual(['request_conflict', `frame ${head.seq}`]);
    expect(await numberOf(world, 'x')).toBe(1);
    await closeSound(world, store, app);
  });

  it('the same id of another principal is another request [REQ-3]', async () => {
    const { store, world } = await placed();
    for (const as of ['operator', 'human:ada', 'human:bob', 'cell:lab/Cell@1/x'] as const) {
      expect((await ask(world, 'x', [add(1)], { id: 'a', as })).duplicate).toBe(false);
    }
    expect(await numberOf(world, 'x')).toBe(4);
    expect((await ask(world, 'x', [add(1)], { id: 'a', as: 'human:bob' })).duplicate).toBe(true);
    await closeSound(world, store, app);
  });

  it('a map with another key order, −0 or an undefined key is the same content [REQ-4]', async () => {
    const { store, world } = await placed();
    const event = { name: 'lab/Do@1', value: { steps: [['when', 'w', [['note', { b: 1, a: 0 }]]]] } };
    const same = { name: 'lab/Do@1', value: { steps: [['when', 'w', [['note', { a: -0, b: 1, c: undefined }]]]] } };
    await world.request(cell('x'), event, { id: 'a' });
    expect((await world.request(cell('x'), same, { id: 'a' })).duplicate).toBe(true);
    await closeSound(world, store, app);
  });

  it('a repetition of a value of the largest depth is recognized', async () => {
    const { store, world } = await placed();
    let deep: unknown = 1;
    for (let depth = 3; depth < VALUE_DEPTH_MAX; depth++) deep = [deep]; // three levels are around it
    const event = { name: 'lab/Do@1', value: { steps: [['when', 'w', deep]] } };
    await world.request(cell('x'), event, { id: 'a' });
    expect((await world.request(cell('x'), event, { id: 'a' })).duplicate).toBe(true);
    await closeSound(world, store, app);
  });

  it('each id takes effect once when many requests arrive at once [REQ-1]', async () => {
    const { store, world } = await placed();
    const acks = await Promise.all(
      Array.from({ length: 60 }, (_, i) => ask(world, 'x', [add(1)], { id: `${i % 20}` })),
    );
    expect(acks.filter(({ duplicate }) => !duplicate)).toHaveLength(20);
    expect(await numberOf(world, 'x')).toBe(20);
    for (const [i, ack] of acks.entries()) expect(ack.seq).toBe(acks[i % 20]?.seq);
    await closeSound(world, store, app);
  });
});

describe('given requests that arrive while the world works', () => {
  it('requests without waiting take effect in the order in which they were sent [REQ-7]', async () => {
    const adapter = outside(once);
    adapter.answerAll(() => ok({ got: 1 }));
    const { store, world } = await given({ drive: 'auto', adapters: [adapter] });
    await Promise.all(Array.from({ length: 50 }, (_, i) => ask(world, 'x', [note(`${i}`)])));
    expect(await seen(world, 'x')).toEqual(Array.from({ length: 50 }, (_, i) => `${i}`));
    await closeSound(world, store, app);
  });

  it('a later change of the value by the caller does not change the request [REQ-7]', async () => {
    const { store, world } = await given();
    const steps = [['add', 1]];
    const to: [string, string] = ['lab/Cell@1', 'x'];
    const sent = world.request(to, { name: 'lab/Do@1', value: { steps } });
    steps.push(['add', 100]);
    to[1] = 'y';
    await sent;
    expect([await numberOf(world, 'x'), await numberOf(world, 'y')]).toEqual([1, undefined]);
    await closeSound(world, store, app);
  });
});

describe('given a cell of several plans', () => {
  it('a cell that cancels a plan by its number ends that plan alone; an unknown number is not a fault', async () => {
    const { store, world } = await given();
    await ask(world, 'x', [start('call', 1), start('call', 2), start('call', 3)]);
    await ask(world, 'x', [cancel(1), cancel(9)]);
    const ended = (await recordsOf(store, 'plan_ended')).map(({ plan, status }) => [plan[2], status]);
    expect(ended).toEqual([[1, 'cancelled']]);
    expect(await world.openEffects()).toHaveLength(2);
    await closeSound(world, store, app);
  });
});
