/** The cells that have failed, followed from frame to frame without an app: a frame states it of a cell, and its fault why. */
import { type Address, formatAddress, type JournalRecord } from '@reprise/contracts';
import type { ReadonlyStore } from '@reprise/kernel';
import { type SnapshotLeaves, snapshotBefore } from '@reprise/kernel/inspect';
import { skimFrames } from '../skim/index.js';

/** A cell that takes no events until it is revived. */
export interface CellFailure {
  readonly cell: Address;
  /** The fault, and the event that it failed on where the snapshot says it. */
  readonly what: string;
  readonly place: { readonly frame: number; readonly at: number };
}

/** Follows failures. Memory is bounded by the number of failed cells. */
export class FailuresFold {
  readonly #failed = new Map<string, CellFailure>();

  constructor(snapshot: Pick<SnapshotLeaves, 'failed'>) {
    for (const { where: cell, code, event, frame, since: at } of snapshot.failed)
      this.#failed.set(formatAddress(cell), { cell, what: `${code} on ${event}`, place: { frame, at } });
  }

  /** The failed cells after the last frame that was taken, the newest failure first. */
  get failed(): readonly CellFailure[] {
    return [...this.#failed.values()].reverse();
  }

  /** Takes the records of the next frame. */
  take(frame: number, at: number, records: readonly JournalRecord[]): void {
    const state = records.at(-1);
    if (state?.kind !== 'state') return;
    for (const [[kind, reducer, key], changed] of state.leaves) {
      if (kind !== 'cell') continue;
      const cell: Address = [String(reducer), String(key)];
      const name = formatAddress(cell);
      if (changed === null || isOver(changed)) this.#failed.delete(name);
      else if (changed.failed !== undefined) {
        this.#failed.delete(name); // a cell that fails again stands where it failed last
        if (isSet(changed.failed)) this.#failed.set(name, { cell, what: faultOf(records, name), place: { frame, at } });
      }
    }
  }
}

/** The cells that have failed after a frame, the newest failure first. */
export async function failedCellsAt(
  store: ReadonlyStore,
  frame: number,
  signal?: AbortSignal,
): Promise<readonly CellFailure[]> {
  const snapshot = await snapshotBefore(store, frame);
  const fold = new FailuresFold(snapshot);
  await skimFrames(store, { from: snapshot.seq + 1, to: frame, signal }, (seq, at, records) =>
    fold.take(seq, at, records),
  );
  return fold.failed;
}

/** A field as a frame states it: its value in a list, or only the digest of a long one. */
type Stated = Uint8Array | readonly unknown[];

function isOver({ live }: Readonly<Record<string, Stated>>): boolean {
  return Array.isArray(live) && live[0] === false;
}

function isSet(stated: Stated): boolean {
  return stated instanceof Uint8Array || (stated.length > 0 && stated[0] !== null);
}

function faultOf(records: readonly JournalRecord[], cell: string): string {
  for (const record of records) {
    if (record.kind !== 'fault' || record.target === null) continue;
    if (formatAddress([record.target[0], record.target[1]]) === cell) return record.code;
  }
  return 'a fault';
}
