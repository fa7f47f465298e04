/** A streamed answer: its events as they arrive, told piece by piece, and put together as the answer that came whole. */
import { wellFormed } from '@reprise/contracts';
import { isJsonObject, JSON_ITEMS_MAX, parseBounded } from '../model/json.js';
import type { ModelNote } from '../model/model.js';
import type { PiecewiseScrubber, Scrubber } from '../transport/scrub.js';
import { EventStream } from '../transport/sse.js';

/** An object of JSON whose fields may be anything. */
export type Fields = Readonly<Record<string, unknown>>;

/** A piece of an answer as watchers are told of it. */
export type Delta = ModelNote & { readonly type: 'delta' };

/** Puts the events of a streamed answer together; each format says what its events mean. */
export abstract class AnswerStream {
  /** Whether the provider said that this is all. */
  ended = false;
  /** Whether nothing that counts can come any more. */
  over = false;
  /** Whether something was no event of the format, or stood where the format has none. */
  malformed = false;
  /** Whether more came than is read. */
  tooLarge = false;
  /** What the provider said in place of an answer. */
  failure: unknown;
  /** What was said so far. */
  text = '';

  private readonly events = new EventStream();
  private readonly tellers = new Map<string, PiecewiseScrubber>();
  /** How many values the event at hand holds, and those before it of which something is kept. */
  private eventItems = 0;
  private keptItems = 0;

  constructor(
    private readonly scrubber: Scrubber,
    private readonly tell: (delta: Delta) => void,
  ) {}

  /**
   * Takes the next bytes. What comes behind the end is not read, whether it comes in the same piece or in another.
   *
   * @returns behind how many of these bytes nothing counts any more; undefined while something may
   */
  push(bytes: Uint8Array): number | undefined {
    if (this.over) return 0;
    for (const { data, end } of this.events.read(bytes)) {
      this.takeData(data);
      if (this.over) return end;
    }
    if (!this.events.tooLarge) return undefined;
    this.overflow();
    return bytes.length;
  }

  /** The whole answer, as if it had come at once; what was held back is told. */
  answer(): unknown {
    for (const [place, teller] of this.tellers) this.tellAt(place, teller.end());
    return this.whole();
  }

  /** The answer as the format sends it when it does not stream. */
  protected abstract whole(): unknown;

  /** Takes an event. */
  protected abstract take(event: Fields): void;

  /** Takes the mark that some servers end a stream with. */
  protected takeDone(): void {}

  /** It is no stream of the format: nothing of it counts, and nothing behind counts either. */
  protected spoil(): void {
    this.malformed = true;
    this.over = true;
  }

  /** Something of the event at hand is kept as the data that it is: there is a bound to that. */
  protected keeps(): void {
    this.keptItems += this.eventItems;
    if (this.keptItems > JSON_ITEMS_MAX) this.overflow();
  }

  /** Adds to the text and tells it. */
  protected say(piece: string): void {
    this.text += piece;
    this.tellPiece('text', 0, piece);
  }

  /** Tells a piece of something, as far as it can hold no part of a secret. */
  protected tellPiece(channel: Delta['channel'], index: number, piece: string): void {
    if (piece === '') return;
    const place = `${channel}/${index}`;
    const teller = this.tellers.get(place) ?? this.scrubber.piecewise();
    this.tellers.set(place, teller);
    this.tellAt(place, teller.push(piece));
  }

  private takeData(data: string): void {
    if (data.trim() === '[DONE]') {
      this.takeDone();
      return;
    }
    const event = parseBounded(data);
    if (event === 'too_large') this.overflow();
    else if (event === undefined || !isJsonObject(event.data)) this.spoil();
    else {
      this.eventItems = event.items;
      this.take(event.data);
    }
  }

  private overflow(): void {
    this.tooLarge = true;
    this.over = true;
  }

  private tellAt(place: string, text: string): void {
    if (text === '') return;
    const [channel, index] = place.split('/');
    this.tell({ type: 'delta', channel: channel as Delta['channel'], index: Number(index), text: wellFormed(text) });
  }
}

/** A text, or none where there is something else. */
export function textIn(thing: unknown): string {
  return typeof thing === 'string' ? thing : '';
}
