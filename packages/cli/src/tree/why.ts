/** Why a node is where it is, and what to do about it, in words. */
import type { Actor } from '@reprise/contracts';
import { lastAct, type NodeView, openAsks, stateOf, type TreeView, wordsOfActor } from '@reprise/tree';
import { escapeLine } from '../text/escape.js';

const CODES: Readonly<Record<string, string>> = {
  no_result: 'its run ended without a result',
  validation_error: 'its result was not of its type, three times',
  blocked_failed: 'a node that it needs ended without a result',
  all_children_failed: 'none of its children completed',
  child_failed: 'a step of the series failed',
  max_cost: 'it used up its budget',
  timeout: 'its time ran out',
  outcome_unknown: 'its program ended in an unknown way',
  stopped: 'it was stopped',
  asker_ended: 'the node that asked has ended',
  parent_ended: 'a node above it ended',
};

/** What a code of a node means. */
export function wordsOfCode(code: string): string {
  return CODES[code] ?? code;
}

/** Why a node waits or ended as it did; undefined for one that runs or is complete. */
export function whyOf(tree: TreeView, node: NodeView): string | undefined {
  const { status, code, paused } = node;
  if (status === 'failed' || status === 'cancelled')
    return `${code === null ? status : wordsOfCode(code)}${byWords(tree, node.stopped_by)}; to try it again: reprise tree retry ${tree.name}/${node.n}`;
  if (status === 'complete') return undefined;
  if (paused)
    return `it is paused${byWords(tree, lastAct(tree, node.n, 'pause')?.by)}: reprise tree resume ${tree.name}/${node.n}`;
  const above = ancestors(tree, node).find((one) => one.paused);
  if (above !== undefined) return `#${above.n} above it is paused: reprise tree resume ${tree.name}/${above.n}`;
  const asks = openAsks(tree).filter(({ asker, ask }) => asker === node.n || ask === node.n);
  if (asks.length > 0) return asks.map(({ ask, route }) => askWords(tree.name, ask, route)).join('; ');
  if (status === 'waiting_children') return `it waits for ${named(tree, openChildren(tree, node))}`;
  return status === 'pending' ? pendingWords(tree, node) : undefined;
}

/** Who did it, where that is known. */
function byWords(tree: TreeView, by: Actor | undefined): string {
  return by === undefined ? '' : ` by ${escapeLine(wordsOfActor(tree, by))}`;
}

function askWords(tree: string, ask: number, route: readonly number[]): string {
  if (route.length > 0) return `its question #${ask} waits for ${route.map((n) => `#${n}`).join(', ')}`;
  return `question #${ask} waits for you: reprise tree answer ${tree}/${ask} VALUE`;
}

function pendingWords(tree: TreeView, node: NodeView): string {
  const open = node.needs.filter((n) => stateOf(tree.nodes.get(n) ?? node).word !== 'complete');
  if (open.length > 0) return `it needs ${named(tree, open)}`;
  return `it is ready, and begins when one of the ${tree.limits.parallel} slots and budget are free`;
}

function openChildren(tree: TreeView, { children }: NodeView): readonly number[] {
  return children.filter((n) => {
    const child = tree.nodes.get(n);
    return child !== undefined && child.type !== 'ask' && !['complete', 'failed', 'cancelled'].includes(child.status);
  });
}

const NAMED_MAX = 8;

function named(tree: TreeView, numbers: readonly number[]): string {
  const shown = numbers.slice(0, NAMED_MAX).map((n) => {
    const node = tree.nodes.get(n);
    return node === undefined ? `#${n}` : `#${n} (${stateOf(node).word})`;
  });
  const more = numbers.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** The nodes above a node, its parent first. */
export function ancestors(tree: TreeView, node: NodeView): readonly NodeView[] {
  const above: NodeView[] = [];
  for (let n = node.parent; n !== null; ) {
    const next = tree.nodes.get(n);
    if (next === undefined) break;
    above.push(next);
    n = next.parent;
  }
  return above;
}
