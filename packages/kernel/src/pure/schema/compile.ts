import { markerOf, raiseExhaustion, type Value } from '@reprise/contracts';
import type * as z from '@reprise/contracts/schema';
import type {
  $ZodArrayDef,
  $ZodCustomDef,
  $ZodDefaultDef,
  $ZodDiscriminatedUnionDef,
  $ZodObjectDef,
  $ZodRecordDef,
  $ZodTupleDef,
  $ZodType,
  $ZodTypes,
  $ZodUnionDef,
} from 'zod/v4/core';
import { VALUE_DEPTH_MAX } from '../codec/bounds.js';
import { equalBytes } from '../codec/bytes.js';
import { decode } from '../codec/decode.js';
import { encode } from '../codec/encode.js';
import { check } from './check.js';
import { schemaValue } from './digest.js';
import { childrenOf, type FieldNode, type SchemaNode } from './node.js';
import type { Place } from './refusal.js';
import { HINTS, placeOf, refuseSchema } from './refusal.js';
import {
  checksOf,
  compileLiteral,
  compileNumber,
  compileText,
  narrowLength,
  noChecks,
  refuseCheck,
} from './scalars.js';
import { tagsOf } from './tags.js';

type Def = $ZodTypes['_zod']['def'];

/**
 * Compiles a zod schema to the closed language of journaled data. Journals outlive libraries: what is recorded
 * is checked by this plain data, never by zod, so a schema may only express what the data can express.
 *
 * Accepted: `strictObject`, `exactOptional` (and `optional`, read as the same: the key is absent or valid, never
 * `undefined`), `string` with bounds and regexes without flags, `number` and `int` with bounds, `boolean`,
 * `null`, `nullable`, `literal`, `enum`, `array`, `tuple`, `record` with text or enum keys, `union`,
 * `discriminatedUnion`, constant `default`, `never`, and the markers `ref()`, `value()`, `bytes()`.
 * `describe`, `meta`, `brand`, `readonly` and error texts leave no trace.
 *
 * @param schema a zod schema
 * @throws RepriseError `invalid_schema`, its `where` the path inside the schema (`$.items[].kind`) and its
 *   `hint` what to write instead, for a schema that changes a value, runs code, is recursive or has no canonical form
 */
export function compileSchema(schema: z.AnySchema): SchemaNode {
  const root: Place = { where: '$', inside: [] };
  const node = compile(schema as $ZodType, root);
  if (surelyFits(node, LEVELS_SURE)) return node;
  try {
    encode(schemaValue(node));
  } catch (thrown) {
    raiseExhaustion(thrown);
    refuseSchema(root, 'the schema nests too deep to be recorded', 'Use value() for the inner part.');
  }
  return node;
}

/** So many levels of a schema can always be recorded: each takes at most three levels of its value. */
const LEVELS_SURE = Math.floor(VALUE_DEPTH_MAX / 3) - 1;

/** Text of printable ASCII, which is well-formed. */
const PLAIN = /^[ -~]*$/;

/** Whether a schema can surely be recorded. Most can, and then need not be encoded to find out. */
function surelyFits(node: SchemaNode, levels: number): boolean {
  if (levels === 0) return false;
  if (node.type === 'text') return node.patterns?.every((pattern) => PLAIN.test(pattern)) ?? true;
  if (node.type !== 'object') return childrenOf(node).every((child) => surelyFits(child, levels - 1));
  return Object.entries(node.fields).every(
    ([key, field]) => PLAIN.test(key) && field.fallback === undefined && surelyFits(field.node, levels - 1),
  );
}

function compile(schema: $ZodType, place: Place): SchemaNode {
  if (!isZodSchema(schema))
    refuseSchema(place, 'the value is not a zod schema', 'Pass a schema of zod 4, such as strictObject({…}).');
  if (place.inside.includes(schema)) refuseSchema(place, 'the schema contains itself', HINTS.lazy ?? '');
  if (place.inside.length >= VALUE_DEPTH_MAX) refuseSchema(place, 'the schema has no end', HINTS.lazy ?? '');
  const def = (schema as $ZodTypes)._zod.def;
  return compileDef(def, { where: place.where, inside: [...place.inside, schema] }, schema);
}

