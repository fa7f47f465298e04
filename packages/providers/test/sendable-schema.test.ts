/** The schema of a tool as each format accepts it: what is left out, in which words, and what stays as it is. */

import { jsonSchema } from '@reprise/agent';
import { checker } from '@reprise/kernel/json-schema';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toMessagesRequest } from '../src/anthropic/messages-request.js';
import { draftRequest, validateRequest, WIRE_FORMATS } from '../src/generate/formats.js';
import { openAiCompatible } from '../src/index.js';
import type { Json } from '../src/model/json.js';
import type { UnifiedRequest } from '../src/model/model.js';
import { isPortablePattern } from '../src/schemas/portable-pattern.js';
import { SCHEMA_RULES } from '../src/schemas/schema-rules.js';
import { sendableSchema } from '../src/schemas/sendable-schema.js';
import { oddSchema } from './odd-schemas.js';

const { profile } = openAiCompatible({ baseUrl: 'http://127.0.0.1:9/v1', model: 'm' });

function sent(schema: object, format: keyof typeof SCHEMA_RULES = 'openai-chat') {
  return sendableSchema(schema as Json, SCHEMA_RULES[format]);
}

/** The schema of one property as it is sent. */
function property(schema: unknown) {
  const { properties } = sent({ type: 'object', properties: { a: schema } }).schema;
  return (properties as { readonly a?: Json }).a;
}

