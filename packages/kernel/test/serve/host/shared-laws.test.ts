/** Random lives of hosts that share a directory: every timer fires once and in time, and no host takes what another has. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { everyNth, inFull, stepOf } from '../../../../../conformance/part.js';
import { randomFrom } from '../../../../../conformance/random.js';
import { SEED } from '../../pure/codec/seed.js';
import { type HostOnMachine, hostOn, LOOK_EVERY, type Machine, type SharedPlace, TTL } from './machines.js';
import { type Event, type Happening, live } from './shared-lives.js';

const SECOND = 1_000;
const WORLDS = ['a', 'b', 'c', 'd', 'e'];

const host = fc.integer({ min: 0, max: 2 });
const visit: fc.Arbitrary<Event> = fc.record({
  kind: fc.constant('visit' as const),
  host,
  world: fc.constantFrom(...WORLDS),
  inMs: fc.integer({ min: 1, max: 60 }).map((seconds) => seconds * SECOND),
});
const death: fc.Arbitrary<Event> = fc.oneof(
  fc.record({ kind: fc.constant('die' as const), host }),
  fc.record({ kind: fc.constant('begin' as const), host }),
);
const pause: fc.Arbitrary<Event> = fc.record({
  kind: fc.constantFrom('stand still' as const, 'slow' as const),
  host,
  ms: fc.constantFrom(2 * SECOND, TTL, 2 * TTL, 5 * TTL),
});
const failure: fc.Arbitrary<Event> = fc.record({
  kind: fc.constant('fail' as const),
  host,
  ms: fc.constantFrom(SECOND, TTL / 2, 2 * TTL),
  how: fc.constantFrom('before' as const, 'after' as const),
});

/** Lives with these troubles, and about as many visits. */
const livesWith = (...troubles: fc.Arbitrary<Event>[]): fc.Arbitrary<readonly Happening[]> =>
  fc.array(
    fc.record({
      event: fc.oneof({ weight: 2, arbitrary: visit }, { weight: 1, arbitrary: fc.oneof(...troubles) }),
      afterMs: fc.constantFrom(0, 0, 50, SECOND, 3 * SECOND, 11 * SECOND),
    }),
    { minLength: 12, maxLength: 40 },
  );

/** Opening a world at a slow machine takes some calls, one after the other; and a wake that failed is tried again. */
const SLACK = 6 * SECOND;

const sample = (lives: fc.Arbitrary<readonly Happening[]>, numRuns: number) =>
  everyNth(6, fc.sample(lives, { seed: SEED, numRuns }));

// Hosts look at random times: the same ones in each run.
beforeEach(() => void vi.spyOn(Math, 'random').mockImplementation(randomFrom(SEED)));
afterEach(() => void vi.restoreAllMocks());

describe(`given hosts that share a directory, of which all but one meet trouble (seed ${SEED})`, () => {
  it('every timer fires once, within a lease and a look, while machines die, stand still and are slow [HOST-15, HOST-16]', async () => {
    let [promised, handovers] = [0, 0];
    for (const [i, happenings] of sample(livesWith(death, pause), 60).entries()) {
      const outcome = await live(happenings);
      expect(outcome.notOnce, `life ${i}`).toEqual([]);
      expect(outcome.wrongs, `life ${i}`).toEqual([]);
      expect(outcome.latest, `life ${i}`).toBeLessThanOrEqual(TTL + LOOK_EVERY + SLACK);
      promised += outcome.promised.length;
      handovers += outcome.handovers;
    }
    expect(promised).toBeGreaterThan(100 / stepOf(2));
    expect(handovers).toBeGreaterThan(10 / stepOf(2));
  });

  it('every timer fires once while storage fails as well, also when it has done what it was asked [HOST-14, HOST-16]', async () => {
    for (const [i, happenings] of sample(livesWith(death, pause, failure, failure), 60).entries()) {
      const outcome = await live(happenings);
      expect(outcome.notOnce, `life ${i}`).toEqual([]);
      expect(
        outcome.wrongs.filter((wrong) => !wrong.endsWith('locked')),
        `life ${i}`,
      ).toEqual([]);
    }
  });

  const wrongOf = async (hostOf: (machine: Machine) => Promise<HostOnMachine>, lives: number) => {
    for (const happenings of fc.sample(livesWith(death, pause), { seed: SEED, numRuns: lives })) {
      const { notOnce, wrongs, latest } = await live(happenings, hostOf);
      if (notOnce.length > 0) return 'a timer is missing';
      if (wrongs.length > 0) return 'a row is rewritten';
      if (latest > TTL + LOOK_EVERY + SLACK) return 'a timer is late';
    }
    return 'nothing';
  };

  it('mutant: hosts that adopt nothing are found to miss timers', async () => {
    const hostOf = changed((shared) => ({ ...shared, adopt: async () => 0 }));
    expect(await wrongOf(hostOf, 10)).toBe('a timer is missing');
  });

  inFull(() => {
    it('mutant: hosts that look only at what they know are found to miss timers', async () => {
      const hostOf = changed(({ changed: _, ...shared }) => ({ ...shared, lookEvery: 1e9 }));
      expect(await wrongOf(hostOf, 10)).toBe('a timer is missing');
    });
  });

  it('mutant: hosts that mark a world in two steps are found to rewrite rows of each other', async () => {
    const hostOf = (machine: Machine) =>
      hostOn(machine, {
        directory: {
          label: 'two steps',
          open: async () => {
            const { shared: _, ...open } = await machine.place.directory(machine).open();
            return open;
          },
        },
      });
    expect(await wrongOf(hostOf, 10)).not.toBe('nothing');
  });
});

/** A host whose directory shares its rows in another way. */
function changed(
  change: (
    shared: NonNullable<Awaited<ReturnType<ReturnType<SharedPlace['directory']>['open']>>['shared']>,
  ) => NonNullable<Awaited<ReturnType<ReturnType<SharedPlace['directory']>['open']>>['shared']>,
) {
  return (machine: Machine): Promise<HostOnMachine> =>
    hostOn(machine, {
      directory: {
        label: 'mutant',
        open: async () => {
          const open = await machine.place.directory(machine).open();
          return open.shared === undefined ? open : { ...open, shared: change(open.shared) };
        },
      },
    });
}
