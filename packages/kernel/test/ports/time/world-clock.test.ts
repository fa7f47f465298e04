import type { JournalRecord } from '@reprise/contracts';
import { VirtualClock } from '@reprise/testkit';
import { describe, expect, it } from 'vitest';
import { memory, type OpenKernelWorldOptions, openKernelWorld, type Store } from '../../../src/index.js';
import type { ClockJump } from '../../../src/ports/time/stamper.js';
import { crashable } from '../../support/crashable-store.js';
import {
  closeSound,
  codeOf,
  expectDocumented,
  framesOf,
  recordsOf,
  refusal,
  turn,
  until,
} from '../../support/judge.js';
import { again, ask, asked, cell, lab, note, once, seen, start, tellCell, wake } from '../../support/lab.js';
import { ok, outside } from '../../support/outside.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const START = Date.UTC(2026, 0, 1);
const TO_2099 = Date.UTC(2099, 0, 1) - START;

const { app } = lab({
  *call(input, plan) {
    const { status } = yield* plan.awaitReceipt(plan.emitEffect(once, input, { timeoutMs: DAY }));
    tellCell(plan, 'once', status);
  },
  *ask(input, plan) {
    const { status } = yield* plan.awaitReceipt(plan.emitEffect(asked, input));
    tellCell(plan, 'asked', status);
  },
  *patient(input, plan) {
    const receipt = yield* plan.awaitReceipt(plan.emitEffect(once, input), { within: HOUR });
    tellCell(plan, 'patient', receipt === null ? 'deadline' : receipt.status);
  },
});

async function given(options: Partial<OpenKernelWorldOptions> = {}) {
  const clock = new VirtualClock({ wall: START });
  const store = memory();
  const told: (ClockJump | undefined)[] = [];
  const all = { store, app, clock, recheckEvery: 1, onClockJump: (jump?: ClockJump) => told.push(jump), ...options };
  return { clock, store, told, options: all, world: await openKernelWorld(all) };
}

const atOf = (frame: readonly JournalRecord[]): number => (frame[0] as { at: number }).at;

describe('given a wall clock that says 2099 once', () => {
  it('no frame has the time of a wall clock that jumped once, and a timer fires when its time has passed [TIME-3]', async () => {
    const { clock, store, world, told } = await given();
    await ask(world, 'a', [wake('tea', HOUR)]);
    clock.jumpWall(TO_2099);
    await ask(world, 'a', [note('during')]);
    clock.jumpWall(-TO_2099);
    await ask(world, 'a', [note('after')]);
    expect(world.clockJump).toBeUndefined();
    expect(told.map((jump) => jump?.wall)).toEqual([START + TO_2099, undefined]);
    await clock.advance(HOUR - 1);
    expect(await seen(world, 'a')).toEqual(['during', 'after']);
    await clock.advance(1);
    expect(await seen(world, 'a')).toEqual(['during', 'after', 'timer tea']);
    for (const frame of await framesOf(store)) expect(atOf(frame)).toBeLessThanOrEqual(START + HOUR);
    await closeSound(world, store, app);
  });
});

describe('given a wall clock that leaps while a new world is made', () => {
  it('the first frame of a new world has no time that the next frame could precede', async () => {
    const clock = new VirtualClock({ wall: START });
    const kept = memory();
    const store: Store = {
      ...kept,
      open: async () => {
        const open = await kept.open();
        const findLast: typeof open.journal.findLast = async (kind, seq) => {
          if (kind === 'erase') clock.jumpWall(TO_2099); // the last that is looked for before anything is written
          return open.journal.findLast(kind, seq);
        };
        return { ...open, journal: { ...open.journal, findLast } };
      },
    };
    const { world } = await given({ store, clock });
    await ask(world, 'a', [note('second')]);
    const times = (await framesOf(store)).map(atOf);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    await closeSound(world, kept, app);
  });
});

