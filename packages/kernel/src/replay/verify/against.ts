/** Reports what opening a world with an app would do, by doing all of it in memory. Takes no lock and writes nothing. */
import { type Address, type ErrorCode, formatAddress, isRepriseError, type RepriseError } from '@reprise/contracts';
import type { Head } from '../../ports/journal/port.js';
import type { ReadonlyStore } from '../../ports/store/store.js';
import { requireApp, requireApps, requireObject } from '../../pure/arguments/arguments.js';
import { requireReadable } from '../../pure/arguments/stores.js';
import { type App, reducerFor } from '../../pure/define/index.js';
import { type CellLeaf, Exhausted, Fault, seenState, writerOf } from '../../pure/engine/index.js';
import type { LeafTable } from '../../state/leaf-table.js';
import { currentEra } from './era/current-era.js';
import { changeOfEra, type EraChange, replayTail } from './era/upgrade.js';

/** What the comparison may need besides the app. */
interface AgainstOptions {
  /** Earlier apps, as passed to `openWorld`. */
  readonly legacy?: readonly App[];
}

/** A cell whose next event would fault. */
interface UnmigratedCell {
  readonly cell: string;
  readonly why: string;
}

/** The result of opening a world with an app. */
export interface AgainstReport {
  /**
   * `new`: there is no frame yet; `same`: the era continues; `new_era`: another begins; `plans_in_flight`: only with
   * `plansInFlight: 'cancel'`; `refused`: it does not open.
   */
  readonly verdict: 'new' | 'same' | 'new_era' | 'plans_in_flight' | 'refused';
  readonly head: Head;
  /** The frame of the current era's manifest; null for a journal without frames. */
  readonly era: number | null;
  /** The changes of a new era; null without one. */
  readonly change: EraChange | null;
  /** Cells whose states cannot be migrated to the new version: how many, and the first of them. */
  readonly unmigrated: { readonly cells: number; readonly first: readonly UnmigratedCell[] };
  /** Why it does not open; null when it does. */
  readonly refusal: RepriseError | null;
}

/** The number of cells that are named. */
const NAMED_MAX = 10;

/** Refusals that concern the app; any other error concerns the world. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set(['manifest_mismatch', 'era_incompatible', 'replay_divergence']);

/**
 * Reports what opening a world with an app would do. In addition it tries the migration of every cell.
 *
 * @throws RepriseError `invalid_argument`; and the errors of the world itself: `journal_damaged`, `semantics_unknown`,
 *   `blob_missing`
 * @example
 * const { verdict, refusal } = await checkAgainst(await sqlite('world.db').openReadonly(), nextApp)
 */
export async function checkAgainst(
  store: ReadonlyStore,
  app: App,
  options: AgainstOptions = {},
): Promise<AgainstReport> {
  requireReadable(store, 'checkAgainst');
  requireApp(app);
  requireObject(options, 'the options');
  requireApps(options.legacy ?? []);
  const { legacy = [] } = options;
  const head = await store.journal.head();
  const plain = { head, change: null, unmigrated: { cells: 0, first: [] }, refusal: null };
  try {
    const era = await currentEra(store, app, legacy);
    if (era === undefined) return { ...plain, verdict: 'new', era: null };
    const table = await replayTail(store, era);
    if (era.same) return { ...plain, verdict: 'same', era: era.manifest.seq };
    const change = await changeOfEra(era, app, table);
    const unmigrated = await unmigratedCells(app, table);
    const verdict = change.inFlight.length > 0 ? 'plans_in_flight' : 'new_era';
    return { ...plain, verdict, era: era.manifest.seq, change, unmigrated };
  } catch (error) {
    if (!isRepriseError(error) || !REFUSALS.has(error.code)) throw error;
    const manifest = await store.journal.findLast('manifest', head.seq);
    return { ...plain, verdict: 'refused', era: manifest?.seq ?? null, refusal: error };
  }
}

async function unmigratedCells(app: App, table: LeafTable): Promise<AgainstReport['unmigrated']> {
  const first: UnmigratedCell[] = [];
  let cells = 0;
  for await (const { key, leaf } of table.all('cell')) {
    const [, name, part] = key.path as readonly ['cell', string, string];
    const why = whyUnmigrated(app, [name, part], leaf);
    if (why === undefined) continue;
    if (cells++ < NAMED_MAX) first.push({ cell: formatAddress([name, part]), why });
  }
  return { cells, first };
}

function whyUnmigrated(app: App, address: Address, cell: CellLeaf): string | undefined {
  if (reducerFor(app, address[0])?.name === writerOf(cell, address)) return undefined;
  try {
    seenState(app, address, cell);
    return undefined;
  } catch (thrown) {
    if (thrown instanceof Fault) return thrown.detail;
    if (thrown instanceof Exhausted) return 'the migration exhausted the stack';
    throw thrown;
  }
}
