/**
 * The vocabulary is declared in schemas of our own, which have the names and the results of zod's. Each case here is
 * built twice, by zod and by ours, and both must judge every value alike, down to the sentences of the issues.
 */
import { isDeepStrictEqual } from 'node:util';
import * as contracts from '@reprise/contracts';
import * as own from '@reprise/contracts/schema';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as zod from 'zod';
import { stepOf } from '../../../../../conformance/part.js';
import { compileSchema, schemaDigest } from '../../../src/pure/schema/index.js';
import { hold, SEED } from '../../support/laws/hold.js';

type Names = typeof zod;
const OURS = own as unknown as Names;

/** How a schema is written, with the names of either. */
type Written = (z: Names) => zod.ZodType;

const word = fc.constantFrom('a', 'b', 'c', '', 'zz', '1', '😀', '😀b', 'role', 'd.e');
const message = fc.option(fc.constantFrom('role', 'shape'), { nil: undefined });
const scalar = fc.oneof(
  word,
  fc.constantFrom<unknown>(null, undefined, true, 0, 1, -3, 1.5, 2 ** 53, -(2 ** 60), Number.NaN, Infinity, 10n),
);

const texts: fc.Arbitrary<Written> = fc
  .record({ min: fc.nat({ max: 3 }), max: fc.nat({ max: 3 }), kind: fc.nat({ max: 6 }), message })
  .map(({ min, max, kind, message: m }) => (z) => {
    if (kind === 0) return z.string(m);
    if (kind === 1) return z.string().min(min, m).max(max);
    if (kind === 2)
      return z
        .string()
        .regex(/^[a-z]+$/, m)
        .regex(/^b/);
    if (kind === 3) return z.string().startsWith('z', m).max(max);
    if (kind === 4) return z.string().includes('.', m);
    if (kind === 5) return z.string().refine((text) => text.trim() !== '', m);
    return z
      .string()
      .min(min)
      .refine((text) => text !== 'b')
      .regex(/a/);
  });

const numbers: fc.Arbitrary<Written> = fc
  .record({
    min: fc.integer({ min: -4, max: 2 }),
    max: fc.integer({ min: -2, max: 4 }),
    whole: fc.boolean(),
    above: fc.boolean(),
    message,
  })
  .map(({ min, max, whole, above, message: m }) => (z) => {
    const number = whole ? z.int(m) : z.number(m);
    return (above ? number.gt(min, m) : number.min(min, m)).max(max);
  });

const leaves: fc.Arbitrary<Written> = fc.oneof(
  texts,
  numbers,
  message.chain((m) =>
    fc.constantFrom<Written>(
      (z) => z.null(),
      (z) => z.boolean(),
      (z) => z.unknown(),
      (z) => z.never(),
      (z) => z.undefined(m),
      (z) => z.enum(['a', 'b', 'c'], m),
      (z) => z.literal('a', m),
      (z) => z.literal([1, 'b', null]),
      (z) => z.custom((thing) => thing === 'a', m),
    ),
  ),
);

function fieldOf(inner: Written, kind: number): Written {
  if (kind === 1) return (z) => z.exactOptional(inner(z) as never);
  if (kind === 2) return (z) => inner(z).optional();
  if (kind === 3) return (z) => inner(z).default('a' as never);
  return inner;
}

function objects(any: fc.Arbitrary<Written>): fc.Arbitrary<Written> {
  const field = fc.record({ key: fc.constantFrom('a', 'b', 't'), inner: any, kind: fc.nat({ max: 5 }) });
  const fields = fc.uniqueArray(field, { maxLength: 3, selector: ({ key }) => key });
  return fc.tuple(fields, fc.nat({ max: 5 }), message).map(([list, kind, m]) => (z) => {
    const shape = Object.fromEntries(list.map(({ key, inner, kind: how }) => [key, fieldOf(inner, how)(z)]));
    if (kind === 0) return z.looseObject(shape, m);
    if (kind === 1) return z.object(shape, m);
    if (kind === 2) return z.strictObject(shape, m).extend({ b: z.literal('b') });
    if (kind === 3) return z.strictObject({ ...shape, c: z.int() }).omit({ c: true });
    if (kind === 4) return z.strictObject(shape).partial();
    return z.strictObject(shape, m);
  });
}

function tagged(any: fc.Arbitrary<Written>): fc.Arbitrary<Written> {
  return fc.tuple(fc.array(any, { minLength: 1, maxLength: 3 }), message).map(([options, m]) => (z) => {
    const written = options.map((option, i) => z.strictObject({ t: z.literal(`${'abc'[i]}`), a: option(z) }));
    return z.discriminatedUnion('t', written as never, m);
  });
}

const written = fc.letrec<{ any: Written }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 3, arbitrary: leaves },
    { weight: 3, arbitrary: objects(tie('any')) },
    { weight: 1, arbitrary: tagged(tie('any')) },
    {
      weight: 2,
      arbitrary: fc.tuple(tie('any'), fc.nat({ max: 2 }), fc.nat({ max: 2 }), message).map(
        ([item, min, max, m]): Written =>
          (z) =>
            z.array(item(z), m).min(min, m).max(max),
      ),
    },
    {
      weight: 1,
      arbitrary: fc.array(tie('any'), { minLength: 1, maxLength: 2 }).map(
        (items): Written =>
          (z) =>
            z.tuple(items.map((item) => item(z)) as never),
      ),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(tie('any'), fc.boolean(), message).map(
        ([item, listed, m]): Written =>
          (z) =>
            z.record(listed ? z.enum(['a', 'b']) : z.string().max(1), item(z), m),
      ),
    },
    {
      weight: 2,
      arbitrary: fc.tuple(fc.array(tie('any'), { minLength: 1, maxLength: 3 }), message).map(
        ([options, m]): Written =>
          (z) =>
            z.union(
              options.map((option) => option(z)),
              m,
            ),
      ),
    },
    {
      weight: 1,
      arbitrary: tie('any').map(
        (inner): Written =>
          (z) =>
            z.nullable(inner(z)),
      ),
    },
  ),
})).any;

