/**
 * Arguments of a tool, made from its JSON Schema: all of them fit it but for one text, which is odd. What a tool's caller
 * sends must be answered, whatever its texts are.
 */
import { requireFields, wellFormed } from '@reprise/contracts';
import fc from 'fast-check';
import { anyTextAround, anyTextOf } from './texts.js';

/** A JSON Schema, as a tool states it. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** What random arguments may name and contain. */
export interface ArgumentOptions {
  /** What exists in the world under test, by the name of the argument that names it. */
  readonly known?: Readonly<Record<string, readonly unknown[]>>;
  /** Further odd texts: those that mean something to the tools under test. */
  readonly odd?: readonly string[];
  /** Whether texts may have a lone surrogate; true when absent. A scripted model cannot send one. */
  readonly lone?: boolean;
}

/** Texts that are no key, no name and no path, or that code mistakes for one. */
export const ODD_TEXTS: readonly string[] = [
  '',
  ' ',
  '#',
  '%',
  '*',
  '/',
  '..',
  '\u0000',
  '\n',
  '-1',
  '1e999',
  '\ud800',
  'a\udc00b',
  'k'.repeat(256),
  'k'.repeat(257),
  '😀'.repeat(64),
  '😀'.repeat(65),
  '水'.repeat(128),
  'x'.repeat(20_001),
  '__proto__',
  'constructor',
  'operator',
  'sys/Settle@1',
];

/** The most items of a list without a bound of its own. */
const ITEMS_MAX = 3;

/**
 * Any arguments for a tool: they fit its schema, and mostly one of their texts is odd, or at a bound of its schema. Some
 * have an argument that the schema does not know, under an odd name.
 *
 * @param schema the JSON Schema of the arguments
 * @example fc.property(anyArguments(schema, { known: { group_id: ['crew'] } }), (args) => tool.call(args))
 */
export function anyArguments(
  schema: JsonSchema,
  options: ArgumentOptions = {},
): fc.Arbitrary<Readonly<Record<string, unknown>>> {
  requireFields(schema, 'anyArguments(schema)', 'a JSON Schema');
  const makes = new Maker(schema, options);
  return makes.any(schema, '').chain((args) => {
    const places = makes.textsIn(args, schema);
    if (places.length === 0) return fc.constant(args);
    const odd = fc
      .constantFrom(...places)
      .chain(({ path, of }) => makes.oddText(of).map((text) => replaced(args, path, text)));
    const unknown = makes.oddText({}).map((name) => ({ ...(args as object), [`?${name}`]: 1 }));
    return fc.oneof(
      { weight: 8, arbitrary: odd },
      { weight: 1, arbitrary: fc.constant(args) },
      { weight: 1, arbitrary: unknown },
    );
  }) as fc.Arbitrary<Readonly<Record<string, unknown>>>;
}

/**
 * Arguments with each of their texts at each of its bounds and one character beyond, in characters of one unit and of two.
 * Complete where {@link anyArguments} is random: each argument is there, and each text is tried.
 *
 * @param schema the JSON Schema of the arguments
 */
export function boundArguments(
  schema: JsonSchema,
  options: ArgumentOptions = {},
): readonly Readonly<Record<string, unknown>>[] {
  requireFields(schema, 'boundArguments(schema)', 'a JSON Schema');
  const makes = new Maker(schema, options, true);
  const [whole] = fc.sample(makes.any(schema, ''), { seed: 1, numRuns: 1 });
  return makes.textsIn(whole, schema).flatMap(({ path, of }) => {
    const some = needed(whole, [...((schema.required ?? []) as string[]), String(path[0])]);
    return boundTexts(of).map((text) => replaced(some, path, text) as Record<string, unknown>);
  });
}

/** Some of all arguments: optional ones exclude each other often. */
function needed(whole: unknown, names: readonly string[]): unknown {
  return Object.fromEntries(Object.entries(whole as object).filter(([name]) => names.includes(name)));
}

