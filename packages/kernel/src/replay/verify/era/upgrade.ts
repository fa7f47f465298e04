/**
 * Decides what opening a world with an app means for its era: the same, a new one, or a refusal. Reads only.
 *
 * Invariants
 * U1  The tail is replayed by the era's own definitions. Without them the nearest app replays it, and the equal bytes
 *     of its frames, with the digests of every touched leaf in them, prove that it may.
 * U2  A digest that changed under its name is accepted only if the whole era replays to the same bytes with it, every
 *     value that was recorded under the name still fits (`recorded-values.ts`), and every waiting plan can be rebuilt to
 *     its current step.
 * U3  Nothing is stranded: every live cell has a definition that accepts its writer, every open effect one that takes
 *     its receipt, every running plan one that continues it.
 */
import {
  formatAddress,
  type IngressOf,
  isRepriseError,
  type PlanAddress,
  present,
  RepriseError,
} from '@reprise/contracts';
import { damaged } from '../../../ports/journal/frame.js';
import { portableSha256 } from '../../../pure/codec/index.js';
import { type App, cellName, pinsOf, reducerFor } from '../../../pure/define/index.js';
import { type PlanLeaf, planDifference, writerOf } from '../../../pure/engine/index.js';
import { LeafTable } from '../../../state/leaf-table.js';
import { MerkleMap } from '../../../state/map/index.js';
import { ComputedNodes } from '../../../state/value-nodes.js';
import type { CurrentEra, ReadStore } from './current-era.js';
import type { Divergence } from './divergence.js';
import { appFor, editedNames, namesOf, nearestTo } from './eras.js';
import { type FittingRecords, type Misfit, RecordedValues } from './recorded-values.js';
import { Replayer } from './replayer.js';
import { startFrom } from './start-from.js';
import { named, refusalOfTail } from './tail-refusal.js';

/** A running plan that the app does not have. */
interface PlanInFlight {
  readonly plan: PlanAddress;
  readonly name: string;
}

/** The changes of a new era. */
export interface EraChange {
  readonly added: readonly string[];
  readonly dropped: readonly string[];
  readonly compatible: readonly string[];
  /** What the era recorded under the compatible names and the new schemas accept, by definition and event. */
  readonly fitting: readonly FittingRecords[];
  /** Live cells last written by an earlier version, by the definition that takes them over. */
  readonly migrates: readonly { readonly reducer: string; readonly cells: number }[];
  readonly inFlight: readonly PlanInFlight[];
}

/**
 * The current era, whose manifest pins other definitions than the app has.
 *
 * @throws RepriseError `era_incompatible`
 */
export async function eraOfOtherPins(
  store: ReadStore,
  manifest: IngressOf<'manifest'>,
  app: App,
  legacy: readonly App[],
): Promise<CurrentEra> {
  const edited = editedNames(manifest, pinsOf(app));
  const exact = edited.length === 0 ? appFor(manifest, [app, ...legacy]) : undefined;
  const eraApp = exact ?? nearestTo(manifest, app, legacy);
  if (eraApp === undefined)
    throw incompatible(edited, manifest, 'they cannot be combined with the other definitions of the era');
  const fitting = edited.length === 0 ? [] : await proveEdit(store, manifest, eraApp, edited);
  const had = new Set(namesOf(pinsOf(eraApp)));
  const lacking = namesOf(manifest).filter((name) => !had.has(name));
  return { manifest, eraApp, same: false, edited, fitting, lacking };
}

/** Replays the frames after the newest snapshot, in memory. */
export async function replayTail(store: ReadStore, era: CurrentEra): Promise<LeafTable> {
  const { table, replayer } = await replayerFrom(store, era.eraApp, Number.MAX_SAFE_INTEGER);
  try {
    for await (const stored of store.journal.read(replayer.head.seq + 1)) await replayer.step(stored);
  } catch (error) {
    throw refusalOfTail(error, era);
  }
  return table;
}

