/** What stands around a node: its children and their rows, its questions, and the nodes that it needs or that need it. */
import { allRows } from '@reprise/kernel/define';
import { key, pairsOf, secondOf } from '@reprise/org/contracts';
import type { AskRow } from '../../contracts/node.js';
import type { Delivery } from './delivery.js';
import type { ReadNode } from './nodes.js';

/** The second numbers of all pairs of a node. */
export function numbers(
  { ctx }: Pick<Delivery, 'ctx'>,
  table: 'children' | 'needs' | 'dependents' | 'routes',
  n: number,
): readonly number[] {
  return [...allRows(ctx.table(table), pairsOf(n))].map(([text]) => secondOf(text));
}

/** The children of a node, its questions not among them. */
export function childrenOf(delivery: Delivery, n: number): readonly ReadNode[] {
  return numbers(delivery, 'children', n)
    .map((child) => delivery.nodes.at(child))
    .filter(({ type }) => type !== 'ask');
}

type NumberedAsk = readonly [n: number, ask: AskRow];

export function asksOf({ ctx, nodes }: Pick<Delivery, 'ctx' | 'nodes'>, asker: number): readonly NumberedAsk[] {
  return numbers({ ctx }, 'children', asker).flatMap((n) => {
    const ask = nodes.get(n)?.type === 'ask' ? ctx.table('asks').get(key(n)) : undefined;
    return ask === undefined ? [] : [[n, ask] as const];
  });
}

/** The questions of a node without an outcome. */
export function openAsks(delivery: Delivery, asker: number): readonly NumberedAsk[] {
  return asksOf(delivery, asker).filter(([, { outcome }]) => outcome === null);
}

/** The questions of a node that have an outcome which it has not received. */
export function unpassed(delivery: Delivery, asker: number): readonly NumberedAsk[] {
  return asksOf(delivery, asker).filter(([, { outcome, passed }]) => outcome !== null && !passed);
}
