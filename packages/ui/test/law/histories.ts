/** Random conversations: what the model writes, live and at last, and what people do meanwhile. */
import * as fc from 'fast-check';

/** A piece of live output. */
export interface Piece {
  readonly channel: 'text' | 'reasoning';
  readonly text: string;
}

/** One answer of the model. */
export interface Answer {
  /** What is streamed: attempts that break, the last of which need not agree with the answer either. */
  readonly attempts: readonly (readonly Piece[])[];
  readonly reasoning: string;
  readonly text: string;
  readonly calls: readonly ('paid' | 'asks' | 'free')[];
  readonly fails: boolean;
}

/** What a person or a page does. */
export type Act =
  | { readonly do: 'send' | 'steer' | 'approve' | 'deny' | 'answer' | 'cancel' | 'withdraw' | 'resume' }
  /** Each page loads again, or reconnects behind the last event it has. */
  | { readonly do: 'reload' };

/** A conversation: after each act, so many turns of the event loop pass. */
export interface Conversation {
  /** Whether a run stays open for more input. */
  readonly waits: boolean;
  readonly answers: readonly Answer[];
  readonly acts: readonly (readonly [act: Act, turns: number])[];
}

const word = fc.stringMatching(/^[ab]{0,2}$/);
const piece = fc.record({ channel: fc.constantFrom('text', 'reasoning'), text: word });
const attempts = fc.array(fc.array(piece, { maxLength: 5 }), { maxLength: 3 });
const rare = fc.integer({ min: 0, max: 9 }).map((n) => n === 0);

const answer: fc.Arbitrary<Answer> = fc.record({
  attempts,
  reasoning: word,
  text: word,
  calls: fc.oneof(
    { weight: 2, arbitrary: fc.constant([]) },
    { weight: 3, arbitrary: fc.array(fc.constantFrom('paid', 'asks', 'free'), { maxLength: 3 }) },
  ),
  fails: rare,
});

const act: fc.Arbitrary<Act> = fc.record({
  do: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom('send', 'approve', 'reload') },
    { weight: 2, arbitrary: fc.constantFrom('steer', 'deny', 'answer') },
    { weight: 1, arbitrary: fc.constantFrom('cancel', 'withdraw', 'resume') },
  ),
});

/** Any conversation. */
export const anyConversation: fc.Arbitrary<Conversation> = fc.record({
  waits: rare,
  answers: fc.array(answer, { maxLength: 8 }),
  acts: fc.array(fc.tuple(act, fc.integer({ min: 0, max: 12 })), { minLength: 1, maxLength: 12 }),
});
