/**
 * One length in every validator: a schema is written once, and zod, our schemas, the kernel's checks of journaled data and
 * the checker of JSON Schemas judge the same texts, of each class of Unicode, of one character less than a bound, as many
 * and one more. What any of the four accepted alone would be stored by one part of a world and fail a cell in another.
 */

import { keyText, utf8Length, type Value } from '@reprise/contracts';
import * as own from '@reprise/contracts/schema';
import { anyTextAround } from '@reprise/testkit/ports';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as zod from 'zod';
import { stepOf } from '../../../../../conformance/part.js';
import { decode, encode } from '../../../src/pure/codec/index.js';
import { checker } from '../../../src/pure/json-schema/index.js';
import { check, compileSchema } from '../../../src/pure/schema/index.js';
import { hold, SEED } from '../../support/laws/hold.js';

type Names = typeof zod;
const OURS = own as unknown as Names;
const command = 'npx vitest run packages/kernel/test/pure/schema/lengths.test.ts';

/** A schema in the names of zod and ours, and values that hold texts around the schema's bounds. */
interface Sample {
  readonly write: (z: Names) => zod.ZodType;
  readonly values: fc.Arbitrary<unknown>;
}

const bounds = fc
  .tuple(fc.nat({ max: 5 }), fc.nat({ max: 5 }), fc.nat({ max: 3 }))
  .map(([min, more, kind]) => ({ min: kind === 1 ? undefined : min, max: kind === 2 ? undefined : min + more }));

const bounded: fc.Arbitrary<Sample> = bounds.map(({ min, max }) => ({
  write: (z) => {
    const from = min === undefined ? z.string() : z.string().min(min);
    return max === undefined ? from : from.max(max);
  },
  values: anyTextAround({ min, max }, { lone: true }),
}));

/** Repeated and long bounds: the tightest counts, and a long text is counted whole. */
const repeated: fc.Arbitrary<Sample> = fc.constantFrom(64, 120, 500).map((max) => ({
  write: (z) =>
    z
      .string()
      .max(max + 3)
      .max(max)
      .min(2)
      .min(1),
  values: anyTextAround({ min: 2, max }, { lone: true }),
}));

const patterned: fc.Arbitrary<Sample> = bounds.map(({ min = 0, max = 4 }) => ({
  write: (z) => z.string().regex(/a/).min(min).max(max),
  values: anyTextAround({ min, max }, { lone: true }),
}));

const texts = fc.oneof(bounded, repeated, patterned);

/** Each kind of node that can hold a text, around a text with bounds. */
const NODES: Readonly<Record<string, (sample: Sample) => Sample>> = {
  itself: (sample) => sample,
  list: ({ write, values }) => ({
    write: (z) => z.array(write(z)).min(1).max(2),
    values: fc.array(values, { maxLength: 3 }),
  }),
  tuple: ({ write, values }) => ({
    write: (z) => z.tuple([write(z), z.int()]),
    values: fc.tuple(values, fc.constant(1)),
  }),
  object: ({ write, values }) => ({
    write: (z) => z.strictObject({ a: write(z), b: z.exactOptional(write(z)) }),
    values: fc.record({ a: values, b: values }, { requiredKeys: ['a'] }),
  }),
  defaulted: ({ write, values }) => ({
    write: (z) => z.strictObject({ a: write(z).nullable().default(null), b: z.boolean() }),
    values: fc.record({ a: values, b: fc.boolean() }, { requiredKeys: ['b'] }),
  }),
  'record of texts': ({ write, values }) => ({
    write: (z) => z.record(z.string(), write(z)),
    values: fc.dictionary(fc.constantFrom('a', 'b'), values),
  }),
  'keys of a record': ({ write, values }) => ({
    write: (z) => z.record(write(z) as zod.ZodString, z.int()),
    values: values.map((key) => ({ [String(key)]: 1 })),
  }),
  union: ({ write, values }) => ({
    write: (z) => z.union([z.int(), write(z)]),
    values: fc.oneof(fc.constant(1), values),
  }),
  'tagged union': ({ write, values }) => ({
    write: (z) =>
      z.discriminatedUnion('t', [
        z.strictObject({ t: z.literal('x'), a: write(z) }),
        z.strictObject({ t: z.literal('y') }),
      ]),
    values: fc.oneof(
      values.map((a) => ({ t: 'x', a })),
      fc.constant({ t: 'y' }),
    ),
  }),
  nullable: ({ write, values }) => ({
    write: (z) => write(z).nullable(),
    values: fc.oneof({ weight: 3, arbitrary: values }, { weight: 1, arbitrary: fc.constant(null) }),
  }),
  'readonly and described': ({ write, values }) => ({ write: (z) => write(z).describe('a text').readonly(), values }),
  literal: ({ values }) => ({ write: (z) => z.literal(['😀', 'é', '']), values: fc.oneof(values, fc.constant('😀')) }),
};

