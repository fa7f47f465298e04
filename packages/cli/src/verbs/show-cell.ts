import { type Address, formatAddress, RepriseError } from '@reprise/contracts';
import {
  type App,
  type ReadonlyStore,
  type ReducerDefinition,
  reducerFor,
  type WorldAt,
  worldAt,
} from '@reprise/kernel';
import { escapeLine } from '../text/escape.js';
import { toJson } from '../text/json.js';
import { type Chosen, requireApp } from '../world/app.js';
import type { ShowArguments, View } from './show.js';

/**
 * A cell's state, the length of its logs and the size of its tables, as of a frame. The world is replayed, so the app must be available.
 *
 * @throws RepriseError `invalid_argument` when no app fits or the frame does not exist, `unknown_reducer`,
 *   `cell_absent`, `replay_divergence` and the other errors of `worldAt`
 */
export async function cellView(store: ReadonlyStore, address: Address, options: ShowArguments): Promise<View> {
  const { chosen, reducer, seq: at } = await cellContext(store, address, options);
  const then = await worldAt(store, chosen.app, at, { legacy: chosen.legacy });
  const { seq, digest } = then.head;
  const state = await then.state(address);
  if (state === undefined) throw noCell(address, seq);
  const logs = await countLogs(then, address, [...reducer.logs.keys()]);
  const tables = await countTables(then, address, [...reducer.tables.keys()]);
  const [name, head] = [formatAddress(address), `sha256:${digest}`];
  const lines = [
    escapeLine(`${name} after frame ${seq}`),
    `head ${head}`,
    toJson(state, { indent: 2 }),
    ...Object.entries(logs).map(([log, count]) => `log ${log}: ${count} items`),
    ...Object.entries(tables).map(([table, count]) => `table ${table}: ${count} entries`),
  ];
  return { data: { address: name, seq, head, state, logs, tables }, text: `${lines.join('\n')}\n` };
}

/** The view of a cell: the app, the cell's reducer, and the frame after which the state is shown. */
interface CellContext {
  readonly chosen: Chosen & { readonly app: App };
  readonly reducer: ReducerDefinition;
  readonly seq: number;
}

/**
 * Finds the app, the reducer and the frame to show a cell with.
 *
 * @throws RepriseError `invalid_argument` when no app fits, `unknown_reducer`, `world_absent`
 */
export async function cellContext(
  store: ReadonlyStore,
  address: Address,
  options: ShowArguments,
): Promise<CellContext> {
  const chosen = await requireApp(store, options);
  const known = [chosen.app, ...chosen.legacy].find((one) => reducerFor(one, address[0]) !== undefined);
  const reducer = known === undefined ? undefined : reducerFor(known, address[0]);
  if (reducer === undefined) throw noReducer(chosen.app, address[0]);
  return { chosen, reducer, seq: options.at ?? (await newest(store)) };
}

/** The newest frame. @throws RepriseError `world_absent` */
export async function newest(store: ReadonlyStore): Promise<number> {
  const { seq } = await store.journal.head();
  if (seq >= 0) return seq;
  throw new RepriseError('world_absent', 'the journal has no frame', { hint: 'Nothing has been written to it yet.' });
}

async function countLogs(then: WorldAt, address: Address, names: readonly string[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const name of names.toSorted()) {
    let count = 0;
    for await (const _ of then.log(address, name)) count++;
    counts[name] = count;
  }
  return counts;
}

async function countTables(then: WorldAt, address: Address, names: readonly string[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const name of names.toSorted()) {
    let count = 0;
    for (let page = await then.table(address, name); page.length > 0; ) {
      count += page.length;
      page = await then.table(address, name, { after: page[page.length - 1]?.[0] as string });
    }
    counts[name] = count;
  }
  return counts;
}

function noReducer(app: App, actual: string): RepriseError {
  return new RepriseError('unknown_reducer', 'the app has no such reducer', {
    expected: [...app.reducers.keys()].join(', '),
    actual,
    hint: 'Name another app: --app MODULE.',
  });
}

function noCell(address: Address, seq: number): RepriseError {
  return new RepriseError('cell_absent', 'the cell does not exist', {
    where: `frame ${seq}`,
    actual: formatAddress(address),
    hint: 'Choose another frame with --at. The state records in the output of reprise tail name the cells.',
  });
}
