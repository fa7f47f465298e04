/** The shape of what `reprise fork --json` prints. */
import * as z from '@reprise/contracts/schema';
import { owner } from '../names/owner.js';

const count = z.int().min(0);

/** An effect of a fork or of its original, in words. */
const forkEffect = z.strictObject({
  effect: z.string(),
  of: owner,
  what: z.string(),
  frame: count,
});

/** An effect of a fork or of its original, in words. */
export type ForkEffect = z.infer<typeof forkEffect>;

/** A world that shares its past with another. */
const forkLink = z.strictObject({
  /** The path, as it was named. */
  path: z.string(),
  world: z.string(),
  mode: z.enum(['dry', 'live']),
  from: z.strictObject({ world: z.string(), seq: z.int().min(0), head: z.string() }),
  /** The number of frames of its own. */
  own: count,
});

/** A world that shares its past with another. */
export type ForkLink = z.infer<typeof forkLink>;

/** The answer of `whatIf`: the fork that was made, and what it did otherwise than its original. */
export const whatIfReport = z.strictObject({
  /** The id of the fork, and the last frame that it shares with its original. */
  world: z.string(),
  at: z.int().min(0),
  /** The effects that were open there, which its first own frame settled. */
  settled: count,
  /** What was given in place of the recorded outcomes, by effects of the original. */
  instead: z.array(z.strictObject({ effect: z.string(), what: z.string(), status: z.string() })),
  /** The requests of the original that were repeated, and those that were refused; null when none were asked for. */
  fed: z.nullable(
    z.strictObject({
      sent: count,
      refused: z.array(z.strictObject({ seq: count, id: z.string(), code: z.string() })),
    }),
  ),
  /** Effects that were the same as in the original and got its outcomes. */
  matched: count,
  /** Effects that the original did not have: no adapter was called for them, and they were denied. */
  unmatched: z.array(forkEffect),
  /** Effects of the original after the cut that the fork does not have. */
  unused: z.array(forkEffect),
  /** The first frame of the fork with the input of a frame of the original and another result; null for none. */
  departure: z.nullable(z.strictObject({ seq: count, original: count })),
});

/** The answer of `whatIf`: the fork that was made, and what it did otherwise than its original. */
export type WhatIfReport = z.infer<typeof whatIfReport>;

/** The answer of `forksOf`: the worlds that share their past with one. */
export const forksReport = z.strictObject({ world: z.string(), forks: z.array(forkLink) });

/** The answer of `forksOf`: the worlds that share their past with one. */
export type ForksReport = z.infer<typeof forksReport>;
