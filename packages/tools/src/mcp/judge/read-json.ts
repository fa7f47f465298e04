/** Reads the texts of servers as JSON: the one place where this folder does. */
import { type ParsedJson, parseJsonNoting } from '@reprise/contracts/json';

/** The value of a text; undefined when it is not JSON. A byte order mark before it is no part of it. */
export function readJson(text: string): unknown {
  return readNoting(text)?.data;
}

/** The value of a text, and the large numbers that stand in it as texts; undefined when it is not JSON. */
export function readNoting(text: string): ParsedJson | undefined {
  try {
    return parseJsonNoting(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch {
    return undefined;
  }
}

/** Whether a value of JSON is an object. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What kind of value this is, in a word. */
export function kindOf(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
