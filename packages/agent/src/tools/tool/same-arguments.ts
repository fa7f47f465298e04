/**
 * Whether arguments mean the same to two versions of a tool.
 *
 * Invariants
 * E1  Where a recorded schema does not say what its code made of a value, the value is not the same: a person is asked
 *     again. That is so for a field that it does not list and does not refuse, which most schemas leave out.
 */
import type { Value } from '@reprise/contracts';
import { encode, equalBytes } from '@reprise/kernel/codec';
import { recordedSchema } from '../schema/recorded-schema.js';
import { check } from '../schema/schema.js';

/**
 * Whether the value that this build makes of arguments has the bytes that the recorded JSON Schema gives: nothing is
 * left out, converted or added, such as a new field with a default.
 *
 * @param parsed the arguments after the conversion of this build's schema
 */
export async function isSameValue(recorded: Value, args: Value, parsed: unknown): Promise<boolean> {
  if (!(await takes(recorded, args))) return false;
  try {
    return equalBytes(encode(await madeOf(recorded, args)), encode(parsed as Value));
  } catch {
    return false; // E1, or a converted value without canonical bytes, such as a date
  }
}

/** The keywords that may make something else of a value than the fields and items that they stand beside. */
const UNREAD = [
  ...['$ref', '$dynamicRef', 'allOf', 'if', 'then', 'else', 'patternProperties', 'dependentSchemas', 'dependencies'],
  ...['additionalItems', 'unevaluatedItems', 'unevaluatedProperties'],
];

/**
 * What the schema that a JSON Schema was made from makes of arguments: it fills in defaults.
 *
 * @throws Error where the JSON Schema does not say
 */
async function madeOf(schema: Value | undefined, given: Value): Promise<Value> {
  if (!isMap(schema) || typeof given !== 'object' || given === null) return given;
  if (UNREAD.some((keyword) => Object.hasOwn(schema, keyword))) throw new Error('what it makes is not known');
  const branches = schema.anyOf ?? schema.oneOf;
  if (branches !== undefined) return madeByBranch(branches, given);
  if (Array.isArray(given)) return Promise.all(given.map((item, i) => madeOf(itemSchema(schema, i), item)));
  return isMap(given) ? madeByFields(schema, given) : given;
}

/** The first branch that takes a value makes it. */
async function madeByBranch(branches: Value, given: Value): Promise<Value> {
  for (const branch of Array.isArray(branches) ? branches : [])
    if (await takes(branch, given)) return madeOf(branch, given);
  throw new Error('no branch takes it');
}

function itemSchema({ prefixItems, items }: Readonly<Record<string, Value>>, i: number): Value | undefined {
  const first = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
  if (i < first.length) return first[i];
  return Array.isArray(items) ? undefined : items;
}

async function madeByFields(
  { properties, additionalProperties }: Readonly<Record<string, Value>>,
  given: Readonly<Record<string, Value>>,
): Promise<Value> {
  if (properties === undefined && additionalProperties === undefined) return given;
  const listed = isMap(properties) ? properties : {};
  const others = Object.keys(given).filter((name) => !Object.hasOwn(listed, name));
  if (others.length > 0 && additionalProperties === undefined) throw new Error('it may leave fields out'); // E1
  const fields = [
    ...Object.entries(listed).map(([name, field]) => [name, field, isMap(field) ? field.default : undefined] as const),
    ...others.map((name) => [name, additionalProperties, undefined] as const),
  ];
  const made: [string, Value][] = [];
  for (const [name, field, stated] of fields) {
    const value = Object.hasOwn(given, name) ? given[name] : stated;
    if (value !== undefined) made.push([name, await madeOf(field, value)]);
  }
  return Object.fromEntries(made);
}

async function takes(schema: Value, value: Value): Promise<boolean> {
  return (await check(recordedSchema(schema), value)).ok;
}

function isMap(value: Value | undefined): value is Readonly<Record<string, Value>> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
