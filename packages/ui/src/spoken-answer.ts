/**
 * The texts of one step's answer as parts of a message: the model's reasoning, then its text. A stream may break and
 * start again, and the journal has the last word; the page then shows the final texts once, and in this order.
 *
 * Invariants
 * P1  Whatever the attempts contain, the parts without a superseded mark hold the final texts exactly once.
 * P2  An attempt that repeats the shown text adds nothing until it goes further; an attempt that differs ends the
 *     part, marks it, and starts another part.
 * P3  At every time the part of the reasoning stands before the part of the text, as the journal tells them. A stream
 *     can only append, so reasoning that comes late moves the text behind it.
 * P4  The id of a part depends on its step and its kind alone, so each reader of the final texts has the same ids.
 */
import type { UiChunk } from './chunk.js';

/** The kinds of parts that are streamed. */
type SpokenKind = 'reasoning' | 'text';

/** The final texts of an answer. */
type SpokenTexts = Readonly<Record<SpokenKind, string>>;

const SUPERSEDED = { reprise: { superseded: true } } as const;

/** The texts of one step, across all attempts to stream them. */
export class SpokenAnswer {
  readonly #parts: Readonly<Record<SpokenKind, SpokenPart>>;

  constructor(step: string) {
    this.#parts = { reasoning: new SpokenPart('reasoning', step), text: new SpokenPart('text', step) };
  }

  /** Whether a part is open: it shows texts that may not be final. */
  get isOpen(): boolean {
    return Object.values(this.#parts).some(({ isOpen }) => isOpen);
  }

  /** Adds a piece of the current attempt. */
  *say(kind: SpokenKind, piece: string): Generator<UiChunk> {
    const { reasoning, text } = this.#parts;
    const before = reasoning.opened;
    yield* this.#parts[kind].say(piece);
    if (reasoning.opened !== before) yield* text.move(); // P3
  }

  /** Notes that the attempt broke off and starts again. */
  again(): void {
    for (const part of Object.values(this.#parts)) part.again();
  }

  /** Ends the answer with its final texts. */
  *end(final: SpokenTexts): Generator<UiChunk> {
    const { reasoning, text } = this.#parts;
    const before = reasoning.opened;
    yield* reasoning.end(final.reasoning);
    if (reasoning.opened !== before) yield* text.drop(); // P3
    yield* text.end(final.text);
  }

  /** Marks the whole answer as superseded. */
  *drop(): Generator<UiChunk> {
    for (const part of Object.values(this.#parts)) yield* part.drop();
  }
}

/** One text, across all attempts. */
class SpokenPart {
  opened = 0;
  /** The text of the open part. */
  #shown = '';
  /** The text of the current attempt. */
  #heard = '';
  isOpen = false;
  readonly #id: string;

  constructor(
    private readonly kind: SpokenKind,
    step: string,
  ) {
    this.#id = `${step}/${kind}`; // P4
  }

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

  /** Begins another part with the text of the current attempt. */
  *move(): Generator<UiChunk> {
    if (!this.isOpen) return;
    yield this.#end(SUPERSEDED);
    yield* this.#become(this.#heard);
  }

  /** Ends with the final text. */
  *end(text: string): Generator<UiChunk> {
    yield* this.#become(text);
    if (this.isOpen) yield this.#end();
  }

  /** Marks the whole text as superseded. */
  *drop(): Generator<UiChunk> {
    if (this.isOpen) yield this.#end(SUPERSEDED);
    this.#heard = '';
  }

  // P1
  *#become(text: string): Generator<UiChunk> {
    if (this.isOpen && !text.startsWith(this.#shown)) yield this.#end(SUPERSEDED);
    const rest = text.slice(this.#shown.length);
    if (rest === '') return;
    if (!this.isOpen) {
      this.isOpen = true;
      this.opened += 1;
      yield { type: `${this.kind}-start`, id: this.#id };
    }
    this.#shown = text;
    yield { type: `${this.kind}-delta`, id: this.#id, delta: rest };
  }

  #end(providerMetadata?: typeof SUPERSEDED): UiChunk {
    this.isOpen = false;
    this.#shown = '';
    return { type: `${this.kind}-end`, id: this.#id, ...(providerMetadata === undefined ? {} : { providerMetadata }) };
  }
}
