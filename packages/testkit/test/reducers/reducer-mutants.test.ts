/** The laws of reducers, held against an honest one and many that break them. */

import { creates, defineApp, defineReducer, type ReducerDefinition } from '@reprise/kernel';
import { by, from } from '@reprise/kernel/define';
import { NotApplicable, reducerChecks, runCheck, testReducer } from '@reprise/testkit/ports';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { everyNth } from '../../../../conformance/part.js';

interface State {
  n: number;
  names: string[];
}

type Breaks = (draft: State, by: number) => void;

/** Counts, and keeps the last names that it heard; with `breaks`, it does something else besides. */
function tally(breaks: Breaks = () => undefined): ReducerDefinition {
  return defineReducer({
    name: 'demo/Tally@1',
    state: z.strictObject({ n: z.number(), names: z.array(z.string().max(64)) }),
    events: {
      'demo/Added@1': creates(z.strictObject({ by: z.int().min(0).max(99) })),
      'demo/Named@1': z.strictObject({ name: z.string().min(1).max(8) }),
    },
    init: () => ({ n: 0, names: [] }),
    reduce(draft, event, ctx) {
      if (event.name === 'demo/Named@1') {
        if (event.value.name.startsWith('a')) ctx.reject('no_name');
        draft.names = [...draft.names, event.value.name].slice(-3);
      } else {
        draft.n += event.value.by;
        breaks(draft, event.value.by);
      }
    },
  });
}

testReducer({ name: 'an honest one', runner: { describe, it }, make: async () => ({ reducer: tally() }) });

const FAULTS = 'given events that its schemas take';
const SAME = 'given the same events';
const GUARD = 'given the guard';
const JOURNAL = 'given its journal';
const TWICE = 'given that every frame';
const OPENED = 'given a world that is closed';
const IMMER = 'given reduce() on immer';
const GROWS = 'given ever more events';

/** A variable of the module, as far as a reducer can tell. */
function remembering(): Breaks {
  let calls = 0;
  return (draft) => {
    draft.n = ++calls;
  };
}

const MUTANTS: readonly (readonly [does: string, laws: readonly string[], reducer: () => ReducerDefinition])[] = [
  [
    'throws at some events',
    [FAULTS],
    () =>
      tally((_, by) => {
        if (by % 3 === 0) throw new TypeError('not by three');
      }),
  ],
  [
    'leaves a state that breaks its schema',
    [FAULTS],
    () =>
      tally((draft) => {
        draft.names = [null as never];
      }),
  ],
  [
    'refuses everything',
    [FAULTS],
    () => ({
      ...tally(),
      reduce: (_draft, _event, ctx) => ctx.reject('never'),
    }),
  ],
  ['keeps a variable beside its state', [SAME, JOURNAL, OPENED], () => tally(remembering())],
  [
    'changes its mind each time it is asked',
    [TWICE],
    () => {
      let odd = false;
      return tally((draft) => {
        odd = !odd;
        draft.n += odd ? 1 : 0;
      });
    },
  ],
  [
    'throws dice',
    [SAME, GUARD],
    () =>
      tally((draft) => {
        draft.n += Math.random();
      }),
  ],
  [
    'looks at the calendar',
    [GUARD],
    () =>
      tally((draft) => {
        draft.n += Math.floor(Date.now() / 86_400_000);
      }),
  ],
  [
    'asks what its draft is made of',
    [IMMER],
    () =>
      tally((draft) => {
        draft.n += draft.names === draft.names.valueOf() && isProxy(draft.names) ? 1 : 0;
      }),
  ],
  [
    'keeps the name of every event',
    [GROWS],
    () => ({ ...tally(), reduce: (draft: State, event) => void draft.names.push(event.name) }) as ReducerDefinition,
  ],
];

/** Copying by the platform refuses proxies. */
function isProxy(thing: unknown): boolean {
  try {
    structuredClone(thing);
    return false;
  } catch {
    return true;
  }
}

async function brokenLaws(reducer: () => ReducerDefinition): Promise<string[]> {
  const broken: string[] = [];
  const subject = { reducer: reducer() };
  for (const check of reducerChecks) {
    await runCheck(check, async () => subject).catch((error: unknown) => {
      expect(error).not.toBeInstanceOf(NotApplicable);
      broken.push(check.name);
    });
  }
  return broken;
}

