/**
 * Some fields of the states of cells, followed from frame to frame without a replay: a frame states each changed field, short
 * values whole. Fields that grow are not for this: of a long value only the digest is stated.
 */
import { type Address, formatAddress, type JournalRecord, type Value } from '@reprise/contracts';
import { STATE_PREFIX } from '../../pure/record/index.js';
import type { SnapshotLeaves } from './snapshot.js';

/** A cell, as far as it is followed. */
export interface FollowedCell {
  readonly address: Address;
  /** The followed fields; one whose value is too long to be stated is absent. */
  readonly fields: Readonly<Record<string, Value>>;
  /** The frame that last changed one of them, and its time; null when that was before the snapshot. */
  readonly changed: { readonly frame: number; readonly at: number } | null;
}

/** Follows cells of some reducers. Memory is bounded by their number. */
export class StateFieldsFold {
  readonly #cells = new Map<string, FollowedCell>();

  /** @param fields the names of the fields to follow, by reducer */
  constructor(private readonly fields: Readonly<Record<string, readonly string[]>>) {}

  /** The living cells by their addresses. */
  get cells(): ReadonlyMap<string, FollowedCell> {
    return this.#cells;
  }

  /** Takes the cells that a snapshot holds. */
  async load(snapshot: SnapshotLeaves): Promise<void> {
    for await (const { address, state } of snapshot.cells(Object.keys(this.fields))) {
      const names = this.fields[address[0]] ?? [];
      const all = state as Readonly<Record<string, Value>>;
      const fields = Object.fromEntries(names.flatMap((name) => (all[name] === undefined ? [] : [[name, all[name]]])));
      this.#cells.set(formatAddress(address), { address, fields, changed: null });
    }
  }

  /** Takes the records of the next frame. */
  take(seq: number, at: number, records: readonly JournalRecord[]): void {
    const state = records.at(-1);
    if (state?.kind !== 'state') return;
    for (const [[kind, reducer, key], changed] of state.leaves)
      if (kind === 'cell') this.#change([String(reducer), String(key)], changed, { frame: seq, at });
  }

  #change(address: Address, changed: Stated | null, place: { readonly frame: number; readonly at: number }): void {
    const names = this.fields[address[0]];
    if (names === undefined) return;
    const id = formatAddress(address);
    if (changed === null || isOver(changed)) {
      this.#cells.delete(id);
      return;
    }
    const known = this.#cells.get(id);
    const stated = names.filter((name) => changed[`${STATE_PREFIX}${name}`] !== undefined);
    if (stated.length === 0 && known !== undefined) return;
    const fields: Record<string, Value> = { ...known?.fields };
    for (const name of stated) {
      const now = changed[`${STATE_PREFIX}${name}`];
      const value = Array.isArray(now) ? now[0] : undefined;
      if (value === undefined) delete fields[name];
      else fields[name] = value;
    }
    this.#cells.set(id, { address, fields, changed: place });
  }
}

type Stated = Readonly<Record<string, Uint8Array | Value[]>>;

function isOver({ live }: Stated): boolean {
  return Array.isArray(live) && live[0] === false;
}
