/** The answer of one step while a model gives it: its reasoning, then its text. */
import type { Delta } from '@reprise/agent';
import { reasoningIdOf } from './conversation.js';
import type { AgUiEvent, Message } from './events.js';
import { FORMS, Spoken } from './spoken.js';

/** One step's answer across all attempts. */
export class Answer {
  readonly #text: Spoken;
  readonly #reasoning: Spoken;

  constructor(readonly step: string) {
    this.#text = new Spoken(step, FORMS.text);
    this.#reasoning = new Spoken(reasoningIdOf(step), FORMS.reasoning);
  }

  /** Whether a client has something that a snapshot must correct. */
  get isWrong(): boolean {
    return this.#text.isWrong || this.#reasoning.isWrong;
  }

  /** The attempt broke off, and another one begins. */
  again(): void {
    this.#text.again();
    this.#reasoning.again();
  }

  *live(piece: Delta): Generator<AgUiEvent> {
    if (piece.type === 'delta.reset') this.again();
    else if (piece.channel === 'reasoning') yield* this.#reasoning.say(piece.text);
    else if (piece.channel === 'text') {
      yield* this.#reasoning.close();
      yield* this.#text.say(piece.text);
    }
  }

  /** Ends with the final texts; with none when the answer never came. */
  *finish({
    reasoning = '',
    text = '',
  }: {
    readonly reasoning?: string;
    readonly text?: string;
  }): Generator<AgUiEvent> {
    yield* this.#reasoning.finish(reasoning);
    yield* this.#text.finish(text);
  }

  /** The messages as a snapshot holds them while the answer is under way, and after it. */
  get messages(): readonly Message[] {
    const { id, shown } = this.#reasoning;
    return [
      ...(shown === '' ? [] : [{ id, role: 'reasoning' as const, content: shown }]),
      ...(this.#text.shown === '' ? [] : [{ id: this.step, role: 'assistant' as const, content: this.#text.shown }]),
    ];
  }

  corrected(): void {
    this.#text.corrected();
    this.#reasoning.corrected();
  }
}
