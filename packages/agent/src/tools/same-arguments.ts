/** Whether arguments mean the same to two versions of a tool. */
import type { Value } from '@reprise/contracts';
import { encode, equalBytes } from '@reprise/kernel/codec';
import { recordedSchema } from './recorded-schema.js';
import { check } from './schema.js';

/**
 * Whether the value that this build makes of arguments has the bytes that the recorded JSON Schema gives: nothing is
 * left out, converted or added, such as a new field with a default.
 *
 * @param parsed the arguments after the conversion of this build's schema
 */
export async function isSameValue(recorded: Value, args: Value, parsed: unknown): Promise<boolean> {
  const before = await check(recordedSchema(recorded), args);
  if (!before.ok) return false;
  try {
    return equalBytes(encode(withDefaults(recorded, args)), encode(parsed as Value));
  } catch {
    return false; // a converted value without canonical bytes, such as a date
  }
}

/** Arguments with the defaults of a JSON Schema, which the schema that it was made from fills in. */
function withDefaults(schema: Value, given: Value): Value {
  if (!isMap(schema)) return given;
  if (Array.isArray(given)) return given.map((item) => withDefaults(schema.items ?? null, item));
  if (!isMap(given) || !isMap(schema.properties)) return given;
  const filled: Record<string, Value> = { ...given };
  for (const [name, field] of Object.entries(schema.properties)) {
    const stated = isMap(field) ? field.default : undefined;
    const value = Object.hasOwn(given, name) ? given[name] : stated;
    if (value !== undefined) filled[name] = withDefaults(field, value);
  }
  return filled;
}

function isMap(value: Value | undefined): value is Readonly<Record<string, Value>> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
