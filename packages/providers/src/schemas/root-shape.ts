/**
 * The root of a tool's schema as one object without unions: every format refuses `anyOf`, `oneOf`, `allOf` and `$ref`
 * there. The properties of all choices are shown, those are required that every choice requires, and the choices
 * themselves stand in the description.
 */
import { isJsonObject, type Json } from '../model/json.js';
import type { JsonMap, References } from './references.js';
import { choicesNote, keywordNote } from './schema-notes.js';

/** The object, and what it says in words only. */
interface RootShape {
  readonly schema: JsonMap;
  readonly notes: readonly string[];
  readonly losses: readonly string[];
}

/** What a schema says of the properties of an object. */
interface Shape {
  readonly properties: ReadonlyMap<string, Json>;
  readonly required: ReadonlySet<string>;
  /** Whether it forbids other properties. */
  readonly isClosed: boolean;
}

const EMPTY: Shape = { properties: new Map(), required: new Set(), isClosed: false };

const UNIONS = ['anyOf', 'oneOf'] as const;

/** How many schemas one root is made of: choices of choices multiply, and a server of others writes them. */
const STEPS_MAX = 5_000;

/** The keywords that no format accepts at the root. */
const REFUSED = ['anyOf', 'oneOf', 'allOf', '$ref', 'enum', 'const'];

/** Keywords of a member of `allOf` that the shown object says as well. */
const SHOWN = new Set([
  'type',
  'title',
  'description',
  'properties',
  'required',
  'additionalProperties',
  ...UNIONS,
  '$ref',
  'allOf',
]);

/** Writes the root of a schema as one object. */
export function rootShape(given: Json, references: References): RootShape {
  if (!isJsonObject(given)) return { schema: {}, notes: [], losses: given === true ? [] : ['schema'] };
  const root = new Root(references);
  const shape = root.of(given, []);
  const own = withTargets(given, references, []);
  const rest = Object.fromEntries(Object.entries(own).filter(([keyword]) => !REFUSED.includes(keyword)));
  for (const keyword of ['enum', 'const']) {
    const value = own[keyword];
    if (value !== undefined) root.lose(keyword, keywordNote(keyword, value));
  }
  if (!mayBeObject(own)) root.lose('type', keywordNote('type', own.type ?? null));
  return { schema: { ...rest, type: 'object', ...fieldsOf(shape, rest) }, notes: root.notes, losses: root.losses };
}

/** The fields of a shape that differ from those of the schema that it was made from. */
function fieldsOf({ properties, required, isClosed }: Shape, rest: JsonMap): JsonMap {
  return {
    properties: Object.fromEntries(properties),
    ...(required.size === 0 && rest.required === undefined ? {} : { required: [...required] }),
    ...(isClosed ? { additionalProperties: false } : {}),
  };
}

/** The schema together with the targets of its reference; its own keywords win. */
function withTargets(given: JsonMap, references: References, seen: readonly string[]): JsonMap {
  const { $ref } = given;
  const target = typeof $ref === 'string' && !seen.includes($ref) ? references.target($ref) : undefined;
  if (typeof $ref !== 'string' || !isJsonObject(target)) return given;
  return { ...withTargets(target, references, [...seen, $ref]), ...given };
}

class Root {
  readonly notes: string[] = [];
  readonly losses: string[] = [];
  #steps = 0;

  constructor(private readonly references: References) {}

  lose(keyword: string, note: string): void {
    this.losses.push(keyword);
    this.notes.push(note);
  }

  /** @param seen the references that led here: a circle adds nothing */
  of(given: Json, seen: readonly string[], isRoot = true): Shape {
    if (!isJsonObject(given) || this.#steps++ > STEPS_MAX) return EMPTY; // fewer rules, never more
    const shapes = [ownShape(given), this.#target(given, seen, isRoot), ...this.#members(given, seen, isRoot)];
    for (const keyword of UNIONS) shapes.push(this.#union(given[keyword], keyword, seen, isRoot));
    const shape = shapes.reduce(both);
    return conditionalParts(given).reduce((known: Shape, part) => named(known, this.of(part, seen, false)), shape);
  }

  #target({ $ref }: JsonMap, seen: readonly string[], isRoot: boolean): Shape {
    if (typeof $ref !== 'string' || seen.includes($ref)) return EMPTY;
    const target = this.references.target($ref);
    if (target === undefined && isRoot) this.lose('$ref', keywordNote('$ref', $ref));
    return target === undefined ? EMPTY : this.of(target, [...seen, $ref], isRoot);
  }

  #members({ allOf }: JsonMap, seen: readonly string[], isRoot: boolean): Shape[] {
    if (!Array.isArray(allOf)) return [];
    const members = allOf as readonly Json[];
    const isShown = members.every(
      (one) => isJsonObject(one) && Object.keys(one).every((keyword) => SHOWN.has(keyword)),
    );
    if (isRoot && !isShown) this.lose('allOf', keywordNote('allOf', members));
    return members.map((one) => this.of(one, seen, isRoot));
  }

  #union(given: Json | undefined, keyword: (typeof UNIONS)[number], seen: readonly string[], isRoot: boolean): Shape {
    if (!Array.isArray(given)) return EMPTY;
    const choices = (given as readonly Json[]).filter(mayBeObject);
    if (isRoot && choices.length > 0) {
      const shown = choices.map((one) => (isJsonObject(one) ? withTargets(one, this.references, []) : one));
      this.lose(keyword, choicesNote(keyword, shown));
    }
    return choices.length === 0 ? EMPTY : choices.map((one) => this.of(one, seen, false)).reduce(either);
  }
}

