/** What the compiler knows of agents, tools, runs and deps: nothing here needs a cast. */
import { describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import {
  type Agent,
  type AgentDeps,
  type AgentEvent,
  defineAgent,
  defineTool,
  type NeedsDeps,
  type Outcome,
  type ReturnOf,
  type Run,
  type Session,
  type SessionOf,
  type ToolContext,
} from '../../src/index.js';

interface Billing {
  readonly billing: { refund(id: string, cents: number): string };
}
interface Mail {
  readonly mail: { send(to: string): void };
}

const hello = defineAgent({ name: 'hello', model: 'main', instructions: 'Be brief.' });
const scout = defineAgent({
  name: 'scout',
  model: 'small',
  instructions: 'Scout.',
  returns: z.object({ name: z.string(), score: z.number() }),
});
const refund = defineTool({
  name: 'refund',
  description: 'Refunds.',
  args: z.object({ order: z.string(), cents: z.int() }),
  run: ({ order, cents }, { deps }: ToolContext<Billing>) => deps.billing.refund(order, cents),
});
const tell = defineTool({
  name: 'tell',
  description: 'Tells.',
  args: z.object({ to: z.string() }),
  run: ({ to }, { deps }: ToolContext<Mail>) => deps.mail.send(to) ?? null,
});
const clerk = defineAgent({ name: 'clerk', model: 'main', instructions: 'Help.', tools: [refund, tell] });

describe('the types', () => {
  it('the type of a run’s value is its agent’s return type, and text without one', () => {
    expectTypeOf<ReturnOf<typeof hello>>().toEqualTypeOf<string>();
    expectTypeOf<ReturnOf<typeof scout>>().toEqualTypeOf<{ name: string; score: number }>();
    expectTypeOf<SessionOf<typeof scout>>().toEqualTypeOf<Session<{ name: string; score: number }>>();
    expectTypeOf<Awaited<ReturnType<Session<string>['send']>>>().toEqualTypeOf<Run<string>>();
    expectTypeOf<Outcome<{ score: number }>['value']>().toEqualTypeOf<{ score: number } | undefined>();
    expect(scout.returns).not.toBeNull();
  });

  it('the type of deps joins those of all tools of all agents', () => {
    expectTypeOf<AgentDeps<readonly [typeof clerk]>>().toEqualTypeOf<Billing & Mail>();
    expectTypeOf<AgentDeps<readonly [typeof clerk, typeof hello]>>().toExtend<Billing & Mail>();
    expectTypeOf<NeedsDeps<readonly [typeof hello]>>().toBeUnknown();
    expectTypeOf<NeedsDeps<readonly [typeof clerk]>>().toHaveProperty('deps');
    expect(clerk.tools).toHaveLength(2);
  });

  it('the type of an agent fits where any agent is accepted', () => {
    const list: readonly Agent[] = [hello];
    expect(list).toHaveLength(1);
  });

  it('the type of an event is narrowed by its `type` field', () => {
    const show = (event: AgentEvent): string => {
      switch (event.type) {
        case 'llm_step.completed':
          return event.text ?? event.ref.toString();
        case 'tool.requested':
          return event.tool;
        case 'human.requested':
          return event.id;
        default:
          return event.type;
      }
    };
    expectTypeOf(show).returns.toBeString();
    // @ts-expect-error not every event has a text
    expectTypeOf<AgentEvent['text']>().toBeString();
  });

  it('invalid options do not compile', () => {
    const { run } = defineTool({
      name: 'x',
      description: '',
      args: z.object({ a: z.string() }),
      // @ts-expect-error `a` is text
      run: (args) => args.a * 2,
    });
    expect(run).toBeTypeOf('function');
    // @ts-expect-error args are no object
    expect(() => defineTool({ name: 'x', description: '', args: z.string(), run: () => 1 })).toThrow(/object schema/);
    // @ts-expect-error args are a list
    expect(() => defineTool({ name: 'x', description: '', args: z.array(z.int()), run: () => 1 })).toThrow(/object/);
    const either = z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('a') }),
      z.object({ kind: z.literal('b') }),
    ]);
    defineTool({ name: 'x', description: '', args: either, jsonSchema: { type: 'object' }, run: ({ kind }) => kind });
    const whole = { name: 'x', description: '', args: z.object({}) } as const;
    // @ts-expect-error the option is `approval`
    const misspelled = () => defineTool({ ...whole, aproval: 'always', run: () => 1 });
    expect(misspelled).toThrow('unknown option "aproval" of defineTool');
    // @ts-expect-error the option is `instructions`
    expect(() => defineAgent({ name: 'a', model: 'main', instruction: '' })).toThrow('Did you mean "instructions"?');
    // @ts-expect-error an agent without a model
    expect(() => defineAgent({ name: 'a', instructions: '' })).toThrow();
  });
});