describe('a reducer that breaks a law is found', () => {
  it.each(everyNth(4, MUTANTS))('the laws find a reducer that %s', async (_, laws, reducer) => {
    const broken = await brokenLaws(reducer);
    for (const law of laws)
      expect(
        broken.filter((name) => name.startsWith(law)),
        broken.join('; '),
      ).toHaveLength(1);
  });

  it('every law of reducers finds a mutant', () => {
    const idle = reducerChecks.filter(
      ({ name }) => !MUTANTS.some(([, laws]) => laws.some((law) => name.startsWith(law))),
    );
    expect(idle.map(({ name }) => name)).toEqual([]);
  });

  it('a broken law is reported with the seed and the events that show it', async () => {
    const [same] = reducerChecks.filter(({ name }) => name.startsWith(SAME));
    if (same === undefined) throw new Error('the law is gone');
    const run = runCheck(same, async () => ({ reducer: tally(remembering()), seed: 7 }));
    await expect(run).rejects.toThrow(/seed 7, after these events:\n {2}demo\/Added@1 \{"by":\d+\}/);
  });
});

describe('the message of a broken law', () => {
  const said = async (law: string, reducer: ReducerDefinition): Promise<string> => {
    const check = reducerChecks.find(({ name }) => name.startsWith(law));
    if (check === undefined) throw new Error(`no law ${law}`);
    const error: unknown = await runCheck(check, async () => ({ reducer })).catch((thrown: unknown) => thrown);
    return (error as Error).message;
  };
  const doing = (reduce: () => void): ReducerDefinition => ({ ...tally(), reduce: reduce as never });

  it.each<readonly [what: string, law: string, reduce: () => void, says: RegExp]>([
    [
      'touches its host',
      'given the guard',
      () => void Math.random(),
      /^on event 0, \{.*demo\/Added@1.*\}: pure code touched Math\.random; take it from the event, the state or ctx\n/,
    ],
    [
      'throws',
      'given events that its schemas take',
      () => {
        throw new TypeError('too much');
      },
      /^on event 0, \{.*demo\/Added@1.*\}: TypeError: too much; reject other events with ctx\.reject/,
    ],
  ])('the message of a reducer that %s names the event, the finding and the remedy', async (_, law, reduce, says) => {
    expect(await said(law, doing(reduce))).toMatch(says);
  });
});

describe('given events', () => {
  it('given events are played in place of random ones', async () => {
    const heard = new Set<string>();
    const spied: ReducerDefinition = {
      ...tally(),
      reduce: (_draft, event) => void heard.add(event.name),
    };
    const events = fc.constant({ name: 'demo/Added@1', value: { by: 1 } });
    const [first] = reducerChecks;
    await runCheck(first as NonNullable<typeof first>, async () => ({ reducer: spied, events }));
    expect([...heard]).toEqual(['demo/Added@1']);
  });
});

/** Takes one event from outside, and one from the cells that its rows name; `breaks` in the second. */
function fed(breaks: () => void): ReducerDefinition {
  const name = z.string().min(1).max(4);
  return defineReducer({
    name: 'demo/Fed@1',
    state: z.strictObject({ n: z.int() }),
    tables: { feeders: z.null() },
    events: {
      'demo/Opened@1': creates(from(z.strictObject({}), by.outside)),
      'demo/Again@1': from(z.strictObject({}), by.self),
      'demo/Fed@1': from(z.strictObject({ name }), by.row('feeders', { reducer: 'demo/Tally@1' })),
    },
    init: () => ({ n: 0 }),
    reduce(draft, event, ctx) {
      if (event.name === 'demo/Opened@1') ctx.table('feeders').set('mill', null);
      else if (event.name === 'demo/Again@1') draft.n = 0;
      else {
        draft.n = 1;
        breaks();
      }
    },
  }) as ReducerDefinition;
}

describe('a reducer whose events come from cells', () => {
  const faults = reducerChecks.find(({ title }) => title.includes(FAULTS));
  const subject = (senders?: 'declared') => {
    const reducer = fed(() => {
      throw new Error('a defect');
    });
    const app = defineApp({ reducers: [reducer, tally()] });
    return { reducer, app, ...(senders === undefined ? {} : { senders }) };
  };

  it('a defect in an event of a cell is found when events come from declared senders, and not when all come from outside', async () => {
    if (faults === undefined) throw new Error('there is no such check');
    await faults.run(subject());
    await expect(faults.run(subject('declared'))).rejects.toThrow('the cell failed: threw');
  });

  testReducer({
    name: 'one that is fed by cells',
    runner: { describe, it },
    make: async () => {
      const reducer = fed(() => undefined);
      return { reducer, app: defineApp({ reducers: [reducer, tally()] }), senders: 'declared' };
    },
  });
});
