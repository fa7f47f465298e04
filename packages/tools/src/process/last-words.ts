/** What a program printed last, for whoever wants to know why it ended. */
const KEPT_BYTES_MAX = 2_048;

/** Keeps the end of an output. */
export class LastWords {
  #kept = Buffer.alloc(0);

  /** Takes in what comes next. */
  add(bytes: Uint8Array): void {
    this.#kept = Buffer.concat([this.#kept, bytes]).subarray(-KEPT_BYTES_MAX);
  }

  /** The end of it as text. */
  text(): string {
    return new TextDecoder().decode(this.#kept).trim();
  }
}
