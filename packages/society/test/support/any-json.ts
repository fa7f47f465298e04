/** Arbitrary JSON that fits a JSON Schema of a tool. */
import fc from 'fast-check';
import type { JsonSchema } from '../../src/wire/index.js';

const LENGTH_MAX = 3;

/** Any JSON that passes a schema, as far as the files of the tools use the language. */
export function anyJson(
  schema: JsonSchema,
  defs = schema.$defs as Readonly<Record<string, JsonSchema>>,
): fc.Arbitrary<unknown> {
  const { $ref, anyOf, type } = schema;
  if (typeof $ref === 'string') return anyJson(defs[$ref.slice('#/$defs/'.length)] ?? {}, defs);
  if (Array.isArray(anyOf)) return fc.oneof(...anyOf.map((one: JsonSchema) => anyJson(one, defs)));
  if (Array.isArray(schema.enum)) return fc.constantFrom(...(schema.enum as unknown[]));
  if (Array.isArray(type)) return fc.oneof(...type.map((one) => anyJson({ ...schema, type: one }, defs)));
  const { minimum = 0, maximum = 1_000_000 } = schema as { readonly minimum?: number; readonly maximum?: number };
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.integer({ min: minimum, max: Math.min(maximum, Number.MAX_SAFE_INTEGER) });
    case 'number':
      return fc.integer({ min: 1, max: 9 }).map((tenth) => tenth / 10);
    case 'array':
      return anyList(schema, defs);
    case 'object':
      return anyObject(schema, defs);
    case 'string':
      return anyText(schema);
    default:
      return fc.constantFrom(null, 1, 'any');
  }
}

function anyList({ items, minItems = 0, uniqueItems }: JsonSchema, defs: Readonly<Record<string, JsonSchema>>) {
  const bounds = { minLength: minItems as number, maxLength: (minItems as number) + LENGTH_MAX };
  const item = anyJson(items as JsonSchema, defs);
  return uniqueItems === true ? fc.uniqueArray(item, bounds) : fc.array(item, bounds);
}

function anyObject({ properties = {}, required = [] }: JsonSchema, defs: Readonly<Record<string, JsonSchema>>) {
  const fields = Object.entries(properties as Readonly<Record<string, JsonSchema>>);
  const model = Object.fromEntries(fields.map(([name, field]) => [name, anyJson(field, defs)]));
  return fc.record(model, { requiredKeys: required as string[] });
}

function anyText({ pattern, minLength = 0, maxLength = 40 }: JsonSchema): fc.Arbitrary<string> {
  if (typeof pattern === 'string') return fc.stringMatching(new RegExp(pattern));
  const bounds = { minLength: minLength as number, maxLength: Math.min(maxLength as number, 40) };
  return fc.string({ ...bounds, unit: 'binary' });
}
