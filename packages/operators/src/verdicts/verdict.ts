/** A verdict of an entity on an item, as reports show it. */
import * as z from '@reprise/contracts/schema';

const count = z.int().min(0);
const ppm = z.int().min(0).max(1_000_000);

/** A frame, and the time of it in milliseconds since 1970. */
export const framePlace = z.strictObject({ frame: count, at: count });

/** A frame, and the time of it in milliseconds since 1970. */
export type FramePlace = z.infer<typeof framePlace>;

/** An entity of a society, by its id and its name. */
export const entityName = z.strictObject({ id: z.string(), name: z.string() });

/** What a verdict made of the trust of its observer in the author: scores in millionths, and the tier after it. */
export const trustChange = z.strictObject({ old_ppm: ppm, ppm, tier: z.string(), observations: count });

/** A verdict on an item. */
export const verdictShape = {
  ...framePlace.shape,
  /** `right`, `wrong`, `retract` of an earlier one, or `validated` for an item that leaves its quarantine. */
  verdict: z.enum(['right', 'wrong', 'retract', 'validated']),
  /** What it rests on: `user`, `cross_reference` or `temporal`; null for a validation. */
  basis: z.nullable(z.string()),
  /** Who gave it in the name of the observer, in words: `rule any_wrong_vote`; null where the observer itself did. */
  by: z.nullable(z.string()),
  /** What it did to the trust of the observer in the author; null for a validation. */
  trust: z.nullable(trustChange),
} as const;
