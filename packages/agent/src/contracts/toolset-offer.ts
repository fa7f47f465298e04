/** What is kept, as content, of what toolsets offer: what was taken up and refused of each tool, and what is different. */
import { ref } from '@reprise/contracts';
import * as z from 'zod';

const name = z.string().min(1).max(64);

/** What is remembered of a tool of a toolset: the descriptor that counts, and one that a person has refused. */
export const knownTool = z.strictObject({ name, accepted: z.nullable(ref()), refused: z.nullable(ref()) });

/** What is remembered of a tool of a toolset. */
export type KnownTool = z.infer<typeof knownTool>;

/** `ToolsetDiff`: what a toolset offers, held against what a session took up of it. Descriptors are values behind links. */
export const toolsetDiff = z.strictObject({
  added: z.array(z.strictObject({ tool: name, after_ref: ref() })),
  removed: z.array(name),
  changed: z.array(z.strictObject({ tool: name, before_ref: z.nullable(ref()), after_ref: ref() })),
  /** Those of them that a model is not told of. */
  withheld: z.array(name),
  /** Those that are there and not offered, by their names there, and why. */
  left_out: z.exactOptional(z.array(z.strictObject({ tool: z.string().max(256), why: z.string().max(1024) }))),
});

/** What a toolset offers, held against what a session took up of it. */
export type ToolsetDiff = z.infer<typeof toolsetDiff>;
