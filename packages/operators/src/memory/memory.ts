/** What agents keep: the items of memories after a frame, each with its writer, its origin, its verdicts and what became of it. */

import { type Address, type OptionKind, parseAddress } from '@reprise/contracts';
import { type App, type ReadonlyStore, type WorldAt, worldAt } from '@reprise/kernel';
import { entityOfAuthor, type SwarmState } from '@reprise/society/contracts';
import { namesAt } from '../names/names-at.js';
import { ownerWords } from '../names/owner.js';
import { REDUCERS } from '../names/reducers.js';
import type { WorldNames } from '../names/world-names.js';
import { frameOf } from '../page/frames.js';
import type { PageOptions } from '../page/page.js';
import { AT_OPTIONS, PAGE_OPTIONS, requireGivenApps, requireQuestion } from '../page/require.js';
import { namedIn, requireItemName, scopesAt } from '../readers/item.js';
import { itemsIn } from './items.js';
import type { MemoryReport } from './report.js';
import { type Reading, rowOf } from './rows.js';
import { MemoryTrail } from './trail.js';

/** Which items are listed, when, and which part of a long answer is wanted. */
export interface MemoryOfOptions extends PageOptions {
  /** The scope of a store, or one item of it (`group:research#7`); the items of all stores when absent. */
  readonly item?: string;
  /** The frame after which they are listed; the newest one when absent. */
  readonly at?: number;
  readonly signal?: AbortSignal;
}

const KNOWN: Readonly<Record<keyof MemoryOfOptions, true | OptionKind>> = {
  item: true, // requireItemName refuses what names none
  ...AT_OPTIONS,
  ...PAGE_OPTIONS,
};

/**
 * Lists what agents keep: the items in the stores of groups, of people and agents, of projects, trees and the app, after a
 * frame. Each has its first words, who wrote it and by which act, the places that it comes from, what became of it, and the
 * verdicts on it with what they did to trust. The journal is read up to the frame for that, and its end is replayed.
 *
 * @throws RepriseError `invalid_argument` when there is no such frame, store or item, or no row has the cursor; the errors of `worldAt`
 * @example const { rows } = await memoryOf(store, { app }, { item: 'group:research' })
 */
export async function memoryOf(
  store: ReadonlyStore,
  apps: { readonly app: App; readonly legacy?: readonly App[] },
  options: MemoryOfOptions = {},
): Promise<MemoryReport> {
  requireQuestion('memoryOf', store, options, KNOWN);
  requireGivenApps('memoryOf', apps);
  const { item, signal } = options;
  if (item !== undefined) requireItemName(item);
  const frame = await frameOf(store, options.at);
  const then = await worldAt(store, apps.app, frame, { legacy: apps.legacy ?? [] });
  const all = await scopesAt(store, frame, signal);
  const named = item === undefined ? undefined : await namedIn(then, item, async () => all);
  const stores = named === undefined ? all : [named.scope];
  const one = named?.item ?? null;
  const { items, next } =
    one === null || item === undefined
      ? await itemsIn(then, stores, options)
      : { items: [{ name: item, store: stores[0] ?? '', id: one.id, item: one }], next: null };
  const contents = new Set(items.map((stored) => stored.item.content_ref.hex));
  const trail = new MemoryTrail(
    items.map(({ name }) => name),
    contents,
  );
  await trail.read(store, frame, signal);
  const names = await namesAt(store, frame, signal);
  const reading: Reading = {
    ...{ trail, names, content: store.content, isWhole: one !== null },
    leads: await leadsOf(then, trail),
    nameOf: (cell) => nameOf(cell, names),
  };
  const rows = [];
  for (const stored of items) {
    signal?.throwIfAborted();
    rows.push(await rowOf(stored, reading));
  }
  return { frame, stores: stores.length, rows, next };
}

/** The agent or person that leads each swarm in which an item was written early: its coordinator, or its creator. */
async function leadsOf(then: WorldAt, { items }: MemoryTrail): Promise<ReadonlyMap<string, string>> {
  const swarms = new Set([...items.values()].flatMap(({ unanswered }) => unanswered.map(({ swarm }) => swarm)));
  const leads = new Map<string, string>();
  for (const swarm of swarms) {
    const state = (await then.state([REDUCERS.swarm, swarm])) as unknown as SwarmState | undefined;
    if (state !== undefined) leads.set(swarm, state.coordinator ?? state.creator);
  }
  return leads;
}

/** The name of the cell that wrote an item: of an entity its display name, also where it wrote through another cell of it. */
function nameOf(cell: string, names: WorldNames): string | null {
  const entity = entityOfAuthor(cell);
  if (entity !== undefined) return names.entityName(entity) ?? null;
  return cell.includes('/') ? ownerWords(names.ownerOf(parseAddress(cell) as Address)) : null;
}
