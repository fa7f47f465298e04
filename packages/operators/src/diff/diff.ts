/** What changed in a world between two frames: states, logs and tables of its cells. */

import {
  type Address,
  aSignal,
  formatAddress,
  isWhole,
  type OptionKind,
  parseAddress,
  RepriseError,
  requireFields,
  type Value,
} from '@reprise/contracts';
import { type App, type ReadonlyStore, reducerFor, type WorldAt, worldAt } from '@reprise/kernel';
import { readFrame } from '@reprise/kernel/store';
import { type PageOptions, pageOf } from '../page/page.js';
import { PAGE_OPTIONS, requireGivenApps, requireQuestion } from '../page/require.js';
import { isEqual, patchesBetween } from './patches.js';
import type { CellDiff, DiffReport, TableChange } from './report.js';

/** The apps that replay a world: that of its newest era, and earlier ones. */
export interface DiffApps {
  readonly app: App;
  readonly legacy?: readonly App[];
}

/** Which page of the changed cells is wanted. */
export interface DiffOptions extends PageOptions {
  readonly signal?: AbortSignal;
}

/** The frames that are compared, and the one cell, where only one is. */
export interface DiffFrames {
  readonly a: number;
  readonly b: number;
  readonly cell?: Address;
}

/** The cells of a page when no limit is stated. */
const CELLS_DEFAULT = 100;

const KNOWN: Readonly<Record<keyof DiffOptions, true | OptionKind>> = { ...PAGE_OPTIONS, signal: aSignal };

/**
 * Compares a world after frame `a` with the same world after frame `b`: all cells that a frame between them touched, or one
 * cell. Both states are replayed, so the app must be at hand.
 *
 * @throws RepriseError `invalid_argument` when a frame does not exist, `a` is behind `b`, or the one cell is at neither frame;
 *   the errors of `worldAt`
 * @example const { cells } = await diffOf(store, { app }, { a: 10, b: 20 })
 */
export async function diffOf(
  store: ReadonlyStore,
  apps: DiffApps,
  frames: DiffFrames,
  options: DiffOptions = {},
): Promise<DiffReport> {
  requireQuestion('diffOf', store, options, KNOWN);
  requireGivenApps('diffOf', apps);
  requireFields(frames, 'diffOf(frames)', 'an object with two frames, as { a, b }');
  const { app, legacy = [] } = apps;
  const { a, b, cell } = frames;
  const { signal, limit = CELLS_DEFAULT, ...page } = options;
  requireOrder(a, b);
  const all = cell === undefined ? await touchedCells(store, a, b, signal) : [formatAddress(cell)];
  const before = await worldAt(store, app, a, { legacy });
  const after = await worldAt(store, app, b, { legacy });
  const { items, next } = pageOf(all, { ...page, limit }, (name) => name);
  const cells: CellDiff[] = [];
  for (const name of items) {
    signal?.throwIfAborted();
    const address = parseAddress(name);
    const reducer = [app, ...legacy].map((one) => reducerFor(one, address[0])).find((one) => one !== undefined);
    const names = { logs: [...(reducer?.logs.keys() ?? [])], tables: [...(reducer?.tables.keys() ?? [])] };
    const found = await compareCell(address, { before, after }, names);
    if (found !== undefined) cells.push(found);
    else if (cell !== undefined) await requireCell(address, { before, after });
  }
  return { a, b, cells, next };
}

function requireOrder(a: number, b: number): void {
  if (isWhole(a) && isWhole(b) && a <= b) return;
  throw new RepriseError('invalid_argument', 'the frames to compare are in the wrong order', {
    expected: 'a frame, and the same or a later one',
    actual: `${a} and ${b}`,
  });
}

/** The cells that frames behind `a`, up to `b`, state a change of, in the order of their addresses. */
async function touchedCells(
  store: ReadonlyStore,
  a: number,
  b: number,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  const touched = new Set<string>();
  for await (const { seq, bytes } of store.journal.read(a + 1, b)) {
    signal?.throwIfAborted();
    for (const [[kind, reducer, ...rest]] of readFrame(bytes, seq).state.leaves)
      if (kind === 'cell' || kind === 'log' || kind === 'table')
        touched.add(formatAddress([String(reducer), String(rest.at(-1))]));
  }
  return [...touched].sort();
}

/** Refuses the one cell that was named when it is at neither frame: a mistyped address has not "changed nothing". */
async function requireCell(address: Address, { before, after }: Worlds): Promise<void> {
  if ((await before.state(address)) !== undefined || (await after.state(address)) !== undefined) return;
  throw new RepriseError('invalid_argument', 'there is no such cell at either frame', {
    where: 'cell',
    expected: 'the address of a cell, as `namespace/Reducer@1/key`',
    actual: formatAddress(address),
  });
}

interface Worlds {
  readonly before: WorldAt;
  readonly after: WorldAt;
}

async function compareCell(
  address: Address,
  { before, after }: Worlds,
  { logs, tables }: { readonly logs: readonly string[]; readonly tables: readonly string[] },
): Promise<CellDiff | undefined> {
  const [was, is] = [await before.state(address), await after.state(address)];
  const changedLogs: Record<string, { from: number; to: number }> = {};
  for (const log of logs) {
    const [from, to] = [await lengthOf(before, address, log), await lengthOf(after, address, log)];
    if (from !== to) changedLogs[log] = { from, to };
  }
  const changedTables: Record<string, readonly TableChange[]> = {};
  for (const table of tables) {
    const changes = await compareTable(address, table, { before, after });
    if (changes.length > 0) changedTables[table] = changes;
  }
  const patches = patchesBetween(was, is);
  const isSame = patches.length + Object.keys(changedLogs).length + Object.keys(changedTables).length === 0;
  if (isSame) return undefined;
  const change = was === undefined ? 'made' : is === undefined ? 'ended' : 'changed';
  return { cell: formatAddress(address), change, patches, logs: changedLogs, tables: changedTables };
}

/** The length of a log, by looks at single items: a transcript of ten thousand is not read for its number. */
async function lengthOf(at: WorldAt, address: Address, log: string): Promise<number> {
  const has = async (index: number): Promise<boolean> => {
    for await (const _ of at.log(address, log, index)) return true;
    return false;
  };
  // It has the items before `low`, and none from `high` on.
  let [low, high] = [0, 1];
  while (await has(high - 1)) [low, high] = [high, high * 2];
  high--;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (await has(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

async function compareTable(address: Address, table: string, { before, after }: Worlds): Promise<TableChange[]> {
  const left = new Map(await entriesOf(before, address, table));
  const changes: TableChange[] = [];
  for (const [key, value] of await entriesOf(after, address, table)) {
    const known = left.get(key);
    left.delete(key);
    if (known === undefined || !isEqual(known, value)) changes.push({ op: 'put', key, value });
  }
  for (const key of left.keys()) changes.push({ op: 'remove', key });
  return changes.sort((one, other) => (one.key < other.key ? -1 : 1));
}

async function entriesOf(at: WorldAt, address: Address, table: string): Promise<readonly [string, Value][]> {
  const all: [string, Value][] = [];
  for (;;) {
    const last = all.at(-1)?.[0];
    const page = await at.table(address, table, last === undefined ? {} : { after: last });
    if (page.length === 0) return all;
    all.push(...page);
  }
}
