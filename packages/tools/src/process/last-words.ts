import { type PiecewiseScrubber, Scrubber } from '@reprise/kernel';

/** What a program printed last, for whoever wants to know why it ended. */
const KEPT_LENGTH_MAX = 2_048;

/** Keeps the end of an output, without secrets: scrubbed as it comes, since the half that is left of one is not found. */
export class LastWords {
  readonly #decoder = new TextDecoder();
  readonly #pieces: PiecewiseScrubber;
  #kept = '';

  constructor(scrubber = new Scrubber()) {
    this.#pieces = scrubber.piecewise();
  }

  /** Takes in what comes next. */
  add(bytes: Uint8Array): void {
    this.#keep(this.#pieces.push(this.#decoder.decode(bytes, { stream: true })));
  }

  /** The end of it as text. */
  text(): string {
    this.#keep(this.#pieces.push(this.#decoder.decode()) + this.#pieces.end());
    return this.#kept.trim();
  }

  #keep(text: string): void {
    this.#kept = (this.#kept + text).slice(-KEPT_LENGTH_MAX).replace(/^[\uDC00-\uDFFF]/, ''); // no half of a character
  }
}
