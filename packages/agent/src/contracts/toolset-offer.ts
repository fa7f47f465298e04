/** The stored offers of toolsets: which tools a session took up or refused, and what has changed. */
import { ref } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';

const name = z.string().min(1).max(64);

/** The memory of one tool of a toolset: the accepted descriptor, and one that a person has refused. */
export const knownTool = z.strictObject({ name, accepted: z.nullable(ref()), refused: z.nullable(ref()) });

/** The memory of one tool of a toolset. */
export type KnownTool = z.infer<typeof knownTool>;

/** `ToolsetDiff`: a toolset's offer compared with what a session took up. Descriptors are values behind links. */
export const toolsetDiff = z.strictObject({
  added: z.array(z.strictObject({ tool: name, after_ref: ref() })),
  removed: z.array(name),
  changed: z.array(z.strictObject({ tool: name, before_ref: z.nullable(ref()), after_ref: ref() })),
  /** The changed or new tools that a model is not shown. */
  withheld: z.array(name),
  /** The tools that exist but are not offered, by their names at the origin, with the reason. */
  left_out: z.exactOptional(z.array(z.strictObject({ tool: z.string().max(256), why: z.string().max(1024) }))),
});

/** A toolset's offer compared with what a session took up. */
export type ToolsetDiff = z.infer<typeof toolsetDiff>;
