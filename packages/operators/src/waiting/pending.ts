/** Everything in a world that waits for people, and what goes on without them. */

import { aText, type OptionKind } from '@reprise/contracts';
import type { ReadonlyStore } from '@reprise/kernel';
import { wordsOfEffect } from '../names/effects.js';
import { REDUCERS } from '../names/reducers.js';
import { frameOf } from '../page/frames.js';
import { type PageOptions, pageOf } from '../page/page.js';
import { AT_OPTIONS, PAGE_OPTIONS, requireQuestion } from '../page/require.js';
import { cellItem, pauseItems, returnItems } from './cell-items.js';
import { effectItems } from './effect-items.js';
import { FrameTimes, type ItemParts } from './item-parts.js';
import type { Unfinished, WaitingReport } from './items.js';
import { type WaitingState, waitingFoldAt } from './world-state.js';

/** When waits are read, and how their answers name the world. */
export interface PendingInOptions extends PageOptions {
  /** The frame after which it is read; the newest one when absent. */
  readonly at?: number;
  /** The path of the world, as it stands in the lines that answer; `WORLD` when absent. */
  readonly world?: string;
  readonly signal?: AbortSignal;
}

const KNOWN: Readonly<Record<keyof PendingInOptions, true | OptionKind>> = {
  ...{ ...AT_OPTIONS, ...PAGE_OPTIONS, world: aText },
};

/**
 * Lists what waits: approvals, questions, sessions that need input or another limit, pauses, projects that need a decision,
 * returns to review; and the sessions at work. It reads the newest snapshot and the frames behind it, without a replay.
 *
 * @throws RepriseError `invalid_argument` when there is no such frame, or no entry has the cursor
 * @example const { waiting } = await pendingIn(await sqlite('world.db').openReadonly(), { world: 'world.db' })
 */
export async function pendingIn(store: ReadonlyStore, options: PendingInOptions = {}): Promise<WaitingReport> {
  requireQuestion('pendingIn', store, options, KNOWN);
  const { at, signal, world = 'WORLD' } = options;
  const frame = await frameOf(store, at);
  const fold = await waitingFoldAt(store, frame, signal);
  const report = await reportOf(store, fold.state, { frame, world, page: options });
  return at === undefined ? { ...report, process: (await store.status?.())?.writer ?? 'unknown' } : report;
}

interface ReportParts {
  readonly frame: number;
  readonly world: string;
  readonly page: PageOptions;
}

/** Lays out what waits after a frame. Who has the world open is not said: that is known of now alone. */
export async function reportOf(
  store: ReadonlyStore,
  state: WaitingState,
  { frame, world, page }: ReportParts,
): Promise<WaitingReport> {
  const times = new FrameTimes(store);
  const parts: ItemParts = { store, state, world, times };
  const items = [
    ...(await effectItems(parts)),
    ...state.cells.flatMap((cell) => cellItem(parts, cell) ?? []),
    ...pauseItems(parts),
    ...returnItems(parts),
  ].sort((a, b) => (a.frame ?? -1) - (b.frame ?? -1) || (a.id < b.id ? -1 : 1));
  const { items: waiting, next } = pageOf(items, page, ({ id }) => id);
  return {
    frame,
    at: frame < 0 ? null : await times.of(frame),
    process: null,
    waiting: [...waiting],
    unfinished: page.after === undefined ? await unfinishedIn(parts) : [],
    next,
  };
}

/** The lifecycles of a run that is under way and waits for nobody. */
const AT_WORK: readonly unknown[] = ['Running', 'Cancelling'];

async function unfinishedIn(parts: ItemParts): Promise<Unfinished[]> {
  const { names, cells, effects } = parts.state;
  const found: Unfinished[] = [];
  for (const { address, fields, changed } of cells) {
    if (address[0] !== REDUCERS.session || !AT_WORK.includes(fields.lifecycle)) continue;
    const own = effects.filter(({ plan }) => plan[0] === address[0] && plan[1] === address[1]);
    const doing = [];
    for (const effect of own) doing.push({ what: await wordsOfEffect(parts.store, effect), attempt: effect.attempt });
    const place = { since: changed?.at ?? null, frame: changed?.frame ?? null };
    found.push({ of: names.ownerOf(address), lifecycle: String(fields.lifecycle), ...place, doing });
  }
  return found;
}
