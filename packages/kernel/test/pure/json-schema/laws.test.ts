import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../../../conformance/part.js';
import { hold, SEED } from '../../support/laws/hold.js';
import {
  type Implementation,
  patternFault,
  patterns,
  SHIPPED,
  schemaFault,
  schemas,
  texts,
  values,
  whole,
} from './laws.js';

const COMMAND = 'npx vitest run packages/kernel/test/pure/json-schema/laws.test.ts';

function patternLaw(one: Implementation) {
  return fc.property(patterns, fc.array(texts, { minLength: 1, maxLength: 5 }), (pattern, some) => {
    for (const text of some) {
      const fault = patternFault(one, pattern, text);
      if (fault !== undefined) throw new Error(fault);
    }
  });
}

function schemaLaw(one: Implementation) {
  return fc.property(schemas, fc.array(values, { minLength: 1, maxLength: 5 }), (schema, some) => {
    for (const value of some) {
      const fault = schemaFault(one, whole(schema), value);
      if (fault !== undefined) throw new Error(fault);
    }
  });
}

describe(`the checker of others' JSON Schemas, seed ${SEED}`, () => {
  it('a pattern matches exactly the texts that JavaScript matches [TOOL-32]', () =>
    hold(patternLaw(SHIPPED), { numRuns: 3_000 / stepOf(4), command: COMMAND }));

  it(
    'the checker accepts exactly the values that ajv accepts [TOOL-32]',
    () => hold(schemaLaw(SHIPPED), { numRuns: 1_500 / stepOf(4), command: COMMAND }),
    60_000,
  );

  it.each<[string, Partial<Implementation>]>([
    ['takes a negative look for a positive one', { matches: (p, t) => SHIPPED.matches(p.replace('(?!', '(?='), t) }],
    ['counts UTF-16 units', { matches: (p, t) => SHIPPED.matches(p, t.replaceAll('😀', '??')) }],
    ['takes a star for a plus', { matches: (p, t) => SHIPPED.matches(p.replace('*', '+'), t) }],
  ])('the law finds a mutant of patterns that %s', async (_what, mutant) => {
    const law = patternLaw({ ...SHIPPED, ...mutant });
    await expect(hold(law, { numRuns: 3_000, command: COMMAND, shrink: false })).rejects.toThrow('and not');
  });

  it.each<[string, (schema: unknown) => unknown]>([
    ['forgets what is unevaluated', (schema) => without(schema, 'unevaluatedProperties')],
    ['takes oneOf for anyOf', (schema) => renamed(schema, 'oneOf', 'anyOf')],
    ['follows no references', (schema) => without(schema, '$ref')],
  ])('the law finds a mutant of schemas that %s', async (_what, change) => {
    const law = schemaLaw({ ...SHIPPED, fits: (schema, value) => SHIPPED.fits(change(schema), value) });
    await expect(hold(law, { numRuns: 3_000, command: COMMAND, shrink: false })).rejects.toThrow('and not');
  });
});

function without(schema: unknown, keyword: string): unknown {
  return JSON.parse(JSON.stringify(schema), (key, part) => (key === keyword ? undefined : part));
}

function renamed(schema: unknown, keyword: string, other: string): unknown {
  return JSON.parse(JSON.stringify(schema).replaceAll(`"${keyword}":`, `"${other}":`));
}
