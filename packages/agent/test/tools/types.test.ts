/** Types flow without a cast: this file says so by compiling, and by what must not compile. */
import { describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import { type DepsOf, defineTool, type Schema, type Tool, type ToolContext } from '../../src/tools/index.js';

interface Billing {
  readonly billing: {
    refund(order: string, key: string): Promise<{ id: string }>;
    find(key: string): { id: string } | undefined;
  };
}
interface Clocked {
  readonly zone: string;
}

const args = z.strictObject({ order: z.string(), cents: z.int().default(0), note: z.string().optional() });

const refund = defineTool({
  name: 'refund',
  description: 'Refunds an order.',
  args,
  approval: ({ args: given, labels, key }) => given.cents > 5_000 || labels.tier === key,
  resource: ({ order }) => order,
  guarantee: 'reconcile',
  run: ({ order }, ctx: ToolContext<Billing>) => ctx.deps.billing.refund(order, ctx.idempotencyKey),
  reconcile: (_args, { deps, idempotencyKey }) => {
    const found = deps.billing.find(idempotencyKey);
    return found === undefined ? 'not_done' : { done: found };
  },
});
const when = defineTool({
  name: 'when',
  description: 'Says the time.',
  args: z.strictObject({}),
  run: (_args, ctx: ToolContext<Clocked>) => `it is noon in ${ctx.deps.zone}`,
});
const add = defineTool({
  name: 'add',
  description: 'Adds.',
  args: z.strictObject({ a: z.int(), b: z.int() }),
  run: ({ a, b }) => a + b,
});

describe('the types of tools', () => {
  it('the types of arguments follow the schema, names are literals, and answers follow the handlers', () => {
    type Given = { order: string; cents: number; note?: string | undefined };
    expectTypeOf(refund).toEqualTypeOf<Tool<'refund', Given, { id: string }, Billing>>();
    expectTypeOf(add).toEqualTypeOf<Tool<'add', { a: number; b: number }, number, unknown>>();
    expect([refund.name, add.name]).toEqual(['refund', 'add']);
  });

  it('the type of a list of tools requires the deps of all of them together', () => {
    const tools = [refund, when, add] as const;
    const any: readonly Tool[] = tools;
    expectTypeOf<DepsOf<typeof tools>>().toEqualTypeOf<Billing & Clocked>();
    expectTypeOf<DepsOf<readonly [typeof add]>>().toEqualTypeOf<unknown>();
    expect(any).toHaveLength(3);
    const open = <T extends readonly Tool[]>(_options: { tools: T; deps: (labels: object) => DepsOf<T> }): void => {};
    const billing = { refund: async () => ({ id: 'r' }), find: () => undefined };
    open({ tools, deps: () => ({ billing, zone: 'UTC' }) });
    // @ts-expect-error the deps lack a zone
    open({ tools, deps: () => ({ billing }) });
    // @ts-expect-error a list that wants deps is given none
    open({ tools: [refund], deps: () => undefined });
  });

  it('invalid tool definitions do not compile', () => {
    const plain = { name: 'x', description: '' } as const;
    const noArgs = z.strictObject({});
    // @ts-expect-error cents is a number
    defineTool({ ...plain, args, run: ({ cents }) => cents.toUpperCase() });
    // @ts-expect-error a rule sees the same arguments
    defineTool({ ...plain, args, approval: (call) => call.args.dollars > 5, run: () => 1 });
    // @ts-expect-error nobody said what deps are
    defineTool({ ...plain, args, run: (_args, ctx) => ctx.deps.billing });
    const output: Schema<{ id: string }> = z.strictObject({ id: z.string() });
    // @ts-expect-error the answer is not what the tool says it is
    defineTool({ ...plain, args: noArgs, output, run: () => ({ id: 7 }) });
    // @ts-expect-error no such guarantee
    expect(() => defineTool({ ...plain, args: noArgs, guarantee: 'twice', run: () => 1 })).toThrow(/guarantee/);
    // @ts-expect-error a span has a unit
    expect(() => defineTool({ ...plain, args: noArgs, timeout: '10', run: () => 1 })).toThrow(/timeout/);
    // @ts-expect-error no schema
    expect(() => defineTool({ ...plain, args: { a: 'text' }, run: () => 1 })).toThrow(/schema/);
  });

  it('the type of a question’s answer follows its schema', () => {
    defineTool({
      name: 'count',
      description: '',
      args: z.strictObject({}),
      run: async (_args, ctx) => {
        const answer = await ctx.ask({ question: 'How many?', answer: z.string().transform(Number), default: 3 });
        expectTypeOf(answer).toExtend<{ how: string; value?: number }>();
        return answer.how === 'answered' ? answer.value + 1 : 0;
      },
    });
  });
});
