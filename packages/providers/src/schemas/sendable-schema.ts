/**
 * The schema of a tool as a format accepts it.
 *
 * Invariants
 * T1  Total: any JSON gives a schema that keeps the rules of the format.
 * T2  The result accepts what the given schema accepts, but for the properties of a union at the root, which are shown
 *     together. Arguments are checked against the given schema in any case.
 * T3  A schema that keeps the rules stays as it is, with its order; so a second time changes nothing.
 * T4  What is left out stands in words in the description of its place, and its keyword among the losses.
 */
import { isJsonObject, type Json } from '../model/json.js';
import { isPortablePattern } from './portable-pattern.js';
import { DEFINITIONS, type JsonMap, References } from './references.js';
import { rootShape } from './root-shape.js';
import { keywordNote, propertyNote, withNotes } from './schema-notes.js';
import type { SchemaRules } from './schema-rules.js';

/** A schema as it is sent, and the keywords that it says in words only. */
export interface SendableSchema {
  readonly schema: JsonMap;
  readonly losses: readonly string[];
}

/** The schemas that were written, with the rules that they keep. */
const written = new WeakMap<object, SchemaRules>();

/** Whether a schema keeps the rules of a format. */
export function isSendableSchema(given: Json, rules: SchemaRules): boolean {
  if (!isJsonObject(given)) return false;
  if (written.get(given) === rules) return true;
  return JSON.stringify(sendableSchema(given, rules).schema) === JSON.stringify(given);
}

/** The most schemas within one: references that are replaced by their targets may multiply. */
const SCHEMAS_MAX = 5_000;

/** How deep schemas of any kind nest. */
const DEEP_MAX = 64;

/** Writes the schema of a tool as a format accepts it. */
export function sendableSchema(given: Json, rules: SchemaRules): SendableSchema {
  const references = new References(given);
  const { schema, notes, losses } = rootShape(given, references);
  const writer = new SchemaWriter(rules, references, losses);
  const whole = writer.root(schema, notes);
  const kept = { ...whole, type: 'object', properties: whole.properties ?? {} };
  const sent = writer.losses.size === 0 ? kept : (withoutOneOf(kept) as JsonMap);
  written.set(sent, rules);
  return { schema: sent, losses: [...writer.losses].sort() };
}

/**
 * Where a rule was lost, the target of a reference may have lost it, so that two choices of a `oneOf` may fit: such a
 * `oneOf` is sent as `anyOf`, or not beside another one.
 */
function withoutOneOf(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(withoutOneOf);
  if (!isJsonObject(schema)) return schema;
  const { oneOf, ...others } = schema;
  const walked = Object.entries(others).map(([name, value]): [string, Json] => [
    name,
    VALUES.includes(name) ? value : withoutOneOf(value),
  ]);
  if (!Array.isArray(oneOf)) return { ...Object.fromEntries(walked), ...(oneOf === undefined ? {} : { oneOf }) };
  const refers = oneOf.some((choice) => isJsonObject(choice) && choice.$ref !== undefined);
  const choices = oneOf.map(withoutOneOf);
  if (!refers) return { ...Object.fromEntries(walked), oneOf: choices };
  return { ...Object.fromEntries(walked), ...(others.anyOf === undefined ? { anyOf: choices } : {}) };
}

/** Keywords whose values are data and not schemas. */
const VALUES = ['enum', 'const', 'default', 'examples'];

/** Where a schema stands, for the bounds of providers on nesting. */
interface Place {
  /** How many objects it stands in, itself included. */
  readonly objects: number;
  readonly deep: number;
  /** The references that were replaced on the way here. */
  readonly replaced: readonly string[];
}

/** A schema that is being written. */
interface Part {
  readonly schema: JsonMap;
  readonly place: Place;
  readonly notes: string[];
  /** The names of properties that the format refuses. */
  readonly hidden: Set<string>;
}

/** Writes a keyword; undefined when it is left out. */
type Keyword = (value: Json, part: Part, writer: SchemaWriter, name: string) => Json | undefined;

class SchemaWriter {
  readonly losses: Set<string>;
  private count = 0;
  private lostCount = 0;

