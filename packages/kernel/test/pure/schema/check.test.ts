import { bytes, Ref, ref, type Value, value } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { check, compileSchema } from '../../../src/pure/schema/index.js';

const checked = (schema: z.ZodType, input: unknown): unknown => check(compileSchema(schema), input as Value);

const wide = z.strictObject({
  id: z
    .string()
    .max(3)
    .regex(/^[a-z]+$/)
    .optional(),
  n: z.int().default(7),
  step: z.discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('call'),
      name: z.string(),
      args: z.array(z.strictObject({ v: z.int(), w: z.null().default(null) })),
    }),
    z.strictObject({ type: z.enum(['wait', 'stop']) }),
  ]),
});

describe('given a value that fits', () => {
  it('a value that needs no defaults is returned as the same object', () => {
    const input = { n: 1, step: { type: 'call', name: 'x', args: [{ v: 1, w: null }] } };
    const result = check(compileSchema(wide), input);
    expect(result.ok && result.value).toBe(input);
  });

  it('defaults are added to copies, and complete parts are shared', () => {
    const whole = { v: 2, w: null };
    const input = { step: { type: 'call', name: 'x', args: [{ v: 1 }, whole] } };
    const before = JSON.stringify(input);
    const result = check(compileSchema(wide), input);
    expect(result).toEqual({
      ok: true,
      value: {
        n: 7,
        step: {
          type: 'call',
          name: 'x',
          args: [
            { v: 1, w: null },
            { v: 2, w: null },
          ],
        },
      },
    });
    expect(JSON.stringify(input)).toBe(before);
    expect(result.ok && (result.value as { step: { args: unknown[] } }).step.args[1]).toBe(whole);
  });

  it('a default handed out cannot be changed for the next value', () => {
    const schema = compileSchema(z.strictObject({ list: z.array(z.int()).default([1]) }));
    const first = check(schema, {});
    const list = first.ok ? (first.value as { list: number[] }).list : [];
    expect(() => list.push(2)).toThrow(TypeError);
    expect(check(schema, {})).toEqual({ ok: true, value: { list: [1] } });
  });

  it('links and bytes are values of their own', () => {
    expect(checked(ref(), Ref.fromHex('ab'.repeat(32)))).toMatchObject({ ok: true });
    expect(checked(bytes(), new Uint8Array(2))).toMatchObject({ ok: true });
    expect(checked(value(), { any: [1, null] })).toMatchObject({ ok: true });
  });

  it('text is measured in code points, as zod measures it [SCH-6]', () => {
    expect(checked(z.string().length(1), '😀')).toMatchObject({ ok: true });
    expect(checked(z.string().length(2), '😀')).toMatchObject({ ok: false, actual: '"😀"' });
    expect(z.string().length(1).safeParse('😀').success).toBe(true);
  });
});

describe('given a value that does not fit', () => {
  it.each<[what: string, schema: z.ZodType, input: unknown, found: [path: string, expected: string, actual: string]]>([
    ['a missing key', wide, {}, ['$.step', '', 'nothing']],
    ['an unknown key', wide, { step: { type: 'stop' }, more: 'x' }, ['$.more', 'no such key', '"x"']],
    ['an unknown key in an option', wide, { step: { type: 'stop', name: 'x' } }, ['$.step.name', 'no such key', '"x"']],
    ['a key inherited', z.strictObject({ toString: z.int() }), {}, ['$.toString', 'an integer', 'nothing']],
    ['undefined for an optional key', wide, { id: undefined, step: { type: 'stop' } }, ['$.id', 'text', 'undefined']],
    ['an unknown tag', wide, { step: { type: 'go' } }, ['$.step.type', '"call" or "stop" or "wait"', '"go"']],
    ['no tag', wide, { step: {} }, ['$.step.type', '"call"', 'nothing']],
    ['a scalar for a union', wide, { step: 1 }, ['$.step', 'a map', '1']],
    [
      'a part of the chosen option',
      wide,
      { step: { type: 'call', name: 'x', args: [{ v: 1.5 }] } },
      ['$.step.args[0].v', 'an integer', '1.5'],
    ],
    ['text too long', wide, { id: 'abcd', step: { type: 'stop' } }, ['$.id', 'at most 3', '"abcd"']],
    ['text of another pattern', wide, { id: 'A', step: { type: 'stop' } }, ['$.id', '/^[a-z]+$/', '"A"']],
    ['long text, which is not shown', z.string().max(1), 's'.repeat(41), ['$', 'at most 1', 'text of 41 characters']],
    ['a list too short', z.array(z.int()).min(2), [1], ['$', 'at least 2', 'a list of 1 items']],
    ['a tuple of another length', z.tuple([z.int()]), [], ['$', 'a list of 1 items', 'a list of 0 items']],
    ['a key of a record', z.record(z.string().max(1), z.int()), { ab: 1 }, ['$.ab', 'keys', '"ab"']],
    ['an item of a record', z.record(z.string(), z.int()), { 'a b': 'x' }, ['$["a b"]', 'an integer', '"x"']],
    ['an integer beyond the safe ones', z.int(), 2 ** 53, ['$', 'an integer', '9007199254740992']],
    ['a number at an open bound', z.number().gt(1).lt(2), 1, ['$', '> 1 < 2', '1']],
    ['a hash in text for a link', ref(), `sha256:${'ab'.repeat(32)}`, ['$', 'a link', 'text of 71 characters']],
    ['a link for a map', z.strictObject({}), Ref.fromHex('ab'.repeat(32)), ['$', 'a map', 'a link']],
    ['bytes for a list', z.array(z.int()), new Uint8Array(1), ['$', 'a list', '1 bytes']],
    ['a list for a map', z.record(z.string(), z.int()), [1], ['$', 'a map', 'a list of 1 items']],
    ['anything for never', z.never(), null, ['$', 'nothing', 'null']],
    ['no option of a union', z.union([z.int(), z.boolean()]), 'x', ['$', 'an integer or a boolean', '"x"']],
    ['the option that came furthest', z.union([z.null(), z.array(z.int())]), [1, 'x'], ['$[1]', 'an integer', '"x"']],
  ])('%s: path, expected, actual [SCH-4, SCH-5]', (_, schema, input, [path, expected, actual]) => {
    const result = check(compileSchema(schema), input as Value);
    expect(result).toMatchObject({ ok: false, path, actual });
    expect(result.ok ? '' : result.expected).toContain(expected);
  });
});

describe('given a recorded schema', () => {
  it('a check is the same through a frozen node, as often as it is run', () => {
    const node = Object.freeze(compileSchema(z.string().regex(/^a/)));
    for (let i = 0; i < 3; i++) expect([check(node, 'ab').ok, check(node, 'ba').ok]).toEqual([true, false]);
  });
});
