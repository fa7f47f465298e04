/**
 * Random worlds whose app changes while they live, and what must hold of them.
 *
 * The reducer of the random programs comes in three versions. Each adds a step to a trail in its states that no
 * program can touch, so a cell tells which migrations it went through, and how often.
 */

import type { Value } from '@reprise/contracts';
import { seededRandom, VirtualClock } from '@reprise/testkit';
import {
  deafReducer,
  PROGRAM_CELLS,
  programAdapters,
  programPlan,
  programReducer,
  type ScheduleStep,
} from '../../../../testkit/src/arbitraries/index.js';
import {
  type App,
  defineApp,
  openKernelWorld,
  type ReducerDefinition,
  readFrame,
  type Store,
  verifyStore,
  worldAt,
} from '../../../src/index.js';
import type { CellLeaf } from '../../../src/pure/engine/index.js';
import { eraAt } from '../../../src/replay/verify/index.js';
import { LeafTable } from '../../../src/state/leaf-table.js';
import { MerkleMap } from '../../../src/state/map/index.js';
import { ComputedNodes } from '../../../src/state/value-nodes.js';
import { type AppendFault, faultyStore } from '../../support/faulty-store.js';
import { nativeHash, runSchedule } from '../../support/laws/run-schedule.js';
import { look, type Seen } from '../../support/laws/world-laws.js';

type State = Readonly<Record<string, Value>> & { readonly trail?: readonly Value[] };
type Lineage = NonNullable<ReducerDefinition['lineage']>;

const FIRST = programReducer.name;

/** A later version of the program reducer: the same code on states with a trail. */
function laterVersion(version: number, before: ReducerDefinition): ReducerDefinition {
  if (before.state.type !== 'object') throw new TypeError('the state of programs is an object');
  const trail = { node: { type: 'list', item: { type: 'value' } }, optional: false } as const;
  const migrate = (state: Value) => ({
    ...(state as State),
    trail: [...((state as State).trail ?? []), `to ${version}`],
  });
  return {
    ...programReducer,
    name: FIRST.replace('@1', `@${version}`),
    state: { type: 'object', fields: { ...before.state.fields, trail } },
    lineage: [...(before.lineage ?? []), { name: before.name, definition: before, migrate }],
    digest: String(version).repeat(64),
    init: (key, event) => ({ ...(programReducer.init(key, event) as object), trail: [`made by ${version}`] }),
  };
}

const second = laterVersion(2, programReducer);
const third = laterVersion(3, second);

/** The program app in three versions; each brings the earlier ones along. */
export const VERSIONS: readonly App[] = [programReducer, second, third].map((reducer) =>
  defineApp({ reducers: [reducer, deafReducer], plans: [programPlan] }),
);

/** The same, when nobody has kept the earlier definitions. */
export const FORGETFUL: readonly App[] = [programReducer, second, third].map((reducer) =>
  defineApp({ reducers: [{ ...reducer, ...forgotten(reducer.lineage) }, deafReducer], plans: [programPlan] }),
);

function forgotten(lineage: Lineage | undefined): { readonly lineage?: Lineage } {
  return lineage === undefined ? {} : { lineage: lineage.map(({ name, migrate }) => ({ name, migrate })) };
}

/** What was held, for figures. */
export interface HeldEras {
  readonly frames: number;
  readonly eras: number;
  /** Cells by how many migrations they went through. */
  readonly migrations: readonly number[];
}

/**
 * Runs one schedule after the other, each with the next version, and holds what is left: every era replays with its
 * own definitions, is unverified without them, and every cell went through each migration at most once, in order.
 */
export async function holdEras(schedules: readonly (readonly ScheduleStep[])[], crash: boolean): Promise<HeldEras> {
  const between: ScheduleStep = { step: crash ? 'crash' : 'reopen' };
  const steps = schedules.flatMap((schedule, i) => (i === 0 ? schedule : [between, ...schedule]));
  const openingsOf = (schedule: readonly ScheduleStep[]) =>
    1 + schedule.filter(({ step }) => step === 'reopen' || step === 'crash').length;
  const until = schedules.map((_, i) => schedules.slice(0, i + 1).reduce((sum, one) => sum + openingsOf(one), 0));
  let live: Seen = { seq: 0, states: [] };
  const { store } = await runSchedule(steps, {
    appAt: (opening) => VERSIONS[until.findIndex((end) => opening < end)] as App,
    lastly: async (world) => {
      live = await look(world);
      await world.snapshot();
    },
  });
  return holdJournal(store, schedules.length, live);
}