  constructor(
    readonly rules: SchemaRules,
    readonly references: References,
    losses: readonly string[],
  ) {
    this.losses = new Set(losses);
  }

  root(schema: JsonMap, notes: readonly string[]): JsonMap {
    const place = { objects: 1, deep: 0, replaced: [] };
    const written = this.#map(schema, place, [...notes]);
    const definitions = DEFINITIONS.flatMap((name) => this.#definitions(name, schema[name], place));
    return { ...written, ...Object.fromEntries(definitions) };
  }

  /** A schema within another; `false` for one that nothing fits. */
  within(given: Json, from: Place, isProperty = false): JsonMap | false {
    if (typeof given === 'boolean') return given && {};
    const place = { ...from, deep: from.deep + 1, objects: from.objects + (isProperty ? 1 : 0) };
    this.count++;
    if (!isJsonObject(given)) return this.#nothing('schema');
    if (place.deep > DEEP_MAX || this.count > SCHEMAS_MAX) return this.#nothing('depth');
    return this.#map(given, place, []);
  }

  lose(keyword: string, { notes, schema }: Part): undefined {
    this.#lost(keyword);
    notes.push(keywordNote(keyword, schema[keyword] ?? null));
  }

  /** Leaves out a property whose name the format refuses. */
  hide(name: string, schema: Json, isRequired: boolean, { notes }: Part): void {
    this.#lost('properties');
    notes.push(propertyNote(name, schema, isRequired));
  }

  #lost(keyword: string): void {
    this.losses.add(keyword);
    this.lostCount++;
  }

  #nothing(loss: string): JsonMap {
    this.#lost(loss);
    return {};
  }

  #map(schema: JsonMap, place: Place, notes: string[]): JsonMap {
    const part: Part = { schema, place, notes, hidden: this.#hiddenIn(schema) };
    const target = this.#replaced(part);
    const own = Object.fromEntries(Object.entries(schema).flatMap(([name, value]) => this.#entry(name, value, part)));
    const written: Record<string, Json> = { ...joined(target, own) };
    for (const [flag, bound] of EXCLUSIVE) {
      if (schema[flag] === true && typeof schema[bound] === 'number') written[flag] = schema[bound];
    }
    if (Array.isArray(schema.prefixItems)) written.items ??= itemsKeyword({}, part, this) ?? {};
    if ([written.type].flat().includes('array')) written.items ??= {};
    if (notes.length > 0) written.description = withNotes(written.description, notes);
    return written;
  }

  #entry(name: string, value: Json, part: Part): [string, Json][] {
    const before = this.lostCount;
    const written = this.#keyword(name, value, part);
    if (written === undefined) return [];
    if (name !== 'oneOf' || this.lostCount === before) return [[name, written]];
    // A choice lost a rule, so two of them may fit now.
    if (part.schema.anyOf === undefined) return [['anyOf', written]];
    this.lose('oneOf', part);
    return [];
  }

  #hiddenIn({ properties }: JsonMap): Set<string> {
    const { names } = this.rules;
    if (names === undefined || !isJsonObject(properties)) return new Set();
    return new Set(Object.keys(properties).filter((name) => !names.test(name)));
  }

  #keyword(name: string, value: Json, part: Part): Json | undefined {
    if (Object.hasOwn(KEYWORDS, name)) return KEYWORDS[name]?.(value, part, this, name);
    return UNSENT.has(name) ? this.lose(name, part) : undefined;
  }

  /** The target of a reference that cannot be sent. */
  #replaced(part: Part): JsonMap {
    const { $ref } = part.schema;
    const { place } = part;
    if ($ref === undefined || (typeof $ref === 'string' && this.references.sent($ref) !== undefined)) return {};
    const target =
      typeof $ref === 'string' && !place.replaced.includes($ref) ? this.references.target($ref) : undefined;
    if (typeof $ref !== 'string' || target === undefined) {
      this.lose('$ref', part);
      return {};
    }
    return this.within(target, { ...place, replaced: [...place.replaced, $ref] }) || {};
  }

  #definitions(name: string, given: Json | undefined, place: Place): [string, Json][] {
    if (!isJsonObject(given)) return [];
    const kept = Object.entries(given).filter(([key]) => this.references.isKept(`#/${name}/${key}`));
    const written = kept.map(([key, schema]) => [key, this.within(schema, place) || {}] as const);
    return written.length === 0 ? [] : [[name, Object.fromEntries(written)]];
  }
}