describe('the schema of a tool as it is sent', () => {
  it.each([
    [{ type: 'string', pattern: '^(?=a)b' }, 'pattern "^(?=a)b"', { type: 'string' }],
    [{ type: 'string', pattern: '\\p{L}' }, 'pattern "\\\\p{L}"', { type: 'string' }],
    [{ type: 'object', not: { required: ['x'] } }, 'not {"required":["x"]}', { type: 'object' }],
    [JSON.parse('{"if":{"type":"string"},"then":{"minLength":2}}'), 'then {"minLength":2}', {}],
    [{ type: 'object', dependentSchemas: { x: {} } }, 'dependentSchemas {"x":{}}', { type: 'object' }],
    [{ type: 'object', patternProperties: { '^x': {} }, additionalProperties: false }, '{"^x":{}}', { type: 'object' }],
    [{ type: 'string', format: 'x-odd' }, 'format "x-odd"', { type: 'string' }],
    [{ type: 'array', items: [{ type: 'string' }] }, 'items [{"type":"string"}]', { type: 'array', items: {} }],
    [{ $ref: 'https://x.example/y' }, '$ref "https://x.example/y"', {}],
  ])('a part that a format refuses is left out and said in words: %j [MOD-48]', (given, words, rest) => {
    const { description, ...shown } = property(given) as Record<string, Json>;
    expect(shown).toEqual(rest);
    expect(description).toContain('Also checked: ');
    expect(description).toContain(words);
  });

  it.each([
    [
      { type: 'number', minimum: 1, exclusiveMinimum: true },
      { type: 'number', exclusiveMinimum: 1 },
    ],
    [
      { type: 'number', maximum: 1, exclusiveMaximum: false },
      { type: 'number', maximum: 1 },
    ],
    [{ type: 'array' }, { type: 'array', items: {} }],
    [
      { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false },
      { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'number' }] } },
    ],
    [true, {}],
    [false, undefined],
    [{ type: 'string', nullable: true, $schema: 'urn:x', example: 'a' }, { type: 'string' }],
    [{ type: 'integer', format: 'int64' }, { type: 'integer' }],
  ])('the schema %j is written in the form of JSON Schema 2020-12', (given, expected) => {
    expect(JSON.parse(JSON.stringify(property(given) ?? null))).toMatchObject((expected ?? null) as object);
  });

  it('a schema that every format accepts stays as it is, byte for byte [MOD-48]', () => {
    const schema = {
      type: 'object',
      description: 'All of it.',
      properties: {
        when: { type: 'string', format: 'date-time', pattern: '^\\d{4}-.*$' },
        size: { anyOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }], default: null },
        node: { $ref: '#/$defs/node' },
      },
      required: ['when'],
      additionalProperties: false,
      $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } },
    };
    for (const format of WIRE_FORMATS) {
      const { schema: written, losses } = sent(schema, format);
      expect(JSON.stringify(written)).toBe(JSON.stringify(schema));
      expect(losses).toEqual([]);
    }
  });

  it('a union at the root is shown with the properties of all its choices, and the choices in words [MOD-49]', () => {
    const schema = {
      oneOf: [
        {
          type: 'object',
          properties: { kind: { const: 'text' }, text: { type: 'string' } },
          required: ['kind', 'text'],
        },
        { $ref: '#/$defs/file' },
      ],
      $defs: {
        file: { type: 'object', properties: { kind: { const: 'file' }, path: { type: 'string' } }, required: ['kind'] },
      },
    };
    for (const format of WIRE_FORMATS) {
      const { schema: written, losses } = sent(schema, format);
      expect(written).toMatchObject({
        type: 'object',
        properties: { kind: { enum: ['text', 'file'] }, text: { type: 'string' }, path: { type: 'string' } },
        required: ['kind'],
      });
      expect(Object.keys(written)).not.toContain('oneOf');
      expect(written.description).toMatch(/^Exactly one of these forms fits:\n1\. .*"text".*\n2\. .*"path"/);
      expect(losses).toEqual(['oneOf']);
    }
  });

  it('a root shows what it refers to, combines, or requires without a description', () => {
    const parts = {
      allOf: [{ $ref: '#/$defs/base' }, { properties: { b: { type: 'number' } }, required: ['b'] }],
      anyOf: [{ required: ['c'] }, { required: ['d'] }],
      $defs: { base: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] } },
    };
    expect(sent(parts).schema).toMatchObject({
      properties: { a: { type: 'string' }, b: { type: 'number' }, c: {}, d: {} },
      required: ['a', 'b'],
    });
    expect(
      sent({ $ref: '#/$defs/args', $defs: { args: { properties: { x: { type: 'string' } } } } }).schema,
    ).toMatchObject({
      type: 'object',
      properties: { x: { type: 'string' } },
    });
  });

  it('a property whose name a format refuses is named in words, and may be given [MOD-48]', () => {
    const schema = {
      type: 'object',
      properties: { 'filter[id]': { type: 'string' }, a: { type: 'number' } },
      required: ['filter[id]', 'a'],
      additionalProperties: false,
    };
    const { schema: written, losses } = sent(schema, 'anthropic-messages');
    expect(written).toEqual({
      type: 'object',
      properties: { a: { type: 'number' } },
      required: ['a'],
      description: 'Required as well: the property "filter[id]", {"type":"string"}',
    });
    expect(losses).toEqual(['properties']);
    expect(sent(schema, 'openai-responses').schema).toEqual(schema);
  });

  it('a nesting ends where it is deeper than a format takes, and a reference where it leads in a circle', () => {
    let deep: Json = { type: 'string' };
    for (let i = 0; i < 40; i++) deep = { type: 'object', properties: { a: deep }, required: ['a'] };
    const text = JSON.stringify(sent(deep as object).schema);
    expect(text.split('"properties":{').length - 1).toBe(10);
    expect(sent({ $id: 'T', type: 'object', properties: { next: { $ref: 'T' } } }).schema).toMatchObject({
      properties: { next: { $ref: '#' } },
    });
    const circle = {
      properties: { a: { $ref: '#/$defs/a' } },
      $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } },
    };
    expect(JSON.stringify(sent(circle).schema)).not.toContain('"$ref"');
  });

  it.each(['^[a-z]+$', '^(?:a|b)*$', 'x{2,3}?', '[^\\]\\w-]+', '^\\d{4}-\\d{2}$', '\\-', '^$', ''])(
    'the pattern %j, which every engine reads, is sent',
    (pattern) => {
      expect(isPortablePattern(pattern)).toBe(true);
    },
  );

  it.each([
    '(?<n>a)',
    '(a)\\1',
    '[[a]]',
    'a++',
    '(?i)a',
    'x{5,2}',
    'x{2000}',
    '[a&&b]',
    '*a',
    '[z-a]',
    'a{',
    '\\Z',
    '(',
  ])('the pattern %j, which an engine refuses or reads in another way, is not sent', (pattern) => {
    expect(isPortablePattern(pattern)).toBe(false);
  });
});

