/** A tool of a society, as clients are told it. */
import type * as z from 'zod';

/** A tool of a society. */
interface SocietyTool {
  readonly description: string;
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
}

/** Keeps the types of the schemas of tools. */
export function toolsOf<T extends Readonly<Record<string, SocietyTool>>>(tools: T): T {
  return tools;
}