function boundTexts({ minLength, maxLength }: JsonSchema): readonly string[] {
  const [min, max] = [minLength as number | undefined, maxLength as number | undefined];
  const lengths = [...(min === undefined ? [] : [min - 1, min]), ...(max === undefined ? [] : [max, max + 1])];
  return lengths.filter((length) => length >= 0).flatMap((length) => ['a', '😀'].map((sign) => sign.repeat(length)));
}

interface TextPlace {
  readonly path: readonly (string | number)[];
  readonly of: JsonSchema;
}

class Maker {
  readonly #defs: Readonly<Record<string, JsonSchema>>;

  constructor(
    root: JsonSchema,
    private readonly options: ArgumentOptions,
    /** Whether every argument is there, and no list is empty. */
    private readonly isWhole = false,
  ) {
    this.#defs = (root.$defs ?? {}) as Readonly<Record<string, JsonSchema>>;
  }

  /** A value that fits; where something of this name is known, mostly that. */
  any(given: JsonSchema, name: string): fc.Arbitrary<unknown> {
    const known = this.options.known?.[name];
    if (known === undefined || known.length === 0) return this.#made(given, name);
    return fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom(...known) },
      { weight: 1, arbitrary: this.#made(given, name) },
    );
  }

  /** The texts in a value, and the schema of each. */
  textsIn(value: unknown, given: JsonSchema, path: readonly (string | number)[] = []): readonly TextPlace[] {
    const schema = this.#schemaFor(value, given);
    if (typeof value === 'string') return schema.enum === undefined ? [{ path, of: schema }] : [];
    if (Array.isArray(value)) {
      const items = (schema.items ?? {}) as JsonSchema;
      return value.flatMap((item, i) => this.textsIn(item, items, [...path, i]));
    }
    if (typeof value !== 'object' || value === null) return [];
    const fields = (schema.properties ?? {}) as Readonly<Record<string, JsonSchema>>;
    const rest = typeof schema.additionalProperties === 'object' ? (schema.additionalProperties as JsonSchema) : {};
    return Object.entries(value).flatMap(([key, item]) => this.textsIn(item, fields[key] ?? rest, [...path, key]));
  }

  /** An odd text, or one at a bound of its schema. */
  oddText({ minLength, maxLength }: JsonSchema): fc.Arbitrary<string> {
    const bounds = { min: minLength as number | undefined, max: maxLength as number | undefined };
    const { odd = [], lone = true } = this.options;
    const usual = lone ? ODD_TEXTS : ODD_TEXTS.filter((text) => wellFormed(text) === text);
    return fc.oneof(
      { weight: 2, arbitrary: fc.constantFrom(...usual) },
      { weight: odd.length === 0 ? 0 : 2, arbitrary: fc.constantFrom(...odd, '') },
      { weight: 1, arbitrary: anyTextAround(bounds, { lone }) },
    );
  }

  #made(given: JsonSchema, name: string): fc.Arbitrary<unknown> {
    const schema = this.#resolved(given);
    if (schema.const !== undefined) return fc.constant(schema.const);
    if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
    const options = (schema.anyOf ?? schema.oneOf) as readonly JsonSchema[] | undefined;
    if (options !== undefined) return fc.oneof(...options.map((option) => this.#made(option, name)));
    const types = Array.isArray(schema.type) ? schema.type : [schema.type];
    return fc.oneof(...types.map((type) => this.#typed(schema, String(type), name)));
  }

  #typed(schema: JsonSchema, type: string, name: string): fc.Arbitrary<unknown> {
    switch (type) {
      case 'string':
        return textOf(schema);
      case 'integer':
        return fc.integer(numbersOf(schema));
      case 'number':
        return fc.double({ ...numbersOf(schema), noNaN: true, noDefaultInfinity: true });
      case 'boolean':
        return fc.boolean();
      case 'null':
        return fc.constant(null);
      case 'array': {
        const { minItems = 0, maxItems = ITEMS_MAX } = schema as {
          readonly minItems?: number;
          readonly maxItems?: number;
        };
        const item = this.any((schema.items ?? {}) as JsonSchema, singular(name));
        return fc.uniqueArray(item, {
          minLength: this.isWhole ? Math.max(1, minItems) : minItems,
          maxLength: Math.min(maxItems, minItems + ITEMS_MAX),
          selector: JSON.stringify,
        });
      }
      case 'object':
        return this.#object(schema);
      default:
        return fc.constantFrom<unknown>(null, 1, 'text', [], { any: 'thing' });
    }
  }

  #object({ properties = {}, required = [], additionalProperties }: JsonSchema): fc.Arbitrary<unknown> {
    const fields = Object.entries(properties as Readonly<Record<string, JsonSchema>>);
    const model = Object.fromEntries(fields.map(([name, field]) => [name, this.any(field, name)]));
    const made = fc.record(model, {
      requiredKeys: this.isWhole ? Object.keys(model) : (required as string[]),
      noNullPrototype: true,
    });
    if (typeof additionalProperties !== 'object' && fields.length > 0) return made;
    const rest = typeof additionalProperties === 'object' ? (additionalProperties as JsonSchema) : {};
    const keys = fc.constantFrom('a', 'note', ...ODD_TEXTS.slice(0, 8).filter((key) => key !== ''));
    const more = fc.dictionary(keys, this.#made(rest, ''), { maxKeys: 2, noNullPrototype: true });
    return fc.tuple(made, more).map(([one, other]) => ({ ...other, ...(one as object) }));
  }

  /** The schema that a value was made from: of a choice, the option of its type. */
  #schemaFor(value: unknown, given: JsonSchema): JsonSchema {
    const schema = this.#resolved(given);
    const options = (schema.anyOf ?? schema.oneOf) as readonly JsonSchema[] | undefined;
    if (options === undefined) return schema;
    const fitting = options
      .map((option) => this.#resolved(option))
      .find(({ type, enum: listed }) => {
        if (Array.isArray(listed)) return listed.includes(value);
        return type === undefined || type === typeNameOf(value);
      });
    return fitting ?? {};
  }

  #resolved(schema: JsonSchema): JsonSchema {
    const { $ref } = schema;
    if (typeof $ref !== 'string') return schema;
    return this.#resolved(this.#defs[$ref.slice($ref.lastIndexOf('/') + 1)] ?? {});
  }
}

