/** Arbitraries of programs, and of schedules for a world that executes them. */
import type { Address, Value } from '@reprise/contracts';
import type { AdapterOutcome } from '@reprise/kernel';
import fc from 'fast-check';
import {
  type PlanOp,
  PROGRAM_LOGS,
  PROGRAM_REDUCERS,
  PROGRAM_TABLES,
  type ReducerOp,
  type SlotPath,
} from './program.js';
import { anyValue, ODD_KEYS } from './values.js';

/** The cells of random worlds: few, so that they interact often. */
export const PROGRAM_CELLS: readonly Address[] = [
  [PROGRAM_REDUCERS.cell, 'a'],
  [PROGRAM_REDUCERS.cell, 'b'],
  [PROGRAM_REDUCERS.deaf, 'c'],
];

const SLOTS = ['zz', 'a', 'b', ...ODD_KEYS.slice(0, 5)];
/** Prefixes of table keys; each operation appends numbers to them. */
const TABLE_KEYS = ['k', 'm', '\u{10000}', '\ue000'];
const TIMERS = ['t', 'u', '1'];

interface AnyProgramOptions {
  /** The most operations at the top level; 5 when absent. */
  readonly opsMax?: number;
  /** The depth of nested programs (sends, plans, timers); 2 when absent. */
  readonly depth?: number;
  /** Operations that break rules: illegal values, exceptions, wrong calls; true when absent. */
  readonly faults?: boolean;
}

const paths: fc.Arbitrary<SlotPath> = fc.array(fc.constantFrom(...SLOTS), { minLength: 1, maxLength: 2 });
const smallValues = anyValue({ bytes: false, links: false, maxDepth: 2 });
const cells = fc.constantFrom(...PROGRAM_CELLS);

/** Lists of evenly distributed length: by default fast-check prefers short ones, and short programs never interact. */
function lists<T>(items: fc.Arbitrary<T>, minLength: number, maxLength: number): fc.Arbitrary<readonly T[]> {
  return fc.noBias(fc.array(items, { minLength, maxLength, size: 'max' }));
}

/** The answer of the scripted adapter: an outcome, a keyword, or any other value (then the call hangs). */
const answers: fc.Arbitrary<Value> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom<Value>('hang', 'hang', 'throws', 'forgotten') },
  {
    weight: 3,
    arbitrary: fc.constantFrom<Value>(
      { status: 'ok', payload: 'done' },
      { status: 'ok', payload: { deep: [[[[1]]]] }, usage: { calls: 1 } },
      { status: 'error', code: 'adapter_error/script', retryable: true },
      { status: 'timeout' },
      { status: 'cancelled' },
    ),
  },
  { weight: 1, arbitrary: smallValues },
);

/**
 * Any program for a reducer.
 *
 * @example fc.property(anyReducerProgram(), (ops) => world.request(cell, { name: 'law/Made@1', value: { ops, payload: null } }))
 */
export function anyReducerProgram(options: AnyProgramOptions = {}): fc.Arbitrary<readonly ReducerOp[]> {
  const { opsMax = 5, depth = 2, faults = true } = options;
  const inner = { opsMax: 3, depth: depth - 1, faults };
  const ops: fc.MaybeWeightedArbitrary<ReducerOp>[] = [
    { weight: 12, arbitrary: stateOps() },
    { weight: 6, arbitrary: contextOps() },
  ];
  if (faults) ops.push({ weight: 1, arbitrary: faultOps() });
  if (depth > 0) ops.push({ weight: 8, arbitrary: nestedOps(inner) });
  return lists(fc.oneof(...ops), 0, opsMax);
}

