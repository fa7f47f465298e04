/** Tests of one reducer (given a state, when an event comes, then these results), through the real engine. */

import type { Address, JournalRecord, Ref, Value } from '@reprise/contracts';
import { requireFields, requireMethods } from '@reprise/contracts';
import { decode, type ReducerDefinition } from '@reprise/kernel';
import { BENCH_START, Bench, type Folded } from './bench.js';
import { checkedValue } from './checked-value.js';
import { expectOutcome, show } from './compare.js';
import type { GivenSender } from './given-sender.js';
import { appAround, SEEDED, type Senders } from './stand-ins.js';

/** An event as a test writes it. */
export interface GivenEvent {
  readonly name: string;
  readonly value: unknown;
  /**
   * Who sends it: a cell `[reducer, key]`, or a plan `[reducer, key, ordinal]`; the outside when absent. An event with
   * declared senders is refused with `not_yours` when none of them matches.
   */
  readonly from?: GivenSender;
}

/** The setup of a reducer test. */
interface GivenReducerOptions {
  /** The cell's key; `given` when absent. */
  readonly key?: string;
  /** The time of the first frame, in milliseconds; 2026-01-01T00:00:00Z when absent. */
  readonly at?: number;
  /** The cell that made it; the outside when absent. */
  readonly maker?: Address;
  /** The reducers that it sends to: their event schemas are checked. Any other cell accepts every event. */
  readonly others?: readonly ReducerDefinition[];
}

/** The results of an event, by name. An omitted name is not compared; a refusal must be named. */
export interface ReducerOutcome {
  /** The state afterwards; null when the cell has ended. Events to itself have been delivered. */
  readonly state?: unknown;
  /** Events it sent, in order. */
  readonly sends?: readonly { readonly to: Address; readonly name: string; readonly value: unknown }[];
  /** Plans it started, in order. */
  readonly intents?: readonly { readonly plan: string; readonly input: unknown }[];
  /** The facts that it stated, in order. */
  readonly facts?: readonly { readonly name: string; readonly value: unknown }[];
  /** Its timers afterwards: name → milliseconds. */
  readonly timers?: Readonly<Record<string, number>>;
  /** Items it appended, by log. */
  readonly logs?: Readonly<Record<string, readonly unknown[]>>;
  /** The entries of its tables afterwards, by table. An omitted table is not compared. */
  readonly tables?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** The fault that dropped the event: `threw`, `state_invalid` … */
  readonly fault?: string;
  /** The code it rejected the event with. */
  readonly rejected?: string;
}

/** The results of an event, to be compared. */
interface ReducerWhen {
  /**
   * Compares the named results, in canonical bytes.
   *
   * @throws Error naming the first difference; also when the event was refused and the test does not say so
   */
  then(expected: ReducerOutcome): void;
}

/** A reducer with its earlier events. */
export interface GivenReducer {
  /** The cell exists and has this state. */
  state(state: unknown): GivenReducer;
  /** The cell has received these events. */
  events(...events: readonly GivenEvent[]): GivenReducer;
  /** Advances the time by so many milliseconds. */
  after(ms: number): GivenReducer;
  /** The event under test. A notice of the kernel (`sys/TimerFired@1` …) is given the same way. */
  when(event: GivenEvent): ReducerWhen;
}

/**
 * Tests a reducer without a world. The event is folded by the engine that worlds use: its schema, savepoint, normal
 * form and bounds are the real ones. Plans that it starts wait for ever; cells that it sends to accept everything.
 *
 * @param reducer its definition
 * @example
 * givenReducer(counter)
 *   .state({ n: 40 })
 *   .when({ name: 'demo/Added@1', value: { by: 2 } })
 *   .then({ state: { n: 42 }, sends: [], facts: [] });
 */
export function givenReducer(reducer: ReducerDefinition, options: GivenReducerOptions = {}): GivenReducer {
  requireMethods(reducer, ['reduce'], 'givenReducer(reducer)', 'a reducer that defineReducer made');
  requireFields(options, 'givenReducer(options)', 'an object');
  return new Given(reducer, options, []);
}

type Before = { readonly event: GivenEvent; readonly what: string } | { readonly afterMs: number };

class Given implements GivenReducer {
  constructor(
    private readonly reducer: ReducerDefinition,
    private readonly options: GivenReducerOptions,
    private readonly before: readonly Before[],
  ) {}

  state(state: unknown): GivenReducer {
    return this.#with({ event: { name: SEEDED, value: state }, what: 'the given state' });
  }

  events(...events: readonly GivenEvent[]): GivenReducer {
    return this.#with(...events.map((event) => ({ event, what: `the given event ${event.name}` })));
  }

  after(ms: number): GivenReducer {
    return this.#with({ afterMs: ms });
  }

