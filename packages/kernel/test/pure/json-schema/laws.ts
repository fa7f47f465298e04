/**
 * Laws of the checker of others' schemas, held against two implementations that share nothing with it: the engine's own
 * regular expressions for patterns, and ajv for schemas. Both backtrack, so the inputs are small.
 */
import { fromJsonSchema } from '@modelcontextprotocol/client';
import fc from 'fast-check';
import { Budget } from '../../../src/pure/json-schema/budget.js';
import { checker } from '../../../src/pure/json-schema/checker.js';
import { linearPattern } from '../../../src/pure/json-schema/pattern.js';

/** What is checked, so that a mutant may stand in its place. */
export interface Implementation {
  readonly matches: (pattern: string, text: string) => boolean | string;
  readonly fits: (schema: unknown, value: unknown) => boolean | string;
}

/** The implementation that is shipped. */
export const SHIPPED: Implementation = {
  matches(source, text) {
    const pattern = linearPattern(source);
    return typeof pattern === 'string' ? pattern : pattern.matches(text, new Budget());
  },
  fits(schema, value) {
    const found = checker(schema);
    return found.ok ? found.check(value).ok : `${found.where}: ${found.why}`;
  },
};

const atom = fc.constantFrom(
  ...[
    'a',
    'b',
    '.',
    '\\w',
    '\\d',
    '\\s',
    '[ab]',
    '[^a]',
    '[a-c]',
    '\\b',
    '\\B',
    '^',
    '$',
    '😀',
    '\\u{1F600}',
    '[\\w-]',
    ' ',
    '_',
    '1',
  ],
);

/** Parts of patterns, of everything that the engine has and this one takes. */
const parts: fc.Arbitrary<string> = fc.letrec<{ node: string; repeated: string }>((tie) => ({
  repeated: fc
    .tuple(tie('node'), fc.constantFrom('', '*', '+', '?', '*?', '{2}', '{1,3}', '{0,2}', '{2,}'))
    .map(([node, how]) => (how === '' ? node : `(?:${node})${how}`)),
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    atom,
    fc.array(tie('repeated'), { maxLength: 3 }).map((parts) => parts.join('')),
    fc.array(tie('repeated'), { minLength: 1, maxLength: 3 }).map((parts) => `(${parts.join('|')})`),
    fc
      .tuple(fc.constantFrom('?=', '?!', '?<=', '?<!', '?:', ''), tie('repeated'))
      .map(([kind, node]) => `(${kind}${node})`),
  ),
})).repeated;

/** Patterns; half of them for whole texts, where what looks ahead or behind matters most. */
export const patterns: fc.Arbitrary<string> = fc.oneof(
  parts,
  fc.tuple(parts, parts).map(([first, second]) => `^(?:${first})(?:${second})$`),
);

/** Texts of the characters that those patterns know. */
export const texts: fc.Arbitrary<string> = fc
  .array(fc.constantFrom('a', 'b', 'c', '1', ' ', '_', '\n', '😀', '!'), { maxLength: 7 })
  .map((parts) => parts.join(''));

/** A pattern matches what the engine's own matches. */
export function patternFault({ matches }: Implementation, pattern: string, text: string): string | undefined {
  // From the first place on: V8 tries other patterns within a pair of surrogates as well, which the language does not.
  const expected = new RegExp(`^[^]*?(?:${pattern})`, 'u').test(text);
  const found = matches(pattern, text);
  return found === expected ? undefined : `/${pattern}/u on ${JSON.stringify(text)}: ${found}, and not ${expected}`;
}

// No `constructor` and `__proto__`: ajv finds them in every map.
const keys = fc.constantFrom('a', 'b', 'ab', 'c');
const numbers = fc.constantFrom(-1, 0, 0.5, 1, 2, 3, 10);
const counts = fc.integer({ min: 0, max: 3 });

/** Small values, of the keys and numbers that the schemas speak of. */
export const values: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(fc.constant(null), fc.boolean(), numbers, fc.constantFrom('', 'a', 'ab', 'b1', '😀')),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.array(fc.tuple(keys, tie('value')), { maxLength: 3 }).map((entries) => Object.fromEntries(entries)),
  ),
})).value;

const types = fc.constantFrom('null', 'boolean', 'object', 'array', 'number', 'string', 'integer');
const simple = fc.constantFrom('^a', 'b$', '^.$', '[0-9]', '^(a|b)+$');