const values = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    { weight: 3, arbitrary: scalar },
    { weight: 3, arbitrary: fc.dictionary(fc.constantFrom('a', 'b', 'c', 't', '1', 'zz'), tie('any'), { maxKeys: 3 }) },
    { weight: 2, arbitrary: fc.array(tie('any'), { maxLength: 3 }) },
    { weight: 1, arbitrary: fc.constantFrom<unknown>(new Uint8Array(2), new Date(0), new Map()) },
  ),
})).any;

/** What a schema makes of a value; a schema that cannot be written says so in the same way. */
function judged(schema: zod.ZodType, value: unknown): unknown {
  const { success, data, error } = schema.safeParse(value);
  return success ? { data } : { issues: JSON.stringify(error.issues) };
}

const COMMAND = 'npx vitest run packages/kernel/test/pure/schema/own-schemas.test.ts';

function agreement(ours: Names) {
  return fc.property(written, fc.array(values, { minLength: 1, maxLength: 6 }), (write, candidates) => {
    const [theirs, mine] = [write(zod), write(ours)];
    for (const value of candidates) {
      const expected = judged(theirs, value);
      if (!isDeepStrictEqual(judged(mine, value), expected)) expect(judged(mine, value)).toEqual(expected);
      // zod holds one of ours, and we one of zod's.
      expect(judged(zod.strictObject({ x: mine }), { x: value })).toEqual(
        judged(zod.strictObject({ x: theirs }), { x: value }),
      );
      expect(judged(ours.array(theirs), [value])).toEqual(judged(zod.array(theirs), [value]));
    }
  });
}

function identityOf(schema: unknown): string {
  try {
    return schemaDigest(compileSchema(schema as zod.ZodType));
  } catch (error) {
    return String(error);
  }
}

/** The JSON Schema that zod writes. Ours have no patterns for the formats that zod alone has patterns for. */
function shownOf(schema: zod.ZodType): object {
  return zod.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      if (jsonSchema.format === 'starts_with' || jsonSchema.format === 'includes') delete jsonSchema.pattern;
    },
  });
}

describe(`given 4,000 random schemas, each written with the names of zod and with ours (seed ${SEED})`, () => {
  it(
    'both judge every value alike, with the same data, issues, paths and sentences, and each may hold the other',
    () => hold(agreement(OURS), { numRuns: 4_000 / stepOf(4), command: COMMAND }),
    60_000,
  );

  it(
    'both compile to the same identity, or are refused in the same words',
    () =>
      hold(
        fc.property(written, (write) => {
          expect(identityOf(write(OURS))).toBe(identityOf(write(zod)));
        }),
        { numRuns: 4_000 / stepOf(4), command: COMMAND },
      ),
    60_000,
  );

  it(
    'zod writes the same JSON Schema of both, but for the patterns that it makes of a beginning and of a part',
    () =>
      hold(
        fc.property(written, (write) => {
          expect(shownOf(write(OURS))).toEqual(shownOf(write(zod)));
        }),
        { numRuns: 4_000 / stepOf(4), command: COMMAND },
      ),
    60_000,
  );

  it.each<[string, Partial<Names>]>([
    ['takes a fraction for an integer', { int: own.number as never }],
    ['lets unknown keys through', { strictObject: own.object as never }],
    ['counts units of text for characters', { string: (() => new UnitText()) as never }],
  ])('the first law finds a mutant that %s', async (_, change) => {
    const mutant = { ...OURS, ...change } as Names;
    await expect(hold(agreement(mutant), { numRuns: 4_000, command: COMMAND, shrink: false })).rejects.toThrow();
  });
});

describe('given a described schema of ours', () => {
  it('a description stays with further checks, and leaves no trace in the identity of the schema', () => {
    const plain = own.strictObject({ goal: own.string().min(1).max(9) });
    const described = own.strictObject({ goal: own.string().describe('The aim.').min(1).max(9) }).meta({ by: 'ann' });
    expect(own.defOf(described.shape.goal).meta).toEqual({ description: 'The aim.' });
    expect(own.defOf(described).meta).toEqual({ by: 'ann' });
    expect(identityOf(described)).toBe(identityOf(plain));
    expect(described.safeParse({ goal: '' }).error?.issues).toEqual(plain.safeParse({ goal: '' }).error?.issues);
  });
});

describe('given what apps make of a marker', () => {
  it('a marker can be wrapped and described like a schema of zod, and stands in one', () => {
    const link = contracts.Ref.fromHex('ab'.repeat(32));
    const schema = zod.strictObject({
      a: contracts.ref().nullable().describe('a link'),
      b: contracts.value().optional(),
      c: contracts.ref().default(link),
      d: zod.array(contracts.ref()),
      e: contracts.ref().array(),
      f: contracts.bytes().or(zod.null()),
    });
    const given = { a: null, d: [link], e: [link], f: null };
    expect(schema.parse(given)).toEqual({ ...given, c: link });
    expect(schema.safeParse({ ...given, d: ['x'] }).error?.issues).toMatchObject([{ code: 'custom', path: ['d', 0] }]);
    expect(schemaDigest(compileSchema(schema))).toMatch(/^[0-9a-f]{64}$/);
  });
});

/** Text whose bounds count UTF-16 units. */
class UnitText {
  readonly _zod = own.string()._zod;

  min(limit: number) {
    return own.string().refine((text) => text.length >= limit);
  }
}
