/**
 * The actor of a message, a decision, an answer or a verdict: who did it, as data. A principal says whose rights
 * counted; an actor says whether a person, a rule, a program or a node of an organization acted.
 */
import * as z from './schema/index.js';

const id = z.string().min(1).max(512);

/** One actor. A rule acts by the grant of a person: `granted_by` names who set it up, null for the author of the app. */
const ONE = [
  z.strictObject({ kind: z.literal('person'), id }),
  z.strictObject({ kind: z.literal('rule'), id, granted_by: z.nullable(id) }),
  z.strictObject({ kind: z.literal('program'), id }),
  z.strictObject({ kind: z.literal('node'), id }),
] as const;

/** One actor, as `several` lists them. */
export const singleActor = z.discriminatedUnion('kind', ONE);

/** One actor, as `several` lists them. */
export type SingleActor = z.infer<typeof singleActor>;

/** Who acted: a person, a rule, a program, a node, or several of them together. */
export const actor = z.discriminatedUnion('kind', [
  ...ONE,
  z.strictObject({ kind: z.literal('several'), of: z.array(singleActor).min(2).max(64) }),
]);

/** Who acted: a person, a rule, a program, a node, or several of them together. */
export type Actor = z.infer<typeof actor>;