/** Schemas of all keywords that both know. References lead to `#/$defs/…`, which every schema has. */
export const schemas: fc.Arbitrary<unknown> = fc.letrec<{ schema: unknown }>((tie) => {
  const schema = tie('schema');
  const map = (key: fc.Arbitrary<string>) =>
    fc.array(fc.tuple(key, schema), { maxLength: 3 }).map((entries) => Object.fromEntries(entries));
  const list = fc.array(schema, { minLength: 1, maxLength: 3 });
  const keyword: fc.Arbitrary<Record<string, unknown>> = fc.oneof(
    types.map((type) => ({ type })),
    fc.uniqueArray(types, { minLength: 1, maxLength: 3 }).map((type) => ({ type })),
    fc
      .uniqueArray(values, {
        minLength: 1,
        maxLength: 3,
        comparator: (a, b) => JSON.stringify(a) === JSON.stringify(b),
      })
      .map((all) => ({ enum: all })),
    values.map((value) => ({ const: value })),
    numbers.map((minimum) => ({ minimum })),
    numbers.map((maximum) => ({ maximum })),
    numbers.map((exclusiveMinimum) => ({ exclusiveMinimum })),
    numbers.map((exclusiveMaximum) => ({ exclusiveMaximum })),
    fc.constantFrom(1, 2, 3).map((multipleOf) => ({ multipleOf })),
    counts.map((minLength) => ({ minLength })),
    counts.map((maxLength) => ({ maxLength })),
    simple.map((pattern) => ({ pattern })),
    counts.map((minItems) => ({ minItems })),
    counts.map((maxItems) => ({ maxItems })),
    fc.boolean().map((uniqueItems) => ({ uniqueItems })),
    list.map((prefixItems) => ({ prefixItems })),
    schema.map((items) => ({ items })),
    fc.tuple(list, schema).map(([prefixItems, items]) => ({ prefixItems, items })),
    schema.map((contains) => ({ contains })),
    fc
      .tuple(schema, counts, counts)
      .map(([contains, minContains, maxContains]) => ({ contains, minContains, maxContains })),
    counts.map((minProperties) => ({ minProperties })),
    counts.map((maxProperties) => ({ maxProperties })),
    fc.uniqueArray(keys, { maxLength: 3 }).map((required) => ({ required })),
    fc
      .tuple(keys, fc.uniqueArray(keys, { maxLength: 2 }))
      .map(([key, needs]) => ({ dependentRequired: Object.fromEntries([[key, needs]]) })),
    map(keys).map((dependentSchemas) => ({ dependentSchemas })),
    map(keys).map((properties) => ({ properties })),
    map(simple).map((patternProperties) => ({ patternProperties })),
    fc.tuple(map(keys), map(simple), schema).map(([properties, patternProperties, additionalProperties]) => ({
      properties,
      patternProperties,
      additionalProperties,
    })),
    schema.map((additionalProperties) => ({ additionalProperties })),
    schema.map((propertyNames) => ({ propertyNames })),
    list.map((allOf) => ({ allOf })),
    list.map((anyOf) => ({ anyOf })),
    list.map((oneOf) => ({ oneOf })),
    schema.map((not) => ({ not })),
    fc.tuple(schema, schema, schema).map(([test, then, otherwise]) => ({ if: test, then, else: otherwise })),
    fc.constantFrom('#/$defs/one', '#/$defs/two', '#two').map(($ref) => ({ $ref })),
    schema.map((unevaluatedItems) => ({ unevaluatedItems })),
    schema.map((unevaluatedProperties) => ({ unevaluatedProperties })),
  );
  return {
    schema: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.boolean(),
      fc.array(keyword, { minLength: 1, maxLength: 3 }).map((all) => Object.assign({}, ...all)),
    ),
  };
}).schema;

const DEFS = {
  one: { type: ['string', 'object'], maxProperties: 1 },
  two: { $anchor: 'two', properties: { a: { $ref: '#/$defs/one' } } },
};

/** A schema of the generator, whole. */
export function whole(schema: unknown): Record<string, unknown> {
  return typeof schema === 'boolean' ? { allOf: [schema], $defs: DEFS } : { ...(schema as object), $defs: DEFS };
}

/** A value fits where ajv says so. Undefined where ajv refuses the schema. */
export function schemaFault({ fits }: Implementation, schema: unknown, value: unknown): string | undefined {
  let expected: boolean;
  try {
    const result = fromJsonSchema(schema as Parameters<typeof fromJsonSchema>[0])['~standard'].validate(value);
    if (result instanceof Promise) return undefined;
    expected = result.issues === undefined;
  } catch {
    return undefined;
  }
  const found = fits(schema, value);
  const shown = () => `${JSON.stringify(schema)} on ${JSON.stringify(value)}`;
  return found === expected ? undefined : `${shown()}: ${found}, and not ${expected}`;
}
