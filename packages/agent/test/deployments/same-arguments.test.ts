/** Arguments that two versions of a tool take otherwise, although what the model gave fits both. */
import { expect, it } from 'vitest';
import * as z from 'zod';
import { defineTool } from '../../src/index.js';
import { isSameValue } from '../../src/tools/tool/same-arguments.js';

const euro = z.object({ n: z.int(), currency: z.string().default('eur') });
const dollar = z.object({ n: z.int(), currency: z.string().optional(), note: z.string().optional() });

/** Each with the schema before, the schema now, and what the model gave. */
const OTHERWISE: readonly (readonly [what: string, before: z.ZodObject, now: z.ZodObject, args: object])[] = [
  ['a default that is gone', euro, dollar, { n: 1 }],
  [
    'a default of a field that may be null',
    z.object({ to: euro.nullable() }),
    z.object({ to: dollar.nullable() }),
    { to: { n: 1 } },
  ],
  [
    'a default in a union',
    z.object({ to: z.union([euro, z.string()]) }),
    z.object({ to: z.union([dollar, z.string()]) }),
    { to: { n: 1 } },
  ],
  [
    'a default in a record',
    z.object({ to: z.record(z.string(), euro) }),
    z.object({ to: z.record(z.string(), dollar) }),
    { to: { a: { n: 1 } } },
  ],
  ['a default in a tuple', z.object({ to: z.tuple([euro]) }), z.object({ to: z.tuple([dollar]) }), { to: [{ n: 1 }] }],
  [
    'a field that was left out before',
    z.object({ n: z.int() }),
    z.object({ n: z.int(), all: z.boolean().optional() }),
    { n: 1, all: true },
  ],
  [
    'a field of an item that was left out before',
    z.object({ to: z.array(z.object({ n: z.int() })) }),
    z.object({ to: z.array(z.object({ n: z.int(), all: z.boolean().optional() })) }),
    { to: [{ n: 1, all: true }] },
  ],
];

async function isSame(before: z.ZodObject, now: z.ZodObject, args: object): Promise<boolean> {
  const recorded = defineTool({ name: 'pay', description: 'Pays.', args: before, run: () => 'Paid.' });
  return isSameValue(recorded.entry.schema as never, args as never, now.parse(args));
}

it.each(OTHERWISE)('arguments do not mean the same with %s [TOOL-50]', async (_, before, now, args) => {
  expect(await isSame(before, now, args)).toBe(false);
});

it('arguments mean the same where both versions make the same of them [TOOL-50]', async () => {
  const more = z.object({ n: z.int(), currency: z.string().default('eur'), note: z.string().optional() });
  expect(await isSame(euro, more, { n: 1 })).toBe(true);
  expect(await isSame(z.object({ to: z.array(euro) }), z.object({ to: z.array(more) }), { to: [{ n: 1 }] })).toBe(true);
  const either = (one: z.ZodType) => z.object({ to: z.union([z.array(one), one, z.null()]) });
  expect(await isSame(either(euro), either(more), { to: { n: 1 } })).toBe(true);
  const named = (one: z.ZodType) => z.object({ to: z.record(z.string(), one), pair: z.tuple([one, z.int()]) });
  expect(await isSame(named(euro), named(more), { to: { a: { n: 1 } }, pair: [{ n: 1 }, 2] })).toBe(true);
  const loose = z.looseObject({ n: z.int() });
  expect(await isSame(loose, loose.extend({ note: z.string().optional() }), { n: 1, other: 2 })).toBe(true);
});
