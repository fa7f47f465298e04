/** Reads a streamed chat-completions answer: reports each piece and builds the whole answer. */
import { isJsonObject } from '../model/json.js';
import { AnswerStream, type Fields, textIn } from '../wire/answer-stream.js';
import { ChatCalls } from './chat-calls.js';
import { contentParts, GrowingContent } from './chat-content.js';
import { REASONING_FIELDS } from './chat-request.js';

/** The parts of an answer, streamed or whole. */
interface ChatAnswer {
  readonly id?: unknown;
  readonly model?: unknown;
  readonly choices: readonly [
    { readonly finish_reason?: unknown; readonly message: Readonly<Record<string, unknown>> },
  ];
  readonly usage?: unknown;
}

/** Builds the whole answer from the pieces of a stream. */
export class ChatStream extends AnswerStream {
  private readonly content = new GrowingContent();
  private readonly reasoning: Record<string, string> = {};
  private readonly details = new Map<string, Record<string, unknown>>();
  private readonly calls = new ChatCalls();
  /** A call in the format's older form, which allows only one. */
  private readonly onlyCall = new ChatCalls();
  private readonly name = new AnswerName();
  private finish: unknown;
  private usage: unknown;
  private choice: unknown;

  protected override readonly typed = false;

  protected whole(): ChatAnswer | undefined {
    const [calls, onlyCall] = [this.calls.whole(), this.onlyCall.whole()];
    if (calls === undefined || onlyCall === undefined) {
      this.spoil('a call is incomplete');
      return undefined;
    }
    for (const code of this.calls.warnings) this.warn(code);
    const message = {
      content: this.content.whole(),
      ...this.reasoning,
      ...(this.details.size === 0 ? {} : { reasoning_details: [...this.details.values()] }),
      ...(onlyCall.length === 0 ? {} : { function_call: onlyCall[0]?.function }),
      tool_calls: calls,
    };
    const { id, model } = this.name;
    return { id, model, choices: [{ finish_reason: this.finish, message }], usage: this.usage };
  }

  get reported(): unknown {
    return this.usage;
  }

  protected override takeDone(): void {
    // The finish reason comes before this mark, and the usage between the two.
    this.ended = true;
    this.over = true;
  }

  protected take(event: Fields): void {
    const choices = listIn(event.choices);
    if (choices === undefined) return this.spoil('the choices are no list of objects');
    const hasError = event.error !== undefined && event.error !== null && event.error !== false;
    const broken = choices.find(({ error }) => isJsonObject(error));
    if (broken !== undefined) this.takeError({ error: broken.error });
    else if ((hasError || event.choices === undefined) && this.takeError(event)) return;
    else this.takeChunk(event, choices);
  }

  private takeChunk(chunk: Fields, choices: readonly Fields[]): void {
    const [first] = choices;
    if (choices.some(({ index }) => !isGone(index) && typeof index !== 'number')) {
      return this.spoil('the number of a choice cannot be read');
    }
    if (first !== undefined) this.choice ??= first.index;
    const choice = choices.find(({ index }) => isGone(index) || index === this.choice);
    const groq: Fields = isJsonObject(chunk.x_groq) ? chunk.x_groq : {};
    // Several servers send the usage inside the choice.
    this.usage = chunk.usage ?? choice?.usage ?? groq.usage ?? this.usage;
    if (choice === undefined) return;
    if (!isGone(choice.delta) && !isJsonObject(choice.delta)) return this.spoil('a delta is no object');
    const delta = isJsonObject(choice.delta) ? choice.delta : this.deltaOf(choice);
    if (textIn(chunk.model) !== '') this.name.model ??= chunk.model;
    if (this.name.beginsAnew(chunk.id, delta.role)) this.spoil('a second answer starts');
    else this.takeDelta(delta);
    if (typeof choice.finish_reason !== 'string' || choice.finish_reason === '') return;
    this.finish = choice.finish_reason;
    this.ended = true;
  }

  /** The pieces of a choice without a delta: some servers send the message whole, or the text alone. */
  private deltaOf({ message, text }: Fields): Fields {
    if (typeof text === 'string' && text !== '') {
      this.warn('text_without_delta');
      return { content: text };
    }
    if (!isJsonObject(message)) return {};
    if (this.text === '' && !this.calls.any) {
      this.warn('message_without_delta');
      return message;
    }
    // The message again, after its pieces.
    if (this.text !== textOf(message)) this.spoil('the message at the end is not the one that was streamed');
    return {};
  }

  private takeDelta(delta: Fields): void {
    this.takeContent(delta.content);
    const refusal = textIn(delta.refusal);
    if (refusal !== '') this.takeContent([{ type: 'refusal', refusal }]);
    this.takeReasoning(delta);
    const pieces = listIn(delta.tool_calls);
    if (pieces === undefined) return this.spoil('the calls are no list of objects');
    for (const piece of pieces) this.takeCall(this.calls, piece);
    if (isGone(delta.function_call)) return;
    this.takeCall(this.onlyCall, { index: 0, id: 'only', function: delta.function_call });
  }

  private takeContent(content: unknown): void {
    const parts = contentParts(content);
    if (parts === undefined || !this.content.add(parts))
      return this.spoil('the content is no text and no list of parts');
    for (const part of parts) {
      if (part.kind === 'text' || part.kind === 'refusal') this.say(part.text);
      else if (part.kind === 'thinking') this.tellPiece('reasoning', 0, part.text);
      if (part.kind === 'thinking' || part.kind === 'other') this.keeps();
    }
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

  /** Joins pieces of one reasoning detail: they share an index and a type. */
  private takeDetail(piece: Fields): void {
    const place = JSON.stringify([piece.index ?? null, piece.type ?? null]);
    const same = this.details.get(place);
    this.keeps();
    if (same === undefined) {
      this.details.set(place, { ...piece });
      return;
    }
    for (const [name, field] of Object.entries(piece)) {
      const grows = ['text', 'summary', 'data'].includes(name) && typeof field === 'string';
      if (grows) same[name] = textIn(same[name]) + field;
      else if (field !== null) same[name] = field;
    }
  }

  private takeCall(calls: ChatCalls, piece: Fields): void {
    const added = calls.take(piece);
    if (added === undefined) this.spoil('it is not clear to which call a piece belongs');
    else this.tellPiece('tool_args', added.place, added.args);
  }
}

function isGone(field: unknown): boolean {
  return field === undefined || field === null;
}

/** The objects of a list that may be missing; undefined when it is something else. */
function listIn(field: unknown): readonly Fields[] | undefined {
  if (isGone(field)) return [];
  return Array.isArray(field) && field.every(isJsonObject) ? field : undefined;
}

/** The text of a message that did not come in pieces. */
function textOf({ content, refusal }: Fields): string {
  const parts = contentParts(content) ?? [];
  return `${parts.map((part) => (part.kind === 'text' || part.kind === 'refusal' ? part.text : '')).join('')}${textIn(refusal)}`;
}

/** Tracks the answer's id, which its chunks carry, unless each chunk carries a new one. */
class AnswerName {
  id: unknown;
  model: unknown;
  private times = 0;

  /** Whether a chunk starts another answer: after a failure, some gateways ask another server in the same stream. */
  beginsAnew(id: unknown, role: unknown): boolean {
    if (id === undefined || id === null || id === '') return false;
    this.id ??= id;
    if (id === this.id) this.times++;
    return id !== this.id && this.times > 1 && textIn(role) !== '';
  }
}
