/** A recorded JSON Schema as a schema. */
import type { Schema } from './schema.js';

let checker: Promise<typeof import('./json-schema.js')> | undefined;

/** Loads the checker of JSON Schemas, once. */
export function checking(): Promise<typeof import('./json-schema.js')> {
  checker ??= import('./json-schema.js');
  return checker;
}

/**
 * Makes a schema that checks by a recorded JSON Schema, as `jsonSchema` does, whose checker is loaded by the first check:
 * an agent without tools needs none.
 */
export function recordedSchema(told: unknown): Schema {
  const validate: Schema['~standard']['validate'] = async (value) => {
    const { jsonSchema } = await checking();
    return jsonSchema(told)['~standard'].validate(value);
  };
  const standard = { version: 1 as const, vendor: 'reprise', validate, jsonSchema: { input: () => told } };
  return { '~standard': standard };
}