function stateOps(): fc.Arbitrary<ReducerOp> {
  const at = paths;
  return fc.oneof<fc.Arbitrary<ReducerOp>[]>(
    fc.record({ do: fc.constant('set'), at, value: smallValues }),
    fc.record({ do: fc.constant('keys'), at, keys: fc.array(fc.constantFrom(...SLOTS), { maxLength: 5 }) }),
    fc.record({ do: fc.constantFrom('unset', 'blank', 'minus_zero', 'keep'), at }),
    fc.record({ do: fc.constant('alias'), from: paths, at }),
    fc.record({ do: fc.constant('touch'), at, value: smallValues }),
    fc.record({ do: fc.constant('spoil'), value: smallValues }),
    fc.record({
      do: fc.constant('list'),
      how: fc.constantFrom('push', 'pop', 'shift', 'unshift', 'reverse', 'sort', 'splice', 'truncate', 'share'),
      value: smallValues,
    }),
    fc.constant({ do: 'look' }),
    fc.constant({ do: 'unmark' }),
  );
}

function contextOps(): fc.Arbitrary<ReducerOp> {
  const log = fc.constantFrom(...PROGRAM_LOGS);
  const table = fc.constantFrom(...PROGRAM_TABLES);
  const key = fc.constantFrom(...TABLE_KEYS);
  const times = fc.constantFrom(1, 3, 20, 70);
  return fc.oneof<fc.Arbitrary<ReducerOp>[]>(
    fc.record({ do: fc.constant('append'), log, value: smallValues, times: fc.constantFrom(1, 2, 31, 40) }),
    fc.record({ do: fc.constant('head'), log, at: paths }),
    fc.record({ do: fc.constant('put'), table, key, value: smallValues, times }),
    fc.record({ do: fc.constant('drop'), table, key, times, at: paths }),
    fc.record({ do: fc.constant('page'), table, key, limit: fc.constantFrom(1, 5, 40), at: paths }),
    fc.record({ do: fc.constantFrom('draw', 'stamp'), at: paths }),
    fc.record({ do: fc.constant('fact'), value: smallValues }),
    fc.record({ do: fc.constant('clear'), name: fc.constantFrom(...TIMERS) }),
    fc.record({ do: fc.constant('cancel'), plan: fc.oneof(fc.nat(3), fc.constant('all' as const)) }),
  );
}

function faultOps(): fc.Arbitrary<ReducerOp> {
  const things = ['nan', 'infinity', 'function', 'instance', 'bigint', 'symbol', 'hole', 'surrogate', 'cycle'] as const;
  return fc.oneof<fc.Arbitrary<ReducerOp>[]>(
    fc.record({ do: fc.constant('illegal'), what: fc.constantFrom(...things, 'bytes', 'proto', 'deep') }),
    fc.record({ do: fc.constant('throw'), what: fc.constantFrom('error', 'text', 'nothing') }),
    fc.record({ do: fc.constant('reject'), code: fc.constantFrom('busy', 'no', 'Not A Code') }),
    fc.record({ do: fc.constant('return'), value: smallValues }),
    fc.constant({ do: 'end' }),
    fc.record({ do: fc.constant('append'), log: fc.constant('absent'), value: smallValues, times: fc.constant(1) }),
    fc.record({
      do: fc.constant('put'),
      table: fc.constantFrom('absent', PROGRAM_TABLES[0] as string),
      key: fc.constant('x'.repeat(300)),
      value: smallValues,
      times: fc.constant(1),
    }),
  );
}

function nestedOps(inner: Required<AnyProgramOptions>): fc.Arbitrary<ReducerOp> {
  const ops = anyReducerProgram(inner);
  return fc.oneof<fc.Arbitrary<ReducerOp>[]>(
    fc.record({
      do: fc.constant('send'),
      to: cells,
      ops,
      payload: smallValues,
      creates: fc.boolean(),
      reply: fc.boolean(),
    }),
    fc.record({ do: fc.constant('emit'), plan: anyPlanProgram({ ...inner, opsMax: 7 }) }),
    fc.record({ do: fc.constant('emit'), plan: anyPlanProgram({ ...inner, opsMax: 7 }) }),
    fc.record({
      do: fc.constant('timer'),
      name: fc.constantFrom(...TIMERS, ...(inner.faults ? ['not a name'] : [])),
      in_ms: fc.constantFrom(0, 10, 1_000, 60_000),
      ops,
    }),
    fc.record({ do: fc.constant('try'), ops }),
    fc.record({
      do: fc.constant('fan'),
      to: cells,
      count: fc.nat(40).map((n) => (n === 40 ? 260 : n % 4)),
      ops: fc.constant([]),
    }),
  );
}

