import { type PiecewiseScrubber, Scrubber } from '@reprise/kernel';

/** How many characters of a program's last output are kept, to explain why it ended. */
const LAST_WORDS_LENGTH_MAX = 2_048;

/** Keeps the end of an output, without secrets: it scrubs as output arrives, since half a secret is not recognized. */
export class LastWords {
  readonly #decoder = new TextDecoder();
  readonly #pieces: PiecewiseScrubber;
  #kept = '';

  constructor(scrubber = new Scrubber()) {
    this.#pieces = scrubber.piecewise();
  }

  add(bytes: Uint8Array): void {
    this.#keep(this.#pieces.push(this.#decoder.decode(bytes, { stream: true })));
  }

  /** The kept end, as text. */
  text(): string {
    this.#keep(this.#pieces.push(this.#decoder.decode()) + this.#pieces.end());
    return this.#kept.trim();
  }

  #keep(text: string): void {
    this.#kept = (this.#kept + text).slice(-LAST_WORDS_LENGTH_MAX).replace(/^[\uDC00-\uDFFF]/, ''); // no half character
  }
}