describe('requests with odd tools', () => {
  const request = (tools: UnifiedRequest['tools']): UnifiedRequest => ({
    system: '',
    messages: [{ role: 'user', parts: [{ kind: 'text', text: 'Hi' }] }],
    tools,
  });

  it('a warning of the receipt names the tool and the keywords that were left out [MOD-50]', () => {
    const schema = { type: 'object', properties: { a: { type: 'string', pattern: '(?=a)' }, b: { not: {} } } };
    for (const format of WIRE_FORMATS) {
      const { body, warnings } = draftRequest(format, request([{ name: 'odd', description: '', schema }]), {
        model: 'm',
        profile,
      });
      expect(warnings).toEqual(['tool_schema_loosened:odd:not,pattern']);
      expect(validateRequest(format, JSON.parse(JSON.stringify(body)))).toEqual([]);
    }
  });

  it('the arguments are checked against the whole schema, whatever was left out of it [MOD-50]', async () => {
    const schema = { type: 'object', properties: { a: { type: 'string', pattern: '^(?!x)' } } };
    const { validate } = jsonSchema(schema)['~standard'];
    expect((await validate({ a: 'xy' })).issues).toHaveLength(1);
    expect((await validate({ a: 'y' })).issues).toBeUndefined();
    expect(JSON.stringify(sent(schema).schema.properties)).not.toContain('"pattern":');
  });

  it('a request holds as many tools as its format takes, and its warnings name the others [MOD-51]', () => {
    const many = Array.from({ length: 140 }, (_, i) => ({
      name: `t${i}`,
      description: '',
      schema: { type: 'object' },
    }));
    const { body, warnings } = draftRequest('openai-chat', request(many), { model: 'm', profile });
    expect(body.tools).toHaveLength(128);
    expect(warnings).toHaveLength(12);
    expect(warnings[0]).toBe('tool_dropped:t128');
    expect(validateRequest('openai-chat', body)).toEqual([]);
    const messages = toMessagesRequest(request(many), { model: 'm', profile, maxTokensDefault: 9, effort: 'budget' });
    expect(messages.body.tools).toHaveLength(140);
    expect(validateRequest('anthropic-messages', messages.body)).toEqual([]);
  });

  it('a request with a schema that the format refuses breaks a rule', () => {
    const { body } = draftRequest('anthropic-messages', request([{ name: 'a', description: '', schema: {} }]), {
      model: 'm',
      profile,
    });
    const [tool] = body.tools as object[];
    const union = { ...tool, input_schema: { type: 'object', properties: {}, anyOf: [{}] } };
    expect(validateRequest('anthropic-messages', { ...body, tools: [union] })).toEqual([
      { rule: 'tool_schema', at: 'tools.0.input_schema' },
    ]);
  });
});