/**
 * Any program for a plan.
 *
 * @example fc.property(anyPlanProgram(), (plan) => givenPlan(programPlan).input(plan).then({}))
 */
export function anyPlanProgram(options: AnyProgramOptions = {}): fc.Arbitrary<readonly PlanOp[]> {
  const { opsMax = 7, depth = 1, faults = true } = options;
  const inner = { opsMax: 3, depth: depth - 1, faults };
  const ops: fc.MaybeWeightedArbitrary<PlanOp>[] = [
    { weight: 5, arbitrary: emitOps() },
    { weight: 8, arbitrary: waitOps() },
    { weight: 4, arbitrary: tellOps(inner) },
  ];
  if (faults) ops.push({ weight: 1, arbitrary: wrongOps() });
  if (depth > 0) {
    const nested = anyPlanProgram(inner);
    ops.push({ weight: 1, arbitrary: fc.record({ do: fc.constant('again'), plan: nested }) });
    ops.push({ weight: 2, arbitrary: fc.record({ do: fc.constant('try'), ops: nested }) });
  }
  return fc.tuple(emitOps(), lists(fc.oneof(...ops), 0, opsMax - 1)).map(([first, rest]) => [first, ...rest]);
}

const effectKinds = fc.constantFrom('law.again@1', 'law.once@1', 'law.ask@1');
const withins = fc.constantFrom(null, null, 0, 500, 1_000, 60_000);

function emitOps(): fc.Arbitrary<PlanOp> {
  const effect = { kind: effectKinds, answer: answers };
  return fc.oneof<fc.MaybeWeightedArbitrary<PlanOp>[]>(
    { weight: 4, arbitrary: fc.record({ do: fc.constant('effect'), ...effect, timeout_ms: withins }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('retry'), ...effect, max: fc.constantFrom(1, 2, 3) }) },
  );
}

function waitOps(): fc.Arbitrary<PlanOp> {
  const several = fc.array(fc.nat(4), { minLength: 1, maxLength: 3 });
  return fc.oneof<fc.Arbitrary<PlanOp>[]>(
    fc.record({ do: fc.constant('one'), of: fc.nat(4), within: withins }),
    fc.record({ do: fc.constantFrom('any', 'all'), of: several, within: withins }),
    fc.record({ do: fc.constant('peek'), at: cells }),
    fc.record({ do: fc.constant('cancel'), of: fc.nat(4) }),
  );
}

function tellOps(inner: Required<AnyProgramOptions>): fc.Arbitrary<PlanOp> {
  const raise = {
    do: fc.constant('raise' as const),
    ops: anyReducerProgram({ ...inner, depth: 0 }),
    payload: smallValues,
  };
  return fc.oneof<fc.Arbitrary<PlanOp>[]>(fc.constant({ do: 'tell' }), fc.record(raise), fc.constant({ do: 'stop' }));
}

function wrongOps(): fc.Arbitrary<PlanOp> {
  const what = fc.constantFrom('params', 'event', 'yield', 'effect', 'within', 'deep');
  return fc.oneof<fc.Arbitrary<PlanOp>[]>(fc.record({ do: fc.constant('wrong'), what }), fc.constant({ do: 'throw' }));
}

/** A request of a schedule. */
export interface ScheduledRequest {
  readonly to: Address;
  /** Whether its event creates an absent cell. */
  readonly creates: boolean;
  readonly ops: readonly ReducerOp[];
  readonly payload: Value;
}

