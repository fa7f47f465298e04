/** Facts of trees for the tests of views: a tree by hand, and random ones. */
import { Ref } from '@reprise/contracts';
import * as fc from 'fast-check';
import {
  type FactOfTree,
  type Given,
  NODE_STATUSES,
  NODE_TYPES,
  RUNS,
  TREE_LIMITS,
  type TreeFact,
  TreeFold,
  type TreeView,
} from '../../src/index.js';

/** A link to content that need not exist. */
export function link(n: number): Ref {
  return Ref.fromHex(n.toString(16).padStart(64, '0'));
}

/** A text as a result. */
export function textOf(n: number): Given {
  return { ref: link(n), kind: 'text', bytes: 20 };
}

const NODE: Omit<TreeFact<'tree/NodeChanged@1'>, 'n'> = {
  type: 'spawn',
  parent: 1,
  goal: 'A goal',
  prompt_ref: link(0),
  returns: 'text',
  agent: 'worker',
  status: 'pending',
  paused: false,
  phase: 'work',
  gen: 0,
  attempt: 1,
  launch: 0,
  session: null,
  run: 'none',
  result: null,
  code: null,
  spent: { tokens: 0, micro_money: 0 },
  budget: null,
};

/** Who starts it, and answers its questions. */
export const ANN = { kind: 'person', id: 'ann' } as const;

/** The facts of one tree, each with its frame. */
export class Facts {
  readonly list: FactOfTree[] = [];

  constructor(readonly tree = 'survey') {}

  start(goal: string, budget: TreeFact<'tree/Started@1'>['budget'] = TOKENS): this {
    return this.push('tree/Started@1', { goal, limits: TREE_LIMITS, budget, labels: {}, by: ANN });
  }

  node(n: number, some: Partial<typeof NODE>): this {
    return this.push('tree/NodeChanged@1', { ...NODE, n, ...some });
  }

  push<K extends FactOfTree['name']>(name: K, value: TreeFact<K>): this {
    this.list.push({ name, value, tree: this.tree } as FactOfTree);
    return this;
  }

  /** The view after all facts: one in each frame, a second apart. */
  view(): TreeView {
    const fold = new TreeFold();
    for (const [i, fact] of this.list.entries()) fold.add(fact, { frame: i + 1, at: i * 1_000 });
    const view = fold.trees.get(this.tree);
    if (view === undefined) throw new Error('the tree was not started');
    return view;
  }
}

const TOKENS = { unit: 'tokens', node: 500_000, tree: null, stated: false } as const;

/** The tree of the pictures: every state, a question, a blocked node, results and failures. */
export function surveyed(): Facts {
  const money = { unit: 'micro_money', node: 2_000_000, tree: 5_000_000, stated: true } as const;
  const root = { type: 'goal', parent: null, goal: 'Upgrade the parser' } as const;
  return new Facts()
    .start('Upgrade the parser', money)
    .node(1, { ...root, status: 'active', run: 'live' })
    .node(2, { goal: 'List what imports it' })
    .node(3, { type: 'fork', goal: 'Rewrite the tests' })
    .node(4, { goal: 'Decide what happens to the old parser' })
    .node(5, { goal: 'Remove the old one' })
    .push('tree/Needs@1', { n: 5, needs: [3, 4] })
    .node(6, { type: 'serial', goal: 'Publish', status: 'waiting_children', prompt_ref: null })
    .node(7, { parent: 6, goal: 'Write the changelog', paused: true })
    .node(9, { goal: 'Benchmarks', status: 'failed', code: 'timeout', spent: { tokens: 900, micro_money: 20_000 } })
    .node(10, { goal: 'Ask the authors', status: 'cancelled', code: 'stopped' })
    .node(1, { ...root, status: 'waiting_children', spent: { tokens: 4_000, micro_money: 90_000 } })
    .node(2, { goal: 'List what imports it', status: 'complete', result: textOf(2), spent: SPENT })
    .node(3, { type: 'fork', goal: 'Rewrite the tests', status: 'active', run: 'live', attempt: 2, launch: 2 })
    .node(8, { type: 'ask', parent: 4, goal: 'Keep the old parser as well?', prompt_ref: null })
    .push('tree/Asked@1', {
      ...{ ask: 8, asker: 4, target: 'human', route: [], question_ref: link(8) },
      ...{ options: ['yes', 'no', 'until 2.0'], returns: 'text', default: 2, deadline: null },
    })
    .node(4, { goal: 'Decide what happens to the old parser', status: 'active', run: 'waiting' })
    .push('tree/Budget@1', { spent: { tokens: 7_400, micro_money: 310_000 }, reserved: 4_000_000 });
}

const SPENT = { tokens: 2_500, micro_money: 40_000 } as const;

/** Random histories of a tree: nodes in any state, questions, an end. */
export const histories: fc.Arbitrary<Facts> = fc
  .array(
    fc.record({
      n: fc.integer({ min: 1, max: 12 }),
      type: fc.constantFrom(...NODE_TYPES),
      status: fc.constantFrom(...NODE_STATUSES),
      paused: fc.boolean(),
      run: fc.constantFrom(...RUNS),
      goal: fc.string({ minLength: 1, maxLength: 40, unit: 'binary' }),
      code: fc.option(fc.constantFrom('timeout', 'stopped')),
    }),
    { maxLength: 40 },
  )
  .map((changes) => {
    const facts = new Facts().start('Any goal').node(1, { type: 'goal', parent: null });
    const made = new Map<number, Pick<typeof NODE, 'type' | 'parent'>>([[1, { type: 'goal', parent: null }]]);
    for (const { n, type, ...row } of changes) {
      const parent = made.has(Math.floor(n / 2)) ? Math.floor(n / 2) : 1;
      const fixed = made.get(n) ?? { type, parent };
      made.set(n, fixed);
      facts.node(n, { ...row, ...fixed });
    }
    return facts;
  });
