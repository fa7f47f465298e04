/** The tools of a society as clients outside know them: arguments and answers of each. */
import type * as z from 'zod';
import { agentTools } from './agents.js';
import { eventTools } from './events.js';
import { memoryTools } from './memory.js';
import { proofTools } from './proofs.js';
import { returnTools } from './returns.js';
import { swarmTools } from './swarms.js';

export { fileSchema, type JsonSchema } from './json-schema.js';

/** The tools of a society. */
export const SOCIETY_TOOLS = {
  ...agentTools,
  ...swarmTools,
  ...memoryTools,
  ...proofTools,
  ...returnTools,
  ...eventTools,
} as const;

/** The name of a tool of a society. */
export type SocietyToolName = keyof typeof SOCIETY_TOOLS;

/** The arguments of a tool, as a client writes them. */
export type ToolArgs<T extends SocietyToolName> = Frozen<z.input<(typeof SOCIETY_TOOLS)[T]['input']>>;

/** The answer of a tool, as a client reads it. */
export type ToolAnswer<T extends SocietyToolName> = Stated<z.output<(typeof SOCIETY_TOOLS)[T]['output']>>;

/** A value that is only read. */
type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: Frozen<T[Name]> }
    : T;

/** A value whose optional fields are absent where they are not stated. */
type Stated<T> = T extends (infer Item)[]
  ? Stated<Item>[]
  : T extends object
    ? { [Name in keyof T]: Stated<Exclude<T[Name], undefined>> }
    : T;
