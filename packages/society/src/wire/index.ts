/** The tools of a society as clients outside know them: arguments and answers of each. */
import type * as z from '@reprise/contracts/schema';
import type { SOCIETY_TOOLS, SocietyToolName } from '../pure/index.js';

export { fileSchema, type JsonSchema } from './json-schema.js';

/** The arguments of a tool, as a client writes them. */
export type ToolArgs<T extends SocietyToolName> = Frozen<(typeof SOCIETY_TOOLS)[T]['args']['_zod']['input']>;

/** The answer of a tool, as a client reads it. */
export type ToolAnswer<T extends SocietyToolName> = z.infer<(typeof SOCIETY_TOOLS)[T]['answer']>;

/** A value that is only read. What may be absent may be undefined. */
type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: Frozen<T[Name]> | Lack<T, Name> }
    : T;

type Lack<T, Name extends keyof T> = Record<never, never> extends Pick<T, Name> ? undefined : never;