/** A schema in the place of a reference, with the keywords beside the reference. */
function joined(target: JsonMap, own: JsonMap): JsonMap {
  const isApart = Object.keys(target).every((name) => ANNOTATIONS.includes(name) || !Object.hasOwn(own, name));
  if (isApart) return { ...target, ...own };
  return { ...own, allOf: [...(Array.isArray(own.allOf) ? own.allOf : []), target] };
}

const ANNOTATIONS = ['title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly'];

const TYPES = ['null', 'boolean', 'object', 'array', 'number', 'string', 'integer'];

const EXCLUSIVE = [
  ['exclusiveMinimum', 'minimum'],
  ['exclusiveMaximum', 'maximum'],
] as const;

/** Keywords that hold a rule and that not every provider accepts. */
const UNSENT = new Set([
  ...['not', 'if', 'then', 'else', 'dependentRequired', 'dependentSchemas', 'dependencies'],
  ...['patternProperties', 'propertyNames', 'unevaluatedProperties', 'unevaluatedItems', 'additionalItems'],
  ...['contains', 'minContains', 'maxContains', '$dynamicRef', '$recursiveRef', 'disallow', 'extends', 'divisibleBy'],
]);

/** Values of `format` that describe how a value is stored, and forbid nothing. */
const STORED = ['int32', 'int64', 'uint32', 'uint64', 'float', 'double', 'decimal', 'byte', 'binary', 'password'];

const text: Keyword = (value) => (typeof value === 'string' ? value : undefined);
const flag: Keyword = (value) => (typeof value === 'boolean' ? value : undefined);
const anything: Keyword = (value) => value;

/** Keeps a value that passes a check. */
const checked =
  (check: (value: Json) => boolean): Keyword =>
  (value, part, writer, name) =>
    check(value) ? value : writer.lose(name, part);

const count = checked((value) => typeof value === 'number' && Number.isInteger(value) && value >= 0);
const number = checked((value) => typeof value === 'number');

/** A bound that draft 4 may call exclusive. */
const bound =
  (exclusive: string): Keyword =>
  (value, part, writer, name) =>
    part.schema[exclusive] === true && typeof value === 'number' ? undefined : number(value, part, writer, name);

const exclusive: Keyword = (value, part, writer, name) =>
  typeof value === 'boolean' ? undefined : number(value, part, writer, name);

/** The keywords that are sent, and how each is written. */
const KEYWORDS: Readonly<Record<string, Keyword>> = {
  title: text,
  description: text,
  default: anything,
  examples: (value) => (Array.isArray(value) ? value : undefined),
  deprecated: flag,
  readOnly: flag,
  writeOnly: flag,
  type: typeKeyword,
  const: anything,
  enum: (value, part, writer) =>
    Array.isArray(value) && value.length > 0 ? distinct(value as readonly Json[]) : writer.lose('enum', part),
  multipleOf: checked((value) => typeof value === 'number' && value > 0),
  minimum: bound('exclusiveMinimum'),
  maximum: bound('exclusiveMaximum'),
  exclusiveMinimum: exclusive,
  exclusiveMaximum: exclusive,
  minLength: count,
  maxLength: count,
  pattern: checked((value) => typeof value === 'string' && isPortablePattern(value)),
  format: formatKeyword,
  items: itemsKeyword,
  prefixItems: (_, part, writer) => writer.lose('prefixItems', part),
  minItems: count,
  maxItems: count,
  uniqueItems: flag,
  properties: propertiesKeyword,
  required: requiredKeyword,
  additionalProperties: additionalKeyword,
  minProperties: count,
  maxProperties: count,
  anyOf: choices,
  oneOf: choices,
  allOf: choices,
  $ref: (value, _, { references }) => (typeof value === 'string' ? references.sent(value) : undefined),
};

