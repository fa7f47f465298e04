/** The shape of the answer about trust over time. */
import * as z from '@reprise/contracts/schema';
import { entityName, trustChange, verdictShape } from '../verdicts/index.js';

const count = z.int().min(0);

/** A verdict, and what it did to trust. */
const trustStep = z.strictObject({
  ...verdictShape,
  /** The item that was judged: `group:research#7`. */
  item: z.string(),
  trust: trustChange,
});

/** The trust of one entity in another, and how it came to be. */
const trustPair = z.strictObject({
  observer: entityName,
  agent: entityName,
  /** After the last change: from 0 to 1,000,000, the share of items that are expected to be right. */
  score_ppm: count,
  observations: count,
  tier: z.string(),
  /** In the order of frames: at least one. */
  changes: z.array(trustStep),
});

/** The trust of one entity in another, and how it came to be. */
export type TrustPair = z.infer<typeof trustPair>;

/** The answer of `trustOf`: trust over time. */
export const trustReport = z.strictObject({
  frame: z.int(),
  /** By the name of the author, then by that of the observer. */
  pairs: z.array(trustPair),
  /** The cursor of the next page of pairs; null on the last one. */
  next: z.nullable(z.string()),
});

/** The answer of `trustOf`: trust over time. */
export type TrustReport = z.infer<typeof trustReport>;