/**
 * The changes of a new era with this app.
 *
 * @param table the leaves after the last frame
 * @throws RepriseError `manifest_mismatch` when cells or effects would be stranded, `era_incompatible` when a plan
 *   would not continue at its current step
 */
export async function changeOfEra(era: CurrentEra, app: App, table: LeafTable): Promise<EraChange> {
  const [before, after] = [namesOf(era.manifest), namesOf(pinsOf(app))];
  const inFlight = plansInFlight(app, table);
  refuseStrandedEffects(app, table, inFlight);
  return {
    added: after.filter((name) => !before.includes(name)),
    dropped: before.filter((name) => !after.includes(name)),
    compatible: era.edited,
    fitting: era.fitting,
    migrates: await cellsToMigrate(app, table),
    inFlight,
  };
}

/** Refuses a new era that would leave plans without a definition. */
export function refuseInFlight({ inFlight }: EraChange): void {
  if (inFlight.length === 0) return;
  const names = [...new Set(inFlight.map(({ name }) => name))];
  throw new RepriseError('plan_in_flight', 'plans are running that this app does not have', {
    where: named(inFlight.map(({ plan }) => `${formatAddress(plan)} #${plan[2]}`)),
    expected: named(names),
    count: inFlight.length,
    hint: "Keep the plan in the app until its instances have ended, or open with `plansInFlight: 'cancel'`.",
  });
}

/** The first half of U2; waiting plans are checked with everything else that would be stranded. */
async function proveEdit(
  store: ReadStore,
  manifest: IngressOf<'manifest'>,
  eraApp: App,
  edited: readonly string[],
): Promise<readonly FittingRecords[]> {
  const { nodes, table, replayer } = await replayerFrom(store, eraApp, manifest.seq - 1);
  if (replayer.head.seq !== manifest.seq - 1)
    throw damaged(manifest.seq, 'this manifest does not follow a snapshot', 0);
  const recorded = new RecordedValues(eraApp, edited);
  try {
    for await (const stored of store.journal.read(manifest.seq)) {
      const misfit = await recorded.takeNext(stored, replayer);
      if (misfit !== undefined) throw unfit(misfit);
      if (stored.kind === 'snapshot') nodes.forget();
    }
  } catch (error) {
    if (!isRepriseError(error, 'replay_divergence')) throw error;
    throw incompatible(edited, manifest, 'replaying a frame of this era gives another result', error);
  }
  const misfit = await recorded.misfitOfCells(table);
  if (misfit !== undefined) throw unfit(misfit);
  return recorded.fitting;
}

async function replayerFrom(store: ReadStore, app: App, seq: number) {
  const hash = store.hash ?? portableSha256;
  const nodes = new ComputedNodes(store.content, hash);
  const table = new LeafTable(new MerkleMap(nodes, hash));
  const start = await startFrom(store, table, seq);
  return { table, nodes, replayer: new Replayer({ app, hash, plans: new WeakMap() }, table, start) };
}

function incompatible(
  edited: readonly string[],
  manifest: IngressOf<'manifest'>,
  why: string,
  error?: RepriseError,
): RepriseError {
  const { where, expected, actual } = error?.details ?? {};
  const divergence = error?.details.divergence as Divergence | undefined;
  return new RepriseError('era_incompatible', `${named(edited)} changed under the same name, and ${why}`, {
    where: where ?? `the era from frame ${manifest.seq}`,
    ...present({ expected, actual, divergence }),
    hint: 'Give the changed definition a new version of its name, with `migrates` for a reducer. Nothing was written: the build that wrote this world still opens it.',
    ...(error === undefined ? {} : { cause: error }),
  });
}

function unfit({ definition, what, where, expected, actual }: Misfit): RepriseError {
  return new RepriseError(
    'era_incompatible',
    `${definition} changed under the same name, and ${what} does not fit it`,
    {
      where,
      expected,
      actual,
      hint: 'A schema may be widened: accept what was recorded (an optional field, a wider bound). For any other change give the definition a new version of its name, with `migrates` for a reducer. Nothing was written: the build that wrote this world still opens it.',
    },
  );
}

