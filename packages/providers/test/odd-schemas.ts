/** Schemas of tools in the shapes that servers and generators really send: each of them was refused by a provider. */
import fc from 'fast-check';

type Json = fc.JsonValue;

const pattern = fc.constantFrom(
  ...[
    '^[a-z]+$',
    '^\\d{4}-\\d{2}$',
    '^(?:a|b)*$',
    'x{2,3}?',
    '[^\\]\\w-]+',
    '^(?=.*a)b',
    '^(?!x)y',
    '(?<=a)b',
    '(?<n>a)',
  ],
  ...[
    '\\p{L}+',
    '\\P{Lu}',
    '(a)\\1',
    '[\\s\\S]*',
    '^[a-z',
    'a++',
    '(?i)a',
    '\\u{1F600}',
    '\\cA',
    'x{5,2}',
    '[[a]]',
    'a{',
    ')',
  ],
  ...['x{2000}', '\\Z', '[a&&b]', '*a', '^$', 'é+', '[z-a]', '\\-', '\\_', '[]', ''],
);

const scalar: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(
    {},
    true,
    false,
    null,
    { type: 'any' },
    { type: [] },
    { type: ['string', 'null'] },
    { enum: [] },
  ),
  fc.record({ type: fc.constant('string'), pattern }),
  fc.record({
    type: fc.constant('string'),
    format: fc.constantFrom('date-time', 'uri', 'email', 'int64', 'x-odd', 'regex', 'uuid'),
  }),
  fc.record({
    type: fc.constant('number'),
    minimum: fc.integer(),
    exclusiveMinimum: fc.constantFrom<Json>(true, false, 3),
  }),
  fc.record({ type: fc.constant('integer'), maximum: fc.integer(), exclusiveMaximum: fc.boolean() }),
  fc.constantFrom<Json>(
    { const: 'a' },
    { enum: ['a', 'b', 'a'], nullable: true },
    { type: 'string', minLength: -1, required: true },
    { type: 'string', default: 'x', examples: ['y'], example: 'z', 'x-order': 1 },
    { type: 'string', examples: 'y', description: 5, title: null },
    { type: 'number', multipleOf: 0 },
    { type: 'array' },
    { type: ['array', 'null'] },
    { $ref: '#/$defs/node' },
    { $ref: '#/definitions/odd name', description: 'One.' },
    { $ref: '#' },
    { $ref: '#/properties/a', type: 'string' },
    { $ref: 'https://schemas.example/other.json' },
    { $ref: '#/nothing/here' },
    { $ref: '#anchor' },
    { $ref: 7 },
    { $anchor: 'anchor', type: 'string', $schema: 'urn:unknown', $id: 'urn:x', $comment: 'x' },
  ),
);

const name = fc.constantFrom(
  'a',
  'b',
  'kind',
  'filter[id]',
  '$top',
  'имя',
  'x'.repeat(80),
  '',
  'type',
  'properties',
  '@odd',
);

const { schema } = fc.letrec<{ schema: Json }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    scalar,
    fc.record(
      {
        type: fc.constantFrom<Json>('object', ['object', 'null']),
        properties: fc.dictionary(name, tie('schema'), { maxKeys: 4 }) as fc.Arbitrary<Json>,
        required: fc.constantFrom<Json>(['a'], ['kind', 'a'], [], ['filter[id]'], ['unknown'], true, ['a', 'a']),
        additionalProperties: fc.oneof(fc.boolean(), tie('schema')),
        patternProperties: fc.dictionary(pattern, tie('schema'), { maxKeys: 1 }) as fc.Arbitrary<Json>,
        propertyNames: tie('schema'),
        dependentSchemas: fc.dictionary(name, tie('schema'), { maxKeys: 1 }) as fc.Arbitrary<Json>,
        dependentRequired: fc.constantFrom<Json>({ a: ['b'] }),
        unevaluatedProperties: fc.constant(false),
        minProperties: fc.constantFrom<Json>(0, 1, -1, 'x'),
      },
      { requiredKeys: ['type', 'properties'] },
    ) as fc.Arbitrary<Json>,
    fc.record(
      {
        type: fc.constant('array'),
        items: fc.oneof(tie('schema'), fc.array(tie('schema'), { maxLength: 3 }) as fc.Arbitrary<Json>),
        prefixItems: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) as fc.Arbitrary<Json>,
        additionalItems: fc.oneof(fc.boolean(), tie('schema')),
        contains: tie('schema'),
        minItems: fc.nat(3),
        maxItems: fc.nat(3),
        uniqueItems: fc.constantFrom<Json>(true, 'yes'),
      },
      { requiredKeys: ['type'] },
    ) as fc.Arbitrary<Json>,
    fc.record(
      {
        type: fc.constantFrom<Json>('object', 'string'),
        anyOf: fc.array(tie('schema'), { maxLength: 3 }) as fc.Arbitrary<Json>,
        oneOf: fc.array(tie('schema'), { maxLength: 3 }) as fc.Arbitrary<Json>,
        allOf: fc.array(tie('schema'), { maxLength: 2 }) as fc.Arbitrary<Json>,
        not: tie('schema'),
        if: tie('schema'),
        ['then' as string]: tie('schema'),
        else: tie('schema'),
      },
      { requiredKeys: [] },
    ) as fc.Arbitrary<Json>,
  ),
})) as unknown as { schema: fc.Arbitrary<Json> };

/** Objects within objects, deeper than some formats take; a list of tools that is stored nests no deeper. */
const deep = fc.integer({ min: 5, max: 20 }).map((levels) => {
  let made: Json = { type: 'string' };
  for (let i = 0; i < levels; i++) made = { type: 'object', properties: { a: made }, required: ['a'] };
  return made;
});

/** The root of a tool's schema: usually an object, with definitions that its parts may refer to. */
export const oddSchema: fc.Arbitrary<Json> = fc.oneof(
  { weight: 1, arbitrary: fc.oneof(schema, fc.jsonValue({ maxDepth: 2 }), deep) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(schema, schema, schema, fc.constantFrom('$defs', 'definitions', 'both'))
      .map(([root, node, odd, where]): Json => {
        if (typeof root !== 'object' || root === null || Array.isArray(root)) return root;
        const all = {
          ...(where === 'definitions' ? {} : { $defs: { node, unused: true } }),
          ...(where === '$defs' ? {} : { definitions: { node, 'odd name': odd } }),
        };
        return { ...root, ...all };
      }),
  },
  {
    weight: 1,
    arbitrary: fc.array(schema, { minLength: 1, maxLength: 3 }).map((choices): Json => ({ oneOf: choices })),
  },
);
