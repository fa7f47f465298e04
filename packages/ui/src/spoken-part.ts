/**
 * One text of a model's answer as parts of a message. A stream may break and be asked for again; what is shown then is
 * the text as it counts, once.
 *
 * Invariants
 * P1  Whatever the attempts say, the parts that are not marked as superseded hold the text that counts, once.
 * P2  An attempt that repeats what was shown adds nothing until it says more; one that says something else ends the part,
 *     marked, and begins another.
 */
import type { UiChunk } from './chunk.js';

/** The kinds of parts that are streamed. */
export type SpokenKind = 'text' | 'reasoning';

const SUPERSEDED = { reprise: { superseded: true } } as const;

/** One text, over all attempts at it. */
export class SpokenPart {
  /** What stands in the open part. */
  #shown = '';
  /** What the attempt at hand has said. */
  #heard = '';
  #isOpen = false;
  #parts = 0;

  constructor(
    private readonly kind: SpokenKind,
    private readonly name: string,
  ) {}

  /** A piece of the attempt at hand. */
  *say(piece: string): Generator<UiChunk> {
    this.#heard += piece;
    if (this.#shown.startsWith(this.#heard)) return; // P2
    yield* this.#become(this.#heard);
  }

  /** The attempt broke off, and is made again. */
  again(): void {
    this.#heard = '';
  }

  /**
   * The text is over.
   *
   * @param text as it counts; what was heard when nobody says
   */
  *end(text = this.#heard): Generator<UiChunk> {
    yield* this.#become(text);
    if (this.#isOpen) yield this.#end();
  }

  /** Nothing of it counts. */
  *drop(): Generator<UiChunk> {
    if (this.#isOpen) yield this.#end(SUPERSEDED);
    this.#heard = '';
  }

  /** P1 */
  *#become(text: string): Generator<UiChunk> {
    if (this.#isOpen && !text.startsWith(this.#shown)) yield this.#end(SUPERSEDED);
    const rest = text.slice(this.#shown.length);
    if (rest === '') return;
    if (!this.#isOpen) {
      this.#isOpen = true;
      yield { type: `${this.kind}-start`, id: this.#id };
    }
    this.#shown = text;
    yield { type: `${this.kind}-delta`, id: this.#id, delta: rest };
  }

  #end(providerMetadata?: typeof SUPERSEDED): UiChunk {
    const id = this.#id;
    this.#isOpen = false;
    this.#shown = '';
    this.#parts += 1;
    return { type: `${this.kind}-end`, id, ...(providerMetadata === undefined ? {} : { providerMetadata }) };
  }

  get #id(): string {
    return `${this.name}/${this.kind}${this.#parts}`;
  }
}
