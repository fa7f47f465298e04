/**
 * Asks the user about pending items and about typed commands, one question at a time.
 *
 * Owns: which question stands on the screen, and which typed line decides it (`gate.ts`). Does not own: what a decision
 * does (`chat.ts`).
 */
import type { Terminal } from '../terminal/terminal.js';
import { type Line, span } from '../terminal/text/spans.js';
import { cleared, type Deciding, QUIET_MS, quiet, type Refusal, submit, unask } from './gate.js';

/** A question to the user. */
export interface Question {
  readonly id: string;
  /** What is asked about, in one line. */
  readonly title: Line;
  /** What is asked about, whole. */
  readonly body: readonly Line[];
  /** The question with its choices. */
  readonly ask: readonly Line[];
  /** What a line means for this question. */
  read(text: string): Reading;
}

/** The meaning of a line for a question. */
export type Reading =
  /** It decides; `done` is called when it counts. */
  | { readonly kind: 'decides'; readonly deciding: Deciding; done(): void }
  /** It does something at once, and decides nothing. */
  | { readonly kind: 'does'; done(): void }
  /** It is invalid: the question is asked again. */
  | { readonly kind: 'wrong'; readonly why: string }
  /** It is about something else. */
  | { readonly kind: 'other' };

/** Why a line does not decide, in words. */
export const REFUSED: Readonly<Record<Refusal, string>> = {
  early: 'This was typed before the question stood here, so it decides nothing. Type it again.',
  pasted: 'This arrived in one piece, like a paste: a paste decides nothing. Type the answer.',
  unseen: 'Read it to its end first: Space shows the rest. Then y counts.',
};

/** The question on the screen. */
export class Asking {
  #question: Question | undefined;
  #held: { readonly timer: NodeJS.Timeout; done(): void } | undefined;

  constructor(private readonly terminal: Terminal) {}

  /** The current question. */
  get question(): Question | undefined {
    return this.#question;
  }

  /** Asks a question in place of the current one; undefined: asks nothing. */
  ask(question: Question | undefined): void {
    this.#drop();
    this.#question = question;
    if (question === undefined) this.terminal.panel(undefined);
    else {
      const { id, title, body, ask } = question;
      this.terminal.panel({ id, body: [[span('┃ ', 'yellow'), ...title], ...body.map(framed)], ask });
    }
  }

  /** Shows what is asked about whole. */
  async view(): Promise<void> {
    const question = this.#question;
    if (question === undefined) return;
    const title = question.title.map(({ text }) => text).join('');
    await this.terminal.page(title, [question.title, ...question.body], true);
  }

  /** Takes a submitted line; false if it is about something else. */
  take(text: string): boolean {
    const question = this.#question;
    if (question === undefined) return false;
    const reading = question.read(text);
    switch (reading.kind) {
      case 'other':
        return false;
      case 'wrong':
        this.terminal.print([span(reading.why, 'red')]);
        return true;
      case 'does':
        this.terminal.gate = cleared(this.terminal.gate);
        reading.done();
        return true;
      case 'decides':
        this.#decide(reading);
        return true;
    }
  }

  /** An input was read: it spoils a line that waits for quiet. */
  read(): void {
    if (this.#held === undefined || this.terminal.gate.held !== undefined) return;
    this.#drop();
    this.terminal.print([span(REFUSED.pasted, 'yellow')]);
  }

  #decide({ deciding, done }: Reading & { readonly kind: 'decides' }): void {
    const { gate, refused } = submit(this.terminal.gate, deciding);
    this.terminal.gate = gate;
    if (refused !== undefined) {
      this.terminal.print([span(REFUSED[refused], 'yellow')]);
      return;
    }
    this.#held = { timer: setTimeout(() => this.#quiet(), QUIET_MS * 2), done };
  }

  #quiet(): void {
    const held = this.#held;
    this.#held = undefined;
    const { gate, decides } = quiet(this.terminal.gate);
    this.terminal.gate = gate;
    if (held !== undefined && decides !== undefined && decides === this.#question?.id) held.done();
  }

  #drop(): void {
    clearTimeout(this.#held?.timer);
    this.#held = undefined;
    this.terminal.gate = { ...unask(this.terminal.gate), asked: this.terminal.gate.asked };
  }
}

function framed(line: Line): Line {
  return [span('┃ ', 'yellow'), ...line];
}
