/**
 * One text of a model's answer as parts of a message. A stream may break and start again; the page then shows the
 * final text once.
 *
 * Invariants
 * P1  Whatever the attempts contain, the parts without a superseded mark hold the final text exactly once.
 * P2  An attempt that repeats the shown text adds nothing until it goes further; an attempt that differs ends the
 *     part, marks it, and starts another part.
 */
import type { UiChunk } from './chunk.js';

/** The kinds of parts that are streamed. */
export type SpokenKind = 'text' | 'reasoning';

const SUPERSEDED = { reprise: { superseded: true } } as const;

/** One text, across all attempts to stream it. */
export class SpokenPart {
  /** The text of the open part. */
  #shown = '';
  /** The text of the current attempt. */
  #heard = '';
  #isOpen = false;
  #parts = 0;

  constructor(
    private readonly kind: SpokenKind,
    private readonly name: string,
  ) {}

  /** Adds a piece of the current attempt. */
  *say(piece: string): Generator<UiChunk> {
    this.#heard += piece;
    if (this.#shown.startsWith(this.#heard)) return; // P2
    yield* this.#become(this.#heard);
  }

  /** Notes that the attempt broke off and starts again. */
  again(): void {
    this.#heard = '';
  }

  /**
   * Ends the text.
   *
   * @param text the final text; default: the text of the current attempt
   */
  *end(text = this.#heard): Generator<UiChunk> {
    yield* this.#become(text);
    if (this.#isOpen) yield this.#end();
  }

  /** Marks the whole text as superseded. */
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
