/** Reads a streamed answer: reports its events as they arrive, and builds the answer that would have come whole. */
import { wellFormed } from '@reprise/contracts';
import { isJsonObject, JSON_ITEMS_MAX, nestsTooDeep, parseBounded } from '../model/json.js';
import type { ModelNote } from '../model/model.js';
import { errorBody } from '../model/verdict.js';
import type { PiecewiseScrubber, Scrubber } from '../transport/scrub.js';
import { EventStream } from '../transport/sse.js';

/** A JSON object whose fields may have any type. */
export type Fields = Readonly<Record<string, unknown>>;

/** A piece of an answer, as watchers see it. */
export type Delta = ModelNote & { readonly type: 'delta' };

/** Builds an answer from the events of a stream; each format implements the meaning of its events. */
export abstract class AnswerStream {
  /** Whether the provider marked the end of the answer. */
  ended = false;
  /** Whether later events can no longer change the answer. */
  over = false;
  /** What was wrong with an event that was not of the format, or stood where the format does not allow it. */
  malformed: string | undefined;
  /** Whether the answer exceeded the bound on its size. */
  tooLarge = false;
  /** The error that the provider sent instead of an answer. */
  failure: unknown;
  /** The text of the answer so far. */
  text = '';
  /** Codes of departures from the format that leave one reading. */
  readonly warnings: string[] = [];

  private readonly events = new EventStream();
  private readonly tellers = new Map<string, PiecewiseScrubber>();
  /** How many values the current event holds, plus those of earlier events that are partly kept. */
  private eventItems = 0;
  private keptItems = 0;

  constructor(
    private readonly scrubber: Scrubber,
    private readonly tell: (delta: Delta) => void,
  ) {}

  /**
   * Reads the next bytes. Bytes after the end are ignored, in the same piece and in later ones.
   *
   * @returns after how many of these bytes nothing can change the answer; undefined while something can
   */
  push(bytes: Uint8Array): number | undefined {
    if (this.over) return 0;
    for (const { data, name, end } of this.events.read(bytes)) {
      this.takeData(data, name);
      if (this.over) return end;
    }
    if (!this.events.tooLarge) return undefined;
    this.overflow();
    return bytes.length;
  }

  /** Returns the whole answer, as if it had come at once, and reports text that was held back. */
  answer(): unknown {
    const whole = this.whole();
    for (const [place, teller] of this.tellers) this.tellAt(place, teller.end());
    return whole;
  }

  /** The answer in the form of an answer that did not stream. */
  protected abstract whole(): unknown;

  /** The usage that the provider has reported so far, as it wrote it. */
  abstract get reported(): unknown;

  /** Whether the events of the format have types. */
  protected readonly typed: boolean = true;

  /** Reads one event of the stream, in the order of arrival. */
  protected abstract take(event: Fields): void;

  /** Reads the end mark that some servers send. */
  protected takeDone(): void {}

  /** Marks the stream as malformed, with the reason: nothing of it counts, and nothing after it is read. */
  protected spoil(why: string): void {
    this.malformed ??= why;
    this.over = true;
  }

  /** Notes a departure from the format that leaves one reading. */
  protected warn(code: string): void {
    if (!this.warnings.includes(code)) this.warnings.push(code);
  }

  /** Takes an event for the error that it is; returns whether it is one. */
  protected takeError(event: Fields): boolean {
    if (errorBody(event) === undefined) return false;
    this.failure = event;
    this.over = true;
    return true;
  }

  /** Takes an event that its name calls an error: its data is one in a form of the server's own, or the words alone. */
  private takeNamedError(data: unknown, text: string): boolean {
    if (data === undefined || typeof data === 'string') return this.takeError({ error: data ?? text });
    if (!isJsonObject(data) || data.choices !== undefined) return false;
    return this.takeError(data) || this.takeError({ error: data });
  }

  /** Notes that data of the current event is kept: the amount has a bound. */
  protected keeps(): void {
    this.keptItems += this.eventItems;
    if (this.keptItems > JSON_ITEMS_MAX) this.overflow();
  }

  /** Adds to the text and reports it. */
  protected say(piece: string): void {
    this.text += piece;
    this.tellPiece('text', 0, piece);
  }

  /** Reports a piece, except for an end that may be the start of a secret. */
  protected tellPiece(channel: Delta['channel'], index: number, piece: string): void {
    if (piece === '') return;
    const place = `${channel}/${index}`;
    const teller = this.tellers.get(place) ?? this.scrubber.piecewise();
    this.tellers.set(place, teller);
    this.tellAt(place, teller.push(piece));
  }

  private takeData(data: string, name: string): void {
    const text = data.trim();
    if (text === '[DONE]') {
      this.takeDone();
      return;
    }
    if (text === '' || text === 'null') {
      this.warn('empty_event'); // some servers keep a connection alive like this
      return;
    }
    const event = parseBounded(data);
    if (event === 'too_large') this.overflow();
    else if (name === 'error' && this.takeNamedError(event?.data, text)) return;
    else if (event === undefined) this.spoil(nestsTooDeep(data) ? 'an event nests too deep' : 'an event is not JSON');
    else if (!isJsonObject(event.data)) this.spoil('an event is not a JSON object');
    else {
      this.eventItems = event.items;
      this.take(this.named(event.data, name));
    }
  }

  /** Takes an event of no known type: an error, or one of a newer release, which is ignored. One without a type is neither. */
  protected takeOther(event: Fields): void {
    if (this.takeError(event)) return;
    if (typeof event.type !== 'string') this.spoil('an event has no type');
  }

  /** An event that lacks its type has it in its name, in the formats whose events have types. */
  private named(event: Fields, name: string): Fields {
    if (name === '' || event.type !== undefined || !this.typed) return event;
    this.warn('event_without_type');
    return { ...event, type: name };
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

/** The text, or an empty text when the value is not a text. */
export function textIn(thing: unknown): string {
  return typeof thing === 'string' ? thing : '';
}