function ownShape({ properties, required, additionalProperties, patternProperties }: JsonMap): Shape {
  const given = Array.isArray(required) ? (required as readonly Json[]) : [];
  const names = given.filter((name): name is string => typeof name === 'string');
  const described = isJsonObject(properties) ? properties : {};
  // A property may be required without being described.
  const named = names.filter((name) => !Object.hasOwn(described, name));
  return {
    properties: new Map([...Object.entries(described), ...named.map((name): [string, Json] => [name, {}])]),
    required: new Set(names),
    // Names that a pattern permits are not described, and a pattern is not sent.
    isClosed: additionalProperties === false && patternProperties === undefined,
  };
}

/** Schemas that apply under a condition: the names of their properties are shown. */
function conditionalParts({ then: met, else: unmet, dependentSchemas }: JsonMap): Json[] {
  const dependent = isJsonObject(dependentSchemas) ? Object.values(dependentSchemas) : [];
  return [met, unmet, ...dependent].filter((part) => part !== undefined);
}

/** A shape with the names of another: what is said of them holds under a condition, and stands in words only. */
function named(shape: Shape, { properties }: Shape): Shape {
  const names = [...properties.keys()].filter((name) => !shape.properties.has(name));
  return { ...shape, properties: new Map([...shape.properties, ...names.map((name): [string, Json] => [name, {}])]) };
}

function mayBeObject(choice: Json): boolean {
  if (!isJsonObject(choice)) return choice === true;
  const types = [choice.type ?? 'object'].flat();
  return types.includes('object');
}

/** What holds of an object that fits both. */
function both(one: Shape, other: Shape): Shape {
  return {
    properties: merged(one, other, bothSchemas),
    required: new Set([...one.required, ...other.required]),
    isClosed: one.isClosed || other.isClosed,
  };
}

/** What holds of an object that fits one or the other. */
function either(one: Shape, other: Shape): Shape {
  return {
    properties: merged(one, other, eitherSchema),
    required: new Set([...one.required].filter((name) => other.required.has(name))),
    isClosed: one.isClosed && other.isClosed,
  };
}

function merged(one: Shape, other: Shape, merge: (first: Json, second: Json) => Json): Map<string, Json> {
  const properties = new Map(one.properties);
  for (const [name, schema] of other.properties) {
    const known = properties.get(name);
    properties.set(name, known === undefined ? schema : merge(known, schema));
  }
  return properties;
}

function bothSchemas(one: Json, other: Json): Json {
  if (isSame(one, other) || isAnything(other)) return one;
  if (isAnything(one)) return other;
  if (!isJsonObject(one) || !isJsonObject(other)) return { allOf: [one, other] };
  const areApart = Object.keys(other).every(
    (keyword) => !Object.hasOwn(one, keyword) || isSame(one[keyword], other[keyword]),
  );
  return areApart ? { ...one, ...other } : { allOf: [one, other] };
}

function eitherSchema(one: Json, other: Json): Json {
  if (isSame(one, other)) return one;
  if (isAnything(one) || isAnything(other)) return {};
  const values = [...(valuesOf(one) ?? []), ...(valuesOf(other) ?? [])];
  if (valuesOf(one) === undefined || valuesOf(other) === undefined)
    return { anyOf: [...choicesIn(one), ...choicesIn(other)] };
  return { enum: values };
}

function choicesIn(schema: Json): readonly Json[] {
  const isUnion = isJsonObject(schema) && Array.isArray(schema.anyOf) && Object.keys(schema).length === 1;
  return isUnion ? (schema.anyOf as readonly Json[]) : [schema];
}

/** The values that a schema lists, when it says nothing else but their type. */
function valuesOf(schema: Json): readonly Json[] | undefined {
  if (!isJsonObject(schema)) return undefined;
  const { type: _, const: only, enum: listed, ...others } = schema;
  if (Object.keys(others).length > 0) return undefined;
  if (only !== undefined) return [only];
  return Array.isArray(listed) ? (listed as readonly Json[]) : undefined;
}

function isAnything(schema: Json): boolean {
  return schema === true || (isJsonObject(schema) && Object.keys(schema).length === 0);
}

function isSame(one: Json | undefined, other: Json | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
