/**
 * Our checker and zod judge alike, on every schema that compiles. Where they differ by intent, the values here
 * stay out of the way:
 *
 * - `undefined` for an optional key: zod's `optional()` lets it through, we never do (a value has no `undefined`).
 * - Fields named `constructor` and the like: zod reads what an object inherits, we read what it owns.
 * - Bytes under `readonly()`: zod throws, for bytes cannot be frozen; we let them through.
 * - Empty bytes for an empty strict object: zod takes any object without keys, we tell bytes and links from maps.
 * - Lone surrogates and −0: refused and normalised by the codec, before a schema is asked.
 * - A default that does not fit: zod hands it out unchecked, we refuse the schema.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../../../conformance/part.js';
import { encode, toHex } from '../../../src/pure/codec/index.js';
import { check, compileSchema, schemaValue } from '../../../src/pure/schema/index.js';
import { assertProperty, SEED, vitestCommand } from '../codec/seed.js';
import { cases } from './schemas.js';

const command = vitestCommand('packages/kernel/test/pure/schema/zod-agrees.test.ts');

describe(`given 3,000 random schemas of the subset, each with a value (seed ${SEED})`, () => {
  it('the compiled schema accepts what zod accepts, with the same bytes after defaults [SCH-3]', () => {
    const seen = { accepted: 0, refused: 0 };
    const agree = fc.property(cases, ([schema, value]) => {
      const node = compileSchema(schema);
      const ours = check(node, value);
      const theirs = schema.safeParse(value);
      // fast-check prints schemas as zod's internals; this says the same in a line.
      expect(ours.ok, `${JSON.stringify(schemaValue(node))} of ${JSON.stringify(value)}`).toBe(theirs.success);
      if (!ours.ok) {
        seen.refused++;
        return;
      }
      seen.accepted++;
      expect(toHex(encode(ours.value))).toBe(toHex(encode(theirs.data)));
    });
    assertProperty(agree, { numRuns: 3_000 / stepOf(2), command });
    expect(seen.accepted).toBeGreaterThan(300);
    expect(seen.refused).toBeGreaterThan(300);
  });
});
