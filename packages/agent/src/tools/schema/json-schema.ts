/**
 * Schemas in the form of JSON Schema: those of a toolset's tools, of a server's questions, of a recorded definition.
 */
import { checker, type JsonChecker, type RefusedSchema } from '@reprise/kernel/json-schema';
import type { Schema } from './schema.js';

/** Checkers by the schemas that they were made from. */
const made = new WeakMap<object, JsonChecker | RefusedSchema>();

/**
 * Makes a schema that checks by an external JSON Schema, in a bounded number of steps. When the JSON Schema cannot be
 * used, no value fits; {@link schemaRefusal} returns the reason.
 *
 * @example jsonSchema({ type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] })
 */
export function jsonSchema(told: unknown): Schema {
  const validate: Schema['~standard']['validate'] = (value) => {
    const found = checkerOf(told);
    if (!found.ok) return { issues: [{ message: refusalText(found) }] };
    const verdict = found.check(value);
    return verdict.ok ? { value } : { issues: verdict.problems };
  };
  const standard = { version: 1 as const, vendor: 'reprise', validate, jsonSchema: { input: () => told } };
  return { '~standard': standard };
}

/** Why a JSON Schema cannot be used to check values; undefined when it can. */
export function schemaRefusal(told: unknown): string | undefined {
  const found = checkerOf(told);
  return found.ok ? undefined : refusalText(found);
}

function checkerOf(told: unknown): JsonChecker | RefusedSchema {
  if (typeof told !== 'object' || told === null) return checker(told);
  const found = made.get(told) ?? checker(told, { properties: propertyTest });
  made.set(told, found);
  return found;
}

function refusalText({ where, why }: RefusedSchema): string {
  return `nothing can be checked by this schema: ${why} (at ${where})`;
}

/** A Unicode property test of this engine: one code point at a time, so the time is bounded. */
function propertyTest(name: string): ((codePoint: number) => boolean) | undefined {
  if (!/^[A-Za-z_]{1,32}(=[A-Za-z0-9_]{1,64})?$/.test(name)) return undefined;
  try {
    const expression = new RegExp(`^\\p{${name}}$`, 'u');
    return (codePoint) => expression.test(String.fromCodePoint(codePoint));
  } catch {
    return undefined;
  }
}
