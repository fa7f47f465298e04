/** Tools that are stated once: what models are shown, what is kept of a call, and what the owner receives. */
import { check, readText, type Tool } from '@reprise/agent';
import { type Ref, sessionOp, type Value, wellFormed } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { encode, getValue, memory, type OpenStore } from '@reprise/kernel';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import * as zod from 'zod';
import {
  apart,
  json,
  keepingOf,
  line,
  oneLine,
  ownerTool,
  parsedCall,
  text,
  unwrapped,
} from '../../src/pure/kit/index.js';
import { offerTool } from '../../src/tools/offer.js';

const SEED = Number(process.env.REPRISE_SEED ?? 20260101);
const SESSION = { key: 'team/1', labels: {} };

let content: OpenStore['content'];

beforeEach(async () => {
  ({ content } = await memory().open());
});

/** What the owner receives of arguments. */
async function kept(tool: Tool, args: unknown): Promise<Record<string, Value>> {
  const op = sessionOp.parse(await tool.operation?.(args as never, content, SESSION));
  return (op as { readonly args: Record<string, Value> }).args;
}

/** The longest text and the most characters of a list that a statement below lets stand in a call. */
const INLINE = 48;
/** The bytes of a call of {@link FIELDS_MAX} such fields and their names. */
const INLINE_BYTES = 8_192;
const FIELDS_MAX = 6;

/** Texts, among them empty, blank and long ones, and ones that are no text in UTF-8. */
const words = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc.constantFrom(
    '',
    ' ',
    '\n\t',
    '\u0000',
    'a\ud800',
    '\udc00b',
    '__proto__',
    'x'.repeat(5_000),
    '\ud800'.repeat(300),
  ),
);

/** Any JSON, with keys that objects treat in a way of their own. */
const { one: anyJson } = fc.letrec<{ one: unknown }>((tie) => ({
  one: fc.oneof(
    { depthSize: 'small' },
    words,
    fc.integer(),
    fc.constantFrom(null, true),
    fc.array(tie('one'), { maxLength: 3 }),
    fc
      .array(fc.tuple(fc.constantFrom('__proto__', 'constructor', 'a', '\ud800', 'é'), tie('one')), { maxLength: 3 })
      .map((entries) => Object.fromEntries(entries)),
  ),
}));

/** A kind of field, and values that a model may write into it. */
const KINDS = {
  text: [text(), words],
  words: [
    text()
      .min(1)
      .max(5_000)
      .refine((given) => given.trim() !== '', 'is empty'),
    words,
  ],
  json: [json(z.unknown() as z.BuiltSchema), anyJson],
  line: [line(z.string().max(INLINE)), words],
  apart: [apart(z.string()), words],
  inline: [z.string().max(INLINE), words],
  number: [z.int().min(0), fc.integer({ min: -1, max: 9 })],
  choice: [z.enum(['a', 'b']), fc.constantFrom('a', 'b', 'c')],
  list: [z.array(z.string().max(INLINE)).max(3), fc.array(words, { maxLength: 4 })],
  nested: [
    z
      .array(
        z.strictObject({
          brief: text(),
          title: line(z.string().max(INLINE)),
          note: z.exactOptional(json(z.boolean())),
        }),
      )
      .max(3),
    fc.array(
      fc.record(
        { brief: words, title: words, note: fc.option(fc.boolean(), { nil: undefined }) },
        { requiredKeys: [] },
      ),
      { maxLength: 4 },
    ),
  ],
} as const satisfies Record<string, readonly [z.BuiltSchema, fc.Arbitrary<unknown>]>;
type Kind = keyof typeof KINDS;

/** A statement of some fields, and arguments for it. */
const stated = fc
  .uniqueArray(
    fc.tuple(
      fc.constantFrom(...(Object.keys(KINDS) as Kind[])),
      fc.boolean(),
      fc.constantFrom('a', 'b', 'task', 'name', 'x_1', 'text'),
    ),
    {
      maxLength: FIELDS_MAX,
      selector: ([, , name]) => name,
    },
  )
  .chain((fields) => {
    const shape = Object.fromEntries(
      fields.map(([kind, optional, name]) => [name, optional ? z.exactOptional(KINDS[kind][0]) : KINDS[kind][0]]),
    );
    const values = Object.fromEntries(
      fields.map(([kind, optional, name]) => [
        name,
        optional ? fc.option(KINDS[kind][1], { nil: undefined }) : KINDS[kind][1],
      ]),
    );
    return fc.tuple(fc.constant(shape as z.Shape), fc.record(values));
  });

/** JSON as it can be stored: without half characters and keys of prototypes. */
function clean(given: unknown): unknown {
  const whole = JSON.stringify(given).replace(/\\ud[89a-f][0-9a-f]{2}/g, '\ufffd');
  return JSON.parse(whole, function (this: object, key, value) {
    if (key === '__proto__') Reflect.deleteProperty(this, key);
    else return value;
  });
}

/** Asserts that a call has all of what a model wrote, each part where its statement says. */
async function isKept(call: Record<string, Value>, shape: z.Shape, given: object): Promise<void> {
  for (const [name, value] of Object.entries(given)) {
    const field = unwrapped(shape[name] as z.AnySchema);
    const link = call[`${name}_ref`] as Ref;
    const keeping = keepingOf(field);
    if (keeping === 'text') expect(await readText(content, link)).toBe(wellFormed(value));
    else if (keeping === 'value') expect(await getValue(content, link)).toEqual(clean(value));
    else if (keeping === 'apart') expect(call).not.toHaveProperty(name);
    else if (keeping === 'line') expect(call[name]).toBe(oneLine(wellFormed(value)));
    else if (z.defOf(field).element?.shape === undefined) expect(call[name]).toEqual(clean(value));
    else
      for (const [i, item] of (value as object[]).entries())
        await isKept((call[name] as Record<string, Value>[])[i] ?? {}, z.defOf(field).element.shape, item);
  }
}

