/** Who may read an item of a memory after a frame, with the reason for each yes and no. */

import { formatAddress, type OptionKind } from '@reprise/contracts';
import { type App, type ReadonlyStore, worldAt } from '@reprise/kernel';
import { cellsAt } from '../cells/cells-at.js';
import { namesAt } from '../names/names-at.js';
import { ownerWords } from '../names/owner.js';
import { REDUCERS } from '../names/reducers.js';
import type { WorldNames } from '../names/world-names.js';
import { frameOf } from '../page/frames.js';
import { type PageOptions, pageOf } from '../page/page.js';
import { AT_OPTIONS, PAGE_OPTIONS, requireGivenApps, requireQuestion } from '../page/require.js';
import { belongingOf, nameOf, nameOfHolder, withBelonging } from './belonging.js';
import { namedIn, requireItemName, scopesAt } from './item.js';
import { reasonOf } from './reasons.js';
import type { ReaderRow, ReadersReport } from './report.js';

/** When it is asked, and which part of a long answer is wanted. */
export interface ReadersOfOptions extends PageOptions {
  /** The frame after which it is asked; the newest one when absent. */
  readonly at?: number;
  readonly signal?: AbortSignal;
}

const KNOWN: Readonly<Record<keyof ReadersOfOptions, true | OptionKind>> = { ...AT_OPTIONS, ...PAGE_OPTIONS };

/** The cells that read for themselves. What the session of an entity reads, its entity reads for it; a job reads nothing, its session does. */
const HOLDERS = [REDUCERS.entity, REDUCERS.session, REDUCERS.project] as const;

/**
 * Lists who may read an item of a memory by their rights after a frame, and who may not: the operator, the people and agents
 * of societies, sessions and projects. The gate asks the same rights when an item is read; a rule of the app's policy
 * may forbid more.
 *
 * @param item the scope of a store, or a scope and the number of an item in it: `group:research#7`
 * @throws RepriseError `invalid_argument` when there is no such frame, store or item, or no row has the cursor; the errors of `worldAt`
 * @example const { rows } = await readersOf(store, { app }, 'group:research#7', { at: 150 })
 */
export async function readersOf(
  store: ReadonlyStore,
  apps: { readonly app: App; readonly legacy?: readonly App[] },
  item: string,
  options: ReadersOfOptions = {},
): Promise<ReadersReport> {
  requireQuestion('readersOf', store, options, KNOWN);
  requireGivenApps('readersOf', apps);
  requireItemName(item);
  const frame = await frameOf(store, options.at);
  const then = await worldAt(store, apps.app, frame, { legacy: apps.legacy ?? [] });
  const names = await namesAt(store, frame, options.signal);
  const { scope, item: found } = await namedIn(then, item, () => scopesAt(store, frame, options.signal));
  const question = { store: scope, at: await timeOf(store, frame) };
  const belonging = await belongingOf(then, scope);
  const rows: ReaderRow[] = [OPERATOR];
  for (const cell of await cellsAt(store, frame, HOLDERS, options.signal)) {
    options.signal?.throwIfAborted();
    const of = names.ownerOf(cell);
    if (cell[0] === REDUCERS.session && of.entity !== null) continue;
    const holder = `cell:${formatAddress(cell)}` as const;
    const reason = await withBelonging(reasonOf(await then.rights(holder), question), cell, belonging, then);
    rows.push({ holder, of, ...reason, by_name: nameOfHolder(reason.by, names) });
  }
  const { items, next } = pageOf(rows.sort(byName), options, ({ holder }) => holder);
  return { frame, store: scope, item: found && withName(found, names), rows: [...items], next };
}

const OPERATOR: ReaderRow = {
  ...{ holder: 'operator', of: null, may: true, reason: 'operator' },
  ...{ by: null, by_name: null, patterns: null, role: null },
};

/** Those who may stand first, then by name. */
function byName(a: ReaderRow, b: ReaderRow): number {
  if (a.may !== b.may) return a.may ? -1 : 1;
  const [one, other] = [sortKey(a), sortKey(b)];
  return one < other ? -1 : one > other ? 1 : 0;
}

/** The operator stands before all others. */
function sortKey({ of, holder }: ReaderRow): string {
  return of === null ? '' : `${of.agent ?? ownerWords(of)} ${holder}`;
}

async function timeOf(store: ReadonlyStore, seq: number): Promise<number> {
  for await (const { at } of store.journal.read(seq, seq)) return at;
  return 0;
}

function withName(
  { id, author, state, created_at }: NonNullable<Awaited<ReturnType<typeof namedIn>>['item']>,
  names: WorldNames,
): ReadersReport['item'] {
  return { id, author, author_name: nameOf(author, names), state, created_at };
}
