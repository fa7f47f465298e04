import { describe, expect, it } from 'vitest';
import { cpuMsOf } from '../../../../../scripts/lib/cpu.js';
import { CHECK_DEPTH_MAX, CHECK_STEPS_MAX } from '../../../src/pure/json-schema/budget.js';
import { SCHEMA_STATES_MAX } from '../../../src/pure/json-schema/compile.js';
import { checker } from '../../../src/pure/json-schema/index.js';
import { PATTERN_STATES_MAX } from '../../../src/pure/json-schema/pattern.js';
import { PATTERN_DEPTH_MAX, PATTERN_UNITS_MAX } from '../../../src/pure/json-schema/pattern-syntax.js';
import { SCHEMA_DEPTH_MAX, SCHEMA_NODES_MAX, SCHEMA_UNITS_MAX } from '../../../src/pure/json-schema/resources.js';

function check(schema: unknown, value: unknown) {
  const found = checker(schema);
  if (!found.ok) throw new Error(`${found.where}: ${found.why}`);
  return found.check(value);
}

function refusal(schema: unknown): string {
  const found = checker(schema);
  return found.ok ? 'taken' : `${found.where} ${found.why}`;
}

describe('a checker of a JSON Schema', () => {
  it('a checker names the error of a value and its place', () => {
    const schema = {
      type: 'object',
      properties: { name: { type: 'string' }, tags: { items: { enum: ['a', 'b'] } } },
      required: ['name', 'age'],
      additionalProperties: false,
    };
    expect(check(schema, { name: 1, tags: ['a', 'c'], more: 0 })).toEqual({
      ok: false,
      problems: [
        { path: ['age'], message: 'is missing' },
        { path: ['name'], message: 'expected string, got number' },
        { path: ['tags', 1], message: 'expected one of "a", "b"' },
        { path: ['more'], message: 'is not allowed' },
      ],
    });
  });

  it.each<[string, unknown, unknown, boolean]>([
    ['an anchor', { $defs: { x: { $anchor: 'here', type: 'null' } }, $ref: '#here' }, null, true],
    ['an address', { $id: 'https://a.example/one', $defs: { x: { $id: 'two', type: 'null' } }, $ref: 'two' }, 1, false],
    [
      'its own address',
      { $id: 'https://a.example/one', $defs: { x: { type: 'null' } }, $ref: 'https://a.example/one#/$defs/x' },
      1,
      false,
    ],
    [
      'a pointer with escapes',
      { definitions: { 'a/b~c%': { type: 'null' } }, $ref: '#/definitions/a~1b~0c%25' },
      1,
      false,
    ],
    [
      'itself',
      { properties: { next: { $ref: '#' } }, additionalProperties: false },
      { next: { next: { other: 1 } } },
      false,
    ],
    [
      'a dynamic anchor',
      {
        $id: 'https://a.example/strict',
        $dynamicAnchor: 'node',
        $ref: 'tree',
        unevaluatedProperties: false,
        $defs: {
          tree: {
            $id: 'https://a.example/tree',
            $dynamicAnchor: 'node',
            properties: { kids: { items: { $dynamicRef: '#node' } } },
          },
        },
      },
      { kids: [{ kidz: 1 }] },
      false,
    ],
    ['names that every object has', { required: ['constructor', '__proto__'] }, {}, false],
    ['dependencies of older drafts', { dependencies: { a: ['b'], c: { required: ['d'] } } }, { a: 1 }, false],
    ['lists of older drafts', { items: [{ type: 'null' }], additionalItems: { type: 'string' } }, [null, 1], false],
    ['limits of older drafts', { minimum: 1, exclusiveMinimum: true }, 1, false],
    ['decimal fractions', { multipleOf: 0.0001 }, 0.0075, true],
    ['small numbers', { multipleOf: 1 }, 1e-10, false],
    ['1 and 1.0', { const: 1 }, 1.0, true],
    ['true and 1', { uniqueItems: true }, [true, 1, '1'], true],
    ['code points', { maxLength: 2 }, '😀😀', true],
    ['keywords that are not known', { colour: 'red', 'x-anything': 1 }, 'any', true],
  ])('a checker applies %s', (_what, schema, value, fits) => expect(check(schema, value).ok).toBe(fits));

  it.each<[string, readonly string[], readonly string[]]>([
    ['date', ['2024-02-29', '1999-12-31'], ['2023-02-29', '2024-13-01', '2024-1-1', '2024-04-31']],
    ['date-time', ['2024-02-29T23:59:60Z', '2024-01-01T00:00:00.123+02:00'], ['2024-01-01', '2024-01-01T25:00:00Z']],
    ['time', ['12:30:00Z', '12:30:00.5-01:00'], ['12:30', '24:00:00Z']],
    ['duration', ['P1Y2M3DT4H5M6S', 'PT1S', 'P2W'], ['P', 'PT', 'P1', '1D']],
    ['email', ['a.b+c@example.co', "o'x@localhost"], ['a@', '@b', 'a b@c.de', 'a..b@c.de']],
    ['hostname', ['a', 'a-b.example'], ['-a', 'a-', 'a..b', `${'a'.repeat(64)}.b`]],
    ['ipv4', ['0.0.0.0', '255.1.20.3'], ['256.1.1.1', '1.2.3', '01.2.3.4']],
    [
      'ipv6',
      ['::', '::1', '1::', '2001:db8::8:800:200c:417a', '1:2:3:4:5:6:7:8', '::ffff:1.2.3.4', '1:2:3:4:5:6:1.2.3.4'],
      [':', '1:2:3:4:5:6:7', '1::2::3', '12345::', '1:2:3:4:5:6:7:8:9', '::1.2.3.256'],
    ],
    ['uri', ['https://u@a.example:80/b%20c?d=e#f', 'urn:a:b', 'mailto:a@b'], ['/a', 'a b:c', 'http://a/%zz', '//a']],
    ['uri-reference', ['/a', '//a/b', '', '?q', 'http://a'], ['a b', '%zz']],
    ['uuid', ['2eb8aa08-aa98-11ea-b4aa-73b441d16380'], ['2eb8aa08aa9811eab4aa73b441d16380']],
    ['json-pointer', ['', '/a~1b/0'], ['a', '/a~2']],
    ['regex', ['^a(?!b)$'], ['(', '(a)\\1']],
    ['colour', ['anything'], []],
  ])('a checker checks the format %s', (format, fitting, others) => {
    for (const text of fitting) expect([text, check({ format }, text).ok]).toEqual([text, true]);
    for (const text of others) expect([text, check({ format }, text).ok]).toEqual([text, false]);
  });

  it.each<[string, unknown, string]>([
    [
      'a back reference',
      { properties: { a: { pattern: '(a)\\1' } } },
      '#/properties/a/pattern the pattern (a)\\1 cannot be matched: a back reference',
    ],
    ['an invalid pattern as a name', { patternProperties: { '(': {} } }, 'the pattern ( cannot be matched'],
    [
      'a reference to something outside',
      { $ref: 'https://a.example/schema' },
      '#/$ref the reference https://a.example/schema has no target',
    ],
    ['a type that there is not', { type: 'any' }, '#/type it has to be of null, boolean'],
    ['a limit that is no number', { minLength: 'three' }, '#/minLength it has to be a number'],
    ['an invalid schema', { items: 7 }, '#/items a schema is a map, true or false'],
    [
      'too many parts',
      { enum: Array.from({ length: SCHEMA_NODES_MAX }, () => 0) },
      `more than ${SCHEMA_NODES_MAX} parts`,
    ],
    [
      'too long a text',
      { description: 'x'.repeat(SCHEMA_UNITS_MAX + 1) },
      `longer than ${SCHEMA_UNITS_MAX} characters`,
    ],
    ['schemas in schemas in schemas', nested(SCHEMA_DEPTH_MAX + 1), `nests deeper than ${SCHEMA_DEPTH_MAX}`],
    ['a pattern of too many states', { pattern: '(a{1,1000}){1,1000}' }, `more than ${PATTERN_STATES_MAX} states`],
    [
      'a pattern of too many repetitions of nothing',
      { pattern: '(){1000000000}' },
      `more than ${PATTERN_STATES_MAX} states`,
    ],
    [
      'too long a pattern',
      { pattern: 'a'.repeat(PATTERN_UNITS_MAX + 1) },
      `longer than ${PATTERN_UNITS_MAX} characters`,
    ],
    [
      'groups in groups in groups',
      { pattern: '('.repeat(PATTERN_DEPTH_MAX + 1) },
      `nest deeper than ${PATTERN_DEPTH_MAX}`,
    ],
    [
      'many large patterns',
      { anyOf: Array.from({ length: 12 }, (_, n) => ({ pattern: `a{9000}${n}` })) },
      `more than ${SCHEMA_STATES_MAX} states`,
    ],
  ])('a checker refuses %s [TOOL-33]', (_what, schema, why) => expect(refusal(schema)).toContain(why));

  it('a checker accepts schemas at its bounds [TOOL-33]', () => {
    expect(refusal({ enum: Array.from({ length: SCHEMA_NODES_MAX - 2 }, () => 0) })).toBe('taken');
    expect(refusal({ pattern: '('.repeat(PATTERN_DEPTH_MAX) + ')'.repeat(PATTERN_DEPTH_MAX) })).toBe('taken');
    expect(refusal({ pattern: 'a'.repeat(PATTERN_UNITS_MAX) })).toBe('taken');
  });

  it.each<[string, unknown, unknown, 'steps' | 'depth']>([
    ['goes on for ever at one value', { $ref: '#' }, 1, 'depth'],
    ['goes deeper than may be', { additionalProperties: { $ref: '#' } }, nestedValue(CHECK_DEPTH_MAX + 1), 'depth'],
    ['compares what is deeper than may be', { const: 1 }, nestedValue(100_000), 'depth'],
    ['doubles at each reference', doubling(40), 1, 'steps'],
    ['asks a large text of a large pattern', { pattern: '^((a|aa){200})*$' }, 'a'.repeat(50_000), 'steps'],
  ])('a checker stops a check that %s, and reports it [TOOL-33]', async (_what, schema, value, givenUp) => {
    const cost = await cpuMsOf(() => expect(check(schema, value)).toMatchObject({ ok: false, givenUp }));
    expect(cost).toBeLessThan(5_000);
  });

  it.each([
    ['^(a+)+$', 'a'],
    ['^(a|aa)*$', 'a'],
    ['^(.*a){12}$', 'a'],
    ['^(?=(a+)+$)a*$', 'a'],
    ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a'],
    [
      '^([a-zA-Z0-9])(([\\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+[.]{1}(([a-z]{2,3})|([a-z]{2,3}[.]{1}[a-z]{2,3}))$',
      'a',
    ],
  ])('the steps of checking %s grow with the text alone [TOOL-32]', async (pattern, letter) => {
    const found = checker({ properties: { '?': { pattern } }, patternProperties: { [pattern]: false } });
    const text = `${letter.repeat(5_000)}!`;
    const cost = await cpuMsOf(() =>
      expect(found.ok && found.check({ '?': text, [text]: 1 })).toMatchObject({
        ok: false,
        problems: [{ path: ['?'] }],
      }),
    );
    expect(cost).toBeLessThan(5_000);
  });

  it('a checker gives the same verdict each time', () => {
    const found = checker(doubling(40));
    expect(found.ok && found.check(1)).toEqual(found.ok && found.check(1));
    expect(CHECK_STEPS_MAX).toBeGreaterThan(0);
  });
});

function nested(depth: number): unknown {
  let schema: unknown = {};
  for (let n = 0; n < depth; n++) schema = { not: schema };
  return schema;
}

function nestedValue(depth: number): unknown {
  let value: unknown = {};
  for (let n = 0; n < depth; n++) value = { a: value };
  return value;
}

/** Each definition refers twice to the next: two to the power of so many visits. */
function doubling(depth: number): unknown {
  const $defs: Record<string, unknown> = { [`d${depth}`]: {} };
  for (let n = 0; n < depth; n++)
    $defs[`d${n}`] = { allOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] };
  return { $ref: '#/$defs/d0', $defs };
}