describe('given a wall clock that says 2099 and stays', () => {
  it('a span of one day lasts one day while the wall clock that jumped is not confirmed [TIME-3]', async () => {
    const { clock, store, world, told } = await given();
    await ask(world, 'a', [wake('ttl', DAY)]);
    clock.jumpWall(TO_2099);
    await clock.advance(DAY - 1);
    await ask(world, 'a', [note('alive')]);
    expect(await seen(world, 'a')).toEqual(['alive']);
    expect(world.clockJump).toEqual({ wall: START + TO_2099 + DAY - 1, at: START + DAY - 1, since: START + DAY - 1 });
    expect(told).toHaveLength(1);
    await clock.advance(1);
    expect(await seen(world, 'a')).toEqual(['alive', 'timer ttl']);
    await closeSound(world, store, app);
  });

  it('a confirmed jump fires the timers of all the years between, in order, and time continues from there [TIME-4]', async () => {
    const { clock, store, world, told } = await given();
    const years = [30, 1, 50, 7, 72];
    for (const year of years) await ask(world, `y${year}`, [wake('year', year * 365 * DAY)]);
    await ask(world, 'late', [wake('year', 100 * 365 * DAY)]);
    clock.jumpWall(TO_2099);
    const jump = world.clockJump as ClockJump;
    await world.confirmClock({ wall: jump.wall, as: 'human:ann' });
    await clock.settle();
    await ask(world, 'a', [note('after')]);

    const [confirmed] = await recordsOf(store, 'clock');
    expect(confirmed).toMatchObject({ wall: START + TO_2099, at: START, principal: 'human:ann' });
    const timers = await recordsOf(store, 'timer');
    expect(timers.map(({ cell: [, key] }) => key)).toEqual(['y1', 'y7', 'y30', 'y50', 'y72']);
    for (const { at, due } of timers) expect([at, due < at]).toEqual([START + TO_2099, true]);
    expect(world.clockJump).toBeUndefined();
    expect(told).toHaveLength(2);
    expect(await seen(world, 'late')).toEqual([]);
    await clock.advance(100 * 365 * DAY - TO_2099);
    expect(await seen(world, 'late')).toEqual(['timer year']);
    await closeSound(world, store, app);
  });

  it('a jump that the last frame confirmed is known at the next opening, and so it is to a snapshot [TIME-4]', async () => {
    const { clock, store, world, options } = await given();
    clock.jumpWall(TO_2099);
    await world.confirmClock({ wall: START + TO_2099 });
    await world.close();
    const second = await openKernelWorld(options);
    expect([second.now, second.clockJump]).toEqual([START + TO_2099, undefined]);
    clock.jumpWall(-TO_2099);
    expect(second.now).toBe(START + TO_2099);
    await second.snapshot();
    await second.close();
    const third = await openKernelWorld(options);
    expect(third.now).toBe(START + TO_2099);
    await closeSound(third, store, app);
  });

  it('a jump that is confirmed while an effect runs passes the deadline of the effect', async () => {
    const adapter = outside(once);
    const { clock, store, world } = await given({ adapters: [adapter] });
    await ask(world, 'a', [start('call')]);
    const call = await adapter.call(0);
    clock.jumpWall(TO_2099);
    await world.confirmClock({ wall: START + TO_2099 });
    await until(async () => (await seen(world, 'a'))?.length === 1);
    expect(await seen(world, 'a')).toEqual(['once="timeout"']);
    call.answer(ok({ got: 1 })); // closing waits for running adapters, and this clock stands still
    await closeSound(world, store, app);
  });

  it('a world opens beside a wall clock that is ahead already, and waits for a confirmation', async () => {
    const { clock, store, world, options, told } = await given();
    await ask(world, 'a', [wake('ttl', DAY)]);
    await world.close();
    clock.jumpWall(TO_2099);
    const second = await openKernelWorld(options);
    expect(second.now).toBe(START);
    expect(told).toEqual([{ wall: START + TO_2099, at: START, since: START }]);
    await second.confirmClock({ wall: START + TO_2099 });
    await until(async () => (await seen(second, 'a'))?.length === 1);
    await closeSound(second, store, app);
  });

  it('a wall clock that jumped is followed when the bounds of the world allow it', async () => {
    const { clock, store, world } = await given({ clockJump: { running: Number.POSITIVE_INFINITY } });
    clock.jumpWall(TO_2099);
    await ask(world, 'a', [note('then')]);
    expect(world.now).toBe(START + TO_2099);
    await closeSound(world, store, app);
  });

  it('a world continues when its hook for clock jumps throws', async () => {
    const onClockJump = () => {
      throw new Error('the pager is broken');
    };
    const { clock, store, world } = await given({ onClockJump });
    clock.jumpWall(TO_2099);
    await ask(world, 'a', [note('still here')]);
    await closeSound(world, store, app);
  });
});