/** Nodes in nodes: the law of one kind alone would not see what a second level changes. */
const samples = (node: string): fc.Arbitrary<Sample> =>
  fc.tuple(texts, fc.constantFrom('itself', ...Object.keys(NODES))).map(([text, outer]) => {
    const inner = NODES[node]?.(text) ?? text;
    if (outer === 'keys of a record' || outer === 'literal') return inner;
    return NODES[outer]?.(inner) ?? inner;
  });

const cases = (node: string): fc.Arbitrary<readonly [Sample, unknown]> =>
  samples(node).chain((sample) => fc.tuple(fc.constant(sample), sample.values));

/** Whether a value has a canonical form: each of its texts is well formed. */
function isCanonical(value: unknown): boolean {
  return !/(?<![\ud800-\udbff])[\udc00-\udfff]/.test(JSON.stringify(value).replace(/\\ud[c-f][0-9a-f]{2}/g, '\udc00'));
}

describe(`given schemas of text with bounds, 400 for each kind of node, and texts around the bounds (seed ${SEED})`, () => {
  it.each(Object.keys(NODES))(
    'zod, our schemas, the checks of journaled data and JSON Schema agree on a text in this node: %s [SCH-3, SCH-6]',
    async (node) => {
      const seen = { accepted: 0, refused: 0, lone: 0 };
      const agree = fc.property(cases(node), ([{ write }, value]) => {
        const theirs = write(zod);
        const accepted = theirs.safeParse(value).success;
        expect(write(OURS).safeParse(value).success, 'our schema').toBe(accepted);
        const told = checker(zod.toJSONSchema(theirs, { io: 'input' }));
        expect(told.ok && told.check(value).ok, 'JSON Schema').toBe(accepted);
        seen[accepted ? 'accepted' : 'refused']++;
        if (isCanonical(value)) {
          const checked = check(compileSchema(write(OURS)), value as Value);
          expect(checked.ok, 'the check of journaled data').toBe(accepted);
          if (checked.ok) expect(decode(encode(checked.value))).toEqual(checked.value);
        } else {
          seen.lone++;
          expect(() => encode(value as Value)).toThrow(expect.objectContaining({ code: 'invalid_value' }));
        }
      });
      await hold(agree, { numRuns: 400 / stepOf(4), command });
      for (const many of Object.values(seen)) expect(many).toBeGreaterThan(10);
    },
  );

  it('a text that is a key has 1 to so many bytes and is well formed, in our schemas and in the kernel alike [SCH-8]', async () => {
    const agree = fc.property(
      fc.constantFrom(1, 7, 64, 256).chain((max) => fc.tuple(fc.constant(max), anyTextAround({ max }, { lone: true }))),
      ([max, text]) => {
        const bytes = utf8Length(text);
        const fits = bytes > 0 && bytes <= max;
        expect(keyText(max).safeParse(text).success).toBe(fits);
        expect(zod.strictObject({ key: keyText(max) }).safeParse({ key: text }).success).toBe(fits);
        expect(zod.record(keyText(max), zod.null()).safeParse({ [text]: null }).success).toBe(fits);
        expect(check(compileSchema(zod.strictObject({ key: keyText(max) })), { key: text }).ok).toBe(fits);
      },
    );
    await hold(agree, { numRuns: 400 / stepOf(4), command });
  });

  it('the text of a refusal says which bytes a key may have [SCH-5]', () => {
    expect(check(compileSchema(keyText(8)), '水'.repeat(3))).toMatchObject({
      ok: false,
      expected: 'text of 1 to 8 bytes',
      actual: '"水水水"',
    });
    expect(keyText(8).safeParse('').error?.issues[0]?.message).toBe(
      'Invalid string: must be well-formed text of 1 to 8 bytes',
    );
  });
});
