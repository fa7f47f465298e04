/** A recorded JSON Schema as a schema. */
import type { Schema } from './schema.js';

/**
 * Makes a schema that checks by a recorded JSON Schema, as `jsonSchema` does, whose checker is loaded by the first check:
 * an agent without tools needs none.
 */
export function recordedSchema(told: unknown): Schema {
  const validate: Schema['~standard']['validate'] = async (value) => {
    const { jsonSchema } = await import('./json-schema.js');
    return jsonSchema(told)['~standard'].validate(value);
  };
  const standard = { version: 1 as const, vendor: 'reprise', validate, jsonSchema: { input: () => told } };
  return { '~standard': standard };
}
