import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { stepOf } from '../../../../../conformance/part.js';
import { systemClock } from '../../../src/index.js';
import { Alarm } from '../../../src/ports/time/alarm.js';
import { CLOCK_JUMP_LIMITS, type ClockJump, Stamper } from '../../../src/ports/time/stamper.js';
import { macrotask } from '../../../src/ports/time/turn.js';
import { WakingClock } from '../../../src/ports/time/waking-clock.js';
import { assertProperty, SEED, vitestCommand } from '../../pure/codec/seed.js';
import { isPending, turn } from '../../support/judge.js';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const DAY = 24 * HOUR;
const START = Date.UTC(2026, 0, 1);
const IN_2099 = Date.UTC(2099, 0, 1);

/** Two clocks that a test sets one by one. */
function given(options: { lastAt?: number | undefined; wall?: number } = {}) {
  const hands = { wall: options.wall ?? START, monotonic: 5_000 };
  const clock = { wall: () => hands.wall, monotonic: () => hands.monotonic, sleep: async () => undefined };
  const told: (ClockJump | undefined)[] = [];
  const leaps: number[] = [];
  const stamper: Stamper = new Stamper({
    clock,
    lastAt: 'lastAt' in options ? options.lastAt : START,
    limits: CLOCK_JUMP_LIMITS,
    leapt: () => leaps.push(hands.wall),
    jumped: (jump) => told.push(jump),
  });
  const pass = (ms: number): void => {
    hands.wall += ms;
    hands.monotonic += ms;
  };
  return { hands, pass, stamper, told, leaps };
}

describe('a wall clock that steps back', () => {
  it('time advances by the time that passes, and follows the wall clock again when that has caught up [TIME-2]', () => {
    const { hands, pass, stamper } = given();
    hands.wall -= HOUR;
    pass(10 * SECOND);
    expect(stamper.stamp()).toBe(START + 10 * SECOND);
    pass(2 * HOUR);
    expect(stamper.stamp()).toBe(START + 2 * HOUR + 10 * SECOND);
    hands.wall += 2 * HOUR;
    expect(stamper.stamp()).toBe(START + 3 * HOUR + 10 * SECOND);
    expect(stamper.jump).toBeUndefined();
  });

  it('time does not go back after the clock was read ahead of a frame', () => {
    const { hands, stamper } = given();
    hands.wall += DAY;
    expect(stamper.now()).toBe(START + DAY);
    hands.wall -= DAY;
    expect(stamper.now()).toBe(START + DAY);
    expect(stamper.stamp()).toBe(START + DAY);
  });
});

describe('a wall clock that is ahead', () => {
  it('a wall clock ahead by at most the trusted span is followed and wakes sleepers; one millisecond more is a jump [TIME-2]', () => {
    const { hands, stamper, told, leaps } = given();
    hands.wall += CLOCK_JUMP_LIMITS.running;
    expect(stamper.stamp()).toBe(hands.wall);
    expect(leaps).toEqual([hands.wall]);
    const before = hands.wall;
    hands.wall += CLOCK_JUMP_LIMITS.running + 1;
    expect(stamper.stamp()).toBe(before);
    expect(stamper.jump).toEqual({ wall: hands.wall, at: before, since: before });
    expect(told).toEqual([stamper.jump]);
  });

  it('a single reading of the year 2099 moves nothing and is over by itself', () => {
    const { hands, pass, stamper, told } = given();
    hands.wall = IN_2099;
    expect(stamper.stamp()).toBe(START);
    hands.wall = START;
    pass(5 * SECOND);
    expect(stamper.stamp()).toBe(START + 5 * SECOND);
    expect(told).toEqual([{ wall: IN_2099, at: START, since: START }, undefined]);
  });

  it('a clock that stays ahead lets time advance by the time that passes, and reports the jump once [TIME-3]', () => {
    const { hands, pass, stamper, told } = given();
    hands.wall = IN_2099;
    stamper.stamp();
    for (let day = 1; day <= 30; day++) {
      pass(DAY);
      expect(stamper.stamp()).toBe(START + day * DAY);
    }
    expect(stamper.jump).toEqual({ wall: IN_2099 + 30 * DAY, at: START + 30 * DAY, since: START });
    expect(told).toHaveLength(1);
  });

  it('a confirmed jump sets the time, and the next jump is reported again', () => {
    const { hands, pass, stamper, told, leaps } = given();
    hands.wall = IN_2099;
    stamper.stamp();
    stamper.confirm(IN_2099);
    expect(leaps).toEqual([IN_2099]);
    pass(SECOND);
    expect(stamper.stamp()).toBe(IN_2099 + SECOND);
    hands.wall = START; // it was wrong after all: time does not go back
    pass(SECOND);
    expect(stamper.stamp()).toBe(IN_2099 + 2 * SECOND);
    expect(told.map((jump) => jump?.wall)).toEqual([IN_2099, undefined]);
  });

  it.each([Number.POSITIVE_INFINITY, Number.NaN])('a wall clock that reads %s moves nothing', (wall) => {
    const { hands, stamper } = given();
    hands.wall = wall;
    hands.monotonic += SECOND;
    expect(stamper.stamp()).toBe(START + SECOND);
  });
});

