/** The sessions and the organizations of a world, from its newest snapshot and the frames behind it. */
import type { ReadonlyStore } from '@reprise/kernel';
import { type FollowedCell, StateFieldsFold, snapshotBefore } from '@reprise/kernel/inspect';
import { REDUCERS } from '../names/reducers.js';
import { WorldNames } from '../names/world-names.js';
import { frameOf } from '../page/frames.js';
import { AT_OPTIONS, requireQuestion } from '../page/require.js';
import { skimFrames, textsIn } from '../skim/index.js';
import type { SessionRow, SessionsReport, WorldParts } from './report.js';

/** The frame after which it is read. */
interface SessionsOfOptions {
  /** The frame after which it is read; the newest one when absent. */
  readonly at?: number;
  readonly signal?: AbortSignal;
}

/**
 * Lists the sessions of a world after a frame, without a replay.
 *
 * @throws RepriseError `invalid_argument` when there is no such frame
 */
export async function sessionsOf(store: ReadonlyStore, options: SessionsOfOptions = {}): Promise<SessionsReport> {
  requireQuestion('sessionsOf', store, options, AT_OPTIONS);
  const { at, signal } = options;
  const frame = await frameOf(store, at);
  const names = new WorldNames();
  const cells = await followed(store, frame, { [REDUCERS.session]: ['lifecycle', 'items'] }, { names, signal });
  const sessions = cells.map((cell): SessionRow => {
    const { lifecycle, items } = cell.fields;
    const of = names.ownerOf(cell.address);
    return { of, lifecycle: String(lifecycle ?? 'Idle'), items: Number(items ?? 0), changed: cell.changed };
  });
  const last = ({ changed }: SessionRow): number => changed?.frame ?? -1;
  return { frame, sessions: sessions.sort((a, b) => last(b) - last(a) || (a.of.cell < b.of.cell ? -1 : 1)) };
}

/**
 * Names the trees and projects of a world, and whether it has a society.
 *
 * @throws RepriseError `invalid_argument` when there is no such frame
 */
export async function partsOf(store: ReadonlyStore, options: SessionsOfOptions = {}): Promise<WorldParts> {
  requireQuestion('partsOf', store, options, AT_OPTIONS);
  const { at, signal } = options;
  const frame = await frameOf(store, at);
  const fields = { [REDUCERS.tree]: ['started'], [REDUCERS.project]: ['started'], [REDUCERS.entity]: [] };
  const cells = await followed(store, frame, fields, { signal });
  const named = (reducer: string) =>
    cells
      .filter(({ address }) => address[0] === reducer)
      .sort(
        (a, b) =>
          Number(a.fields.started ?? 0) - Number(b.fields.started ?? 0) || (a.address[1] < b.address[1] ? -1 : 1),
      )
      .map(({ address }) => address[1]);
  return {
    trees: named(REDUCERS.tree),
    projects: named(REDUCERS.project),
    society: cells.some(({ address }) => address[0] === REDUCERS.entity),
  };
}

/** The living cells of some reducers after a frame, with some fields of their states. @param names learns who is there */
async function followed(
  store: ReadonlyStore,
  frame: number,
  fields: Readonly<Record<string, readonly string[]>>,
  { names, signal }: { readonly names?: WorldNames; readonly signal: AbortSignal | undefined },
): Promise<FollowedCell[]> {
  const snapshot = await snapshotBefore(store, frame);
  const fold = new StateFieldsFold(fields);
  await fold.load(snapshot);
  await names?.load(snapshot);
  // What names sessions and agents stands in frames of other cells as well.
  const holding = names === undefined ? { holding: textsIn(Object.keys(fields)) } : {};
  await skimFrames(store, { from: snapshot.seq + 1, to: frame, signal, ...holding }, (seq, at, records) => {
    fold.take(seq, at, records);
    if (names !== undefined) for (const record of records) names.take(record);
  });
  return [...fold.cells.values()];
}
