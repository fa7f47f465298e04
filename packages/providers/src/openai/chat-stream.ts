/** A streamed chat-completions answer: told piece by piece, and put together as the answer that was not streamed. */
import { isJsonObject, parseJson } from '../json.js';
import type { ModelNote } from '../model.js';
import type { PiecewiseScrubber, Scrubber } from '../scrub.js';
import { EventStream } from '../sse.js';
import { wellFormed } from '../text.js';
import { REASONING_FIELDS } from './chat-request.js';

/** What an answer is made of, whether it came in pieces or whole. */
export interface ChatAnswer {
  readonly id?: unknown;
  readonly choices: readonly [
    { readonly finish_reason?: unknown; readonly message: Readonly<Record<string, unknown>> },
  ];
  readonly usage?: unknown;
}

type Fields = Readonly<Record<string, unknown>>;
type Delta = ModelNote & { readonly type: 'delta' };

interface CallPiece {
  id?: unknown;
  name: string;
  args: string;
}

/** Puts the pieces of a streamed answer together. */
export class ChatStream {
  /** Whether the provider said that this is all. */
  ended = false;
  /** Whether an event was no JSON object. */
  malformed = false;
  /** What the provider said in place of an answer. */
  failure: unknown;

  private readonly events = new EventStream();
  private readonly tellers = new Map<string, PiecewiseScrubber>();
  private content = '';
  private refusal = '';
  private readonly reasoning: Record<string, string> = {};
  private readonly details: Record<string, unknown>[] = [];
  private readonly calls: CallPiece[] = [];
  private finish: unknown;
  private id: unknown;
  private usage: unknown;

  constructor(
    private readonly scrubber: Scrubber,
    private readonly tell: (delta: Delta) => void,
  ) {}

  /** Takes the next bytes. */
  push(bytes: Uint8Array): void {
    for (const data of this.events.push(bytes)) this.takeEvent(data);
  }

  /** What was said so far. */
  get text(): string {
    return this.content;
  }

  /** The whole answer, as if it had come at once. */
  answer(): ChatAnswer {
    for (const [place, teller] of this.tellers) this.tellRest(place, teller.end());
    const message = {
      content: this.content,
      ...(this.refusal === '' ? {} : { refusal: this.refusal }),
      ...this.reasoning,
      ...(this.details.length === 0 ? {} : { reasoning_details: this.details }),
      tool_calls: this.calls.map(({ id, name, args }) => ({ id, function: { name, arguments: args } })),
    };
    return { id: this.id, choices: [{ finish_reason: this.finish, message }], usage: this.usage };
  }

  private takeEvent(data: string): void {
    if (data.trim() === '[DONE]') {
      this.ended = true;
      return;
    }
    const event = parseJson(data);
    if (!isJsonObject(event)) this.malformed = true;
    else if ('error' in event) this.failure = event;
    else this.takeChunk(event);
  }

  private takeChunk(chunk: Fields): void {
    this.id ??= chunk.id;
    this.usage = chunk.usage ?? this.usage;
    const choice: unknown = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined;
    if (!isJsonObject(choice)) return;
    if (isJsonObject(choice.delta)) this.takeDelta(choice.delta);
    if (choice.finish_reason !== undefined && choice.finish_reason !== null) {
      this.finish = choice.finish_reason;
      this.ended = true;
    }
  }

  private takeDelta(delta: Fields): void {
    const content = textOf(delta.content);
    this.content += content;
    const refusal = textOf(delta.refusal);
    this.refusal += refusal;
    this.tellPiece('text', 0, content + refusal);
    this.takeReasoning(delta);
    if (!Array.isArray(delta.tool_calls)) return;
    for (const piece of delta.tool_calls) if (isJsonObject(piece)) this.takeCall(piece);
  }

  private takeReasoning(delta: Fields): void {
    let told = '';
    for (const field of REASONING_FIELDS) {
      if (field === 'reasoning_details') continue;
      const text = textOf(delta[field]);
      if (text === '') continue;
      this.reasoning[field] = (this.reasoning[field] ?? '') + text;
      told = text;
    }
    if (Array.isArray(delta.reasoning_details)) {
      for (const piece of delta.reasoning_details) if (isJsonObject(piece)) this.takeDetail(piece);
    }
    this.tellPiece('reasoning', 0, told);
  }

  /** Pieces of one detail have one index and type; their texts follow upon each other. */
  private takeDetail(piece: Fields): void {
    const same = this.details.find(({ index, type }) => index === piece.index && type === piece.type);
    if (same === undefined) {
      this.details.push({ ...piece });
      return;
    }
    for (const [name, field] of Object.entries(piece)) {
      const grows = ['text', 'summary', 'data'].includes(name) && typeof field === 'string';
      if (grows) same[name] = textOf(same[name]) + field;
      else if (field !== null) same[name] = field;
    }
  }

  private takeCall(piece: Fields): void {
    const at = this.placeOf(piece);
    const call = this.calls[at] ?? { name: '', args: '' };
    this.calls[at] = call;
    if (typeof piece.id === 'string' && piece.id !== '') call.id = piece.id;
    if (!isJsonObject(piece.function)) return;
    call.name += textOf(piece.function.name);
    const args = piece.function.arguments;
    const text = typeof args === 'object' && args !== null ? JSON.stringify(args) : textOf(args);
    call.args += text;
    this.tellPiece('tool_args', at, text);
  }

  /** Some servers number no calls: then one with a new id is a new one. */
  private placeOf({ index, id }: Fields): number {
    if (typeof index === 'number' && Number.isInteger(index) && index >= 0 && index <= this.calls.length) return index;
    const known = this.calls.findIndex((call) => call.id !== undefined && call.id === id);
    if (known !== -1) return known;
    return typeof id === 'string' && id !== '' ? this.calls.length : Math.max(0, this.calls.length - 1);
  }

  private tellPiece(channel: Delta['channel'], index: number, piece: string): void {
    if (piece === '') return;
    const place = `${channel}/${index}`;
    const teller = this.tellers.get(place) ?? this.scrubber.piecewise();
    this.tellers.set(place, teller);
    this.tellRest(place, teller.push(piece));
  }

  private tellRest(place: string, text: string): void {
    if (text === '') return;
    const [channel, index] = place.split('/');
    this.tell({ type: 'delta', channel: channel as Delta['channel'], index: Number(index), text: wellFormed(text) });
  }
}

function textOf(thing: unknown): string {
  return typeof thing === 'string' ? thing : '';
}
