/**
 * The state of a cell as the current definition sees it. A cell last written by an earlier version is migrated at its
 * first delivery, and until then on every read; its bytes stay until that delivery takes place.
 */
import type { Address, Value } from '@reprise/contracts';
import { copyValue } from '../../codec/index.js';
import { type App, cellAddress, type Forebear, type ReducerDefinition, reducerFor } from '../../define/index.js';
import { type FrameFold, normalGiven } from '../frame/frame-fold.js';
import { cellKey } from '../leaf/leaf-key.js';
import type { CellLeaf, CellState } from '../leaf/leaves.js';
import { Fault } from '../leaf/signals.js';
import { fittedState } from './fitted-state.js';
import { runPure } from './purity.js';

/** The definition that wrote a cell last. */
export function writerOf(cell: CellLeaf, address: Address): string {
  return cell.v ?? address[0];
}

/**
 * A cell's state, migrated when an earlier version wrote it.
 *
 * @throws Fault `migration_failed`, or `nondeterminism` when a migration touched what it must not; Exhausted
 */
export function presentState(reducer: ReducerDefinition, address: Address, cell: CellLeaf): CellState {
  const written = writerOf(cell, address);
  if (written === reducer.name) return cell.state;
  const steps = stepsFrom(reducer, written);
  try {
    return fittedState(reducer, steps.reduce(migrated, cell.state as Value)) as CellState;
  } catch (thrown) {
    if (!(thrown instanceof Fault) || thrown.code === 'nondeterminism') throw thrown;
    const detail = `the state that ${written} left does not become one of ${reducer.name}: ${thrown.detail}`;
    throw new Fault('migration_failed', detail, thrown.cause);
  }
}

/** The note of which definition writes a cell; the address's own name needs no note. */
export function signature(reducer: ReducerDefinition, address: Address): Pick<CellLeaf, 'v'> {
  return reducer.name === address[0] ? {} : { v: reducer.name };
}

/**
 * The state of a cell for readers; undefined when the cell does not exist.
 *
 * @param cell the cell's leaf
 * @returns a state that nothing may write into
 * @throws the errors of {@link presentState}
 */
export function seenState(app: App, address: Address, cell: CellLeaf | undefined): CellState | undefined {
  if (cell?.live !== true) return undefined;
  const reducer = reducerFor(app, address[0]);
  return reducer === undefined ? cell.state : presentState(reducer, address, cell);
}

/** A cell's state as of this moment of the fold; null when it does not exist. */
export function peekState(fold: FrameFold, address: Address): Value {
  const cell = cellAddress(fold.env.app, address);
  return seenState(fold.env.app, cell, fold.overlay.get(cellKey(cell))) ?? null;
}

function stepsFrom(reducer: ReducerDefinition, written: string): readonly Forebear[] {
  const lineage = reducer.lineage ?? [];
  const from = lineage.findIndex(({ name }) => name === written);
  if (from >= 0) return lineage.slice(from);
  throw new Fault('migration_failed', `${reducer.name} does not migrate from ${written}, which wrote this cell`);
}

function migrated(state: Value, step: Forebear): Value {
  return normalGiven(runPure(() => step.migrate(copyValue(state)))).value;
}
