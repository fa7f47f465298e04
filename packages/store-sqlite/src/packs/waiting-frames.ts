import { type FrameRow, type JoinedRows, PACK_BYTES_MAX, packedBytes } from '@reprise/packs';
import type { FramePacks } from './frame-packs.js';

/**
 * The frames that wait for a pack. What this writer has stored itself is joined as it comes; what it found is read when it is
 * packed. Another one is made after each failure, since it does not tell what is durable.
 */
export class WaitingFrames {
  readonly #packs: FramePacks;
  #bytes: number;
  /** All that waits, joined; undefined when it must be read. */
  #joined: JoinedRows | undefined;
  /** How the transaction that goes on has packed: what was joined, or what it read, its own rows included. */
  #packed: 'joined' | 'read' | undefined;

  constructor(packs: FramePacks) {
    this.#packs = packs;
    this.#bytes = packs.waiting();
  }

  /** Whether all that waits and these rows do not fill more than a pack. */
  fits(rows: readonly FrameRow[]): boolean {
    return this.#bytes + costOf(rows) <= PACK_BYTES_MAX;
  }

  /**
   * Packs what waits in the transaction that has stored these rows, which wait then. All that can fail happens here, where
   * the packer goes on without a pack; what was committed must not be reported as failed.
   */
  pack(rows: readonly FrameRow[]): void {
    if (this.#joined === undefined || costOf(rows) > PACK_BYTES_MAX) {
      this.#bytes = this.#packs.pack(Number.POSITIVE_INFINITY);
      this.#joined = this.#packs.joined();
      this.#packed = 'read';
    } else {
      this.#packs.packJoined(this.#joined);
      this.#packed = 'joined';
    }
  }

  /** Takes the rows of a transaction that took place. */
  take(rows: readonly FrameRow[]): void {
    if (this.#packed === 'joined') {
      this.#bytes = 0;
      this.#joined?.clear();
    }
    if (this.#packed !== 'read') for (const row of rows) this.takeRow(row);
    this.#packed = undefined;
  }

  /** Takes a row that was stored without a transaction of several statements. */
  takeRow(row: FrameRow): void {
    this.#bytes += costOfRow(row);
    if (this.#joined?.add(row) === false) this.#joined = undefined;
  }
}

function costOf(rows: readonly FrameRow[]): number {
  let cost = 0;
  for (const row of rows) cost += costOfRow(row);
  return cost;
}

function costOfRow(row: FrameRow): number {
  const cost = packedBytes(row, Buffer.byteLength(row.kind), row.bytes.length);
  return cost > PACK_BYTES_MAX ? 0 : cost; // it stays as it is
}
