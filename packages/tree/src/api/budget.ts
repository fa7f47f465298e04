/** Budgets of trees: dollars or tokens, and what applies when nothing is stated. */
import { MICRO, RepriseError } from '@reprise/contracts';
import { type Money, recordedMoney } from '@reprise/org';
import type { TreeAgent, TreeBudget } from '../pure/index.js';

export type { Money } from '@reprise/org';

/** What a node, and all nodes together, may use. */
export interface Budget {
  readonly node?: Money;
  readonly tree?: Money;
}

/** The budget of a node when nothing is stated: in micro-dollars where prices are known, else in tokens. */
const NODE_MICRO_MONEY = 2 * MICRO;
const NODE_TOKENS = 500_000;

type Unit = TreeBudget['unit'];
type Model = { readonly alias: string; readonly price: unknown };

function modelsOf(agents: readonly TreeAgent[]): readonly Model[] {
  const all = agents.flatMap(({ adopted, agents: below = [] }) => [adopted, ...below]);
  return all.flatMap(({ config: { model, price = null, compaction } }) => [
    { alias: model, price },
    ...(compaction === null || compaction.model === null
      ? []
      : [{ alias: compaction.model, price: compaction.price ?? null }]),
  ]);
}

/**
 * The unit of a budget that is stated, or the one that applies when nothing is stated.
 *
 * @throws RepriseError `invalid_argument` for a budget in two units, or in money where a model has no price
 */
export function unitOf({ node, tree }: Budget, agents: readonly TreeAgent[]): Unit {
  const stated = [node, tree].flatMap((money) => (money === undefined ? [] : [recordedMoney(money, 'budget').unit]));
  const [unit, other] = new Set(stated);
  if (other !== undefined) {
    throw new RepriseError('invalid_argument', 'the budgets of a node and of the tree have two units', {
      where: 'budget',
      expected: 'both in usd, or both in tokens',
    });
  }
  const free = modelsOf(agents).find(({ price }) => price === null);
  if (unit === 'micro_money' && free !== undefined) throw noPrice(free.alias);
  return unit ?? (free === undefined ? 'micro_money' : 'tokens');
}

export function recordedBudget({ node, tree }: Budget, unit: Unit, agent: TreeAgent | undefined): TreeBudget {
  const usual = unit === 'micro_money' ? NODE_MICRO_MONEY : (agent?.adopted.config.limits.max_tokens ?? NODE_TOKENS);
  return {
    unit,
    node: node === undefined ? usual : recordedMoney(node, 'budget.node').amount,
    tree: tree === undefined ? null : recordedMoney(tree, 'budget.tree').amount,
    stated: node !== undefined,
  };
}

/**
 * An amount in the unit of a tree.
 *
 * @throws RepriseError `invalid_argument` for another unit
 */
export function amountIn(unit: Unit, money: Money, where: string): number {
  const stated = recordedMoney(money, where);
  if (stated.unit === unit) return stated.amount;
  throw new RepriseError('invalid_argument', 'this tree counts in another unit', {
    where,
    expected: unit === 'tokens' ? '{ tokens }' : '{ usd }',
    actual: money,
    reason: 'wrong_unit',
  });
}

function noPrice(alias: string): RepriseError {
  return new RepriseError(
    'invalid_argument',
    `no_price: model ${alias} has no price, so a budget in money cannot be kept`,
    {
      where: 'budget',
      reason: 'no_price',
      hint: 'Give the model a price (price: { in, out }), or state a budget in tokens.',
    },
  );
}
