/** A host's process dies at any of its storage operations: no wake is ever missed. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../../../conformance/part.js';
import { type HostDirectory, memoryDirectory } from '../../../src/serve/host/index.js';
import { SEED } from '../../pure/codec/seed.js';
import { expectSound } from '../../support/judge.js';
import { wake } from '../../support/lab.js';
import { app, Disk, firedIn, givenHost, Power } from './harness.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const WORLDS = ['a', 'b', 'c', 'd', 'e'];

/** One of several users sets a timer in a world. */
interface Visit {
  readonly world: string;
  readonly inMs: number;
  readonly afterMs: number;
}

const visits = fc.array(
  fc.record({
    world: fc.constantFrom(...WORLDS),
    inMs: fc.integer({ min: 1, max: 120 }).map((seconds) => seconds * SECOND),
    afterMs: fc.constantFrom(0, 0, SECOND, 7 * SECOND, 40 * SECOND),
  }),
  { minLength: 3, maxLength: 12 },
);

/** What became of a life that ended after so many operations, and of the one after it. */
interface Lives {
  /** Timers whose setting was acknowledged, by world and name. */
  readonly promised: ReadonlySet<string>;
  readonly fired: readonly string[];
  /** What the first life asked of storage; the bound of where it can die. */
  readonly used: number;
  readonly most: number;
}

/** How a life is lived. */
interface LifeOptions {
  readonly directory?: HostDirectory;
  /** How long the second life lasts. */
  readonly secondMs?: number;
}

/** Lives a life that dies after `cut` operations, and another that goes on. */
async function live(
  list: readonly Visit[],
  cut: number,
  { directory = memoryDirectory(), secondMs = HOUR }: LifeOptions = {},
): Promise<Lives> {
  const disk = new Disk();
  const power = new Power();
  const promised = new Set<string>();
  const options = { disk, directory, maxOpen: 2, idleMs: 5 * SECOND, waitMs: HOUR };
  const first = await givenHost({ ...options, power });
  power.cutAfter(cut);
  for (const [i, { world, inMs, afterMs }] of list.entries()) {
    const setting = first.tell(world, wake(`t${i}`, inMs)).then(
      () => promised.add(`${world} t${i}`),
      () => undefined, // the process died: nothing was promised
    );
    await first.clock.advance(afterMs);
    if (power.off) break;
    await setting;
  }
  await first.clock.advance(30 * SECOND);
  const { used } = power;
  power.cutAfter(0);
  await disk.releaseAll();
  await disk.clock.advance(MINUTE);
  const second = await givenHost(options);
  await disk.clock.advance(secondMs);
  const closed = second.host.close();
  await disk.clock.advance(MINUTE);
  await closed;
  const fired: string[] = [];
  for (const world of new Set(list.map((visit) => visit.world))) {
    const timers = await firedIn(disk, world).catch(() => []); // it may never have been made
    fired.push(...timers.map(({ name }) => `${world} ${name}`));
    if (timers.length > 0) await expectSound(disk.store(world), app);
  }
  return { promised, fired, used, most: disk.open.most };
}

const missedOf = ({ promised, fired }: Lives): string[] => [...promised].filter((timer) => !fired.includes(timer));

describe(`given a host that dies (seed ${SEED})`, () => {
  const lives = fc.sample(visits, { seed: SEED, numRuns: 3 });

  it.each(lives.map((list, i) => [i, list] as const))(
    'after a death at any moment of life %i, every promised timer fires once [HOST-4]',
    async (_, list) => {
      const whole = await live(list, Number.POSITIVE_INFINITY);
      expect(missedOf(whole)).toEqual([]);
      expect(whole.promised.size).toBe(list.length);
      for (let cut = 1; cut < whole.used; cut += stepOf(3)) {
        const cutShort = await live(list, cut);
        expect(missedOf(cutShort), `cut after ${cut} operations`).toEqual([]);
        expect(new Set(cutShort.fired).size, `cut after ${cut} operations`).toBe(cutShort.fired.length);
        expect(cutShort.most).toBeLessThanOrEqual(2);
      }
    },
  );

  it('mutant: a host that marks a world only after it was opened misses a wake-up, and these trials find it [HOST-5]', async () => {
    const list: Visit[] = [{ world: 'a', inMs: MINUTE, afterMs: 0 }];
    // It opens the world again and again while the time has passed and the row says so: an hour of that is long.
    const missedBy = async (directory: () => HostDirectory): Promise<string[]> => {
      const { used } = await live(list, Number.POSITIVE_INFINITY, { directory: directory(), secondMs: 2 * MINUTE });
      const missed: string[] = [];
      for (let cut = 1; cut < used; cut++) {
        missed.push(...missedOf(await live(list, cut, { directory: directory(), secondMs: 2 * MINUTE })));
      }
      return missed;
    };
    expect(await missedBy(memoryDirectory)).toEqual([]);
    expect(await missedBy(lateMarks)).toContain('a t0');
  });
});

/** A directory that takes its time to note that a world is open: it does so with the next thing that it is asked. */
function lateMarks(): HostDirectory {
  const inner = memoryDirectory();
  return {
    label: 'late',
    open: async () => {
      const open = await inner.open();
      let late: Parameters<typeof open.set>[0] = [];
      return {
        ...Object.fromEntries(
          (['get', 'remove', 'list', 'due', 'nextDue', 'close'] as const).map((key) => [
            key,
            (open[key] as (...args: unknown[]) => unknown).bind(open),
          ]),
        ),
        set: async (rows) => {
          await open.set(late);
          late = rows.filter((row) => row.open);
          await open.set(rows.filter((row) => !row.open));
        },
      } as typeof open;
    },
  };
}