describe('any schema', () => {
  const numRuns = Number(process.env.SCHEMA_RUNS ?? 400);
  const ajv = new Ajv2020({ strict: false, logger: false });

  it('any schema becomes valid JSON Schema that a second time leaves as it is (seed 38)', () => {
    const law = fc.property(oddSchema, fc.constantFrom(...WIRE_FORMATS), (given, format) => {
      const { schema } = sent(given as object, format);
      expect(ajv.validateSchema(schema)).toBe(true);
      const again = sent(schema, format);
      expect(JSON.stringify(again.schema)).toBe(JSON.stringify(schema));
      expect(again.losses).toEqual([]);
    });
    fc.assert(law, { seed: 38, numRuns });
  });

  it('the schema that is sent accepts what the given one accepts, unless its root is a union (seed 39) [MOD-48]', () => {
    let fitting = 0;
    const value = fc.dictionary(fc.constantFrom('a', 'b', 'kind', '$top'), fc.jsonValue({ maxDepth: 2 }), {
      maxKeys: 3,
    });
    const law = fc.property(oddSchema, fc.array(value, { maxLength: 6 }), (given, values) => {
      const judge = checker(given);
      const isUnion = ['anyOf', 'oneOf', 'allOf', '$ref', 'then', 'else', 'dependentSchemas'].some((one) =>
        Object.hasOwn(Object(given), one),
      );
      if (!judge.ok || isUnion) return;
      for (const format of WIRE_FORMATS) {
        const shown = checker(sent(given as object, format).schema);
        if (!shown.ok) throw new Error(shown.why);
        for (const one of values.filter((made) => judge.check(made).ok)) {
          fitting++;
          expect(shown.check(one)).toEqual({ ok: true });
        }
      }
    });
    fc.assert(law, { seed: 39, numRuns });
    expect(fitting).toBeGreaterThan(numRuns / 10);
  });

  it.each([
    [
      'a rule that holds under a condition',
      {
        type: 'object',
        properties: { c: { type: 'string' } },
        if: { properties: { c: { const: 'US' } } },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: { properties: { z: { type: 'string', pattern: '^[0-9]{5}$' } } },
        else: { properties: { z: { type: 'number' } } },
      },
      { c: 'UK', z: 4 },
    ],
    [
      'names that a pattern permits beside a closed object',
      { allOf: [{ type: 'object', patternProperties: { '^x-': {} }, additionalProperties: false }] },
      { 'x-a': 1 },
    ],
    [
      'a reference that is replaced beside allOf',
      {
        type: 'object',
        properties: {
          q: { type: 'object', properties: { a: {} }, required: ['a'] },
          p: { $ref: '#/properties/q', properties: { b: {} }, allOf: [{ minProperties: 1 }] },
        },
      },
      { p: { a: 1, b: 2 } },
    ],
    [
      'a choice of which the target of its reference lost a rule',
      {
        type: 'object',
        $defs: {
          A: { type: 'object', not: { required: ['z'] }, properties: { self: { $ref: '#/$defs/A' } } },
          B: { type: 'object', required: ['z'] },
        },
        properties: { p: { oneOf: [{ $ref: '#/$defs/A' }, { $ref: '#/$defs/B' }] } },
      },
      { p: { z: 1 } },
    ],
  ])('%s does not refuse, as it is sent, what the tool accepts [MOD-48]', (_, given, value) => {
    const judge = checker(given as Json);
    if (!judge.ok) throw new Error(judge.why);
    expect(judge.check(value)).toEqual({ ok: true });
    for (const format of WIRE_FORMATS) {
      const shown = checker(sent(given, format).schema);
      if (!shown.ok) throw new Error(shown.why);
      expect(shown.check(value)).toEqual({ ok: true });
    }
  });

  it('choices of choices of a server of others are written in a bounded number of steps [MOD-48]', () => {
    const levels = 26; // twenty-six levels have sixty-seven million ways through them
    const $defs = Object.fromEntries(
      Array.from({ length: levels }, (_, i) => {
        const next = { $ref: `#/$defs/l${i + 1}` };
        return [`l${i}`, { anyOf: [next, next] }];
      }),
    );
    const given = {
      $defs: { ...$defs, [`l${levels}`]: { type: 'object', properties: { a: {} } } },
      $ref: '#/$defs/l0',
    };
    for (const format of WIRE_FORMATS) expect(sent(given, format).schema).toMatchObject({ type: 'object' });
  });
});
