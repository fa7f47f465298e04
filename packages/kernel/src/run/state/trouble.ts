/** What in a world needs attention: cells that have failed, from their leaves, whatever the age of the journal; its store. */
import { type Address, type FaultCode, formatAddress, RepriseError } from '@reprise/contracts';
import { type FailedLeaf, failedKey, type LeafChange, type LeafKey } from '../../pure/engine/index.js';
import type { LeafTable } from './leaf-table.js';

/** A cell that has failed: it takes no events until it is revived. */
export interface CellTrouble {
  readonly kind: 'cell_failed';
  /** The address of the cell. */
  readonly where: Address;
  /** Why it failed. */
  readonly code: FaultCode;
  /** When it failed, in journal milliseconds. */
  readonly since: number;
  /** The frame of the fault. */
  readonly frame: number;
  /** The event that it failed on. */
  readonly event: string;
  /** How many answers others waited for when it failed: questions of cells, and effects that it was to settle. Each was told. */
  readonly waiting: number;
}

/** A store that takes nothing more: receipts, timers and plans wait for room, and requests are refused. */
export interface StoreTrouble {
  readonly kind: 'store_full';
  /** The label of the store: a path, or `memory`. */
  readonly where: string;
  readonly code: 'store_full';
  /** The first commit that failed, in journal milliseconds. */
  readonly since: number;
  /** The number of inputs that wait for room. */
  readonly waiting: number;
}

/** What needs attention, by `kind`; switch on it, since later versions add kinds. */
export type Trouble = CellTrouble | StoreTrouble;

/** Receives each trouble when it is durable. */
export type TroubleListener = (trouble: Trouble) => void;

/** All failed cells of a world, the oldest first. */
export function failedCellsIn(table: LeafTable): readonly CellTrouble[] {
  const found = [...table.list('failed')].map(({ key, leaf }) => troubleOf(key, leaf));
  return found.sort((a, b) => a.frame - b.frame || (formatAddress(a.where) < formatAddress(b.where) ? -1 : 1));
}

/** The first of these cells that has failed. */
export function failureAmong(table: LeafTable, cells: readonly Address[]): CellTrouble | undefined {
  for (const cell of cells) {
    const key = failedKey(cell);
    const leaf = table.get(key);
    if (leaf !== undefined) return troubleOf(key, leaf);
  }
  return undefined;
}

/** The troubles that a frame began. */
export function newTroubles(changes: readonly LeafChange[]): readonly CellTrouble[] {
  return changes.flatMap(({ key, after }) =>
    key.path[0] === 'failed' && after !== undefined ? [troubleOf(key, after as FailedLeaf)] : [],
  );
}

/** The error of a wait for a cell that has failed. */
export function cellFailed({ where, code, frame, event }: CellTrouble): RepriseError {
  const cell = formatAddress(where);
  return new RepriseError('cell_failed', `cell ${cell} has failed, so nothing more comes from it`, {
    where: cell,
    fault: code,
    frame,
    actual: `${event} ended in the fault ${code}, in frame ${frame}`,
    hint: `Fix the cause, then revive it: \`world.revive\`, or \`reprise revive WORLD ${cell}\`.`,
  });
}

function troubleOf({ path }: LeafKey, { code, at, seq, event, waiting }: FailedLeaf): CellTrouble {
  const where: Address = [String(path[1]), String(path[2])];
  return { kind: 'cell_failed', where, code, since: at, frame: seq, event, waiting };
}
