/** The shape of what `reprise diff --json` prints. Values stand in it as they are in the world, with links and bytes. */
import type { Value } from '@reprise/contracts';

/** One change of a value: at a path of field names and indexes. An empty path is the whole value. */
export interface Patch {
  readonly op: 'add' | 'remove' | 'replace';
  readonly path: readonly (string | number)[];
  /** The value before; absent for an addition. */
  readonly before?: Value;
  /** The new value; absent for a removal. */
  readonly value?: Value;
}

/** One changed entry of a table. */
export interface TableChange {
  readonly op: 'put' | 'remove';
  readonly key: string;
  /** The new value; absent for a removal. */
  readonly value?: Value;
}

/** What changed in a cell between two frames. */
export interface CellDiff {
  /** The address of the cell. */
  readonly cell: string;
  /** `made`: it did not exist at the first frame; `ended`: not at the second one. */
  readonly change: 'made' | 'ended' | 'changed';
  /** From its state at the first frame to that at the second one; from nothing for a cell that was made. */
  readonly patches: readonly Patch[];
  /** The lengths of its logs, of those that changed. */
  readonly logs: Readonly<Record<string, { readonly from: number; readonly to: number }>>;
  /** The changed entries of its tables, in the order of their keys. */
  readonly tables: Readonly<Record<string, readonly TableChange[]>>;
}

/** The answer of `diffOf`: which cells differ, and how. */
export interface DiffReport {
  /** The frames that are compared. */
  readonly a: number;
  readonly b: number;
  /** The cells that differ, in the order of their addresses. */
  readonly cells: readonly CellDiff[];
  /** The cursor of the next page of cells; null on the last one. */
  readonly next: string | null;
}
