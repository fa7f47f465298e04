/** The questions of running effects: each is asked once, and answered by a durable record. */
import { isRepriseError, isWhole, RepriseError } from '@reprise/contracts';
import type { EffectQuestion, QuestionAnswer } from '../../ports/adapter/adapter.js';
import { isPattern } from '../../pure/authority/index.js';
import { copyValue, decode, encode } from '../../pure/codec/index.js';
import { type AskedQuestion, type EffectLeaf, isSameQuestion, VALUE_BYTES_MAX } from '../../pure/engine/index.js';
import type { AskedOutside } from './outside.js';

const CANCELLED: QuestionAnswer = { how: 'cancelled' };

/** Follows the questions of all effects of a world. */
export class Questions {
  readonly #asked = new Map<string, readonly AskedQuestion[]>();
  readonly #waiting = new Map<string, Set<() => void>>();
  #closed = false;

  constructor(private readonly journal: (effect: string, attempt: number, asked: AskedOutside) => Promise<void>) {}

  /** The questions of one execution of an effect: the first is number 0, and so on. */
  of(effect: string, attempt: number, signal: AbortSignal): { ask(question: EffectQuestion): Promise<QuestionAnswer> } {
    let n = 0;
    return { ask: (question) => this.#ask(effect, attempt, n++, question, signal) };
  }

  /** Takes in a durable record of an effect. */
  follow(effect: string, { asks, late }: EffectLeaf): void {
    if (asks !== undefined && late === undefined) this.#asked.set(effect, asks);
    else this.#asked.delete(effect);
    this.#wake(effect);
  }

  /** The effect is not open any more. */
  forget(effect: string): void {
    this.#asked.delete(effect);
    this.#wake(effect);
  }

  /** Cancels all questions: no answer will come any more. */
  close(): void {
    this.#closed = true;
    for (const effect of [...this.#waiting.keys()]) this.#wake(effect);
  }

  async #ask(
    effect: string,
    attempt: number,
    n: number,
    given: EffectQuestion,
    signal: AbortSignal,
  ): Promise<QuestionAnswer> {
    const asked = checked(given, n);
    const known = this.#find(effect, n);
    if (known === undefined || !isSameQuestion(known, asked.question)) {
      if (signal.aborted || this.#closed) return CANCELLED;
      try {
        await this.journal(effect, attempt, asked);
      } catch (error) {
        if (isRepriseError(error, 'effect_settled') || isRepriseError(error, 'world_closed')) return CANCELLED;
        throw error;
      }
    }
    return this.#answer(effect, n, signal);
  }

  async #answer(effect: string, n: number, signal: AbortSignal): Promise<QuestionAnswer> {
    for (;;) {
      const asked = this.#find(effect, n);
      const { answer } = asked ?? {};
      if (answer !== undefined) {
        return 'expired' in answer
          ? { how: 'expired' }
          : { how: 'answered', by: answer.by, value: copyValue(answer.value) };
      }
      if (asked === undefined || signal.aborted || this.#closed) return CANCELLED;
      await this.#change(effect, signal);
    }
  }

  #find(effect: string, n: number): AskedQuestion | undefined {
    return this.#asked.get(effect)?.find((asked) => asked.n === n);
  }

  #change(effect: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(effect) ?? new Set();
      this.#waiting.set(effect, waiting);
      const done = (): void => {
        waiting.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      waiting.add(done);
      signal.addEventListener('abort', done, { once: true });
    });
  }

  #wake(effect: string): void {
    for (const done of [...(this.#waiting.get(effect) ?? [])]) done();
    this.#waiting.delete(effect);
  }
}

/** Checks that the journal can hold a question. An adapter that asks anything else has a defect to fix. */
function checked({ question, to, expires }: EffectQuestion, n: number): AskedOutside {
  const bytes = encode(question);
  if (bytes.length > VALUE_BYTES_MAX) {
    throw new RepriseError('bound_exceeded', 'the question is too large', {
      expected: `at most ${VALUE_BYTES_MAX} bytes`,
      actual: `${bytes.length} bytes`,
      hint: 'Put the material into the content store and ask with its ref.',
    });
  }
  if (to !== undefined && !isPattern(to)) throw wrong('to', 'a pattern of principals, such as human:*', to);
  if (expires !== undefined && !isWhole(expires)) {
    throw wrong('expires', 'a time in whole milliseconds', expires);
  }
  return { n, question: decode(bytes), to: to ?? null, expires: expires ?? null };
}

function wrong(where: string, expected: string, actual: unknown): RepriseError {
  return new RepriseError('invalid_argument', 'invalid question', { where, expected, actual });
}
