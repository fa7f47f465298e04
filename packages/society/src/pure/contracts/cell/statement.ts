/**
 * How the tools of a society are stated: each once, with what callers write, what its entity receives, and what it answers.
 * What these schemas say to readers alone stands in their notes.
 */

import * as z from '@reprise/contracts/schema';
import { type KeptFields, optional, ownerTool } from '@reprise/org/contracts';
import { AGENT_ID, AGENT_STATUSES, AGENT_TYPES, NAME_ID, ROLES, STAGING_ID, TIERS } from './names.js';

/** What a published JSON Schema says beyond what is checked: the name of a definition, a format, that items are unique. */
interface Notes {
  readonly id?: string;
  readonly format?: string;
  readonly uniqueItems?: true;
  readonly description?: string;
  readonly default?: number;
}

/** The same schema with notes for the JSON Schema that is published of it. They leave no trace in what is journaled. */
export function noted<S extends z.BuiltSchema>(schema: S, notes: Notes): S {
  return schema.meta({ notes });
}

/** A field that may be absent, with what readers are told of it. */
export function told<S extends z.BuiltSchema>(schema: S, description: string): z.Absent<S> {
  return noted(z.exactOptional(schema), { description });
}

const nameText = z.string().regex(NAME_ID);

/** The id of an agent. */
export const agentId = noted(z.string().regex(AGENT_ID), { id: 'AgentId' });

/** The id of a person, a group or a swarm. */
export const nameId = noted(nameText, { id: 'GroupId' });

/** The id of an entity: of an agent, or the name of a person. */
export const entityId = noted(z.union([z.string().regex(AGENT_ID), nameText]), { id: 'EntityId' });

/** The id by which clients know what an agent has brought back. */
export const stagingId = z.string().regex(STAGING_ID);

/** A tier of trust, from 0 to 3. */
export const tier = z.enum(TIERS);

/** The role of a member of a group. */
export const role = z.enum(ROLES);

/** The type of an agent, as clients read it. */
export const agentType = noted(z.enum(AGENT_TYPES), { id: 'AgentType' });

/** The state of an agent, as clients read it. */
export const agentStatus = noted(z.enum(AGENT_STATUSES), { id: 'AgentStatus' });

/** A time, as answers show it: in UTC. */
export const time = noted(z.string(), { id: 'Time', format: 'date-time' });

/** A time, or null for none. */
export const timeOrNull = z.union([time, z.null()]);

/** The digest of a link of a chain. */
export const digest = noted(z.string().regex(/^[a-f0-9]{64}$/), { id: 'Digest' });

/** The id of a call that its caller names: one act, however often it is called. */
const commandId = noted(z.string().min(1).max(128), { id: 'CommandId' });

/** The rows of a page: the most, and as many as there are where a call does not say. */
export function pageLimit(max: number, usual: number) {
  return z.int().min(1).max(max).default(usual);
}

interface Statement<F extends z.Shape, O extends z.Shape, A extends z.Shape> {
  readonly description: string;
  readonly args: F;
  /** Fields that the entity receives besides: code makes them of the arguments. */
  readonly also?: A;
  readonly answer: O;
}

/** A tool as it is stated: what callers write, what its entity receives, and what it answers. */
export interface ToolStatement<F extends z.Shape, C extends z.Shape, O extends z.Shape> {
  readonly description: string;
  readonly args: z.Obj<F>;
  readonly call: z.Obj<C>;
  readonly answer: z.Obj<O>;
}

/** States a tool that reads. */
export function reading<F extends z.Shape, O extends z.Shape, A extends z.Shape = Record<never, never>>({
  args,
  answer,
  ...rest
}: Statement<F, O, A>): ToolStatement<F, KeptFields<F> & A, O> {
  const fields = z.strictObject(args);
  return { ...ownerTool({ ...rest, args: fields }), args: fields, answer: z.strictObject(answer) };
}

/** The arguments of a tool that changes something. */
type Commanding<F extends z.Shape> = F & { readonly command_id: z.Absent<typeof commandId> };

/** States a tool that changes something: its callers may name a call, which the entity takes from the arguments. */
export function acting<F extends z.Shape, O extends z.Shape, A extends z.Shape = Record<never, never>>(
  statement: Statement<F, O, A>,
): ToolStatement<Commanding<F>, KeptFields<F> & A, O> {
  const args = z.strictObject({ ...statement.args, ...optional({ command_id: commandId }) });
  return { ...reading(statement), args };
}

/** The outcome for a call: its code where it came to nothing, and else what there is. */
export function outcomeOf<V extends z.AnySchema>(
  value: V,
): z.Obj<{ readonly call: z.Text; readonly code: z.OrNull<z.Text>; readonly value: z.OrNull<V> }> {
  return z.strictObject({ call: z.string().max(64), code: z.nullable(z.string().max(96)), value: z.nullable(value) });
}
