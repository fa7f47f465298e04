/** The words of a server about its tools, as a model reads them: no mark of a prompt stands among them. */
import { bare, type Value } from '@reprise/contracts';

/** The words of a schema: they say what it means, and decide nothing. */
const WORDS: ReadonlySet<string> = new Set(['title', 'description', '$comment']);

/** Values that arguments are compared with, or replaced by: they stay as they are. */
const VALUES: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'examples']);

/** A schema whose titles and descriptions open and close no mark. */
export function quotedWords<T extends Value>(schema: T): T {
  return quotedIn(schema) as T;
}

function quotedIn(schema: Value): Value {
  if (Array.isArray(schema)) return schema.map(quotedIn);
  if (typeof schema !== 'object' || schema === null || schema.constructor !== Object) return schema;
  return Object.fromEntries(
    Object.entries(schema as Readonly<Record<string, Value>>).map(([key, part]) => {
      if (WORDS.has(key) && typeof part === 'string') return [key, bare(part)];
      return [key, VALUES.has(key) ? part : quotedIn(part)];
    }),
  );
}