async function holdJournal(store: Store, count: number, live: Seen): Promise<HeldEras> {
  const reader = await store.openReadonly();
  const newest = VERSIONS[count - 1] as App;
  const report = await verifyStore(reader, { app: newest });
  expectSame('eras', report.eras.length, count);
  expectSame('frames unverified though every definition is at hand', report.unverified, 0);
  const alone = await verifyStore(reader, { app: FORGETFUL[count - 1] as App });
  expectSame(
    'the unverified eras of the newest app alone',
    alone.eras.map(({ status }) => status[0]).join(''),
    `${'u'.repeat(count - 1)}r`,
  );
  expectSame(
    'frames replayed by it',
    alone.replayed,
    (report.eras[count - 1]?.to ?? 0) - (report.eras[count - 1]?.from ?? 0) + 1,
  );
  const legacy = FORGETFUL.slice(0, count - 1);
  expectSame(
    'sealed frames with every app',
    (await verifyStore(reader, { app: FORGETFUL[count - 1] as App, legacy })).unverified,
    0,
  );
  const at = await worldAt(reader, newest, live.seq);
  for (const [i, cell] of PROGRAM_CELLS.entries()) {
    expectSame(`the state of ${cell.join('/')}`, JSON.stringify(await at.state(cell)), JSON.stringify(live.states[i]));
  }
  return { frames: report.frames, eras: report.eras.length, migrations: await trailsIn(store) };
}

/** Every live cell of the program reducer, as it stands in the last snapshot: how many migrations each went through. */
async function trailsIn(store: Store): Promise<number[]> {
  const reader = await store.openReadonly();
  const table = new LeafTable(new MerkleMap(new ComputedNodes(reader.content, nativeHash), nativeHash));
  const snapshot = await reader.journal.findLast('snapshot', Number.MAX_SAFE_INTEGER);
  const { bytes, seq } = snapshot as { readonly bytes: Uint8Array; readonly seq: number };
  const ingress = readFrame(bytes, seq).ingress as unknown as { readonly root: never };
  await table.openAt(ingress.root);
  const counts: number[] = [];
  for await (const { key, leaf: cell } of table.all('cell')) {
    if (key.path[1] !== FIRST || !cell.live) continue;
    counts.push(migrationsOf(cell));
  }
  return counts;
}

/** Broken trails are refused: a cell is where its last writer brought it, by each step once. */
export function migrationsOf(cell: CellLeaf): number {
  const trail = ((cell.state as State).trail ?? []).map(String);
  const version = Number((cell.v ?? FIRST).split('@')[1]);
  const made = trail[0]?.startsWith('made by ') === true ? Number(trail[0].slice('made by '.length)) : 1;
  const expected = Array.from({ length: version - made }, (_, i) => `to ${made + i + 1}`);
  const steps = made === 1 ? trail : trail.slice(1);
  expectSame(`the migrations of a cell that version ${version} wrote`, steps.join(), expected.join());
  return steps.length;
}

/** Where an opening with the next version is interrupted. */
export interface Interruption {
  readonly fault: Exclude<AppendFault, 'ok' | 'stale'>;
  /** Appends that go well before. */
  readonly after: number;
}

/**
 * Interrupts an upgrade and holds what is left: as long as the new era has not begun, the old app opens the world;
 * the new one always does, and then every frame replays.
 *
 * @returns whether the upgrade was refused, and whether its era had begun all the same
 */
export async function holdInterrupted(schedule: readonly ScheduleStep[], { fault, after }: Interruption) {
  const { store } = await runSchedule(schedule);
  const [one, two] = VERSIONS as readonly [App, App];
  const disk = faultyStore(store);
  disk.appends.push(...Array.from({ length: after }, () => 'ok' as const), fault);
  const refused = !(await opens(disk, two));
  const reader = await store.openReadonly();
  const manifest = await eraAt(reader.journal, Number.MAX_SAFE_INTEGER);
  const begun = (manifest?.seq ?? 0) > 0;
  if (!begun) expectSame('the old app opens a world whose upgrade was interrupted', await opens(store, one), true);
  expectSame('the new app opens it', await opens(store, two), true);
  const report = await verifyStore(await store.openReadonly(), { app: two });
  expectSame('sealed frames', report.unverified, 0);
  expectSame('eras', report.eras.length, 2);
  return { refused, begun };
}

async function opens(store: Store, app: App): Promise<boolean> {
  const [clock, random] = [new VirtualClock({ turns: 6 }), seededRandom('interrupted')];
  const opening = openKernelWorld({
    store,
    app,
    clock,
    random,
    adapters: programAdapters(),
    drive: 'manual',
    recheckEvery: 1,
  });
  const world = await opening.catch((error: { code?: string }) => {
    if (error.code !== 'store_failed' && error.code !== 'store_full') throw error;
  });
  const closed = world?.close();
  await clock.advance(20_000);
  await closed;
  return world !== undefined;
}

function expectSame(what: string, found: unknown, wanted: unknown): void {
  if (found !== wanted) throw new Error(`${what}: ${String(found)} instead of ${String(wanted)}`);
}
