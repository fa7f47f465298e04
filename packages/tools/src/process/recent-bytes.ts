/** The most bytes of unread output that are kept; older bytes are dropped and counted. */
export const UNREAD_BYTES_MAX = 256 * 1024;

const CAPACITY_MIN = 4 * 1024;

/**
 * The newest bytes of an output, and how many older ones were dropped. It takes at most twice the bound, however small
 * the pieces are, and one copy of each byte on average.
 */
export class RecentBytes {
  #buffer = new Uint8Array(0);
  #length = 0;
  #lost = 0;

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  add(piece: Uint8Array): void {
    const newest = piece.subarray(Math.max(0, piece.length - UNREAD_BYTES_MAX));
    if (this.#length + newest.length > this.#buffer.length) this.#makeRoom(newest.length);
    this.#buffer.set(newest, this.#length);
    this.#length += newest.length;
    this.#lost += piece.length - newest.length;
  }

  /** Returns what is kept, from the beginning of a character on, and how many bytes before it were dropped. */
  take(): { readonly text: string; readonly lost: number } {
    let from = Math.max(0, this.#length - UNREAD_BYTES_MAX);
    if (this.#lost + from > 0) while (from < this.#length && isInner(this.#buffer[from])) from++;
    const text = new TextDecoder().decode(this.#buffer.subarray(from, this.#length));
    const lost = this.#lost + from;
    this.#buffer = new Uint8Array(0);
    this.#length = 0;
    this.#lost = 0;
    return { text, lost };
  }

  #makeRoom(bytes: number): void {
    const from = Math.max(0, this.#length + bytes - UNREAD_BYTES_MAX);
    const kept = this.#buffer.subarray(from, this.#length);
    const capacity = Math.max(CAPACITY_MIN, 2 * (kept.length + bytes));
    const buffer = capacity > this.#buffer.length ? new Uint8Array(capacity) : this.#buffer;
    buffer.set(kept);
    this.#buffer = buffer;
    this.#length = kept.length;
    this.#lost += from;
  }
}

/** Whether this is a byte inside a character of UTF-8. */
function isInner(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