/** The fields that are there, as JSON has them. */
function stating(given: object): object {
  return Object.fromEntries(
    Object.entries(given)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [
        name,
        Array.isArray(value) ? value.map((one) => (isMap(one) ? stating(one) : one)) : value,
      ]),
  );
}

function isMap(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

describe(`given 500 statements of tools, with arguments that have half characters, blank texts and keys of prototypes (seed ${SEED})`, () => {
  it('an owner receives what its schema accepts: texts and values by links to the whole of them, and nothing beyond its bounds', async () => {
    let accepted = 0;
    const meant = fc.asyncProperty(stated, async ([shape, args]) => {
      const statement = ownerTool({ description: 'A tool.', args: z.strictObject(shape) });
      const tool = offerTool('tool', statement);
      const given = stating(args);
      const fits = await check(tool.args, given);
      if (!fits.ok) return;
      accepted++;
      const call = await kept(tool, args); // with fields that are undefined
      expect(parsedCall(statement.call, call)).toEqual(call);
      expect(encode(call).length).toBeLessThan(INLINE_BYTES);
      await isKept(call, shape, given);
    });
    await fc.assert(meant, { numRuns: 500, seed: SEED });
    expect(accepted).toBeGreaterThan(100);
  });
});

describe('a tool that is stated once', () => {
  const shape = {
    goal: line(z.string().min(1).max(20)).describe('The aim.'),
    prompt: text()
      .min(1)
      .max(9)
      .refine((given) => given.trim() !== '', 'is empty'),
    schema: z.exactOptional(json(z.looseObject({}))),
    reason: z.exactOptional(apart(z.string())),
    priority: z.exactOptional(z.int().min(-5).max(5)),
  };
  const statement = ownerTool({
    description: 'Makes a child.',
    args: z.strictObject(shape),
    also: { unit: z.string() },
  });
  const tool = offerTool('make', statement, ({ reason }) => ({ unit: reason ?? 'tokens' }));

  it('a stated tool is shown to models without a trace of how it is kept', () => {
    expect(tool.entry).toMatchObject({ name: 'make', description: 'Makes a child.', kind: 'owner' });
    expect(tool.entry.schema).toEqual({
      type: 'object',
      properties: {
        goal: { type: 'string', minLength: 1, maxLength: 20, description: 'The aim.' },
        prompt: { type: 'string', minLength: 1, maxLength: 9 },
        schema: { type: 'object', properties: {}, additionalProperties: {} },
        reason: { type: 'string' },
        priority: { type: 'integer', minimum: -5, maximum: 5 },
      },
      required: ['goal', 'prompt'],
      additionalProperties: false,
    });
  });

  it('an object of zod states a tool as well, with fields of zod beside texts', async () => {
    const args = zod.strictObject({ found: text().max(99).describe('What.'), by: zod.string().max(9).optional() });
    const report = ownerTool({ description: 'Reports.', args });
    const made = offerTool('report', report);
    expect(made.entry.schema).toMatchObject({
      properties: { found: { type: 'string', maxLength: 99, description: 'What.' }, by: { maxLength: 9 } },
      required: ['found'],
    });
    const call = await kept(made, { found: 'A fault.', by: undefined });
    expect(Object.keys(parsedCall(report.call, call))).toEqual(['found_ref']);
    expect(await readText(content, call.found_ref as Ref)).toBe('A fault.');
  });

  it('a statement whose owner receives more than its fields is no tool without code that adds them', async () => {
    // @ts-expect-error the types ask for the code
    const without = offerTool('make', statement);
    const call = await kept(without, { goal: 'g', prompt: 'p' });
    expect(() => parsedCall(statement.call, call)).toThrow('invalid_arguments');
  });

  it('an owner receives the fields that code adds besides those of the statement', async () => {
    const call = await kept(tool, { goal: 'a\n b', prompt: 'p', reason: 'money' });
    expect(call).toEqual({ goal: 'a b', prompt_ref: expect.anything(), unit: 'money' });
    expect(Object.keys(statement.call.shape)).toEqual(['goal', 'prompt_ref', 'schema_ref', 'priority', 'unit']);
  });

  it.each([
    ['a blank line', { goal: '\u0000 \n' }, 'goal: is empty'],
    ['a blank text', { prompt: ' \n' }, 'prompt: is empty'],
    ['a text that is too long', { prompt: 'x'.repeat(10) }, 'prompt: Too big: expected string to have <=9 characters'],
    ['a field of another type', { priority: '5' }, 'priority: Invalid input: expected number, received string'],
    ['an undefined field', { priority: undefined }, 'priority: Invalid input: expected number, received undefined'],
    ['a link in place of a text', { prompt_ref: 'x' }, 'Unrecognized key: "prompt_ref"'],
    ['a key of prototypes', JSON.parse('{ "__proto__": 1 }'), 'Unrecognized key: "__proto__"'],
  ])('a model is told what is wrong with %s', async (_what, wrong, told) => {
    const args = Object.defineProperties({ goal: 'g', prompt: 'p' }, Object.getOwnPropertyDescriptors(wrong));
    const fits = await check(tool.args, args);
    expect(fits.ok ? '' : fits.problems).toContain(told);
  });

  it('an owner refuses a call that has a text in place of a link', () => {
    expect(() => parsedCall(statement.call, { goal: 'g', prompt: 'p', unit: 'tokens' })).toThrow('invalid_arguments');
  });
});
