/**
 * Pure code that asks what is not in the journal. The guard names it is asked; without the guard a second fold of
 * the frame comes out otherwise, or a verification does: in the same process, or, for what only another place shows, there.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { value } from '@reprise/contracts';
import {
  creates,
  defineApp,
  defineEffect,
  definePlan,
  defineReducer,
  memory,
  openKernelWorld,
  verifyStore,
} from '@reprise/kernel';
import { installGuard } from '@reprise/kernel/guard';
import { saveWorld, scriptedAdapter, VirtualClock } from '@reprise/testkit';
import * as z from 'zod';
import { recordUse, type Side, USER, userApp } from './ambient-app.js';
import { USES, type Use } from './ambient-uses.js';
import { type Catch, caughtBy, placeOnly, type Row, sameBytes, type Where } from './row.js';

/** The finding of the second fold of a frame. */
const TWICE = 'frame 1: the same frame folded twice gave different bytes';

const useRows: readonly Row[] = USES.map((use) => ({
  group: 'ambient',
  name: use.name,
  how: use.how,
  caught: caughtIn(use),
  broken: () => catchesOf(use, 'broken'),
  sound: () => catchesOf(use, 'sound'),
}));

function caughtIn({ guard, secondFold, here, elsewhere }: Use): Row['caught'] {
  const caught: [Where, 'nondeterminism' | 'delivery_faulted' | 'replay_divergence', string][] = [];
  if (guard !== undefined) caught.push(['guard', 'nondeterminism', `pure code touched ${guard}`]);
  if (secondFold) caught.push(['second fold', 'nondeterminism', TWICE]);
  const state = 'frame 1, record 1 (state), `$.leaves[cell ambient/User@1 x].state.seen';
  if (here) caught.push(['verification', 'replay_divergence', state]);
  if (elsewhere) caught.push(['verification elsewhere', 'replay_divergence', state]);
  return caught;
}

async function catchesOf(use: Use, side: Side): Promise<Catch[]> {
  const app = userApp(use, side);
  const guarded = await underGuard(() => recordUse(app, 0));
  const twice = await caughtBy('second fold', recordUse(app, 1));
  const here = await caughtBy('verification', verifyHere(use, side), placeOnly);
  const elsewhere = use.elsewhere ? await verifyElsewhere(use, side) : [];
  return [...guarded, ...twice, ...here, ...elsewhere];
}

/** The finding of the guard, which is installed for the attempt only. */
async function underGuard(attempt: () => Promise<unknown>): Promise<Catch[]> {
  const uninstall = installGuard();
  try {
    return await caughtBy('guard', attempt());
  } finally {
    uninstall();
  }
}

async function verifyHere(use: Use, side: Side): Promise<void> {
  const app = userApp(use, side);
  const reader = await (await recordUse(app, 0)).openReadonly();
  await verifyStore(reader, { app });
}

let elsewhere: Promise<Record<string, readonly Catch[]>> | undefined;

/** The finding of a process elsewhere. One process replays everything. */
async function verifyElsewhere(use: Use, side: Side): Promise<readonly Catch[]> {
  elsewhere ??= replayElsewhere();
  return (await elsewhere)[`${USES.indexOf(use)}.${side}.world`] ?? [];
}

const SCRIPT = fileURLToPath(new URL('elsewhere.ts', import.meta.url));
const TSX = createRequire(import.meta.url).resolve('tsx/cli');

async function replayElsewhere(): Promise<Record<string, readonly Catch[]>> {
  const folder = mkdtempSync(path.join(tmpdir(), 'reprise-elsewhere-'));
  try {
    for (const [i, use] of USES.entries()) {
      if (use.elsewhere !== true) continue;
      for (const side of ['broken', 'sound'] as const)
        writeFileSync(path.join(folder, `${i}.${side}.world`), await saveWorld(await recordUse(userApp(use, side), 0)));
    }
    const place = { TZ: 'Pacific/Apia', LANG: 'sv_SE.UTF-8', LC_ALL: 'sv_SE.UTF-8', REPRISE_REGION: 'south' };
    const env = { ...process.env, ...place };
    const args = [TSX, '--conditions=@reprise/source', SCRIPT, folder];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env });
    return JSON.parse(stdout) as Record<string, readonly Catch[]>;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A reducer that returns a value: what its promise does later has no effect. */
function returning(reduce: (draft: { n: number }) => unknown) {
  const reducer = defineReducer({
    name: 'ambient/User@1',
    state: z.strictObject({ n: z.int() }),
    events: { 'ambient/Used@1': creates(z.strictObject({})) },
    init: () => ({ n: 0 }),
    reduce: (draft) => reduce(draft) as never,
  });
  return defineApp({ reducers: [reducer] });
}

