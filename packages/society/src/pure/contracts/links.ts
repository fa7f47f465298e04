/**
 * The links in arguments of tools: which stand for plain content, and which for content with a salt. Plain texts are what
 * sessions show or are told, like the words of every message: the same text has the same link. The others are kept with a
 * salt, which each storing draws anew, so that they can be erased.
 */
import { Ref, type Value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { keepingOf } from '@reprise/org/contracts';
import { SOCIETY_TOOLS } from './entity-parts.js';

/** The names of the links to plain content in the arguments of each tool. */
const PLAIN: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(SOCIETY_TOOLS).map(([tool, { args }]) => [tool, plainLinksIn(args)]),
);

function plainLinksIn(schema: z.AnySchema, name = ''): readonly string[] {
  if (keepingOf(schema) === 'text') return [`${name}_ref`];
  const { shape = {}, element, innerType } = z.defOf(schema);
  const inner: z.AnySchema | undefined = element ?? innerType;
  if (inner !== undefined) return plainLinksIn(inner, name);
  return Object.entries<z.AnySchema>(shape).flatMap(([field, part]) => plainLinksIn(part, field));
}

/** The arguments of a tool with something else for each link that differs at each storing of the same text. */
export function saltedLinksAs(as: (link: Ref) => Value, tool: string, value: Value, name = ''): Value {
  if (value instanceof Ref) return PLAIN.get(tool)?.includes(name) === true ? value : as(value);
  if (Array.isArray(value)) return value.map((part) => saltedLinksAs(as, tool, part, name));
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  const parts = Object.entries(value).map(([of, part]) => [of, saltedLinksAs(as, tool, part as Value, of)] as const);
  return Object.fromEntries(parts);
}
