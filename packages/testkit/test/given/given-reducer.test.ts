import { givenReducer, type ReducerOutcome } from '@reprise/testkit';
import { describe, expect, it } from 'vitest';
import { BENCH_START } from '../../src/given/bench.js';
import { audit, order } from './shop.js';

const ordered = { name: 'shop/Ordered@1', value: { cents: 10 } };
const paid = { name: 'shop/Paid@1', value: { ok: true } };

const whenOrdered = () => givenReducer(order).when(ordered);
const whenPaid = () =>
  givenReducer(order, { others: [audit] })
    .events(ordered)
    .when(paid);

describe('given a reducer', () => {
  it('a first event makes the cell, as a world would', () => {
    whenOrdered().then({
      state: { paid: false, cents: 10 },
      sends: [],
      facts: [],
      intents: [{ plan: 'shop/pay_plan@1', input: { cents: 10 } }],
      timers: { remind: BENCH_START + 1_000 },
      logs: { history: ['ordered'] },
    });
  });

  it('earlier events are applied, and only what follows them is compared', () => {
    whenPaid().then({
      state: { cents: 10, paid: true },
      intents: [],
      sends: [{ to: ['shop/Audit@1', 'all'], name: 'shop/Noted@1', value: { line: 'paid' } }],
      facts: [{ name: 'shop/Settled@1', value: { cents: 10 } }],
      timers: {},
      logs: { history: ['paid'] },
    });
  });

  it('a given state stands as if it had been reached', () => {
    givenReducer(order)
      .state({ cents: 7, paid: false })
      .when(paid)
      .then({ state: { paid: true, cents: 7 } });
  });

  it('the time is the one that the test sets [DET-1]', () => {
    const then = BENCH_START + 5_000;
    givenReducer(order)
      .after(5_000)
      .when(ordered)
      .then({ timers: { remind: then + 1_000 } });
    givenReducer(order, { at: 40 })
      .when(ordered)
      .then({ timers: { remind: 1_040 } });
  });

  it('a notice of the kernel is an event like any other', () => {
    const fired = { name: 'sys/TimerFired@1', value: { name: 'remind', due: 1 } };
    givenReducer(order)
      .state({ cents: 7, paid: false })
      .when(fired)
      .then({ state: { cents: 8, paid: false } });
  });

  it('constant defaults of an event are filled in', () => {
    const gift = { name: 'shop/Ordered@1', value: { cents: 10, gift: true } };
    givenReducer(order)
      .when(gift)
      .then({ state: { cents: 0, paid: false } });
  });

  it('a rejection, a fault and an end say so', () => {
    const given = givenReducer(order).state({ cents: 1, paid: false });
    given.when({ name: 'shop/Ordered@1', value: { cents: 1_001 } }).then({ rejected: 'too_much', intents: [] });
    given.when({ name: 'shop/Broken@1', value: {} }).then({ fault: 'value_invalid', state: { cents: 1, paid: false } });
    given.when({ name: 'shop/Closed@1', value: {} }).then({ state: null });
  });

  it('a log is read back over its sealed chunks', () => {
    const many = Array.from({ length: 70 }, () => ordered);
    givenReducer(order)
      .events(...many)
      .when(ordered)
      .then({ logs: { history: ['ordered'] } });
  });

  it('a table is read back whole, however many nodes it has', () => {
    const many = Array.from({ length: 300 }, () => ordered);
    const dates = Array.from({ length: 301 }, (_, i) => [`order ${i}`, 10]);
    givenReducer(order)
      .events(...many)
      .when(ordered)
      .then({ tables: { orders: Object.fromEntries(dates) } });
  });
});

describe('given a test that expects something else, it fails', () => {
  it.each<[string, ReducerOutcome, RegExp]>([
    ['state', { state: { cents: 11, paid: false } }, /state\n {2}expected .*11.*\n {2}got .*10/],
    ['a send', { sends: [{ to: ['shop/Audit@1', 'all'], name: 'shop/Noted@1', value: {} }] }, /sends/],
    ['no intent', { intents: [] }, /intents/],
    ['a fact', { facts: [{ name: 'shop/Settled@1', value: { cents: 10 } }] }, /facts/],
    ['a timer', { timers: {} }, /timers/],
    ['a log', { logs: { history: [] } }, /logs/],
    ['a table', { tables: { orders: {} } }, /tables/],
    ['a fault', { fault: 'threw' }, /fault/],
    ['a rejection', { rejected: 'too_much' }, /rejected/],
  ])('%s', (_, wrong, message) => {
    expect(() => whenOrdered().then(wrong)).toThrow(message);
  });

  it('a refusal that is not foreseen fails, whatever else is compared', () => {
    const given = givenReducer(order).state({ cents: 1, paid: false });
    expect(() => given.when({ name: 'shop/Broken@1', value: {} }).then({})).toThrow(/NaN/);
    expect(() => given.when({ name: 'shop/Nothing@1', value: {} }).then({})).toThrow(/takes no event/);
  });

  it('an event that no world would accept is refused before the reducer sees it', () => {
    expect(() => givenReducer(order).when({ name: 'shop/Ordered@1', value: { cents: 'x' } })).toThrow(/\$\.cents/);
    expect(() => givenReducer(order).state({ cents: 'x', paid: false }).when(paid)).toThrow(
      /the given state.*\$\.cents/,
    );
    expect(() => givenReducer(order).events(paid).when(paid)).toThrow(/the given event shop\/Paid@1.*does not exist/);
  });

  it('an event that another reducer would refuse is a fault of the sender', () => {
    const strict = {
      ...audit,
      events: new Map([['shop/Noted@1', { node: { type: 'never' as const }, creates: true }]]),
    };
    const when = givenReducer(order, { others: [strict] })
      .events(ordered)
      .when(paid);
    when.then({ fault: 'event_invalid' });
  });

  it('an awaited `when` fails with an explanation', async () => {
    await expect(async () => await (whenOrdered() as unknown as Promise<void>)).rejects.toThrow(/do not await/);
  });
});