const asyncRow: Row = {
  group: 'ambient',
  name: 'an async recipe',
  how: 'an `async` reducer, whose promise writes to the draft',
  caught: [['request', 'delivery_faulted', 'fault `returned_a_value`: ambient/User@1']],
  broken: () =>
    caughtBy(
      'request',
      recordUse(
        returning(async (draft) => void draft.n++),
        0,
      ),
    ),
  sound: () =>
    caughtBy(
      'request',
      recordUse(
        returning((draft) => void draft.n++),
        0,
      ),
    ),
};

/** The state that a reducer leaves, after everything that it began has ended. */
async function leftBy(reduce: (draft: { n: number }) => unknown) {
  const store = memory();
  const app = returning(reduce);
  await using world = await openKernelWorld({ store, app, recheckEvery: 1 });
  await world.request(USER, { name: 'ambient/Used@1', value: {} });
  await new Promise((resolve) => setTimeout(resolve, 5));
  await world.verify();
  return world.state(USER);
}

const promiseRow: Row = {
  group: 'ambient',
  name: 'a promise that writes later',
  how: 'the reducer begins a promise that writes to the draft when the delivery is over',
  caught: [['no difference', undefined, 'the draft is no longer used by then']],
  broken: async () => {
    const later = await leftBy((draft) => {
      draft.n = 1;
      void Promise.resolve().then(() => {
        draft.n = 2;
      });
    });
    return sameBytes(later, { n: 1 }, 'the draft is no longer used by then');
  },
  sound: () =>
    caughtBy(
      'request',
      leftBy((draft) => {
        draft.n = 1;
      }),
    ),
};

const keyedApp = (keys: readonly string[]) =>
  defineApp({
    reducers: [
      defineReducer({
        name: 'ambient/User@1',
        state: z.strictObject({ bag: z.record(z.string(), z.int()), first: z.string() }),
        events: { 'ambient/Used@1': creates(z.strictObject({})) },
        init: () => ({ bag: {}, first: '' }),
        reduce(draft) {
          draft.first = Object.keys(draft.bag)[0] ?? '';
          for (const key of keys) draft.bag[key] = 1;
        },
      }),
    ],
  });

async function keysIn(keys: readonly string[]) {
  await using world = await openKernelWorld({ store: memory(), app: keyedApp(keys), recheckEvery: 1 });
  for (let i = 0; i < 2; i++) await world.request(USER, { name: 'ambient/Used@1', value: {} });
  await world.verify();
  return world.state(USER);
}

const keyOrderRow: Row = {
  group: 'ambient',
  name: 'the order of keys',
  how: 'keys are put into a record in another order, and the next event acts by the first of them',
  caught: [['no difference', undefined, 'a state is what its bytes decode to']],
  broken: async () =>
    sameBytes(
      await keysIn(['zeta', 'b', 'alpha']),
      await keysIn(['alpha', 'b', 'zeta']),
      'a state is what its bytes decode to',
    ),
  sound: () => caughtBy('request', keysIn(['alpha', 'b', 'zeta'])),
};

const echo = defineEffect({ kind: 'ambient.echo@1', params: value(), receipt: value() });

/** A plan that emits the value of a variable outside of it, or the variable's first value. */
function planApp(next: () => number) {
  const plan = definePlan({
    name: 'ambient/echo_plan@1',
    input: z.strictObject({}),
    effects: [echo],
    *run(_input, context) {
      yield* context.awaitReceipt(context.emitEffect(echo, next()));
    },
  });
  const user = defineReducer({
    name: 'ambient/User@1',
    state: z.strictObject({}),
    events: { 'ambient/Used@1': creates(z.strictObject({})) },
    init: () => ({}),
    reduce: (_draft, _event, ctx) => void ctx.emit({ plan, input: {} }),
  });
  return defineApp({ reducers: [user], plans: [plan] });
}

async function planCatches(next: () => number): Promise<Catch[]> {
  const app = planApp(next);
  const record = async (recheckEvery: 0 | 1) => {
    const store = memory();
    const clock = new VirtualClock();
    const adapters = [scriptedAdapter(echo, () => ({ status: 'ok', payload: 1 }))];
    await using world = await openKernelWorld({ store, app, clock, adapters, recheckEvery });
    await world.request(USER, { name: 'ambient/Used@1', value: {} });
    await clock.settle();
    return store;
  };
  const twice = await caughtBy('second fold', record(1));
  const reader = await (await record(0)).openReadonly();
  return [...twice, ...(await caughtBy('verification', verifyStore(reader, { app }), placeOnly))];
}

let emitted = 0;
const planRow: Row = {
  group: 'ambient',
  name: 'a counter outside of a plan',
  how: 'the plan emits an effect that depends on a variable of the module',
  caught: [
    ['second fold', 'nondeterminism', TWICE],
    ['verification', 'replay_divergence', 'frame 1, record 2 (effect), `$.params'],
  ],
  broken: () => planCatches(() => ++emitted),
  sound: () => planCatches(() => 1),
};

/** Everything ambient. */
export const AMBIENT: readonly Row[] = [...useRows, asyncRow, promiseRow, keyOrderRow, planRow];
