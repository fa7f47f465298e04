/** The shape of a story: what happened in a world, one line for each act. */
import * as z from '@reprise/contracts/schema';
import { owner } from '../names/owner.js';

const count = z.int().min(0);

/** One line of a story: an act of a session, or of another part of the world. */
const storyEntry = z.strictObject({
  /** The frame and the index of the record: `12.3`. */
  place: z.string(),
  frame: count,
  at: count,
  /** Whose act it is; null for one of the world as a whole. */
  of: z.nullable(owner),
  /** The kind of an entry of a session, or the kind of a record of another part. */
  kind: z.string(),
  /** Who acted, in words; null when nobody did. */
  by: z.nullable(z.string()),
  /** What happened, in words; texts of others are whole. */
  words: z.string(),
  run: z.nullable(count),
  tool: z.nullable(z.string()),
  call_id: z.nullable(z.string()),
  /** The effect of a model call or a tool call that the act is or follows from. */
  effect: z.nullable(z.string()),
});

/** One line of a story: an act of a session, or of another part of the world. */
export type StoryEntry = z.infer<typeof storyEntry>;

/** The answer of `storyOf`: the last entries up to a frame, the oldest first. */
export const storyReport = z.strictObject({
  /** The frame after which it ends. */
  frame: z.int(),
  session: z.nullable(z.string()),
  entries: z.array(storyEntry),
  /** The place to ask for as `before`; null when there is nothing earlier. */
  before: z.nullable(z.string()),
});

/** The answer of `storyOf`: the last entries up to a frame, the oldest first. */
export type StoryReport = z.infer<typeof storyReport>;
