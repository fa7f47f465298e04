/** Random conversations over AG-UI: what the model writes, live and at last, and what people and connections do. */
import * as fc from 'fast-check';

/** A piece of live output. */
export interface Piece {
  readonly channel: 'text' | 'reasoning';
  readonly text: string;
}

const CALLS = ['paid', 'free', 'unlucky', 'asks', 'unknown', 'unfit', 'spawns', 'waits'] as const;

/** One answer of the model. */
export interface ModelAnswer {
  /** What is streamed: attempts that break, the last of which need not agree with the answer either. */
  readonly attempts: readonly (readonly Piece[])[];
  readonly reasoning: string;
  readonly text: string;
  readonly calls: readonly (typeof CALLS)[number][];
  readonly fails: boolean;
}

/** What happens next. What a person answers to an interrupt counts when there is one. */
export interface Act {
  readonly do: 'say' | 'say twice' | 'again' | 'from elsewhere' | 'new page';
  readonly answer: 'approve' | 'deny' | 'edit' | 'cancel';
  /** After so many bytes the connection is cut, and the request is sent again; zero: never. */
  readonly cut: number;
  /** After so many turns of the event loop the run is cancelled from elsewhere; zero: never. */
  readonly cancel: number;
}

/** A conversation. */
export interface History {
  readonly answers: readonly ModelAnswer[];
  readonly acts: readonly Act[];
}

const word = fc.stringMatching(/^[abé☃]{0,3}$/u);
const piece = fc.record({ channel: fc.constantFrom('text', 'reasoning'), text: word });
const rare = fc.integer({ min: 0, max: 9 }).map((n) => n === 0);
const rarely = (max: number) => fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max }));

const answer: fc.Arbitrary<ModelAnswer> = fc.record({
  attempts: fc.array(fc.array(piece, { maxLength: 5 }), { maxLength: 3 }),
  reasoning: word,
  text: word,
  calls: fc.oneof(
    { weight: 2, arbitrary: fc.constant([]) },
    { weight: 3, arbitrary: fc.array(fc.constantFrom(...CALLS), { maxLength: 3 }) },
  ),
  fails: rare,
});

const act: fc.Arbitrary<Act> = fc.record({
  do: fc.oneof(
    { weight: 5, arbitrary: fc.constant('say' as const) },
    { weight: 1, arbitrary: fc.constantFrom('say twice', 'again', 'from elsewhere', 'new page') },
  ),
  answer: fc.constantFrom('approve', 'deny', 'edit', 'cancel'),
  cut: fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 2_500 })),
  cancel: rarely(12),
});

/** Any conversation. */
export const anyHistory: fc.Arbitrary<History> = fc.record({
  answers: fc.array(answer, { maxLength: 8 }),
  acts: fc.array(act, { minLength: 1, maxLength: 6 }),
});