describe('given a confirmation', () => {
  it('a confirmation without a jump, or of another clock than the reported one, is refused and nothing is journaled [TIME-5]', async () => {
    const { clock, store, world } = await given();
    const none = await refusal(world.confirmClock({ wall: START }));
    clock.jumpWall(TO_2099);
    const shown = (world.clockJump as ClockJump).wall;
    clock.jumpWall(2 * DAY);
    const other = await refusal(world.confirmClock({ wall: shown }));
    for (const error of [none, other]) {
      expect(error.code).toBe('clock_mismatch');
      expectDocumented(error);
    }
    expect(other.details.expected).toBe(shown + 2 * DAY);
    expect(world.head.seq).toBe(0);
    await world.confirmClock({ wall: shown, within: 3 * DAY });
    expect(world.now).toBe(shown + 2 * DAY);
    await closeSound(world, store, app);
  });

  it.each([
    ['nothing', undefined],
    ['no wall', {}],
    ['a fraction', { wall: 0.5 }],
    ['a text', { wall: '2099' }],
    ['a slack below zero', { wall: 1, within: -1 }],
    ['no principal', { wall: 1, as: 'ann' }],
    ['the kernel', { wall: 1, as: 'kernel' }],
  ])('an invalid confirmation (%s) is refused', async (_, confirmation) => {
    const { world } = await given();
    expect(await codeOf(world.confirmClock(confirmation as never))).toBe('invalid_argument');
    await world.close();
  });

  it.each([
    ['no numbers', { running: 'a week' }],
    ['less than nothing', { atOpen: -1 }],
    ['a limit that there is not', { ahead: 1 }],
    ['a number', 5],
  ])('a world with invalid limits for clock jumps (%s) is not opened', async (_, clockJump) => {
    expect(await codeOf(openKernelWorld({ store: memory(), app, clockJump: clockJump as never }))).toBe(
      'invalid_argument',
    );
  });

  it('time continues as before when the store cannot write the confirmation', async () => {
    const inner = memory();
    let full = false;
    const store = {
      ...inner,
      open: async () => {
        const open = await inner.open();
        const append: typeof open.journal.append = async (frames, head) => {
          if (full) throw new Error('the disk is gone');
          return open.journal.append(frames, head);
        };
        return { ...open, journal: { ...open.journal, append } };
      },
    };
    const { clock, world } = await given({ store });
    clock.jumpWall(TO_2099);
    full = true;
    expect(await codeOf(world.confirmClock({ wall: START + TO_2099 }))).toBe('store_failed');
    expect(world.now).toBe(START);
    await world.close();
  });
});

describe('given a wall clock that steps back an hour', () => {
  it('a timer in half an hour fires in half an hour when the wall clock steps back [TIME-8]', async () => {
    const { clock, store, world } = await given();
    await ask(world, 'a', [wake('tea', HOUR / 2)]);
    clock.jumpWall(-HOUR);
    await clock.advance(HOUR / 2);
    expect(await seen(world, 'a')).toEqual(['timer tea']);
    await closeSound(world, store, app);
  });
});