function textOf({ pattern, minLength = 0, maxLength }: JsonSchema): fc.Arbitrary<string> {
  if (typeof pattern === 'string') return fc.stringMatching(new RegExp(pattern));
  const [min, max] = [minLength as number, maxLength as number | undefined];
  const length = Math.min(max ?? Number.MAX_SAFE_INTEGER, Math.max(min, 8));
  return fc.oneof(anyTextOf(Math.max(min, 1)), anyTextOf(length), fc.constant('text'.slice(0, length)));
}

function numbersOf({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: JsonSchema) {
  const min = (minimum ?? exclusiveMinimum) as number | undefined;
  const max = (maximum ?? exclusiveMaximum) as number | undefined;
  return { ...(min === undefined ? {} : { min }), ...(max === undefined ? {} : { max }) };
}

/** What one of several is called: items of `agents` are known as `agent`. */
function singular(name: string): string {
  return name.endsWith('s') ? name.slice(0, -1) : name;
}

function typeNameOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}

function replaced(whole: unknown, [step, ...rest]: readonly (string | number)[], text: string): unknown {
  if (step === undefined) return text;
  if (Array.isArray(whole)) return whole.with(step as number, replaced(whole[step as number], rest, text));
  const fields = whole as Readonly<Record<string, unknown>>;
  return { ...fields, [step]: replaced(fields[step], rest, text) };
}
