/** JSON Schemas of the tools, made from their statements. */
import { type AnySchema, defOf } from '@reprise/contracts/schema';
import * as z from 'zod';

/** A JSON Schema as it is published. */
export type JsonSchema = { [key: string]: unknown };

/** The order of the keywords of a schema; others follow in the order of their names. */
const ORDER = [
  '$ref',
  'anyOf',
  '$schema',
  'type',
  'format',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'exclusiveMinimum',
  'maximum',
  'description',
  'additionalProperties',
  'required',
  'minItems',
  'maxItems',
  'uniqueItems',
  'enum',
  'default',
  'properties',
  'items',
];

/** What our schemas say to readers, where zod looks for it. */
class Notes extends z.core.$ZodRegistry<object> {
  override get(schema: AnySchema): never {
    return defOf(schema).meta?.notes as never;
  }
}

/** The schema of the arguments or of the answer of a tool, as its file says it. Our schemas have the form of zod's inside. */
export function fileSchema(schema: AnySchema, io: 'input' | 'output'): JsonSchema {
  const made = z.toJSONSchema(schema as z.ZodType, { metadata: new Notes(), io }) as JsonSchema;
  const defs = (made.$defs ?? {}) as Record<string, JsonSchema>;
  const root = plain({ ...made, $defs: undefined });
  const whole = { ...root, required: root.required ?? [], $schema: made.$schema };
  const named = namesIn(whole, defs);
  const ordered = inOrder(whole);
  return named.length === 0
    ? ordered
    : { ...ordered, $defs: Object.fromEntries(named.map((name) => [name, inOrder(plain(defs[name] ?? {}))])) };
}

/** Leaves out what says nothing, and writes what can be written in two ways in one. */
function plain(given: JsonSchema): JsonSchema {
  const schema = { ...given };
  for (const key of ['id', '$id', '$defs']) delete schema[key];
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.enum !== undefined || schema.const !== undefined) delete schema.type;
  if (Array.isArray(schema.type) && schema.type[0] !== 'string')
    return { ...schema, type: undefined, anyOf: schema.type.map((type) => ({ type })) };
  if (isOpenObject(schema))
    return { type: 'object', ...(schema.description ? { description: schema.description } : {}) };
  if (Array.isArray(schema.anyOf)) {
    const options = schema.anyOf.map((option) => plain(option as JsonSchema));
    if (isTextOrNull(options)) return { ...schema, anyOf: undefined, type: ['string', 'null'] };
    return { ...schema, anyOf: options };
  }
  if (schema.items !== undefined) schema.items = plain(schema.items as JsonSchema);
  if (schema.properties !== undefined) {
    const properties = Object.entries(schema.properties as Record<string, JsonSchema>);
    schema.properties = Object.fromEntries(properties.map(([name, property]) => [name, plain(property)]));
  }
  return schema;
}

function isOpenObject({ type, properties = {}, additionalProperties }: JsonSchema): boolean {
  return type === 'object' && additionalProperties !== false && Object.keys(properties as object).length === 0;
}

function isTextOrNull(options: readonly JsonSchema[]): boolean {
  return JSON.stringify(options) === '[{"type":"string"},{"type":"null"}]';
}

/** The definitions that a schema uses, in the order in which it meets them. */
function namesIn(schema: JsonSchema, defs: Readonly<Record<string, JsonSchema>>, found: string[] = []): string[] {
  const { $ref } = schema;
  if (typeof $ref === 'string') {
    const name = $ref.slice('#/$defs/'.length);
    if (found.includes(name)) return found;
    found.push(name);
    return namesIn(defs[name] ?? {}, defs, found);
  }
  for (const part of Object.values(schema)) {
    if (typeof part === 'object' && part !== null) namesIn(part as JsonSchema, defs, found);
  }
  return found;
}

/** Puts keywords into one order, so that a schema has one text. Names of properties stay in theirs. */
function inOrder(schema: JsonSchema): JsonSchema {
  const place = (key: string) => (ORDER.includes(key) ? ORDER.indexOf(key) : ORDER.length);
  const keys = Object.keys(schema).filter((key) => schema[key] !== undefined);
  keys.sort((a, b) => place(a) - place(b) || (a < b ? -1 : 1));
  return Object.fromEntries(keys.map((key) => [key, ordered(key, schema[key])]));
}

function ordered(key: string, value: unknown): unknown {
  if (key === 'properties') {
    const properties = Object.entries(value as Record<string, JsonSchema>);
    return Object.fromEntries(properties.map(([name, schema]) => [name, inOrder(schema)]));
  }
  if (key === 'anyOf') return (value as JsonSchema[]).map(inOrder);
  return key === 'items' ? inOrder(value as JsonSchema) : value;
}
