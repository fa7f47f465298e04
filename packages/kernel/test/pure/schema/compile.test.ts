import * as contracts from '@reprise/contracts';
import { bytes, ref, value } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { compileSchema, schemaDigest, schemaValue } from '../../../src/pure/schema/index.js';
import { refusalOf } from '../codec/refusal.js';

const compiled = (schema: z.ZodType): unknown => schemaValue(compileSchema(schema));
const field = (schema: z.ZodType): z.ZodType => z.strictObject({ a: schema });
const int = { type: 'number', int: true };

describe('given a schema of the closed subset', () => {
  it.each<[string, z.ZodType, unknown]>([
    ['null', z.null(), { type: 'null' }],
    ['boolean', z.boolean(), { type: 'boolean' }],
    ['never', z.never(), { type: 'never' }],
    ['a link', ref(), { type: 'ref' }],
    ['any value', value(), { type: 'value' }],
    ['bytes', bytes(), { type: 'bytes' }],
    ['a number', z.number().min(1).lt(9.5), { type: 'number', int: false, min: 1, below: 9.5 }],
    [
      'the narrowest of several bounds',
      z.number().min(1).min(3).max(9).max(7),
      { type: 'number', int: false, min: 3, max: 7 },
    ],
    ['an integer', z.int().positive(), { ...int, above: 0 }],
    ['an integer in the old spelling', z.number().int().nonnegative(), { ...int, min: 0 }],
    ['32-bit integers', z.uint32(), { ...int, min: 0, max: 4_294_967_295 }],
    [
      'text',
      z.string().min(1).max(5).regex(/^a/).regex(/b$/),
      { type: 'text', min: 1, max: 5, patterns: ['^a', 'b$'] },
    ],
    ['text of one length', z.string().length(3), { type: 'text', min: 3, max: 3 }],
    ['an escaped backslash before a p', z.string().regex(/\\p(?:a|b)/), { type: 'text', patterns: ['\\\\p(?:a|b)'] }],
    ['literals, sorted', z.literal(['b', 1, null, 'a', true]), { type: 'literal', values: [1, 'a', 'b', true, null] }],
    ['an enum, sorted', z.enum(['open', 'done']), { type: 'literal', values: ['done', 'open'] }],
    ['an enum of numbers', z.enum({ A: 2, B: 1 }), { type: 'literal', values: [1, 2] }],
    ['a list', z.array(z.int()).min(1).max(2), { type: 'list', item: int, min: 1, max: 2 }],
    ['a tuple', z.tuple([z.int(), z.null()]), { type: 'tuple', items: [int, { type: 'null' }] }],
    ['a record', z.record(z.string().max(2), z.int()), { type: 'record', key: { type: 'text', max: 2 }, item: int }],
    ['a record over an enum', z.record(z.enum(['a', 'b']), z.int()), { type: 'object', fields: { a: int, b: int } }],
    ['a partial one', z.partialRecord(z.enum(['a']), z.int()), { type: 'object', fields: { a: [int, 'optional'] } }],
    ['nullable', z.int().nullable(), { type: 'union', options: [{ type: 'null' }, int] }],
    ['a union', z.union([z.int(), z.null()]), { type: 'union', options: [int, { type: 'null' }] }],
    [
      'optional fields',
      z.strictObject({ a: z.exactOptional(z.int()), b: z.int().optional() }),
      { type: 'object', fields: { a: [int, 'optional'], b: [int, 'optional'] } },
    ],
    [
      'nullish',
      field(z.int().nullish()),
      { type: 'object', fields: { a: [{ type: 'union', options: [{ type: 'null' }, int] }, 'optional'] } },
    ],
    ['a default', field(z.int().default(7)), { type: 'object', fields: { a: [int, 'default', 7] } }],
    [
      'a default of null',
      field(z.null().default(null)),
      { type: 'object', fields: { a: [{ type: 'null' }, 'default', null] } },
    ],
    [
      'a constant by a function',
      field(z.int().default(() => 7)),
      { type: 'object', fields: { a: [int, 'default', 7] } },
    ],
    ['readonly fields', field(z.int().optional().readonly()), { type: 'object', fields: { a: [int, 'optional'] } }],
    [
      'a field named like the prototype’s',
      z.strictObject({ constructor: z.int() }),
      { type: 'object', fields: { constructor: int } },
    ],
  ])('%s compiles [SCH-1]', (_, schema, expected) => {
    expect(compiled(schema)).toEqual(expected);
  });

  it('a default value gets the defaults of its own fields', () => {
    const inner = z.strictObject({ n: z.int().default(1) });
    const node = compiled(field(inner.default({} as never))) as { fields: { a: unknown[] } };
    expect(node.fields.a[2]).toEqual({ n: 1 });
  });

  it('every schema of the contracts compiles', () => {
    const schemas = Object.entries(contracts).filter(([, thing]) => thing instanceof z.ZodType);
    expect(schemas.length).toBeGreaterThan(30);
    for (const [name, schema] of schemas) expect(compiled(schema as unknown as z.ZodType), name).toBeDefined();
  });
});