/** One step of a schedule. */
export type ScheduleStep =
  | ({ readonly step: 'request' } & ScheduledRequest)
  /** Requests that are sent together and share a commit. */
  | { readonly step: 'burst'; readonly requests: readonly ScheduledRequest[] }
  /** Repeats an earlier request; with `altered`, under the same id with other content. */
  | { readonly step: 'repeat'; readonly which: number; readonly altered: boolean }
  /** Releases a hanging effect. */
  | { readonly step: 'answer'; readonly which: number; readonly outcome: AdapterOutcome<Value> }
  | { readonly step: 'advance'; readonly ms: number }
  /** Moves the wall clock so far that the world may wait for a confirmation. */
  | { readonly step: 'jump'; readonly ms: number }
  /** An operator confirms the wall clock. */
  | { readonly step: 'confirm' }
  | { readonly step: 'revive'; readonly of: Address }
  | { readonly step: 'snapshot' }
  /** The world is closed and opened again. */
  | { readonly step: 'reopen' }
  /** Its process dies: the world is dropped without closing and opened again. */
  | { readonly step: 'crash' }
  /** The disk is full at the next commit. */
  | { readonly step: 'full' };

/** The length of schedules, and the size of their programs. */
interface AnyScheduleOptions extends AnyProgramOptions {
  /** The most steps; 12 when absent. */
  readonly stepsMax?: number;
  /** Snapshots, closes, crashes and full disks; true when absent. */
  readonly breaks?: boolean;
}

/**
 * Any schedule for a world that executes random programs: requests, early and late receipts, timers, snapshots, closes
 * and crashes of its process.
 *
 * @example fc.asyncProperty(anySchedule(), async (schedule) => holdLaws(await run(schedule)))
 */
export function anySchedule(options: AnyScheduleOptions = {}): fc.Arbitrary<readonly ScheduleStep[]> {
  const { stepsMax = 12, breaks = true, ...programs } = options;
  const request = {
    to: cells,
    creates: fc.constantFrom(true, true, true, false),
    ops: anyReducerProgram(programs),
    payload: smallValues,
  };
  const steps: fc.MaybeWeightedArbitrary<ScheduleStep>[] = [
    { weight: 16, arbitrary: fc.record({ step: fc.constant('request'), ...request }) },
    {
      weight: 2,
      arbitrary: fc.record({ step: fc.constant('burst'), requests: fc.array(fc.record(request), { maxLength: 4 }) }),
    },
    { weight: 4, arbitrary: fc.record({ step: fc.constant('answer'), which: fc.nat(5), outcome: outcomes() }) },
    {
      weight: 5,
      arbitrary: fc.record({ step: fc.constant('advance'), ms: fc.constantFrom(0, 10, 500, 1_000, 60_000) }),
    },
    { weight: 1, arbitrary: fc.record({ step: fc.constant('repeat'), which: fc.nat(9), altered: fc.boolean() }) },
    {
      weight: 1,
      arbitrary: fc.record({
        step: fc.constant('jump'),
        ms: fc.constantFrom(-3_600_000, 3_600_000, 2_300_000_000_000),
      }),
    },
    { weight: 1, arbitrary: fc.record({ step: fc.constant('confirm') }) },
    { weight: 1, arbitrary: fc.record({ step: fc.constant('revive'), of: cells }) },
  ];
  if (breaks) {
    steps.push({ weight: 4, arbitrary: fc.record({ step: fc.constantFrom('snapshot', 'reopen', 'crash', 'full') }) });
  }
  return lists(fc.oneof(...steps), Math.min(3, stepsMax), stepsMax);
}

function outcomes(): fc.Arbitrary<AdapterOutcome<Value>> {
  const payload = anyValue({ links: false, maxDepth: 3 });
  return fc.oneof<fc.Arbitrary<AdapterOutcome<Value>>[]>(
    fc.record({ status: fc.constant('ok'), payload }),
    fc.record({
      status: fc.constant('error'),
      code: fc.constant('adapter_error/late' as const),
      retryable: fc.boolean(),
    }),
    fc.record({ status: fc.constantFrom('timeout', 'cancelled', 'outcome_unknown') }),
  );
}
