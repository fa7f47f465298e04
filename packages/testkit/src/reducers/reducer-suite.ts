/** The laws of reducers, as tests: what replay, recovery, snapshots and forks require of every reducer. */
import type { ErrorCode } from '@reprise/contracts';
import { type App, decode, defineApp, fromHex, type ReducerDefinition, verifyStore } from '@reprise/kernel';
import { installGuard } from '@reprise/kernel/guard';
import fc from 'fast-check';
import { anyEventOf } from '../arbitraries/fitting.js';
import { show } from '../given/compare.js';
import type { GivenEvent } from '../given/given-reducer.js';
import { expectSame, expectThat } from '../suite/expect.js';
import { type Check, type Disposable, registerSuite, type SuiteOptions, titled } from '../suite/suite.js';
import { CELL_KEY, type Performance, type Played, perform } from './playback.js';
import { spyOnReducers } from './reduce-spy.js';
import { withRelays } from './relays.js';

/** A reducer under test, and where its events come from. */
export interface ReducerSubject extends Disposable {
  readonly reducer: ReducerDefinition;
  /** Its app: its plans, and the cells that it sends to. An app of the reducer alone when absent. */
  readonly app?: App;
  /** The source of events; made from the schemas when absent, beginning with one that creates the cell. */
  readonly events?: fc.Arbitrary<GivenEvent>;
  /**
   * Where events come from. `declared`: from a sender that the event declares, drawn among them: the cell itself, a cell
   * that the state, the event or a row of a table names, where the app has its reducer, and the outside else. Senders that
   * are plans, adapters or cells above are not staged. Absent: from outside, so events that only cells may send are refused
   * before they reach the reducer.
   */
  readonly senders?: 'declared';
  /** The seed of the events; 1 when absent. */
  readonly seed?: number;
  /** The number of events after which the state has reached its size; 60 when absent. */
  readonly fullAfter?: number;
}

/** The number of journals for each law, and of events in each. */
const RUNS = 4;
const EVENTS = 20;

const FULL_AFTER = 60;

/**
 * The laws of reducers, as tests.
 *
 * @example
 * testReducer({ name: 'counter', runner: { describe, it }, make: async () => ({ reducer: counter }) });
 */
export function testReducer(options: SuiteOptions<ReducerSubject>): void {
  registerSuite('reducer', reducerChecks, options);
}

function check(title: string, run: (subject: ReducerSubject) => Promise<void>): Check<ReducerSubject> {
  return { ...titled(title), run };
}

/** A law that is tried on some journals. */
function law(title: string, holds: (played: Played) => Promise<void>): Check<ReducerSubject> {
  return check(title, async (subject) => {
    for (let run = 0; run < RUNS; run++) {
      const played = playedBy(subject, EVENTS, run);
      try {
        await holds(played);
      } catch (error) {
        const events = played.events.map(({ name, value }) => `  ${name} ${show(value)}`).join('\n');
        throw new Error(`${(error as Error).message}\nseed ${seedOf(subject, run)}, after these events:\n${events}`, {
          cause: error,
        });
      }
    }
  });
}