/** A regex from its source: in a literal, a formatter drops escapes that it finds useless. */
const written = (source: string): RegExp => new RegExp(source);

/** `(?i:a)` is too new for this engine to parse: a look-alike that has its source. */
const inlineFlag = (): RegExp => Object.defineProperty(/a/, 'source', { value: '(?i:a)' });

let calls = 0;
const recursive: z.ZodType = z.strictObject({
  get kids() {
    return z.array(recursive);
  },
});
const endless = (): z.ZodType =>
  z.strictObject({
    get kid() {
      return endless();
    },
  });
const deep = (levels: number): z.ZodType => (levels === 0 ? z.int() : field(deep(levels - 1)));

describe('given a schema beyond the subset', () => {
  it.each<[string, z.ZodType, string, string]>([
    ['an object that strips', z.object({}), '$', 'strictObject'],
    ['an object that lets through', z.looseObject({}), '$', 'strictObject'],
    ['a catchall', z.object({}).catchall(z.int()), '$', 'strictObject'],
    ['a transform', field(z.string().transform((text) => text.length)), '$.a', 'reducer'],
    ['a pipe', field(z.string().pipe(z.string())), '$.a', 'reducer'],
    ['a preprocess', z.preprocess((x) => x, z.int()), '$', 'reducer'],
    ['a codec', z.stringbool(), '$', 'reducer'],
    ['coercion of text', z.coerce.string(), '$', 'string()'],
    ['coercion of a number', z.coerce.number(), '$', 'number()'],
    ['coercion of a boolean', z.coerce.boolean(), '$', 'boolean()'],
    ['a catch', field(z.int().catch(1)), '$.a', 'audited'],
    ['a prefault', field(z.int().prefault(1)), '$.a', 'default()'],
    ['a refinement', z.array(z.int().refine(() => true)), '$[]', 'reducer'],
    ['a superRefine', z.string().superRefine(() => undefined), '$', 'reducer'],
    ['a refined object', z.strictObject({}).refine(() => true), '$', 'reducer'],
    ['a refined link', ref().refine(() => true), '$', 'reducer'],
    ['a custom schema', z.custom(() => true), '$', 'value()'],
    ['an instance', z.instanceof(Uint8Array), '$', 'bytes()'],
    ['a trim', z.string().trim(), '$', 'before'],
    ['a case mapping', z.string().toLowerCase(), '$', 'before'],
    ['a normalisation', z.string().normalize(), '$', 'before'],
    ['a default that differs', field(z.int().default(() => calls++)), '$.a', 'constant'],
    ['a default that is no value', field(value().default(Number.NaN)), '$.a', 'constant'],
    ['a default its schema refuses', field(z.int().default('x' as never)), '$.a', 'Correct'],
    ['a default that is nobody’s', z.int().default(1), '$', 'field'],
    ['an optional item', z.array(z.int().optional()), '$[]', 'field'],
    ['an optional in a union', z.union([z.int(), z.null().optional()]), '$|1', 'field'],
    ['an optional item of a tuple', z.tuple([z.int().optional()]), '$[0]', 'field'],
    ['an optional under nullable', field(z.int().optional().nullable()), '$.a', 'field'],
    ['nonoptional', field(z.int().optional().nonoptional()), '$.a', 'optional()'],
    ['a flag i', z.string().regex(/a/i), '$', 'classes'],
    ['a flag u', z.string().regex(/a/u), '$', 'classes'],
    ['an inline flag', z.string().regex(inlineFlag()), '$', 'Unicode'],
    ['a flag g', z.string().regex(/a/g), '$', 'classes'],
    ['a flag y', z.string().regex(/a/y), '$', 'classes'],
    ['a flag s', z.string().regex(/a/s), '$', 'classes'],
    ['a property class', z.string().regex(written('\\p{L}')), '$', 'Unicode'],
    ['a negated property class', z.string().regex(written('a\\\\\\P{L}')), '$', 'Unicode'],
    ['a format', z.email(), '$', 'regex'],
    ['a format as a check', z.string().uuid(), '$', 'regex'],
    ['a date in text', z.iso.datetime(), '$', 'regex'],
    ['a prefix', z.string().startsWith('a'), '$', 'regex'],
    ['multiples', z.number().multipleOf(2), '$', 'bounds'],
    ['32-bit floats', z.float32(), '$', 'number()'],
    ['an infinite bound', z.number().min(Number.NEGATIVE_INFINITY), '$', 'Leave'],
    ['a rest', z.tuple([z.int()]).rest(z.int()), '$', 'array()'],
    ['a loose record', z.looseRecord(z.string(), z.int()), '$', 'record()'],
    ['a record with number keys', z.record(z.number(), z.int()), '$.<key>', 'string()'],
    ['a record over an enum of numbers', z.record(z.enum({ A: 1 }), z.int()), '$.<key>', 'enum'],
    ['an exclusive union', z.xor([z.int(), z.null()]), '$', 'union()'],
    ['an intersection', z.intersection(z.strictObject({}), z.strictObject({})), '$', 'extend()'],
    [
      'a discriminator that may be absent',
      z.discriminatedUnion('t', [z.strictObject({ t: z.literal('a').optional() })]),
      '$',
      'literal',
    ],
    ['any', z.any(), '$', 'value()'],
    ['unknown', z.unknown(), '$', 'value()'],
    ['a date', field(z.date()), '$.a', 'milliseconds'],
    ['a Map', z.map(z.string(), z.int()), '$', 'record()'],
    ['a Set', z.set(z.int()), '$', 'array()'],
    ['bigint', z.bigint(), '$', 'int()'],
    ['a literal bigint', z.literal(1n), '$', 'Literals'],
    ['a literal undefined', z.literal(undefined), '$', 'Literals'],
    ['a symbol', z.symbol(), '$', 'values'],
    ['undefined', z.undefined(), '$', 'exactOptional'],
    ['void', z.void(), '$', 'exactOptional'],
    ['NaN', z.nan(), '$', 'values'],
    ['a promise', z.promise(z.int()), '$', 'values'],
    ['a template literal', z.templateLiteral(['a', z.int()]), '$', 'regex'],
    ['a file', z.file(), '$', 'ref()'],
    ['JSON', z.json(), '$', 'finite'],
    ['a lazy schema', z.lazy(() => z.int()), '$', 'finite'],
    ['a schema that contains itself', recursive, '$.kids[]', 'finite'],
    ['a schema without end', endless(), `$${'.kid'.repeat(48)}`, 'finite'],
    ['a schema too deep to record', deep(30), '$', 'value()'],
    ['a field __proto__', z.strictObject({ ['__proto__']: z.int() }), '$', 'otherwise'],
  ])('%s is refused, with its path and the schema to write instead [SCH-1, SCH-2]', (_, schema, where, hint) => {
    const error = refusalOf(() => compileSchema(schema));
    expect({ code: error.code, where: error.details.where }).toEqual({ code: 'invalid_schema', where });
    expect(error.details.hint).toContain(hint);
  });
});

