/** A schema that changed under its name is held against everything that the era recorded under it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { stepOf } from '../../../../../conformance/part.js';
import {
  type Adapter,
  type Address,
  type App,
  checkAgainst,
  creates,
  defineApp,
  defineEffect,
  definePlan,
  defineReducer,
  memory,
  type OpenKernelWorldOptions,
  openKernelWorld,
  type Store,
} from '../../../src/index.js';
import { recordsOf, refusal } from '../../support/judge.js';

const SEED = 20_261_128;

/** What an edit may change of the app. */
interface Edit {
  /** The fields of `demo/Added@1`. */
  readonly added?: z.ZodObject;
  /** The payload of a receipt. */
  readonly rung?: z.ZodType;
  /** The state. */
  readonly state?: z.ZodObject;
  /** An event more, which changes the digest and nothing else. */
  readonly more?: true;
}

const STATE = z.strictObject({ total: z.int() });

/** Counts what is added. The recipe never looks at anything that an edit changes. */
function appWith({ added = z.strictObject({ by: z.int() }), rung = z.int(), state = STATE, more }: Edit = {}): App {
  const ring = defineEffect({
    kind: 'demo.ring@1',
    params: z.strictObject({}),
    receipt: rung,
    guarantee: 'idempotent',
  });
  const ringing = definePlan({
    name: 'demo/ring_plan@1',
    input: z.null(),
    effects: [ring],
    *run(_, plan) {
      yield* plan.awaitReceipt(plan.emitEffect(ring, {}));
    },
  });
  const tally = defineReducer({
    name: 'demo/Tally@1',
    state,
    events: {
      'demo/Added@1': creates(added),
      'demo/Rang@1': z.null(),
      'demo/Passed@1': creates(z.strictObject({ to: z.string() })),
      ...(more === undefined ? {} : { 'demo/More@1': z.null() }),
    },
    init: () => ({ total: 0 }),
    reduce(draft, event, ctx) {
      if (event.name === 'demo/Added@1') (draft as { total: number }).total += 1;
      else if (event.name === 'demo/Rang@1') ctx.emit({ plan: ringing, input: null });
      else if (event.name === 'demo/Passed@1') {
        const { to } = event.value as { to: string };
        ctx.send(['demo/Tally@1', to], { name: 'demo/Added@1', value: { by: 7 } });
      }
    },
  });
  return defineApp({ reducers: [tally], plans: [ringing] });
}

const cell = (key: string): Address => ['demo/Tally@1', key];
const added = (value: object) => ({ name: 'demo/Added@1', value: value as never });

function opened(store: Store, app: App, more: Partial<OpenKernelWorldOptions> = {}) {
  return openKernelWorld({ store, app, recheckEvery: 1, snapshotEvery: 0, drive: 'manual', ...more });
}

async function written(numbers: readonly number[], app = appWith()): Promise<Store> {
  const store = memory();
  await using world = await opened(store, app);
  for (const by of numbers) await world.request(cell('a'), added({ by }));
  return store;
}

const reportOf = async (store: Store, app: App) => checkAgainst(await store.openReadonly(), app);

const positive = appWith({ added: z.strictObject({ by: z.int().min(1) }) });

