import { PACK_BYTES_MAX } from './deflated.js';
import { type FrameRow, rowEntry } from './frames.js';

/** The room that the first row gets; it doubles until a pack fits. */
const ROOM_BYTES = 4 * 1024;

/**
 * Consecutive rows, joined as they come: what `joinRows` gives for them, so that who has just written them need not read
 * them again for a pack. It holds a pack at most.
 */
export class JoinedRows {
  #room = Buffer.allocUnsafe(ROOM_BYTES);
  #size = 0;
  #first = 0;
  #last: FrameRow | undefined;

  /** Takes the next row. @returns false when it is not the next one, is deflated, or does not fit: nothing is taken then */
  add(row: FrameRow): boolean {
    if (row.size !== row.bytes.length) return false;
    if (this.#last !== undefined && row.first !== this.#last.seq + 1) return false;
    const entry = rowEntry(row);
    const size = this.#size + entry.length;
    if (size > PACK_BYTES_MAX) return false;
    if (size > this.#room.length) this.#grow(size);
    this.#room.set(entry, this.#size);
    this.#size = size;
    if (this.#last === undefined) this.#first = row.first;
    this.#last = row;
    return true;
  }

  /** All of them as one row; undefined before the first. Its bytes are valid until the next change. */
  joined(): FrameRow | undefined {
    if (this.#last === undefined || this.#last.first === this.#first) return this.#last;
    const bytes = this.#room.subarray(0, this.#size);
    return { ...this.#last, first: this.#first, bytes, size: bytes.length };
  }

  /** Lets go of all rows. */
  clear(): void {
    this.#size = 0;
    this.#last = undefined;
  }

  #grow(size: number): void {
    const room = Buffer.allocUnsafe(Math.min(PACK_BYTES_MAX, Math.max(size, 2 * this.#room.length)));
    room.set(this.#room.subarray(0, this.#size));
    this.#room = room;
  }
}