function isZodSchema(thing: unknown): boolean {
  const internals = typeof thing === 'object' && thing !== null && '_zod' in thing ? thing._zod : undefined;
  return typeof internals === 'object' && internals !== null && 'def' in internals;
}

function compileDef(def: Def, place: Place, schema: $ZodType): SchemaNode {
  switch (def.type) {
    case 'string':
      return compileText(def, place);
    case 'number':
      return compileNumber(def, place);
    case 'array':
      return compileList(def, place);
    case 'boolean':
      if ('coerce' in def && def.coerce) refuseSchema(place, 'coercion changes the value', 'Use boolean().');
      break;
    case 'custom':
      return compileMarker(def, place);
    case 'optional':
    case 'default':
      return refuseSchema(
        place,
        `${def.type} is only possible where a value can be absent`,
        'Put it on a field of an object.',
      );
  }
  noChecks(def, place);
  return compilePlain(def, place, schema);
}

/** The kinds of schemas without checks. */
function compilePlain(def: Def, place: Place, schema: $ZodType): SchemaNode {
  switch (def.type) {
    case 'boolean':
    case 'null':
    case 'never':
      return { type: def.type };
    case 'literal':
    case 'enum':
      return compileLiteral(schema._zod.values ?? [], place);
    case 'nullable':
      return { type: 'union', options: [{ type: 'null' }, compile(def.innerType, place)] };
    case 'readonly':
      return compile(def.innerType, place);
    case 'object':
      return compileObject(def, place);
    case 'tuple':
      return compileTuple(def, place);
    case 'record':
      return compileRecord(def, place);
    case 'union':
      return compileUnion(def, place);
    default:
      return refuseSchema(place, `${def.type} is not part of journaled schemas`, HINTS[def.type] ?? '');
  }
}

function compileMarker(def: $ZodCustomDef, place: Place): SchemaNode {
  const marker = markerOf(def.fn);
  if (marker === undefined) {
    const hint = 'Of custom schemas only ref(), value() and bytes() are known.';
    refuseSchema(place, 'a custom schema runs code', hint);
  }
  noChecks(def, place);
  return { type: marker };
}

function compileList(def: $ZodArrayDef, place: Place): SchemaNode {
  const bounds: { min?: number; max?: number } = {};
  for (const one of checksOf(def)) if (!narrowLength(bounds, one, place)) refuseCheck(one, place);
  return { type: 'list', item: compile(def.element, placeOf(place, '[]')), ...bounds };
}

function compileTuple(def: $ZodTupleDef, place: Place): SchemaNode {
  if (def.rest) refuseSchema(place, 'a tuple has a rest', 'Use array(), or a tuple with an array as its last item.');
  const items = def.items.map((item, i) => compile(item as $ZodType, placeOf(place, `[${i}]`)));
  return { type: 'tuple', items };
}

function compileObject(def: $ZodObjectDef, place: Place): SchemaNode {
  if ((def.catchall as $ZodTypes | undefined)?._zod.def.type !== 'never') {
    refuseSchema(place, 'an object lets unknown keys through', 'Use strictObject().');
  }
  const fields: Record<string, FieldNode> = {};
  for (const key of Object.keys(def.shape)) {
    if (key === '__proto__') refuseSchema(place, 'a field is named __proto__', 'Name it otherwise.');
    fields[key] = compileField(def.shape[key] as $ZodType, placeOf(place, `.${key}`));
  }
  return { type: 'object', fields };
}

