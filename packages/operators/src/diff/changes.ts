/**
 * Computes the changes that the events of one frame made in a cell: patches from `reduce()`, while the frame is replayed.
 *
 * The cell's reducer is replaced by one that calls `reduce()` and hands the resulting state to the engine. The replay
 * then compares that state with the journal, so the patches shown are those of the recorded run.
 */

import { type Address, formatAddress, requireFields, type Value } from '@reprise/contracts';
import { type App, type ReadonlyStore, type ReducerContext, type ReducerDefinition, worldAt } from '@reprise/kernel';
import { decode, encode } from '@reprise/kernel/codec';
import { type Reduced, reduce } from '@reprise/kernel/reduce';
import { requireGivenApps, requireQuestion } from '../page/require.js';

/** The change that one event made. */
export interface Change {
  readonly event: string;
  /** A cell, a plan, or null for the outside and the kernel. */
  readonly sender: Value;
  readonly patches: Reduced<unknown>['patches'];
}

/**
 * Lists the events that a frame delivered to a cell, in order, each with the changes it made in the cell's state.
 *
 * @param reducer the cell's reducer, one of the app
 * @throws RepriseError as `worldAt`
 */
export async function changesOf(
  store: ReadonlyStore,
  apps: { readonly app: App; readonly legacy: readonly App[] },
  reducer: ReducerDefinition,
  address: Address,
  seq: number,
): Promise<readonly Change[]> {
  requireQuestion('changesOf', store, {}, {});
  requireGivenApps('changesOf', apps);
  requireFields(reducer, 'changesOf(reducer)', 'a reducer, from defineReducer(…)');
  const { app, legacy } = apps;
  const upTo = async (last: number): Promise<Change[]> => {
    const changes: Change[] = [];
    if (last >= 0) await worldAt(store, watched(app, reducer, address, changes), last, { legacy });
    return changes;
  };
  // A replay begins at the newest snapshot. A snapshot's own frame delivers nothing, and so the slice is empty.
  const before = await upTo(seq - 1);
  return (await upTo(seq)).slice(before.length);
}

function watched(app: App, reducer: ReducerDefinition, address: Address, changes: Change[]): App {
  const reducers = new Map(app.reducers);
  reducers.set(reducer.name, {
    ...reducer,
    reduce: (draft, event, ctx) => {
      if (formatAddress(ctx.address) !== formatAddress(address)) return reducer.reduce(draft, event, ctx);
      const reduced = tried(reducer, draft, event, ctx);
      if (reduced === undefined) return reducer.reduce(draft, event, ctx); // refused: the engine reports the reason
      changes.push({ event: event.name, sender: ctx.sender as Value, patches: reduced.patches });
      replace(draft as Record<string, unknown>, decode(encode(reduced.state)) as Record<string, unknown>);
      return undefined;
    },
  });
  return { ...app, reducers };
}

function tried(
  reducer: ReducerDefinition,
  draft: unknown,
  event: { readonly name: string; readonly value: unknown },
  ctx: ReducerContext,
): Reduced<unknown> | undefined {
  try {
    return reduce<unknown>(reducer, decode(encode(draft)), event, ctx);
  } catch {
    return undefined;
  }
}

/** The engine's draft is the state itself: its keys are exchanged, not the object. */
function replace(draft: Record<string, unknown>, state: Record<string, unknown>): void {
  for (const key of Object.keys(draft)) delete draft[key];
  Object.assign(draft, state);
}
