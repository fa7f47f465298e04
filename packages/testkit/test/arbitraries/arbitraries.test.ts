import { formatAddress, isRef, parseAddress, receipt, type Value, WIRE_NAME } from '@reprise/contracts';
import { type App, decode, encode, equalBytes, linksOf, memory, openKernelWorld } from '@reprise/kernel';
import { givenPlan, givenReducer, scriptedAdapter } from '@reprise/testkit';
import { anyValue } from '@reprise/testkit/ports';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  anyAddress,
  anyEffect,
  anyEvent,
  anyPlanProgram,
  anyReceipt,
  anyReducerProgram,
  anySchedule,
  type PlanOp,
  PROGRAM_EVENTS,
  programApp,
  programPlan,
  programReducer,
  type ReducerOp,
  type ScheduleStep,
} from '../../src/arbitraries/index.js';

const SEED = Number(process.env.REPRISE_SEED ?? 20_260_101);
const RERUN = 'npx vitest run packages/testkit/test/arbitraries/arbitraries.test.ts';

/** Asserts over random cases; a failure prints how to find it again. */
async function hold<T>(property: fc.IRawProperty<T>, numRuns = 200): Promise<void> {
  const found = await fc.check(property, { seed: SEED, numRuns });
  if (found.failed)
    throw new Error(
      `${found.errorInstance}\nrerun: REPRISE_SEED=${SEED} ${RERUN}\n${fc.stringify(found.counterexample)}`,
    );
}

const sample = <T>(arbitrary: fc.Arbitrary<T>, numRuns = 300): T[] => fc.sample(arbitrary, { seed: SEED, numRuns });

describe(`arbitraries (seed ${SEED})`, () => {
  it('random values are canonical, and of every kind', async () => {
    const canonical = fc.property(anyValue(), (value) => equalBytes(encode(decode(encode(value))), encode(value)));
    await hold(canonical, 500);
    const kinds = new Set(sample(anyValue()).map(kindOf));
    expect([...kinds].sort()).toEqual(['boolean', 'bytes', 'link', 'list', 'map', 'null', 'number', 'string']);
  });

  it('random values hold no bytes and no links when the options exclude them', async () => {
    const plain = fc.property(anyValue({ bytes: false, links: false }), (value) => {
      expect([...linksOf(value)]).toEqual([]);
      expect(holdsBytes(value)).toBe(false);
    });
    await hold(plain);
  });

  it('random addresses are parsed again, and name the given reducers', async () => {
    await hold(
      fc.property(anyAddress(), (address) => void expect(parseAddress(formatAddress(address))).toEqual(address)),
    );
    await hold(fc.property(anyAddress(['a/B@1']), ([reducer]) => reducer === 'a/B@1'));
  });

  it('the kernel accepts random events and effects, and values that fit the effects', async () => {
    await hold(fc.property(anyEvent(), ({ name, value }) => WIRE_NAME.test(name) && encode(value).length > 0));
    await hold(fc.property(anyEffect(), ({ definition }) => scriptedAdapter(definition, []).effect === definition));
    const deliveries = new Set(sample(anyEffect()).map(({ definition }) => definition.guarantee));
    expect(deliveries.size).toBe(3);
  });

  it('random receipts are valid, of every status', async () => {
    await hold(fc.property(anyReceipt(), (given) => void receipt.parse(given)));
    expect(new Set(sample(anyReceipt()).map(({ status }) => status)).size).toBe(6);
  });

  it('random programs are plain values, and contain every operation', async () => {
    await hold(
      fc.property(anyReducerProgram(), (ops) => void expect(encode(decode(encode(ops)))).toEqual(encode(ops))),
    );
    const reducerOps = new Set<string>();
    const planOps = new Set<string>();
    for (const ops of sample(anyReducerProgram({ opsMax: 9 }), 2_000)) gather(ops, reducerOps, planOps);
    expect([...reducerOps].sort()).toEqual(ALL_REDUCER_OPS);
    expect([...planOps].sort()).toEqual(ALL_PLAN_OPS);
  });

  it('random programs without faults never fault', async () => {
    const ran = fc.property(anyReducerProgram({ faults: false, depth: 1 }), (ops) => {
      givenReducer(programReducer)
        .when({ name: PROGRAM_EVENTS.made, value: { ops, payload: {} } })
        .then({});
    });
    await hold(ran, 60);
    const planned = fc.property(anyPlanProgram({ faults: false }), (plan) => {
      givenPlan(programPlan, { owner: programReducer, cell: [programReducer.name, 'a'] })
        .input(plan)
        .then({});
    });
    await hold(planned, 60);
  });

  it('random schedules hold every step', () => {
    const steps = new Set(
      sample(anySchedule({ stepsMax: 20 })).flatMap((schedule) => schedule.map(({ step }) => step)),
    );
    expect([...steps].sort()).toEqual(ALL_STEPS);
    const calm = sample(anySchedule({ breaks: false })).flatMap((schedule) => schedule.map(({ step }) => step));
    for (const step of ['crash', 'reopen', 'snapshot', 'full'] as const) expect(calm).not.toContain(step);
  });

  it('the app of the programs opens as any other', async () => {
    const app: App = programApp;
    await using world = await openKernelWorld({ store: memory(), app });
    await world.request([programReducer.name, 'a'], {
      name: PROGRAM_EVENTS.made,
      value: { ops: [{ do: 'look' }], payload: 1 },
    });
    expect(await world.state([programReducer.name, 'a'])).toMatchObject({ list: [expect.any(String)], mark: 7 });
  });
});

