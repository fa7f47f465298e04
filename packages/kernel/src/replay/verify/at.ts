/** Reads a world as it was: read-only state at a frame. */
import {
  type Address,
  type Capability,
  type Guarantee,
  isWhole,
  type Principal,
  RepriseError,
  type Value,
} from '@reprise/contracts';
import type { ContentReader } from '../../ports/content/port.js';
import type { Head } from '../../ports/journal/port.js';
import type { ReadonlyStore } from '../../ports/store/store.js';
import {
  requireAddress,
  requireApp,
  requireApps,
  requireLeafName,
  requireObject,
  requirePosition,
  requirePrincipal,
} from '../../pure/arguments/arguments.js';
import { requireReadable } from '../../pure/arguments/stores.js';
import { copyValue, portableSha256 } from '../../pure/codec/index.js';
import { type App, addressOf, type CellOf, cellAddress, type TableRange } from '../../pure/define/index.js';
import { holderIn, holderOf, isAddress, logKey, rightsKey } from '../../pure/engine/index.js';
import { type HolderRights, type RightsChain, readAuthority, readChain } from '../../state/holder-rights.js';
import { LeafTable } from '../../state/leaf-table.js';
import { MerkleMap } from '../../state/map/index.js';
import { type CellTrouble, failedCellsIn } from '../../state/trouble.js';
import { ComputedNodes } from '../../state/value-nodes.js';
import { appFor, eraAt, unverifiedEra } from './era/eras.js';
import { readCellTable, readKeptLog, readState } from './era/read-leaves.js';
import { Replayer } from './era/replayer.js';
import { startFrom } from './era/start-from.js';

/** The state of a world at one frame. */
export interface WorldAt {
  readonly head: Head;
  /** A cell's state; undefined when it did not exist. With the reducer's definition in place of its name it is typed. */
  state<S>(cell: CellOf<S>): Promise<S | undefined>;
  state(address: Address): Promise<Value | undefined>;
  /** The items of a cell's log. */
  log(address: Address, name: string, from?: number): AsyncGenerator<Value>;
  /** Entries of a cell's table, in the order of their keys; at most 256 at once. */
  table(address: Address, name: string, range?: TableRange): Promise<[key: string, value: Value][]>;
  /** What needed attention: the cells that had failed, the oldest fault first. */
  trouble(): readonly CellTrouble[];
  /** The effects without a receipt, in the order in which they were emitted. */
  openEffects(): readonly EffectAt[];
  /** The rights of a holder, and what was set for it and for each above it, the lowest first. */
  rights(holder: Principal): Promise<RightsAt>;
  /** What cells above a cell and the operator held it to, in the order of the granters' names. */
  holds(address: Address): Promise<readonly HoldAt[]>;
}

/** The rights of a holder, as they were. */
interface RightsAt extends HolderRights {
  /** Empty when the chain of a cell is broken, so that it may do nothing. */
  readonly chain: RightsChain;
}

/** A hold on a cell, as it was. */
interface HoldAt {
  readonly granter: Principal;
  /** What both sides of the cell's rights were met with. */
  readonly hold: Capability;
}

/** An open effect, as it was. */
interface EffectAt {
  readonly effect: string;
  readonly name: string;
  /** The cell whose plan emitted it. */
  readonly cell: Address;
  readonly guarantee: Guarantee;
  /** 0 while it waits to be started. */
  readonly attempt: number;
}

/** What reading the past may need besides the app. */
interface AtOptions {
  /** Earlier apps, for frames that the app itself cannot replay. */
  readonly legacy?: readonly App[];
}

/**
 * Replays a journal up to a frame, from the newest snapshot before it.
 *
 * A cell is found under any name that the app or the era knows it by; its state is read with the era's own definitions.
 * At the frame of a snapshot nothing is replayed, and a state of an era that no given app can replay is returned
 * as it was written.
 *
 * @param seq the last frame to replay
 * @throws RepriseError `invalid_argument` when the frame does not exist, `era_unverified` when no given app has the
 *   definitions of its era, `migration_failed` when a state cannot be migrated to them; the errors of
 *   {@link Replayer.step}
 */
export async function worldAt(
  store: Pick<ReadonlyStore, 'journal' | 'content' | 'hash'>,
  app: App,
  seq: number,
  options: AtOptions = {},
): Promise<WorldAt> {
  requireReadable(store, 'worldAt');
  requireApp(app);
  requireObject(options, 'the options');
  requireApps(options.legacy ?? []);
  const last = (await store.journal.head()).seq;
  if (!isWhole(seq) || seq > last) {
    throw new RepriseError('invalid_argument', 'there is no such frame', { expected: `0 to ${last}`, actual: seq });
  }
  const { replayer, eraApp } = await replayTo(store, [app, ...(options.legacy ?? [])], seq);
  return readWorld(store.content, app, replayer, eraApp);
}