function typeKeyword(value: Json, part: Part, writer: SchemaWriter): Json | undefined {
  if (typeof value === 'string' && TYPES.includes(value)) return value;
  const listed = Array.isArray(value) ? distinct(value as readonly Json[]) : [];
  const isKnown = listed.length > 0 && listed.every((one) => typeof one === 'string' && TYPES.includes(one));
  return isKnown ? listed : writer.lose('type', part);
}

function formatKeyword(value: Json, part: Part, writer: SchemaWriter): Json | undefined {
  if (typeof value !== 'string' || STORED.includes(value)) return undefined;
  return writer.rules.formats.includes(value) ? value : writer.lose('format', part);
}

/** The items of a list. Those of a tuple, which have a schema each, are shown as a choice. */
function itemsKeyword(value: Json, part: Part, writer: SchemaWriter): Json | undefined {
  const { prefixItems, additionalItems } = part.schema;
  if (Array.isArray(value)) return tuple(value as readonly Json[], additionalItems, part, writer);
  if (Array.isArray(prefixItems)) return tuple(prefixItems as readonly Json[], value, part, writer);
  const written = writer.within(value, part.place);
  if (written === false) writer.lose('items', part);
  return written || {};
}

function tuple(first: readonly Json[], others: Json | undefined, part: Part, writer: SchemaWriter): Json {
  const { prefixItems, maxItems } = part.schema;
  if (prefixItems === undefined) writer.lose('items', part);
  const isClosed = others === false || (typeof maxItems === 'number' && maxItems <= first.length);
  if (!isClosed) return {}; // more may follow, of any kind
  const written = distinct(first.map((one) => writer.within(one, part.place) || {}));
  return written.length > 1 ? { anyOf: written } : (written[0] ?? {});
}

function propertiesKeyword(value: Json, part: Part, writer: SchemaWriter): Json | undefined {
  if (!isJsonObject(value)) return writer.lose('properties', part);
  const { place, hidden } = part;
  if (place.objects > writer.rules.objectsDeepMax) return writer.lose('properties', part);
  const required = Array.isArray(part.schema.required) ? (part.schema.required as readonly Json[]) : [];
  const shown: [string, Json][] = [];
  for (const [name, schema] of Object.entries(value)) {
    if (hidden.has(name)) {
      writer.hide(name, schema, required.includes(name), part);
      continue;
    }
    const written = writer.within(schema, place, true);
    if (written !== false || required.includes(name)) shown.push([name, written || {}]);
  }
  return Object.fromEntries(shown);
}

function requiredKeyword(value: Json, part: Part, writer: SchemaWriter): Json | undefined {
  if (part.place.objects > writer.rules.objectsDeepMax) return undefined;
  const names = Array.isArray(value) ? (value as readonly Json[]) : [];
  if (!Array.isArray(value) || !names.every((name) => typeof name === 'string')) return writer.lose('required', part);
  const shown = distinct(names).filter((name) => !part.hidden.has(String(name)));
  return shown.length === 0 ? undefined : shown;
}

/** Other properties stay forbidden only where every one that is allowed is shown. */
function additionalKeyword(value: Json, part: Part, writer: SchemaWriter): Json | undefined {
  const { schema, hidden, place } = part;
  const isWhole = hidden.size === 0 && schema.patternProperties === undefined;
  if (!isWhole || place.objects > writer.rules.objectsDeepMax) return undefined;
  return typeof value === 'boolean' ? value : writer.within(value, place, true);
}

/** A choice among schemas, or all of them together. */
function choices(value: Json, part: Part, writer: SchemaWriter, name: string): Json | undefined {
  if (!Array.isArray(value)) return writer.lose(name, part);
  const written = (value as readonly Json[]).map((one) => writer.within(one, part.place));
  const fitting = written.filter((one) => one !== false);
  const isWhole = name !== 'allOf' || fitting.length === written.length;
  return fitting.length > 0 && isWhole ? fitting : writer.lose(name, part);
}

function distinct(values: readonly Json[]): Json[] {
  const found = new Map(values.map((value) => [JSON.stringify(value), value]));
  return [...found.values()];
}