function* plansOf(table: LeafTable): Generator<{ plan: PlanAddress; leaf: PlanLeaf }> {
  for (const { key, leaf } of table.list('plan')) {
    const [, reducer, ordinal, cell] = key.path as readonly ['plan', string, number, string];
    yield { plan: [reducer, cell, ordinal], leaf };
  }
}

function plansInFlight(app: App, table: LeafTable): PlanInFlight[] {
  const inFlight: PlanInFlight[] = [];
  for (const { plan, leaf } of plansOf(table)) {
    if (app.plans.has(leaf.name)) refuseOtherPlan(app, plan, leaf);
    else inFlight.push({ plan, name: leaf.name });
  }
  return inFlight.sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
}

function orderOf({ plan: [reducer, cell, ordinal] }: PlanInFlight): string {
  return `${reducer}\0${cell}\0${String(ordinal).padStart(16, '0')}`;
}

function refuseOtherPlan(app: App, plan: PlanAddress, leaf: PlanLeaf): void {
  const difference = planDifference(app, plan, leaf);
  if (difference === undefined) return;
  throw new RepriseError('era_incompatible', `the plan ${leaf.name} would not continue at its current step`, {
    where: `${formatAddress(plan)} #${plan[2]}: ${difference.what}`,
    expected: difference.recorded,
    actual: difference.rebuilt,
    hint: 'Give the changed plan a new version of its name and keep the old one until its instances have ended.',
  });
}

function refuseStrandedEffects(app: App, table: LeafTable, inFlight: readonly PlanInFlight[]): void {
  const ending = new Set(inFlight.map(({ plan }) => plan.join('\0')));
  const stranded = new Map<string, number>();
  for (const {
    leaf: { name, plan, late },
  } of table.list('effect')) {
    if (late !== undefined) continue; // it is settled, and a late answer of its adapter needs no definition
    if (!app.effects.has(name) && !ending.has(plan.join('\0'))) stranded.set(name, (stranded.get(name) ?? 0) + 1);
  }
  if (stranded.size === 0) return;
  throw new RepriseError('manifest_mismatch', 'the app does not define effects that are open', {
    actual: counted(stranded, 'open'),
    hint: 'Settle them first with the build that defines them, or keep the plan that declares them.',
  });
}

async function cellsToMigrate(app: App, table: LeafTable): Promise<EraChange['migrates']> {
  const [migrates, stranded] = [new Map<string, number>(), new Map<string, number>()];
  for await (const { key, leaf: cell } of table.all('cell')) {
    if (!cell.live) continue;
    const [, name, part] = key.path as readonly ['cell', string, string];
    const heir = heirOf(app, name, writerOf(cell, [name, part]));
    if (heir === undefined) stranded.set(name, (stranded.get(name) ?? 0) + 1);
    else if (heir !== writerOf(cell, [name, part])) migrates.set(heir, (migrates.get(heir) ?? 0) + 1);
  }
  if (stranded.size > 0) throw strandedCells(stranded);
  return [...migrates].sort(([a], [b]) => (a < b ? -1 : 1)).map(([reducer, cells]) => ({ reducer, cells }));
}

/** The definition that takes a cell over; undefined when none that knows its address accepts its writer. */
function heirOf(app: App, name: string, writer: string): string | undefined {
  const reducer = reducerFor(app, name);
  if (reducer === undefined || cellName(app, name) !== name) return undefined;
  const known = reducer.name === writer || reducer.lineage?.some((one) => one.name === writer) === true;
  return known ? reducer.name : undefined;
}

function strandedCells(stranded: ReadonlyMap<string, number>): RepriseError {
  return new RepriseError('manifest_mismatch', 'the app has no reducer for cells that are alive', {
    actual: counted(stranded, 'alive'),
    hint: 'Keep the reducer, or give the one that takes over its cells a `migrates` with the whole chain of versions.',
  });
}

function counted(counts: ReadonlyMap<string, number>, what: string): string {
  return named([...counts].map(([name, count]) => `${name} (${count} ${what})`));
}