describe('given a machine that was suspended for an hour', () => {
  it('timers that came due while the machine was suspended fire when it works again [TIME-7]', async () => {
    const { clock, store, world } = await given();
    await ask(world, 'a', [wake('meanwhile', HOUR / 2)]);
    clock.jumpWall(HOUR);
    await ask(world, 'a', [note('awake')]);
    await clock.settle();
    expect(await seen(world, 'a')).toEqual(['awake', 'timer meanwhile']);
    await closeSound(world, store, app);
  });

  it('a later timer is not an hour late after the machine was suspended', async () => {
    const { clock, store, world } = await given();
    await ask(world, 'a', [wake('later', 2 * HOUR)]);
    clock.jumpWall(HOUR);
    await ask(world, 'a', [note('awake')]);
    await clock.advance(HOUR);
    expect(await seen(world, 'a')).toEqual(['awake', 'timer later']);
    await closeSound(world, store, app);
  });
});

describe('given a timer in 30 days', () => {
  it('a timer in 30 days fires in 30 days and not before [TIME-6]', async () => {
    const { clock, store, world } = await given();
    await ask(world, 'a', [wake('month', 30 * DAY)]);
    await clock.advance(30 * DAY - 1);
    expect(await seen(world, 'a')).toEqual([]);
    await clock.advance(1);
    const [fired] = await recordsOf(store, 'timer');
    expect(fired).toMatchObject({ due: START + 30 * DAY, at: START + 30 * DAY });
    await closeSound(world, store, app);
  });
});

describe('given three days of downtime and a thousand timers that were due', () => {
  it('after three days of downtime, interrupted work is settled first, and then each timer fires in its own frame [RED-24]', async () => {
    const store = crashable();
    const adapters = [outside(once), outside(again), outside(asked)] as const;
    const { clock, options, world } = await given({ store, adapters, snapshotEvery: 0 });
    await ask(world, 'plan', [start('call'), start('ask'), start('patient')]);
    for (let i = 0; i < 100; i++) {
      // Due times cross the order of the cells, and each is shared by two of them.
      const timers = Array.from({ length: 10 }, (_, k) => wake(`t${k}`, HOUR + ((i * 7 + k * 13) % 500) * MINUTE));
      await ask(world, `c${i}`, timers);
    }
    const before = world.head.seq;
    await store.crash();
    const died = world.close();
    await clock.advance(3 * DAY);
    await died;
    adapters[2].verdict = { verdict: 'happened', outcome: ok({ got: null }) };
    const second = await openKernelWorld(options);
    await until(async () => (await recordsOf(store, 'timer')).length === 1_000);

    const opened = (await framesOf(store)).slice(before + 1).map(([ingress]) => ingress as JournalRecord);
    expect(opened.slice(0, 3).map(({ kind }) => kind)).toEqual(['receipt', 'receipt', 'receipt']);
    const timers = opened.slice(3) as Extract<JournalRecord, { kind: 'timer' }>[];
    expect(new Set(timers.map(({ kind }) => kind))).toEqual(new Set(['timer']));
    const places = timers.map(({ due, cell: [reducer, key], name }) => [due, reducer, key, name] as const);
    expect(places).toEqual(places.toSorted((a, b) => a[0] - b[0] || (a.join('\0') < b.join('\0') ? -1 : 1)));
    for (const { due, at } of timers) expect([at >= START + 3 * DAY, due < at]).toEqual([true, true]);
    expect(await second.state(cell('c99'))).toMatchObject({ seen: expect.arrayContaining(['timer t0', 'timer t9']) });
    expect((await seen(second, 'plan'))?.toSorted()).toEqual([
      'asked="ok"',
      'once="outcome_unknown"',
      'patient="outcome_unknown"', // it was settled before the deadline of its await fired
    ]);
    await turn();
    await closeSound(second, store, app);
  });
});
