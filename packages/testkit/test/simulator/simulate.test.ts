/** The simulator itself: it is repeatable, keeps quiet about a sound world, and finds what is broken. */
import { EMPTY_HEAD, memory, type OpenStore, type Store } from '@reprise/kernel';
import { describe, expect, it } from 'vitest';
import { Choices } from '../../src/simulator/choices.js';
import { simulate } from '../../src/simulator/index.js';
import { runSimulation } from '../../src/simulator/simulation.js';
import { fleetSubject } from './subjects/fleet-subject.js';
import { tallySubject } from './tally.js';

describe('a simulation', () => {
  it('a simulation with the same seed takes the same steps to the same head', async () => {
    const [one, other] = [await run(5), await run(5)];
    expect([one.head, one.log, one.choices]).toEqual([other.head, other.log, other.choices]);
    expect((await run(6)).head).not.toBe(one.head);
  });

  it('a simulation with the recorded decisions of a run is that run', async () => {
    const drawn = await run(5);
    const again = await runSimulation(tallySubject(), Choices.of(drawn.choices));
    expect([again.head, again.log]).toEqual([drawn.head, drawn.log]);
  });

  it('a simulation without decisions is a sound run without work', async () => {
    expect(await runSimulation(tallySubject(), Choices.of([]))).toMatchObject({ acks: 0, effects: 0, frames: 1 });
  });

  it('a simulation of a correct world finds nothing and reports what it covered (seeds 1 to 30)', async () => {
    const report = await simulate(tallySubject(), { seeds: 30 });
    expect(report.failure).toBeUndefined();
    expect(report.runs).toBe(30);
    expect(report.sometimes.met.get('a process died')).toBeGreaterThan(10);
    expect(report.acks).toBeGreaterThan(50);
  });

  it('a simulation without allowed faults has none', async () => {
    const report = await simulate(tallySubject(), { seeds: 5, troubles: [] });
    expect(report.failure).toBeUndefined();
    expect(report.sometimes.met.get('a process died')).toBe(0);
  });
});

/** Trouble in which no process dies. */
const NOBODY_DIES = ['lost leases', 'second openers', 'failing disk', 'lost answers', 'closes', 'stops'] as const;

describe('a mutant', () => {
  it('mutant: a store that loses acknowledged frames at a crash is found, with few decisions', async () => {
    const { failure } = await simulate(tallySubject({ store: forgetful }), { seeds: 200, from: 1 });
    expect(failure?.why).toMatch(/does not open|acknowledged|frame \d+ comes after|the index finds/);
    // Each call of the store is watched, which is a decision of its own: 147 here.
    expect(failure?.choices.length).toBeLessThan(200);
    expect(failure?.log.join('\n')).toMatch(/process \d dies/);
  });

  it('mutant: a store that answers before it has written is found', async () => {
    const { failure } = await simulate(tallySubject({ wrap: hasty }), { seeds: 50 });
    expect(failure?.why).toMatch(/before frame \d+ was durable|before that was durable/);
  });

  it('mutant: a store that shows the head to an owner without its lease is found [JRN-37]', async () => {
    const troubles = ['lost leases', 'second openers', 'failing disk'] as const;
    const { failure } = await simulate(tallySubject({ wrap: unfenced, repeats: true }), { seeds: 100, troubles });
    expect(failure?.why).toMatch(/does not open|acknowledged|started|twice/);
  });

  it('mutant: a world that is opened again without the head that was seen last is found, when its store fell back [HOST-11]', async () => {
    const { failure } = await simulate(fleetSubject({ forgets: true }), {
      seeds: 100,
      shrink: false,
      troubles: NOBODY_DIES,
    });
    expect(failure?.why).toMatch(/comes after frame|started twice|executed twice/);
  });

  it('mutant: a store that says of a lost lease that its owner died has a healthy input quarantined, and is found [REC-11]', async () => {
    const { failure } = await simulate(fleetSubject({ wrap: deadly }), {
      seeds: 100,
      shrink: false,
      troubles: NOBODY_DIES,
    });
    expect(failure?.why).toMatch(/is quarantined after [01] deaths/);
  });

  it('mutant: a world that starts an effect before it is journaled is found', async () => {
    const sound = tallySubject();
    const mutant: typeof sound = {
      ...sound,
      begin: (run) => {
        const play = sound.begin(run);
        return {
          ...play,
          open: async (process, store) => {
            const world = await play.open(process, store);
            const unknown = { idempotencyKey: 'f'.repeat(64), attempt: 1 };
            void run.outside.execute(process, 'a wild effect', unknown, async () => undefined);
            return world;
          },
        };
      },
    };
    expect((await simulate(mutant, { seeds: 5 })).failure?.why).toMatch(
      /a wild effect .* started before that was durable/,
    );
  });

  it('mutant: a world that answers a client with a foreign error is found', async () => {
    const sound = tallySubject();
    const mutant: typeof sound = {
      ...sound,
      begin: (run) => ({
        ...sound.begin(run),
        acts: [
          {
            name: 'breaks',
            weight: 1,
            execute: () =>
              run.clients.ask({ id: 'x' }, () => Promise.reject(new TypeError('oops'))).catch(() => undefined),
          },
        ],
      }),
    };
    expect((await simulate(mutant, { seeds: 5 })).failure?.why).toMatch(/a foreign error: TypeError: oops/);
  });
});

function run(seed: number) {
  return runSimulation(tallySubject(), Choices.from(seed));
}

/** Loses the last append when its holder dies. */
function forgetful(): Store & { crash(): Promise<void> } {
  let inner = memory();
  let open: OpenStore | undefined;
  return {
    label: 'forgetful',
    open: async () => {
      open = await inner.open();
      return open;
    },
    openReadonly: () => inner.openReadonly(),
    crash: async () => {
      const frames = [];
      const before = open?.journal;
      if (before !== undefined) for await (const frame of before.read(0)) frames.push(frame);
      inner = memory();
      const next = await inner.open();
      if (frames.length > 1) await next.journal.append(frames.slice(0, -1), await next.journal.head());
      await next.close();
    },
  };
}

/** Says that it has appended before it has. */
function hasty(store: Store): Store {
  return {
    ...store,
    open: async () => {
      const open = await store.open();
      return {
        ...open,
        journal: {
          ...open.journal,
          append: async (frames, expected) => {
            void open.journal.append(frames, expected).catch(() => undefined);
            const last = frames.at(-1);
            return last === undefined ? expected : { seq: last.seq, digest: last.head };
          },
        },
      };
    },
  };
}

/** Reads the head past the fence, as if it were not asked who the owner is. */
function unfenced(store: Store): Store {
  return {
    ...store,
    open: async () => {
      const open = await store.open();
      const head = async () => {
        let last = EMPTY_HEAD;
        for await (const { seq, head: digest } of open.journal.read(0)) last = { seq, digest };
        return last;
      };
      return { ...open, journal: { ...open.journal, head } };
    },
  };
}

/** Takes an owner that lost its lease for one that died. */
function deadly(store: Store): Store {
  return {
    ...store,
    open: async () => {
      const open = await store.open();
      return open.ended === 'lost' ? { ...open, ended: 'died' } : open;
    },
  };
}