describe('a world that is opened again', () => {
  it('a wall clock is followed after 400 days, and waits to be confirmed after a millisecond more', () => {
    expect(given({ wall: START + 400 * DAY }).stamper.now()).toBe(START + 400 * DAY);
    const { stamper } = given({ wall: START + 400 * DAY + 1 });
    expect(stamper.now()).toBe(START);
    expect(stamper.jump).toMatchObject({ at: START, since: START });
  });

  it('on a machine that learns the date late, the wider bound holds until a wall clock is first followed', () => {
    const { hands, stamper } = given({ wall: 0 });
    expect(stamper.now()).toBe(START);
    hands.wall = START + 30 * DAY;
    expect(stamper.now()).toBe(START + 30 * DAY);
    hands.wall += 30 * DAY;
    expect(stamper.now()).toBe(START + 30 * DAY);
  });

  it('a new world trusts any wall clock at its first opening', () => {
    expect(given({ lastAt: undefined, wall: IN_2099 }).stamper.now()).toBe(IN_2099);
  });
});

describe(`any two clocks (seed ${SEED})`, () => {
  const moves = fc.array(
    fc.record({
      passes: fc.integer({ min: 0, max: 2 * DAY }),
      jumps: fc.oneof(fc.constant(0), fc.integer({ min: -9 * DAY, max: 9 * DAY })),
      asks: fc.constantFrom('stamp', 'now', 'confirm'),
    }),
    { maxLength: 40 },
  );

  it('time never goes back, is never less than the time that passed, and never runs ahead by more than the trusted span [TIME-1, TIME-2]', () => {
    assertProperty(
      fc.property(moves, (list) => {
        const { hands, pass, stamper } = given();
        let [last, passed] = [START, START];
        for (const { passes, jumps, asks } of list) {
          pass(passes);
          hands.wall += jumps;
          passed += passes;
          const jump = asks === 'confirm' ? stamper.jump : undefined;
          if (jump !== undefined) stamper.confirm(jump.wall);
          const now = asks === 'stamp' ? stamper.stamp() : stamper.now();
          if (now < last + passes) throw new Error(`${now} after ${last} and ${passes} ms`);
          if (now < passed) throw new Error(`${now} when ${passed} is the least`);
          if (jump === undefined && now > last + passes + CLOCK_JUMP_LIMITS.running) throw new Error(`led to ${now}`);
          last = now;
        }
      }),
      { numRuns: 300 / stepOf(4), command: vitestCommand('packages/kernel/test/ports/time/stamper.test.ts') },
    );
  });
});

describe('the clock of the platform', () => {
  it('a sleep lasts as long as requested, or until its signal is aborted', async () => {
    const [before, wall, after, monotonic] = [Date.now(), systemClock.wall(), Date.now(), systemClock.monotonic()];
    expect([before, wall, after]).toEqual([before, wall, after].toSorted((a, b) => a - b));
    await systemClock.sleep(30, new AbortController().signal);
    expect(systemClock.monotonic() - monotonic).toBeGreaterThan(28);
    const over = new AbortController();
    const sleeping = systemClock.sleep(HOUR, over.signal);
    expect(await isPending(sleeping)).toBe(true);
    over.abort();
    await sleeping;
    await systemClock.sleep(HOUR, over.signal);
  });

  it('a turn that work leaves to the host runs what waited for it', async () => {
    let turned = false;
    setImmediate(() => {
      turned = true;
    });
    await macrotask();
    expect(turned).toBe(true);
  });
});

describe('a platform timer in 30 days', () => {
  afterEach(() => {
    vi.restoreAllMocks(); // first: a spy would put the false timer back that it replaced
    vi.useRealTimers();
  });

  it('no sleep is longer than a platform timer allows, and a timer in 30 days fires at its time [TIME-6]', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'], now: START });
    const sleeps = vi.spyOn(globalThis, 'setTimeout');
    const rang: number[] = [];
    const alarm = new Alarm({ clock: systemClock, now: () => Date.now(), ring: () => rang.push(Date.now()) });
    alarm.set(START + 30 * DAY);
    await vi.advanceTimersByTimeAsync(30 * DAY - 1);
    expect(rang).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(rang).toEqual([START + 30 * DAY]);
    expect(Math.max(...sleeps.mock.calls.map(([, ms]) => ms ?? 0))).toBeLessThan(2 ** 31);
  }); // the alarm looks at the clock each minute: 43,200 sleeps, which take a busy machine a while

  it('a timer fires within a minute of work when the machine was suspended [TIME-7]', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'], now: START });
    const rang: number[] = [];
    const alarm = new Alarm({ clock: systemClock, now: () => Date.now(), ring: () => rang.push(Date.now()) });
    alarm.set(START + 5 * DAY);
    await vi.advanceTimersByTimeAsync(HOUR);
    vi.setSystemTime(START + 6 * DAY); // the platform's timers stood still
    await vi.advanceTimersByTimeAsync(60 * SECOND);
    expect(rang).toHaveLength(1);
  });
});

describe('a clock whose sleepers can be woken', () => {
  it('a wake-up makes all sleepers check their time again, and forgets those that were stopped or have slept enough', async () => {
    const naps: AbortSignal[] = [];
    const inner = {
      wall: () => 0,
      monotonic: () => 0,
      sleep: (_ms: number, signal: AbortSignal) =>
        new Promise<void>((resolve) => {
          naps.push(signal);
          signal.addEventListener('abort', () => resolve());
        }),
    };
    const clock = new WakingClock(inner);
    const [stop, never] = [new AbortController(), new AbortController()];
    const woken: string[] = [];
    void clock.sleep(1, stop.signal).then(() => woken.push('stopped'));
    void clock.sleep(1, never.signal).then(() => woken.push('asleep'));
    stop.abort();
    await turn();
    expect(woken).toEqual(['stopped']);
    clock.wake();
    await turn();
    expect(woken).toEqual(['stopped', 'asleep']);
    expect(naps).toHaveLength(2);
    await clock.sleep(1, stop.signal);
    expect(naps).toHaveLength(2);
  });
});