describe('a schema that changed under its name', () => {
  it('an event schema that refuses a recorded request is refused with the event and the frame, and nothing is written [RPL-30]', async () => {
    const store = await written([3, -2]);
    const error = await refusal(opened(store, positive));
    expect(error).toMatchObject({
      code: 'era_incompatible',
      details: { where: 'frame 2, record 0 (request), $.event.value.by', actual: '-2' },
    });
    expect(error.message).toContain(
      'demo/Tally@1 changed under the same name, and a recorded demo/Added@1 does not fit',
    );
    expect(await recordsOf(store, 'manifest')).toHaveLength(1);
    expect(await reportOf(store, positive)).toMatchObject({
      verdict: 'refused',
      refusal: { code: 'era_incompatible' },
    });
    await (await opened(store, appWith())).close();
  });

  it('a widened event schema begins an era, and the report counts the recorded events that fit [RPL-16]', async () => {
    const store = await written([3, 1]);
    const widened = appWith({ added: z.strictObject({ by: z.number(), note: z.exactOptional(z.string()) }) });
    expect(await reportOf(store, widened)).toMatchObject({
      verdict: 'new_era',
      change: {
        compatible: ['demo/Tally@1'],
        fitting: [{ definition: 'demo/Tally@1', name: 'demo/Added@1', records: 2 }],
      },
    });
    await using world = await opened(store, widened);
    await world.request(cell('a'), added({ by: 0.5, note: 'half' }));
    expect(await world.state(cell('a'))).toEqual({ total: 3 });
  });

  it('a default that would add a field to a recorded event is refused: the event was reduced without the field [RPL-30]', async () => {
    const filled = appWith({ added: z.strictObject({ by: z.int(), times: z.int().default(1) }) });
    const { details } = await refusal(opened(await written([3]), filled));
    expect(details).toMatchObject({ where: 'frame 1, record 0 (request), $.event.value', actual: { by: 3, times: 1 } });
  });

  it('an event that a cell sent and one that came with a revival are held against the new schema as well [RPL-30]', async () => {
    const store = memory();
    {
      await using world = await opened(store, appWith());
      await world.request(cell('a'), { name: 'demo/Passed@1', value: { to: 'b' } });
      await world.revive(cell('b'), { next: added({ by: 9 }) as never });
    }
    const few = (max: number) => appWith({ added: z.strictObject({ by: z.int().max(max) }) });
    expect((await refusal(opened(store, few(5)))).code).toBe('era_incompatible');
    expect((await refusal(opened(store, few(8)))).details.where).toBe(
      'frame 2, record 0 (request), $.event.value.next.value.by',
    );
    expect((await reportOf(store, few(9))).change?.fitting).toContainEqual({
      definition: 'demo/Tally@1',
      name: 'demo/Added@1',
      records: 2,
    });
  });

  it('a receipt that the changed schema of its effect refuses is refused with the effect and the frame [RPL-30]', async () => {
    const store = memory();
    const ringer = (app: App): Adapter => ({
      effect: app.effects.get('demo.ring@1') as never,
      name: 'ringer',
      doExecute: async () => ({ status: 'ok', payload: 12 }),
    });
    {
      const app = appWith();
      await using world = await opened(store, app, { adapters: [ringer(app)] });
      await world.request(cell('a'), added({ by: 1 }));
      await world.request(cell('a'), { name: 'demo/Rang@1', value: null });
      await world.pump();
    }
    const narrow = appWith({ rung: z.int().max(10) });
    const error = await refusal(opened(store, narrow, { adapters: [ringer(narrow)] }));
    expect(error).toMatchObject({ code: 'era_incompatible', details: { actual: '12' } });
    expect(error.details.where).toMatch(/^frame \d+, record 0 \(receipt\), \$\.receipt\.payload$/);
    const wide = appWith({ rung: z.number() });
    expect((await reportOf(store, wide)).change?.fitting).toEqual([
      { definition: 'demo.ring@1', name: 'demo.ring@1', records: 1 },
    ]);
  });

  it('the state of a live cell that the era never touched is held against the changed state schema [RPL-31]', async () => {
    const store = await written([1, 1, 1]);
    await (await opened(store, appWith({ more: true }))).close(); // another era, in which nothing is delivered
    const small = appWith({ more: true, state: z.strictObject({ total: z.int().max(2) }) });
    const error = await refusal(opened(store, small));
    expect(error).toMatchObject({
      code: 'era_incompatible',
      details: { where: 'the state of demo/Tally@1/a, $.total', actual: '3' },
    });
    await (await opened(store, appWith({ more: true, state: z.strictObject({ total: z.int().max(3) }) }))).close();
  });

  it(`random bounds under one name open exactly when every recorded number lies within them, and the first that does not is named; a proof that only replays lets all through (seed ${SEED}) [RPL-30]`, async () => {
    const numbers = fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 1, maxLength: 5 });
    const bound = fc.integer({ min: -4, max: 4 });
    await fc.assert(
      fc.asyncProperty(numbers, bound, bound, async (recorded, one, two) => {
        const [min, max] = [Math.min(one, two), Math.max(one, two)];
        const store = await written(recorded);
        const bounded = appWith({ added: z.strictObject({ by: z.int().min(min).max(max) }) });
        const first = recorded.findIndex((n) => n < min || n > max);
        const { verdict, change, refusal: why } = await reportOf(store, bounded);
        if (first < 0) {
          expect(verdict).toBe('new_era');
          expect(change?.fitting[0]?.records).toBe(recorded.length);
        } else expect(why?.details.where).toBe(`frame ${first + 1}, record 0 (request), $.event.value.by`);
      }),
      { seed: SEED, numRuns: 40 / stepOf(4) },
    );
  });
});
