/** The shape of what says whether anything ran twice. */
import * as z from '@reprise/contracts/schema';
import { owner } from '../names/owner.js';

const count = z.int().min(0);
const place = z.strictObject({ frame: count, at: count });

/** Why an effect is listed. */
const ATTEMPT_KINDS = [
  /** It was started more than once: an attempt was interrupted, or failed in a way that permits another one. */
  'again',
  /** Its outcome is unknown: it may have happened, and is not started again. */
  'unknown',
  /** It had ended, and another outcome was reported afterwards: by its adapter, or for it. */
  'late',
] as const;

/** An effect that may have happened more often, or otherwise, than its receipt says. */
const attemptRow = z.strictObject({
  effect: z.string(),
  kind: z.enum(ATTEMPT_KINDS),
  of: owner,
  /** The effect in words: a call by its tool and arguments. */
  what: z.string(),
  guarantee: z.enum(['idempotent', 'at_most_once', 'reconcile']),
  /** How often it was started: it may have happened so often. */
  attempts: count,
  /**
   * The frame that made it a row: of the latest attempt, of the receipt, of the late outcome. Null for an effect that was
   * started again before the first frame, and was open there.
   */
  place: z.nullable(place),
  /** The status of its receipt; null while it is open. */
  outcome: z.nullable(z.string()),
  /** The outcome that came late. */
  reported: z.nullable(z.string()),
});

/** An effect that may have happened more often, or otherwise, than its receipt says. */
export type AttemptRow = z.infer<typeof attemptRow>;

/** The answer of `attemptsOf`: what may have run twice. */
export const attemptsReport = z.strictObject({
  /** The first and the last frame that count; the first is behind the last when no frame follows the snapshot. */
  from: count,
  frame: z.int(),
  rows: z.array(attemptRow),
  /** The cursor of the next page; null on the last one. */
  next: z.nullable(z.string()),
});

/** The answer of `attemptsOf`: what may have run twice. */
export type AttemptsReport = z.infer<typeof attemptsReport>;
