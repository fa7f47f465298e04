/** The shape of what `reprise waiting --json` prints. */
import * as z from '@reprise/contracts/schema';
import { owner } from '../names/owner.js';

const count = z.int().min(0);

/** What kinds of things wait. */
const WAITING_KINDS = [
  /** A person approves or denies an effect. */
  'approval',
  /** A person answers a question of an agent, of a node or of a tool. */
  'question',
  /** Another system settles an effect that it took over. */
  'outside',
  /** A session goes on with the next message. */
  'input',
  /** A session has reached a limit, and goes on with another one. */
  'limit',
  /** A session or a node was paused, or inputs wait behind a run that failed or was cancelled. */
  'pause',
  /** A project cannot go on before a person decides. */
  'decision',
  /** A person reviews what an agent has brought back. */
  'review',
] as const;

/** One thing that waits for people or for another system. */
const waitingItem = z.strictObject({
  /** What names it among all that waits: the cursor of a page. */
  id: z.string(),
  kind: z.enum(WAITING_KINDS),
  of: owner,
  /** What waits, in words and in one line; words of others stand in it. */
  what: z.string(),
  /** The answers that a question accepts, where it lists them. */
  options: z.array(z.string()),
  /** The principals that may answer besides the operator, as a pattern; null where everybody who may act may do it. */
  to: z.nullable(z.string()),
  /** Since when, in journal milliseconds; null for before the newest snapshot. */
  since: z.nullable(count),
  frame: z.nullable(count),
  /** When it stops waiting by itself. */
  until: z.nullable(count),
  /** How to answer it: a line for a shell, or for the program that has the world open. */
  answer: z.strictObject({ in: z.enum(['shell', 'program']), line: z.string() }),
});

/** One thing that waits for people or for another system. */
export type WaitingItem = z.infer<typeof waitingItem>;

/** A session with a run that is not over and waits for nobody. */
const unfinished = z.strictObject({
  of: owner,
  /** `Running`, or `Cancelling` for one that is about to end. */
  lifecycle: z.string(),
  since: z.nullable(count),
  frame: z.nullable(count),
  /** What it does: its open effects. */
  doing: z.array(z.strictObject({ what: z.string(), attempt: count })),
});

/** A session with a run that is not over and waits for nobody. */
export type Unfinished = z.infer<typeof unfinished>;

/** The answer of `pendingIn`: what waits, and what is at work. */
export const waitingReport = z.strictObject({
  /** The frame after which it holds, and its time. */
  frame: z.int(),
  at: z.nullable(count),
  /** Whether a process has the world open; null for a frame of the past. */
  process: z.nullable(z.enum(['open', 'closed', 'died', 'unknown'])),
  waiting: z.array(waitingItem),
  /** Sessions that are at work, or go on when the program starts again. On the first page only. */
  unfinished: z.array(unfinished),
  /** The cursor of the next page of `waiting`; null on the last one. */
  next: z.nullable(z.string()),
});

/** The answer of `pendingIn`: what waits, and what is at work. */
export type WaitingReport = z.infer<typeof waitingReport>;