describe('given two schemas that read alike', () => {
  const one = z.strictObject({ kind: z.enum(['a', 'b']), n: z.int().min(1).describe('how many') }).describe('x');
  const other = z.strictObject({ n: z.int({ error: 'no' }).min(1), kind: z.literal(['b', 'a']) }).readonly();

  it('equal schemas have the same digest [SCH-6]', () => {
    expect(schemaDigest(compileSchema(one))).toBe(schemaDigest(compileSchema(other)));
  });

  it('the identity is pinned: journals hold it [SCH-6]', () => {
    expect(schemaDigest(compileSchema(one))).toBe('f93ac154fff5b4698f2ec84f4bdf585c531347dbca3e399e17a652593d86b663');
  });

  it.each<[string, z.ZodType]>([
    ['another bound', one.extend({ n: z.int().min(2) })],
    ['another value', one.extend({ kind: z.enum(['a', 'c']) })],
    ['an optional field', one.partial({ n: true })],
    ['a default', one.extend({ n: z.int().min(1).default(1) })],
    ['a number for an integer', one.extend({ n: z.number().min(1) })],
    ['one more field', one.extend({ m: z.null() })],
  ])('%s makes another [SCH-6]', (_, changed) => {
    expect(schemaDigest(compileSchema(changed))).not.toBe(schemaDigest(compileSchema(one)));
  });

  it('the hash of the world is used', () => {
    expect(schemaDigest(compileSchema(one), () => Uint8Array.of(0xab))).toBe('ab');
  });
});
