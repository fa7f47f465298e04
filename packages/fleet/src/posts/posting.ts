/** Posts calls, and waits for their answers: in any process of the fleet, wherever they are executed. */
import { RepriseError } from '@reprise/contracts';
import type { FoundCall, PostedCall, PostedCalls, PostedKey } from '@reprise/store-postgres';
import { pause } from '../time/waits.js';
import { readOutcome, type UnansweredReason } from '../wire/outcome.js';

/** How long a caller waits for an answer, and how often it looks. */
interface AnswerWait {
  readonly lookMs: number;
  /** Aborted when the time is over, or nobody waits any more. */
  readonly signal: AbortSignal;
}

const WHY = {
  waiting: {
    actual: 'it has not been executed yet',
    hint: 'Ask again later, from any process. `reprise fleet status` shows what waits.',
  },
  forgotten: {
    actual: 'no such call is posted: it never was, or its answer is removed',
    hint: 'Post it again with the same id: then it is executed once, and answered again.',
  },
} as const satisfies Partial<Readonly<Record<UnansweredReason, object>>>;

/** The posted calls of a fleet, as those see them who post. */
export class Posting {
  constructor(private readonly posts: PostedCalls) {}

  /** Resolves when the call is durable. @throws RepriseError `request_conflict`, `bound_exceeded`, `store_failed` */
  post(call: PostedCall): Promise<void> {
    return this.posts.put(call);
  }

  /**
   * Waits for the answer of a posted call.
   *
   * @returns the bytes of the output
   * @throws RepriseError `call_unanswered` with the reason `waiting` or `forgotten`, the error with which the call has
   *   failed, `request_conflict` when the call is one of another operation
   */
  async answer(key: PostedKey, operation: string, { lookMs, signal }: AnswerWait): Promise<Uint8Array> {
    const where = `${operation} of ${key.world}`;
    let bell = new AbortController();
    let stop: (() => void) | undefined;
    const over = (): void => bell.abort();
    signal.addEventListener('abort', over);
    try {
      for (;;) {
        bell = new AbortController();
        const found = await this.posts.find(key);
        if (found === undefined) throw notAnswered('forgotten', where);
        if (found.operation !== operation) throw another(key, found.operation);
        if (found.answer !== undefined) return outputOf(found.answer, where);
        if (signal.aborted) throw notAnswered('waiting', where);
        if (stop === undefined) {
          stop = await this.posts.await(found.row, () => bell.abort());
          continue; // it may have been answered before anybody said that it is waited for
        }
        await pause(lookMs, bell.signal);
      }
    } finally {
      signal.removeEventListener('abort', over);
      stop?.();
    }
  }
}

function outputOf(answer: NonNullable<FoundCall['answer']>, where: string): Uint8Array {
  const outcome = readOutcome(answer);
  if (outcome?.kind === 'answer') return outcome.output;
  if (outcome?.kind === 'error') throw outcome.error;
  throw new RepriseError('store_failed', 'the answer of a posted call cannot be read', {
    where,
    hint: 'A newer release may have written it: ask there.',
  });
}

function notAnswered(reason: keyof typeof WHY, where: string): RepriseError {
  return new RepriseError('call_unanswered', 'a posted call has no answer', { where, reason, ...WHY[reason] });
}

function another({ world, request }: PostedKey, actual: string): RepriseError {
  return new RepriseError('request_conflict', 'a call of another operation was posted under this id', {
    ...{ where: world, id: request, actual, hint: 'Ask with the operation that was posted.' },
  });
}