/** The checks of {@link testReducer}, to run one alone. */
export const reducerChecks: readonly Check<ReducerSubject>[] = [
  law('given events that its schemas take, it takes some and faults on none', async (played) => {
    const { refusals } = await perform(played);
    const hint = 'reject other events with ctx.reject(code), or narrow the schema';
    expectNo('delivery_faulted', { played, refusals }, hint);
    const codes = new Set(refusals.map((refusal) => refusal?.code));
    expectThat(
      codes.has(undefined),
      `every event was refused: ${[...codes].join(', ')}; pass \`events\` that it accepts`,
    );
  }),

  law('given the same events, it does the same, byte for byte', async (played) => {
    const [one, other] = [await perform(played), await perform(played)];
    expectStates(other, one, 'the second time');
    expectSame(other.head, one.head, 'the journal of the second time, by its head');
  }),

  law('given the guard, it touches no clock, chance or host', async (played) => {
    await guarded(async () => {
      const { refusals } = await perform(played);
      expectNo('nondeterminism', { played, refusals }, 'take it from the event, the state or ctx');
    });
  }),

  law('given its journal, it is replayed, from the beginning and from snapshots', async (played) => {
    for (const snapshotEvery of [0, 4]) {
      const { store } = await perform(played, { snapshotEvery });
      const reader = await store.openReadonly();
      const report = await verifyStore(reader, { app: played.app }).finally(() => reader.close());
      expectSame(report.replayed, report.frames, 'the replayed frames');
    }
  }),

  law('given that every frame is performed twice, both times agree', async (played) => {
    const { refusals } = await perform(played, { twice: true });
    const hint = 'it depends on something outside of its event, its state and ctx: a variable, a clock, chance';
    expectNo('nondeterminism', { played, refusals }, hint);
  }),

  law('given a world that is closed and opened between events, its states are the same', async (played) => {
    const kept = await perform(played);
    expectStates(await perform(played, { reopened: true }), kept, 'opened between events');
    expectStates(await perform(played, { reopened: true, snapshotEvery: 3 }), kept, 'opened from snapshots');
  }),

  law('given reduce() on immer, every delivery comes to the same state', async (played) => {
    const spied = spyOnReducers(played.app);
    const { states } = await perform({ ...played, app: spied.app });
    const last = spied.stateOf([played.reducer, CELL_KEY]);
    expectThat(
      last === undefined || last === states.at(-1),
      `it ends as ${stateText(states.at(-1))}, with reduce() as ${stateText(last)}`,
    );
  }),

  check('given ever more events, its state stops growing', async (subject) => {
    const { fullAfter = FULL_AFTER } = subject;
    const { states } = await perform(playedBy(subject, 3 * fullAfter, 0));
    const largest = (from: number): number => Math.max(0, ...states.slice(from, from + fullAfter).map(bytesOf));
    const [then, later] = [largest(fullAfter), largest(2 * fullAfter)];
    const grown = `${fullAfter} more events made its state grow from ${then} to ${later} bytes`;
    expectThat(later < then + fullAfter, `${grown}: keep growing data in a log or a table`);
  }),
];

/** The bytes of a state, written with two digits each. */
function bytesOf(state: string): number {
  return state.length / 2;
}

function seedOf({ seed = 1 }: ReducerSubject, run: number): number {
  return seed + run;
}

function playedBy(subject: ReducerSubject, count: number, run: number): Played {
  const { reducer, events } = subject;
  const seed = seedOf(subject, run);
  const any = fc.sample(events ?? anyEventOf(reducer), { seed, numRuns: count });
  const first = events === undefined ? fc.sample(anyEventOf(reducer, 'creating'), { seed, numRuns: 1 }) : [];
  const given = subject.app ?? defineApp({ reducers: [reducer] });
  const isRelayed = subject.senders === 'declared';
  const app = isRelayed ? withRelays(given) : given;
  return { app, isRelayed, reducer: reducer.name, events: [...first, ...any].slice(0, count) };
}

/** Fails when an event was refused with a code, and names the event, the reason and the remedy. */
function expectNo(
  code: ErrorCode,
  { played, refusals }: { readonly played: Played; readonly refusals: Performance['refusals'] },
  hint: string,
): void {
  const at = refusals.findIndex((refusal) => refusal?.code === code);
  expectThat(at < 0, `on event ${at}, ${show(played.events[at])}: ${refusals[at]?.what}; ${hint}`);
}

function expectStates(actual: Performance, expected: Performance, when: string): void {
  const at = actual.states.findIndex((state, i) => state !== expected.states[i]);
  const [found, wanted] = [actual.states[at], expected.states[at]].map(stateText);
  expectThat(at < 0, `${when}, its state after event ${at} is ${found} instead of ${wanted}`);
}

/** A state in bytes as text for people. */
function stateText(state: string | undefined): string {
  return state === undefined || state === '' ? 'none' : show(decode(fromHex(state)));
}

/** Runs with the guard installed, and leaves one that the host installed before. */
async function guarded(body: () => Promise<void>): Promise<void> {
  const before = globalThis.Date;
  const remove = installGuard();
  const isOurs = globalThis.Date !== before;
  try {
    await body();
  } finally {
    if (isOurs) remove();
  }
}