/** The state that a replayer has reached. It reads the replayer's table, so it holds until the next frame is replayed. */
export function readWorld(content: ContentReader, app: App, { table, head }: Replayer, eraApp: App): WorldAt {
  // Under any name that today's app or the era's knows; an invalid address is refused where it is read.
  const placeOf = (address: Address): Address =>
    isAddress(address) ? cellAddress(eraApp, cellAddress(app, address)) : address;
  const state = async (cell: Address | CellOf): Promise<never> =>
    (await readState(eraApp, table, placeOf(addressOf(eraApp, cell)))) as never;
  return {
    head,
    state,
    log: (address, name, from) => readCellLog(table, content, placeOf(address), name, from),
    table: (address, name, range) => readCellTable(table, placeOf(address), name, range),
    trouble: () => failedCellsIn(table),
    openEffects: () => effectsIn(table),
    rights: async (holder) => {
      requirePrincipal(holder, 'holder');
      const known = holderIn(eraApp, holderIn(app, holder));
      return { ...(await readAuthority(table, known)), chain: await readChain(table, known) };
    },
    holds: (address) => holdsIn(table, placeOf(address)),
  };
}

async function holdsIn(table: LeafTable, address: Address): Promise<readonly HoldAt[]> {
  requireAddress(address);
  const rights = await table.read(rightsKey(holderOf(address)));
  return (rights?.holds ?? []).map(([granter, hold]) => ({ granter, hold: copyOf(hold) }));
}

/** Leaves are shared and never written into, so callers get copies. */
function copyOf(hold: Capability): Capability {
  return copyValue(hold as unknown as Value) as unknown as Capability;
}

function effectsIn(table: LeafTable): readonly EffectAt[] {
  const open = [...table.list('effect')].filter(({ leaf }) => leaf.late === undefined);
  open.sort(({ leaf: a }, { leaf: b }) => a.queued[0] - b.queued[0] || a.queued[1] - b.queued[1]);
  return open.map(({ key, leaf: { name, plan, guarantee, attempt } }) => {
    return { effect: String(key.path[1]), name, cell: [plan[0], plan[1]], guarantee, attempt };
  });
}

/** An app that reads states as they were written. */
export const NOBODY: App = Object.freeze({ reducers: new Map(), plans: new Map(), effects: new Map() });

/**
 * A replayer that has replayed the journal up to `seq`, starting at the newest snapshot at or before it, and the app
 * that replayed it.
 */
export async function replayTo(
  store: Pick<ReadonlyStore, 'journal' | 'content' | 'hash'>,
  apps: readonly App[],
  seq: number,
): Promise<{ readonly replayer: Replayer; readonly eraApp: App }> {
  const hash = store.hash ?? portableSha256;
  const table = new LeafTable(new MerkleMap(new ComputedNodes(store.content, hash), hash));
  const start = await startFrom(store, table, seq);
  const eraApp = await appAt(store, apps, seq, start.seq === seq);
  const replayer = new Replayer({ app: eraApp, hash, plans: new WeakMap() }, table, start);
  for await (const stored of store.journal.read(start.seq + 1, seq)) await replayer.step(stored);
  return { replayer, eraApp };
}

/** The app that replays up to `seq`. From the newest snapshot on that is one era, since a manifest follows a snapshot. */
export async function appAt(
  store: Pick<ReadonlyStore, 'journal'>,
  apps: readonly App[],
  seq: number,
  replayed: boolean,
): Promise<App> {
  const manifest = await eraAt(store.journal, seq);
  if (manifest === undefined) return apps[0] ?? NOBODY; // a damaged journal: replaying it finds the place
  const eraApp = appFor(manifest, apps);
  if (eraApp !== undefined) return eraApp;
  if (replayed) return NOBODY;
  throw unverifiedEra(seq, manifest, apps);
}

/** A cell's log from a leaf table. */
async function* readCellLog(
  table: LeafTable,
  content: ContentReader,
  address: Address,
  name: string,
  from = 0,
): AsyncGenerator<Value> {
  requireAddress(address);
  requireLeafName(name, 'log');
  requirePosition(from, 'the index of an item');
  const leaf = await table.read(logKey(address, name));
  if (leaf !== undefined) yield* readKeptLog(content, leaf, from);
}
