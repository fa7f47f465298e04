import { type Address, formatAddress, RepriseError } from '@reprise/contracts';
import {
  type App,
  type ReadonlyStore,
  type ReducerDefinition,
  reducerFor,
  type WorldAt,
  worldAt,
} from '@reprise/kernel';
import { type Chosen, chooseApp } from '../app.js';
import { escapeLine } from '../text/escape.js';
import { toJson } from '../text/json.js';
import type { ShowArguments, View } from './show.js';

/**
 * A cell's state, the length of its logs and the size of its tables, as of a frame. It is replayed, so the app must be at hand.
 *
 * @throws RepriseError `invalid_argument` when no app is at hand or there is no such frame, `unknown_reducer`,
 *   `cell_absent`, `replay_divergence` and what else replaying throws
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

/** What a cell is looked at with: the app, its reducer, and the frame after which it is looked at. */
export interface CellContext {
  readonly chosen: Chosen & { readonly app: App };
  readonly reducer: ReducerDefinition;
  readonly seq: number;
}

/**
 * Finds what a cell is looked at with.
 *
 * @throws RepriseError `invalid_argument` when no app is at hand, `unknown_reducer`, `world_absent`
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

async function requireApp(store: ReadonlyStore, options: ShowArguments): Promise<Chosen & { readonly app: App }> {
  const chosen = await chooseApp(store, options);
  const { app, lacking } = chosen;
  if (app !== undefined) return { ...chosen, app };
  throw new RepriseError('invalid_argument', 'a state is replayed, and no app for this journal is at hand', {
    ...(lacking.length === 0 ? {} : { actual: `the built-in app, @reprise/agent, lacks ${lacking.join(', ')}` }),
    hint: 'Name the app: --app MODULE.',
  });
}

async function newest(store: ReadonlyStore): Promise<number> {
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
  return new RepriseError('unknown_reducer', 'this app has no such reducer', {
    expected: [...app.reducers.keys()].join(', '),
    actual,
    hint: 'Name another app: --app MODULE.',
  });
}

function noCell(address: Address, seq: number): RepriseError {
  return new RepriseError('cell_absent', 'there is no such cell', {
    where: `frame ${seq}`,
    actual: formatAddress(address),
    hint: 'Ask for another frame with --at; the state records that reprise tail prints name the cells.',
  });
}