  when(event: GivenEvent): ReducerWhen {
    const to: Address = [this.reducer.name, this.options.key ?? 'given'];
    const senders: Senders = { from: undefined, maker: this.options.maker ?? null };
    const app = appAround(this.reducer, this.options.others ?? [], senders);
    const bench = new Bench(app, this.options.at ?? BENCH_START);
    const give = (given: GivenEvent): Folded => {
      senders.from = given.from;
      return bench.request(to, this.#checked(given));
    };
    for (const step of this.before) {
      if ('afterMs' in step) bench.at += step.afterMs;
      else must(give(step.event), step.what);
    }
    const before = {
      tables: [...this.reducer.tables.keys()],
      counts: new Map([...this.reducer.logs.keys()].map((log) => [log, logOf(bench, to, log).count])),
    };
    const folded = give(event);
    const what = `${this.reducer.name} on ${event.name}`;
    // biome-ignore lint/suspicious/noThenProperty: given, when, then; awaiting it fails with words
    return { then: (expected) => compare(what, expected, outcomeOf(bench, to, folded, before)) };
  }

  /** The check at the entry of a world: an event that breaks its schema never reaches the reducer. */
  #checked(event: GivenEvent): GivenEvent {
    const node = this.reducer.events.get(event.name)?.node;
    return node === undefined ? event : { ...event, value: checkedValue(event.name, node, event.value) };
  }

  #with(...more: readonly Before[]): GivenReducer {
    return new Given(this.reducer, this.options, [...this.before, ...more]);
  }
}

function must({ refused }: Folded, what: string): void {
  if (refused !== undefined) throw new Error(`${what} was refused: ${refused.what}`);
}

function compare(
  what: string,
  expected: ReducerOutcome,
  actual: Required<ReducerOutcome> & { refusal?: string },
): void {
  const foreseen = expected.fault !== undefined || expected.rejected !== undefined;
  if (actual.refusal !== undefined && !foreseen) throw new Error(`${what}: refused, ${actual.refusal}`);
  expectOutcome(what, expected, { ...actual, tables: named(actual.tables, expected.tables) });
}

/** The reducer's data beside its state. */
interface Beside {
  readonly tables: readonly string[];
  /** The number of items that its logs had before. */
  readonly counts: ReadonlyMap<string, number>;
}

/** The tables that a test names. */
function named(tables: Required<ReducerOutcome>['tables'], wanted: ReducerOutcome['tables'] = {}) {
  return Object.fromEntries(Object.keys(wanted).map((table) => [table, tables[table] ?? null]));
}

function outcomeOf(bench: Bench, to: Address, folded: Folded, { tables, counts }: Beside) {
  const { records, refused } = folded;
  const mine = (from: readonly unknown[] | null) => from !== null && from[0] === to[0] && from[1] === to[1];
  const timers = bench.timers.filter(({ cell, plan }) => plan < 0 && mine(cell)).map(({ name, due }) => [name, due]);
  const logs: Record<string, readonly Value[]> = {};
  for (const [log, count] of counts) logs[log] = itemsOf(bench, to, log, count);
  return {
    state: bench.state(to) ?? null,
    sends: ofKind(records, 'event')
      .filter(({ from }) => mine(from) && from?.length === 2)
      .map((sent) => ({ to: sent.to, name: sent.event.name, value: sent.event.value })),
    intents: ofKind(records, 'intent')
      .filter(({ plan }) => mine(plan))
      .map(({ name, input }) => ({ plan: name, input })),
    facts: ofKind(records, 'fact')
      .filter(({ from }) => mine(from))
      .map(({ name, value }) => ({ name, value })),
    timers: Object.fromEntries(timers),
    logs,
    tables: Object.fromEntries(tables.map((table) => [table, Object.fromEntries(bench.table(to, table))])),
    fault: refused?.fault as string,
    rejected: refused?.reason as string,
    ...(refused === undefined ? {} : { refusal: `${refused.code}: ${refused.what} ${show(refused.fault)}` }),
  };
}

/** The records of one kind. */
export function ofKind<K extends JournalRecord['kind']>(
  records: readonly JournalRecord[],
  kind: K,
): Extract<JournalRecord, { kind: K }>[] {
  return records.filter((record): record is Extract<JournalRecord, { kind: K }> => record.kind === kind);
}

interface LogLeaf {
  readonly count: number;
  readonly levels: readonly (readonly Ref[])[];
  readonly tail: readonly Value[];
}

function logOf(bench: Bench, [reducer, key]: Address, log: string): LogLeaf {
  const leaf = bench.leaf('log', reducer, log, key) as LogLeaf | undefined;
  return leaf ?? { count: 0, levels: [], tail: [] };
}

function itemsOf(bench: Bench, of: Address, log: string, from: number): readonly Value[] {
  const { levels, tail } = logOf(bench, of, log);
  const sealed = levels.map((links, level) => links.flatMap((link) => itemsUnder(bench, link, level)));
  return [...sealed.reverse().flat(), ...tail].slice(from);
}

function itemsUnder(bench: Bench, link: Ref, level: number): readonly Value[] {
  const bytes = bench.blobs.get(link.hex);
  const list = bytes === undefined ? [] : (decode(bytes) as readonly Value[]);
  return level === 0 ? list : list.flatMap((child) => itemsUnder(bench, child as Ref, level - 1));
}
