/** Removes secrets from the notes that an adapter reports, also when a secret is split over several pieces of a text. */
import type { Value } from '@reprise/contracts';
import type { PiecewiseScrubber, Scrubber } from '../../ports/scrub/index.js';
import { plainness } from '../../pure/codec/kinds.js';

type Fields = Readonly<Record<string, Value>>;

/** A text in progress: the fields that its pieces have in common. */
interface Telling {
  readonly common: Fields;
  readonly pieces: PiecewiseScrubber;
}

/**
 * Scrubs the notes of one execution. A note of the type `delta` is one piece of a text; pieces with the same other
 * fields belong to the same text. `delta.reset` says that the pieces so far are void.
 */
export class ScrubbedNotes {
  readonly #tellings = new Map<string, Telling>();

  constructor(
    private readonly scrubber: Scrubber,
    private readonly tell: (note: Value) => void,
  ) {}

  take(note: Value): void {
    if (this.scrubber.idle && this.#tellings.size === 0) return this.tell(note);
    if (isReset(note)) this.#tellings.clear();
    const piece = pieceIn(note);
    if (piece === undefined) this.tell(this.scrubber.value(note));
    else this.#takePiece(piece);
  }

  /** Reports the buffered rest: no further piece will come. */
  end(): void {
    for (const { common, pieces } of this.#tellings.values()) this.#tellText(common, pieces.end());
    this.#tellings.clear();
  }

  #takePiece({ text, ...common }: Fields & { readonly text: string }): void {
    const key = JSON.stringify(Object.entries(common).sort(([a], [b]) => (a < b ? -1 : 1)));
    const telling = this.#tellings.get(key) ?? { common, pieces: this.scrubber.piecewise() };
    this.#tellings.set(key, telling);
    this.#tellText(common, telling.pieces.push(text));
  }

  #tellText(common: Fields, text: string): void {
    if (text !== '') this.tell(this.scrubber.value({ ...common, text }));
  }
}

function pieceIn(note: Value): (Fields & { readonly text: string }) | undefined {
  const fields = fieldsOf(note);
  return fields?.type === 'delta' && typeof fields.text === 'string' ? { ...fields, text: fields.text } : undefined;
}

function isReset(note: Value): boolean {
  return fieldsOf(note)?.type === 'delta.reset';
}

function fieldsOf(note: Value): Fields | undefined {
  return typeof note === 'object' && note !== null && plainness(note) === 'map' ? (note as Fields) : undefined;
}
