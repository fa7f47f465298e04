import { describe, expect, it } from 'vitest';
import { checker } from '../../../src/pure/json-schema/index.js';
import { resolve } from '../../../src/pure/json-schema/uri.js';

function fits(schema: unknown, value: unknown): boolean {
  const found = checker(schema);
  if (!found.ok) throw new Error(`${found.where}: ${found.why}`);
  return found.check(value).ok;
}

const text = { type: 'string' };
const number = { type: 'number' };
const tree = {
  $id: 'https://a.example/tree',
  $dynamicAnchor: 'node',
  properties: { kids: { items: { $dynamicRef: '#node' } } },
};
const strict = { $id: 'https://a.example/strict', $dynamicAnchor: 'node', $ref: 'tree', unevaluatedProperties: false };

describe('a keyword of JSON Schema', () => {
  it.each<[object, readonly unknown[], readonly unknown[]]>([
    [{ minLength: 2 }, ['ab', '😀😀', 1], ['', 'a', '😀']],
    [{ maxLength: 2 }, ['', 'ab', '😀😀'], ['abc']],
    [{ minimum: 1 }, [1, 2, 'a'], [0.9]],
    [{ maximum: 1 }, [1, 0], [1.1]],
    [{ exclusiveMinimum: 1 }, [1.1], [1, 0]],
    [{ exclusiveMaximum: 1 }, [0.9], [1, 2]],
    [{ minimum: 1, exclusiveMinimum: true }, [1.1], [1, 0.9]],
    [{ maximum: 1, exclusiveMaximum: true }, [0.9], [1, 1.1]],
    [{ maximum: 1, exclusiveMaximum: false }, [1], [1.1]],
    [{ exclusiveMaximum: false }, [1], []],
    [{ multipleOf: 0.01 }, [19.99, 0, -0.07, 1e10], [0.015, 1e-10, 19.999]],
    [{ multipleOf: 2 }, [4, 0, -2], [5, 1, 4.0001]],
    [{ multipleOf: 1e-308 }, [10, 1e10], [0.5e10 + 0.5]],
    [{ multipleOf: 0.5e-308 }, [1e-308], [1e10]],
    [{ prefixItems: [text], items: number }, [['a', 1], [], ['a']], [[1], ['a', 'b']]],
    [{ items: [text], additionalItems: number }, [['a', 1]], [['a', 'b'], [1]]],
    [{ prefixItems: [true], unevaluatedItems: false }, [[1], []], [[1, 2]]],
    [{ items: [true, true], unevaluatedItems: false }, [[1, 2], [1]], [[1, 2, 3]]],
    [{ items: true, unevaluatedItems: false }, [[1, 2, 3]], []],
    [{ allOf: [{ prefixItems: [true] }], unevaluatedItems: false }, [[1]], [[1, 2]]],
    [{ contains: number, unevaluatedItems: false }, [[1, 2]], [[1, 'a']]],
    [{ contains: number, minContains: 2, maxContains: 3 }, [[1, 2, 'a']], [[1], [1, 2, 3, 4], []]],
    [{ contains: number }, [['a', 1], 'a'], [[], ['a']]],
    [{ contains: number, minContains: 0 }, [[]], []],
    [{ minItems: 1, maxItems: 2 }, [[1], [1, 2]], [[], [1, 2, 3]]],
    [{ minProperties: 1, maxProperties: 2 }, [{ a: 1 }, { a: 1, b: 1 }], [{}, { a: 1, b: 1, c: 1 }]],
    [
      { allOf: [{ properties: { a: true } }], unevaluatedProperties: false },
      [{ a: 1 }, {}],
      [{ b: 1 }, { a: 1, b: 1 }],
    ],
    [{ anyOf: [{ properties: { a: number } }, true], unevaluatedProperties: false }, [{ a: 1 }], [{ a: 'x' }]],
    [
      { $defs: { x: { properties: { a: true } } }, $ref: '#/$defs/x', unevaluatedProperties: false },
      [{ a: 1 }],
      [{ b: 1 }],
    ],
    [
      { properties: { a: text }, patternProperties: { '^b': number }, additionalProperties: false },
      [{ a: 'x', bb: 1 }],
      [{ c: 1 }, { b: 'x' }, { a: 1 }],
    ],
    [{ patternProperties: { b: number, '^b': { minimum: 2 } } }, [{ b: 2, ab: 1 }], [{ b: 1 }, { ab: 'x' }]],
    [{ dependentSchemas: { a: { required: ['b'] } } }, [{}, { c: 1 }, { a: 1, b: 1 }, 1], [{ a: 1 }]],
    [{ dependentRequired: { a: ['b', 'c'] } }, [{}, { a: 1, b: 1, c: 1 }], [{ a: 1, b: 1 }]],
    [
      { dependencies: { a: { required: ['b'] }, c: ['d'] } },
      [{}, { a: 1, b: 1 }, { c: 1, d: 1 }],
      [{ a: 1 }, { c: 1 }],
    ],
    [{ propertyNames: { maxLength: 2 } }, [{ ab: 1 }, {}], [{ abc: 1 }]],
    [{ oneOf: [number, { type: 'integer' }] }, [1.5], [1, 'a']],
    [{ oneOf: [number] }, [1], ['a']],
    [{ anyOf: [number, text] }, [1, 'a'], [null]],
    [{ not: { anyOf: [number, text] } }, [null], [1, 'a']],
    // biome-ignore lint/suspicious/noThenProperty: the keyword has this name
    [{ if: number, then: { minimum: 1 }, else: { const: 'a' } }, [1, 'a'], [0, 'b']],
    [{ const: { a: [1, { b: null }] } }, [{ a: [1, { b: null }] }], [{ a: [1, {}] }, { a: [1] }]],
    [
      { uniqueItems: true },
      [
        [1, '1', true],
        [{ a: 1 }, { b: 1 }],
      ],
      [
        [1, 1.0],
        [
          { a: 1, b: 2 },
          { b: 2, a: 1 },
        ],
      ],
    ],
    [{ format: 'date' }, ['2000-02-29', '2024-02-29', 1], ['1900-02-29', '2023-02-29', '2024-00-10', '2024-02-30']],
    [
      { format: 'ipv6' },
      ['::1.2.3.4', '1::1.2.3.4', '1:2:3:4:5::1.2.3.4', '1:2:3:4:5:6::', '::2:3:4:5:6:7:8'],
      ['1:2:3:4:5:6:7::1.2.3.4', '1::2::1.2.3.4'],
    ],
    [{ anyOf: [text, number], not: { $ref: '#/anyOf/1' } }, ['a'], [1]],
    [
      {
        $defs: { list: { allOf: Array.from({ length: 11 }, (_, n) => ({ minimum: n })) } },
        $ref: '#/$defs/list/allOf/10',
      },
      [10],
      [9],
    ],
    [
      { $id: 'https://a.example/root', $defs: { tree, strict }, anyOf: [{ $ref: 'strict' }, { $ref: 'tree' }] },
      [{ kids: [{ kidz: 1 }] }],
      [],
    ],
    [
      { $id: 'https://a.example/root', $defs: { tree, strict }, $ref: 'strict' },
      [{ kids: [{ kids: [] }] }],
      [{ kids: [{ kidz: 1 }] }],
    ],
  ])('%j judges each value as its text says', (schema, fitting, others) => {
    for (const value of fitting) expect([value, fits(schema, value)]).toEqual([value, true]);
    for (const value of others) expect([value, fits(schema, value)]).toEqual([value, false]);
  });

  it.each<[object, string]>([
    [{ multipleOf: 0 }, '#/multipleOf it has to be above zero'],
    [{ minLength: -1 }, '#/minLength it has to be a number from 0 on'],
    [{ required: 'a' }, '#/required it has to be a list'],
    [{ properties: [] }, '#/properties it has to be a map'],
    [{ allOf: {} }, '#/allOf it has to be a list of schemas'],
    [{ anyOf: [1] }, '#/anyOf/0 a schema is a map, true or false'],
    [{ $ref: '#/anyOf/01', anyOf: [true, true] }, '#/$ref the reference #/anyOf/01 has no target'],
    [{ $ref: '#/anyOf/2', anyOf: [true, true] }, '#/$ref the reference #/anyOf/2 has no target'],
  ])('%j is refused where it says nothing', (schema, why) => {
    const found = checker(schema);
    expect(found.ok ? 'taken' : `${found.where} ${found.why}`).toContain(why);
  });

  it('an error shows at most twenty of the expected values', () => {
    const found = checker({ enum: Array.from({ length: 30 }, (_, n) => n) });
    const verdict = found.ok ? found.check('x') : undefined;
    expect(verdict).toMatchObject({ problems: [{ message: `expected one of ${[...Array(20).keys()].join(', ')}` }] });
  });

  it('a pattern with a Unicode property is refused unless the caller supplies the characters of properties', () => {
    expect(checker({ pattern: '\\p{L}' })).toMatchObject({ ok: false });
    const known = checker({ pattern: '\\p{L}' }, { properties: () => (codePoint) => codePoint === 0x61 });
    expect([known.ok && known.check('a').ok, known.ok && known.check('b').ok]).toEqual([true, false]);
  });
});

describe('a reference', () => {
  it.each([
    ['https://a.example/x/y', '', 'https://a.example/x/y', ''],
    ['https://a.example/x/y', '#z', 'https://a.example/x/y', 'z'],
    ['https://a.example/x/y', 'z#', 'https://a.example/x/z', ''],
    ['https://a.example/x/y', '/z', 'https://a.example/z', ''],
    ['https://a.example/x/y', 'z/', 'https://a.example/x/z/', ''],
    ['https://a.example/x/y?q/r', './z', 'https://a.example/x/z', ''],
    ['https://a.example/x/y/', '../z', 'https://a.example/x/z', ''],
    ['https://a.example/x/y', 'urn:z:1', 'urn:z:1', ''],
    ['https://a.example/x/y', 'z?u=v:w', 'https://a.example/x/z?u=v:w', ''],
    ['https://a.example/x/y', 'z/b:c', 'https://a.example/x/z/b:c', ''],
    ['file:/x/y', 'z', 'file:/x/z', ''],
    ['x/y', 'z', 'x/z', ''],
    ['', 'z', 'z', ''],
  ])('a reference at %j to %j leads to %j, %j', (base, reference, address, fragment) => {
    expect(resolve(base, reference)).toEqual({ base: address, fragment });
  });
});
