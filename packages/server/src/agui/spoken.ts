/**
 * A text that a model writes, as a message of the protocol, across all attempts to write it. An attempt may break off and begin
 * again, and the journal has the last word. A message can only grow: what differs is corrected by a snapshot of all messages.
 *
 * Invariants
 * K1  What is told and not corrected is a beginning of the text.
 * K2  A message that was ended is opened again only behind a snapshot, which holds it as far as it was told.
 */
import type { AgUiEvent } from './events.js';

/** The events of one kind of text. */
interface Form {
  start(messageId: string): readonly AgUiEvent[];
  piece(messageId: string, delta: string): AgUiEvent;
  end(messageId: string): readonly AgUiEvent[];
}

/** The forms of an answer and of the reasoning before it. */
export const FORMS: Readonly<Record<'text' | 'reasoning', Form>> = {
  text: {
    start: (messageId) => [{ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' }],
    piece: (messageId, delta) => ({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta }),
    end: (messageId) => [{ type: 'TEXT_MESSAGE_END', messageId }],
  },
  reasoning: {
    start: (messageId) => [
      { type: 'REASONING_START', messageId },
      { type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning' },
    ],
    piece: (messageId, delta) => ({ type: 'REASONING_MESSAGE_CONTENT', messageId, delta }),
    end: (messageId) => [
      { type: 'REASONING_MESSAGE_END', messageId },
      { type: 'REASONING_END', messageId },
    ],
  },
};

/** One text of one step. */
export class Spoken {
  /** What a client has of it, once it has been corrected. */
  shown = '';
  /** Whether a client has something else of it. */
  isWrong = false;
  #heard = '';
  #isOpen = false;
  /** Whether the message may be opened (K2). */
  #mayOpen = true;

  constructor(
    readonly id: string,
    private readonly form: Form,
  ) {}

  /** A piece of the current attempt. */
  *say(piece: string): Generator<AgUiEvent> {
    this.#heard += piece;
    if (!this.shown.startsWith(this.#heard)) yield* this.#become(this.#heard);
  }

  /** The attempt broke off, and another one begins. */
  again(): void {
    this.#heard = '';
  }

  /** The text as the journal has it; empty for an answer that never came. */
  *finish(text: string): Generator<AgUiEvent> {
    yield* this.#become(text);
    yield* this.close();
  }

  *close(): Generator<AgUiEvent> {
    if (this.#isOpen) yield* this.form.end(this.id);
    this.#isOpen = false;
  }

  /** A snapshot held it as it is shown. */
  corrected(): void {
    this.isWrong = false;
    this.#mayOpen = true;
  }

  *#become(text: string): Generator<AgUiEvent> {
    const rest = text.slice(this.shown.length);
    const grows = text.startsWith(this.shown);
    if (grows && rest === '') return;
    this.shown = text;
    if (!grows || (!this.#isOpen && !this.#mayOpen)) {
      this.isWrong = true;
      yield* this.close();
      return;
    }
    if (!this.#isOpen) yield* this.form.start(this.id);
    this.#isOpen = true;
    this.#mayOpen = false;
    yield this.form.piece(this.id, rest);
  }
}
