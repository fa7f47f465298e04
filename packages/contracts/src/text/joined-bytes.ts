/** The least that is reserved, so that the first small pieces are not copied again and again. */
const LEAST = 256;

/**
 * Bytes that arrive in pieces, joined as they arrive. The sender chooses how small its pieces are, and a list of small
 * pieces takes hundreds of times the memory of its bytes; this takes at most three times as much. Pieces are copied.
 *
 * @example
 * const body = new JoinedBytes();
 * for await (const piece of request) body.add(piece);
 * const whole = body.take();
 */
export class JoinedBytes {
  #bytes = new Uint8Array(0);
  #length = 0;

  /** How many bytes have arrived since the last {@link take}. */
  get length(): number {
    return this.#length;
  }

  add(piece: Uint8Array): void {
    const length = this.#length + piece.length;
    if (length > this.#bytes.length) this.#reserve(length);
    this.#bytes.set(piece, this.#length);
    this.#length = length;
  }

  /** All that has arrived; it begins anew. */
  take(): Uint8Array {
    const whole = this.#bytes.subarray(0, this.#length);
    this.#bytes = new Uint8Array(0);
    this.#length = 0;
    return whole;
  }

  #reserve(length: number): void {
    const larger = new Uint8Array(Math.max(LEAST, length, 2 * this.#bytes.length));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }
}