/** A field of an object: the only place where `optional` and `default` have a meaning. */
function compileField(schema: $ZodType, place: Place): FieldNode {
  const def = (schema as $ZodTypes)._zod.def;
  if (def.type === 'optional') {
    noChecks(def, place);
    return { node: compile(def.innerType, place), optional: true };
  }
  if (def.type === 'default') {
    noChecks(def, place);
    return withFallback(def, place);
  }
  if (def.type === 'readonly' && !def.checks?.length) return compileField(def.innerType, place);
  return { node: compile(schema, place), optional: false };
}

function withFallback(def: $ZodDefaultDef, place: Place): FieldNode {
  const node = compile(def.innerType, place);
  const bytes = constantBytes(def, place);
  const fallback = frozen(decode(bytes));
  // zod does not check a default; recorded data that breaks its own schema could never be read again.
  const result = check(node, fallback);
  if (!result.ok) refuseSchema(place, `the default breaks its schema: ${result.expected}`, 'Correct it.');
  return { node, optional: false, fallback: [frozen(result.value)] };
}

/**
 * zod returns a default through a getter, which calls the function if it is one: only the results distinguish the two.
 */
function constantBytes(def: $ZodDefaultDef, place: Place): Uint8Array {
  let once: Uint8Array;
  let again: Uint8Array;
  try {
    once = encode(def.defaultValue);
    again = encode(def.defaultValue);
  } catch (thrown) {
    raiseExhaustion(thrown);
    return refuseSchema(place, 'the default is not a canonical value', 'Use a constant.');
  }
  if (!equalBytes(once, again)) refuseSchema(place, 'the default differs each time', 'Use a constant.');
  return once;
}

/** Freezes lists and maps: one default is shared by every value without the key. */
function frozen(value: Value): Value {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  for (const inner of Object.values(value)) frozen(inner as Value);
  return Object.freeze(value) as Value;
}

function compileRecord(def: $ZodRecordDef, place: Place): SchemaNode {
  if (def.mode === 'loose')
    refuseSchema(place, 'a record lets unknown keys through', 'Use record() or partialRecord().');
  const item = compile(def.valueType as $ZodType, placeOf(place, '.*'));
  const keyPlace = placeOf(place, '.<key>');
  const key = compile(def.keyType, keyPlace);
  if (key.type === 'text') return { type: 'record', key, item };
  if (key.type !== 'literal') refuseSchema(keyPlace, 'a key is not text', 'Use string() or enum() for keys.');
  return enumerated(key.values, item, def.partial === true, keyPlace);
}

/** A record over an enum is an object with those fields: zod requires every key, or in a partial record none. */
function enumerated(keys: readonly Value[], item: SchemaNode, optional: boolean, place: Place): SchemaNode {
  const fields: Record<string, FieldNode> = {};
  for (const key of keys) {
    if (typeof key !== 'string' || key === '__proto__')
      refuseSchema(place, 'a key is not text', 'Use an enum of text.');
    fields[key] = { node: item, optional };
  }
  return { type: 'object', fields };
}

function compileUnion(def: $ZodUnionDef | $ZodDiscriminatedUnionDef, place: Place): SchemaNode {
  const options = def.options.map((option, i) => compile(option as $ZodType, placeOf(place, `|${i}`)));
  if (!('discriminator' in def)) {
    if (def.inclusive === false)
      refuseSchema(place, 'an exclusive union', 'Use union(): the first option that fits is taken.');
    return { type: 'union', options };
  }
  if (def.unionFallback) refuseSchema(place, 'a discriminated union falls back to trying', 'Use union().');
  const on = def.discriminator;
  const tags = tagsOf({ type: 'union', options }, on);
  if (tags === undefined) {
    refuseSchema(
      place,
      `an option has no literal ${on}`,
      `Give each option ${on}: literal(…), neither optional nor default.`,
    );
  }
  if (new Set(tags).size < tags.length) refuseSchema(place, `two options share a ${on}`, 'Make them one option.');
  return { type: 'union', on, options };
}
