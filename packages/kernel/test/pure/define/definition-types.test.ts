/** What the compiler knows of reducers, plans, effects and cells, and what it refuses. */
import { describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import {
  creates,
  defineApp,
  defineEffect,
  definePlan,
  defineReducer,
  memory,
  openKernelWorld,
} from '../../../src/index.js';
import { refusalOf } from '../../support/refusal-of.js';

const state = z.strictObject({ n: z.int() });
const events = { 'demo/Added@1': creates(z.strictObject({ by: z.int() })) };
const init = () => ({ n: 0 });
const counter = defineReducer({
  name: 'demo/Counter@1',
  state,
  events,
  init,
  reduce: (draft, { value }) => {
    draft.n += value.by;
  },
});
const app = defineApp({ reducers: [counter] });

describe('the types of definitions', () => {
  it('an async reducer does not compile, and is refused where it is defined', () => {
    const define = () =>
      // @ts-expect-error a promise is not nothing
      defineReducer({ name: 'demo/Async@1', state, events, init, reduce: async () => {} });
    expect(refusalOf(define)).toContain('invalid_definition: reduce of demo/Async@1 is asynchronous');
  });

  it('a reducer that returns a new state does not compile', () => {
    defineReducer({
      name: 'demo/Redux@1',
      state,
      events,
      init,
      // @ts-expect-error a reducer writes its draft, and returns nothing
      reduce: (draft, { value }) => ({ ...draft, n: draft.n + value.by }),
    });
  });

  it('names without namespace or version do not compile, and are refused', () => {
    const reduce = () => undefined;
    // @ts-expect-error without a namespace
    expect(() => defineReducer({ name: 'Counter@1', state, events, init, reduce })).toThrow(/invalid_name/);
    // @ts-expect-error without a version
    expect(() => defineReducer({ name: 'demo/Counter', state, events, init, reduce })).toThrow(/invalid_name/);
    expect(() =>
      // @ts-expect-error an event without a namespace
      defineReducer({ name: 'demo/Counter@1', state, events: { Added: z.strictObject({}) }, init, reduce }),
    ).toThrow(/invalid_name/);
    // @ts-expect-error an effect without a version
    expect(() => defineEffect({ kind: 'bank.pay', params: state, receipt: state })).toThrow(/invalid_name/);
    // @ts-expect-error a plan without a namespace
    expect(() => definePlan({ name: 'pay@1', input: state, effects: [], *run() {} })).toThrow(/invalid_name/);
    const name: string = ['demo', 'Counter@1'].join('/');
    expect(defineReducer({ name, state, events, init, reduce }).name).toBe('demo/Counter@1');
  });

  it('an async plan does not compile, and is refused where it is defined', () => {
    // @ts-expect-error a plan is a generator
    const define = () => definePlan({ name: 'demo/pay@1', input: state, effects: [], run: async () => {} });
    expect(refusalOf(define)).toContain('run of demo/pay@1 is asynchronous; expected a generator function');
  });

  it('an unknown option of a definition does not compile, and its refusal names the nearest known one', () => {
    // @ts-expect-error the option is `migrates`
    const reducer = () => defineReducer({ name: 'demo/C@1', state, events, init, reduce() {}, migrate: {} });
    expect(refusalOf(reducer)).toContain('Did you mean "migrates"?');
    // @ts-expect-error the option is `guarantee`
    const effect = () => defineEffect({ kind: 'a.b@1', params: state, receipt: state, garantee: 'idempotent' });
    expect(refusalOf(effect)).toContain('Did you mean "guarantee"?');
    // @ts-expect-error the option is `effects`
    const plan = () => definePlan({ name: 'demo/p@1', input: state, effects: [], *run() {}, effect: [] });
    expect(refusalOf(plan)).toContain('Did you mean "effects"?');
    // @ts-expect-error the option is `plans`
    expect(refusalOf(() => defineApp({ reducers: [], plan: [] }))).toContain('Did you mean "plans"?');
  });
});

describe('a cell by its definition', () => {
  it('the types of a cell’s state and of the events sent to it are those of its definition', async () => {
    await using world = await openKernelWorld({ store: memory(), app });
    await world.request([counter, 'a'], { name: 'demo/Added@1', value: { by: 2 } });
    const now = await world.state([counter, 'a']);
    expectTypeOf(now).toEqualTypeOf<{ n: number } | undefined>();
    expect(now).toEqual({ n: 2 });
    expect(await world.state(['demo/Counter@1', 'a'])).toEqual({ n: 2 });
    expect(await world.as('operator').state([counter, 'a'])).toEqual({ n: 2 });
    expect(await (await world.at(world.head.seq)).state([counter, 'a'])).toEqual({ n: 2 });
  });

  it('an event that the definition does not take does not compile, and is refused', async () => {
    await using world = await openKernelWorld({ store: memory(), app });
    // @ts-expect-error the field is `by`
    const wrongValue = world.request([counter, 'a'], { name: 'demo/Added@1', value: { to: 2 } });
    await expect(wrongValue).rejects.toThrow(/^event_invalid/);
    // @ts-expect-error no such event
    const wrongName = world.request([counter, 'a'], { name: 'demo/Aded@1', value: { by: 2 } });
    await expect(wrongName).rejects.toThrow(/^unknown_event/);
  });

  it('a definition that is not the world’s own is refused, whatever its name', async () => {
    await using world = await openKernelWorld({ store: memory(), app });
    const wider = z.strictObject({ n: z.int(), m: z.int() });
    const reduce = () => undefined;
    const other = defineReducer({ name: 'demo/Counter@1', state: wider, events, init: () => ({ n: 0, m: 0 }), reduce });
    await expect(world.state([other, 'a'])).rejects.toThrow(/unknown_reducer.*another definition of the same name/);
  });
});
