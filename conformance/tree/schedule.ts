/** Random schedules of trees: their limits and budgets, and what happens to them. */
import { Ref } from '@reprise/contracts';
import fc from 'fast-check';
import type { Purse, Terms } from './oracle/node.js';

const KINDS = {
  compose: 14,
  spawn: 9,
  serial: 2,
  complete: 5,
  check: 6,
  end: 9,
  drain: 2,
  ask: 3,
  question: 3,
  answer: 3,
  people: 2,
  stop: 1,
  Stop: 1,
  Pause: 2,
  Resume: 1,
  Retry: 2,
  Add: 1,
  Modify: 2,
  Limit: 1,
  Tell: 1,
  time: 1,
  late: 1,
} as const;

/** What may happen. */
export type Kind = keyof typeof KINDS;

/** One step: what is done, and three choices. */
export type Step = readonly [kind: Kind, a: number, b: number, c: number];

/** A tree and what happens to it. */
export interface Schedule {
  readonly terms: Terms;
  readonly people: 'human' | 'default' | 'fail';
  readonly purse: Purse;
  readonly steps: readonly Step[];
}

const kinds = (Object.keys(KINDS) as Kind[]).flatMap((kind) => Array.from({ length: KINDS[kind] }, () => kind));

const step = fc.tuple(fc.constantFrom(...kinds), fc.nat(7), fc.nat(7), fc.nat(7));

/** Every other tree has no budget; of the rest some bound each node, some all together, some both. */
const purses: fc.Arbitrary<Purse> = fc
  .record({
    node: fc.integer({ min: 10, max: 120 }),
    tree: fc.integer({ min: 40, max: 500 }),
    which: fc.constantFrom(0, 0, 0, 1, 2, 3),
  })
  .map(({ node, tree, which }) => {
    const isStated = which === 1 || which === 3;
    return { unit: 'tokens', node: isStated ? node : null, tree: which > 1 ? tree : null, stated: isStated };
  });

/** Random schedules. */
export function schedules(steps = 90): fc.Arbitrary<Schedule> {
  return fc.record({
    terms: fc.record({
      nodes: fc.integer({ min: 4, max: 40 }),
      depth: fc.integer({ min: 2, max: 5 }),
      children: fc.integer({ min: 2, max: 6 }),
      parallel: fc.integer({ min: 1, max: 4 }),
      generations: fc.integer({ min: 1, max: 3 }),
      attempts: fc.integer({ min: 1, max: 3 }),
      asks: fc.integer({ min: 1, max: 3 }),
    }),
    purse: purses,
    people: fc.constantFrom('human' as const, 'human' as const, 'human' as const, 'default' as const, 'fail' as const),
    steps: fc.array(step, { minLength: 4, maxLength: steps, size: 'max' }),
  });
}

/** The content that all texts of a schedule are. */
export const TEXT = Ref.fromHex('ab'.repeat(32));

/** What starts the tree of a schedule. */
export function startOf({ terms: limits, people, purse: budget }: Schedule): object {
  const adopted = { def_ref: TEXT, config: { agent: 'worker', limits: {}, tools_ref: TEXT } };
  const returns = { text: TEXT, boolean: TEXT, list: TEXT, structured: TEXT, file: TEXT };
  const words = {
    rules_ref: TEXT,
    leaf_ref: TEXT,
    synthesis_ref: TEXT,
    answer_ref: TEXT,
    repair_ref: TEXT,
    returns,
    budget_80_ref: TEXT,
    budget_95_ref: TEXT,
  };
  return {
    goal: 'the goal',
    prompt_ref: TEXT,
    agent: 'worker',
    agents: ['worker', 'helper'].map((name) => ({ name, adopted, variants: {} })),
    returns: 'text',
    schema_ref: null,
    limits: { ...limits },
    budget,
    people,
    words,
    labels: {},
  };
}
