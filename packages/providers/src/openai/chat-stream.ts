/** A streamed chat-completions answer: told piece by piece, and put together as the answer that was not streamed. */
import { isJsonObject } from '../json.js';
import { AnswerStream, type Fields, textIn } from '../wire/answer-stream.js';
import { REASONING_FIELDS } from './chat-request.js';

/** What an answer is made of, whether it came in pieces or whole. */
export interface ChatAnswer {
  readonly id?: unknown;
  readonly choices: readonly [
    { readonly finish_reason?: unknown; readonly message: Readonly<Record<string, unknown>> },
  ];
  readonly usage?: unknown;
}

interface CallPiece {
  id?: unknown;
  name: string;
  args: string;
}

/** Puts the pieces of a streamed answer together. */
export class ChatStream extends AnswerStream {
  private content = '';
  private refusal = '';
  private readonly reasoning: Record<string, string> = {};
  private readonly details: Record<string, unknown>[] = [];
  private readonly calls: CallPiece[] = [];
  private finish: unknown;
  private id: unknown;
  private usage: unknown;

  protected whole(): ChatAnswer {
    const message = {
      content: this.content,
      ...(this.refusal === '' ? {} : { refusal: this.refusal }),
      ...this.reasoning,
      ...(this.details.length === 0 ? {} : { reasoning_details: this.details }),
      tool_calls: this.calls.map(({ id, name, args }) => ({ id, function: { name, arguments: args } })),
    };
    return { id: this.id, choices: [{ finish_reason: this.finish, message }], usage: this.usage };
  }

  protected override takeDone(): void {
    // The reason comes before it, and what was used between the two.
    this.ended = true;
    this.over = true;
  }

  protected take(event: Fields): void {
    if (!('error' in event)) {
      this.takeChunk(event);
      return;
    }
    this.failure = event;
    this.over = true;
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
    const content = textIn(delta.content);
    this.content += content;
    const refusal = textIn(delta.refusal);
    this.refusal += refusal;
    this.say(content + refusal);
    this.takeReasoning(delta);
    if (!Array.isArray(delta.tool_calls)) return;
    for (const piece of delta.tool_calls) if (isJsonObject(piece)) this.takeCall(piece);
  }

  private takeReasoning(delta: Fields): void {
    let told = '';
    for (const field of REASONING_FIELDS) {
      if (field === 'reasoning_details') continue;
      const text = textIn(delta[field]);
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
      if (grows) same[name] = textIn(same[name]) + field;
      else if (field !== null) same[name] = field;
    }
  }

  private takeCall(piece: Fields): void {
    const at = this.placeOf(piece);
    const call = this.calls[at] ?? { name: '', args: '' };
    this.calls[at] = call;
    if (typeof piece.id === 'string' && piece.id !== '') call.id = piece.id;
    if (!isJsonObject(piece.function)) return;
    call.name += textIn(piece.function.name);
    const args = piece.function.arguments;
    const text = typeof args === 'object' && args !== null ? JSON.stringify(args) : textIn(args);
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
}
