/** Random lives of a fleet, and the promises that hold in each of them. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { everyNth, stepOf } from '../../../../../conformance/part.js';
import { randomFrom } from '../../../../../conformance/random.js';
import { SEED } from '../../pure/codec/seed.js';
import { TTL } from '../host/machines.js';
import { type FleetEvent, type FleetHappening, live } from './lives.js';

const SECOND = 1_000;

const machine = fc.integer({ min: 0, max: 2 });
const world = fc.constantFrom('a', 'a', 'b');

const asks = (at: number): fc.Arbitrary<FleetEvent> =>
  fc.record({
    kind: fc.constant('ask' as const),
    at: fc.constant(at),
    world,
    start: fc.constantFrom('once' as const, 'again' as const, 'asked' as const),
    ms: fc.constantFrom(0, 50, 2 * SECOND, 2 * TTL),
  });
const troubles = (at: number): fc.Arbitrary<FleetEvent> =>
  fc.oneof(
    fc.record({ kind: fc.constant('die' as const), at: fc.constant(at) }),
    fc.record({
      kind: fc.constantFrom('stand still' as const, 'stand still' as const, 'slow' as const, 'lose a write' as const),
      at: fc.constant(at),
      ms: fc.constantFrom(2 * SECOND, TTL, 2 * TTL, 5 * TTL),
    }),
    fc.record({
      kind: fc.constant('fail' as const),
      at: fc.constant(at),
      ms: fc.constantFrom(SECOND, TTL / 2, 2 * TTL),
      how: fc.constantFrom('before' as const, 'after' as const),
    }),
  );
const others = (at: number): fc.Arbitrary<FleetEvent> =>
  fc.oneof(
    fc.record({ kind: fc.constant('begin' as const), at: fc.constant(at) }),
    fc.record({ kind: fc.constant('read' as const), at: fc.constant(at), world }),
    fc.record({ kind: fc.constant('jump' as const), ms: fc.constantFrom(-60 * SECOND, -SECOND, SECOND, 60 * SECOND) }),
  );

/** Right after, or later. */
const soon = fc.integer({ min: 0, max: 12 });
const later = fc.constantFrom(0, 50, SECOND, 3 * SECOND, 11 * SECOND);
const one = (event: fc.Arbitrary<FleetEvent>, afterMs: fc.Arbitrary<number>): fc.Arbitrary<FleetHappening> =>
  fc.record({ event, afterMs });

/** A request, often one whose machine meets trouble on the way. */
const passage: fc.Arbitrary<readonly FleetHappening[]> = machine.chain((at) =>
  fc.oneof(
    { weight: 2, arbitrary: fc.tuple(one(asks(at), later)) },
    { weight: 3, arbitrary: fc.tuple(one(asks(at), soon), one(troubles(at), later)) },
    { weight: 2, arbitrary: fc.tuple(one(others(at), later)) },
  ),
);
const lives = fc.array(passage, { minLength: 8, maxLength: 24 }).map((passages) => passages.flat());

// Hosts look at random times: the same ones in each run.
beforeEach(() => void vi.spyOn(Math, 'random').mockImplementation(randomFrom(SEED)));
afterEach(() => void vi.restoreAllMocks());

describe(`given a fleet whose machines die, stand still, are slow, and have failing storage and wrong clocks (seed ${SEED})`, () => {
  it('each request is executed once, each effect as its guarantee says, and no read is of the past', async () => {
    let [acknowledged, takeOvers] = [0, 0];
    for (const [i, happenings] of everyNth(6, fc.sample(lives, { seed: SEED, numRuns: 90 })).entries()) {
      const outcome = await live(happenings);
      expect(outcome.broken, `life ${i}`).toEqual([]);
      acknowledged += outcome.acknowledged;
      takeOvers += outcome.takeOvers;
    }
    expect(acknowledged).toBeGreaterThan(200 / stepOf(2));
    expect(takeOvers).toBeGreaterThan(20 / stepOf(2));
  });

  it('mutant: machines that believe in a lease that is over are found to execute effects of the past', async () => {
    const broken: string[] = [];
    for (const happenings of fc.sample(lives, { seed: SEED, numRuns: 40 })) {
      broken.push(...(await live(happenings, { endOfLease: true })).broken);
      if (broken.length > 0) break;
    }
    expect(broken.join('\n')).toMatch(/for its opening \d+, and the world is at \d+$/m);
  });
});