const ALL_REDUCER_OPS: readonly ReducerOp['do'][] = [
  'alias',
  'append',
  'blank',
  'cancel',
  'clear',
  'draw',
  'drop',
  'emit',
  'end',
  'fact',
  'fan',
  'head',
  'illegal',
  'keep',
  'keys',
  'list',
  'look',
  'minus_zero',
  'page',
  'put',
  'reject',
  'return',
  'send',
  'set',
  'spoil',
  'stamp',
  'throw',
  'timer',
  'touch',
  'try',
  'unmark',
  'unset',
];
const ALL_PLAN_OPS: readonly PlanOp['do'][] = [
  'again',
  'all',
  'any',
  'cancel',
  'effect',
  'one',
  'peek',
  'raise',
  'retry',
  'stop',
  'tell',
  'throw',
  'try',
  'wrong',
];
const ALL_STEPS: readonly ScheduleStep['step'][] = [
  'advance',
  'answer',
  'burst',
  'confirm',
  'crash',
  'full',
  'jump',
  'reopen',
  'repeat',
  'request',
  'revive',
  'snapshot',
];

function gather(ops: readonly ReducerOp[], reducerOps: Set<string>, planOps: Set<string>): void {
  for (const op of ops) {
    reducerOps.add(op.do);
    if ('ops' in op) gather(op.ops, reducerOps, planOps);
    if (op.do === 'emit') gatherPlan(op.plan, reducerOps, planOps);
  }
}

function gatherPlan(ops: readonly PlanOp[], reducerOps: Set<string>, planOps: Set<string>): void {
  for (const op of ops) {
    planOps.add(op.do);
    if (op.do === 'try') gatherPlan(op.ops, reducerOps, planOps);
    if (op.do === 'again') gatherPlan(op.plan, reducerOps, planOps);
    if (op.do === 'raise') gather(op.ops, reducerOps, planOps);
  }
}

function kindOf(value: Value): string {
  if (value === null) return 'null';
  if (isRef(value)) return 'link';
  if (value instanceof Uint8Array) return 'bytes';
  if (Array.isArray(value)) return 'list';
  return typeof value === 'object' ? 'map' : typeof value;
}

function holdsBytes(value: Value): boolean {
  if (value instanceof Uint8Array) return true;
  return typeof value === 'object' && value !== null && Object.values(value).some((part) => holdsBytes(part as Value));
}
