/** Why a node is where it is, and what to do about it, in words. */
import { type Actor, escapeLine } from '@reprise/contracts';
import { lastAct, type NodeView, stateOf, type TreeView, waitsByNode, waitsOf, wordsOfActor } from '@reprise/tree';
import { wordsOfWait } from './tree-waits.js';

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
    return `${code === null ? status : endWords(tree, node, code)}; to try it again: reprise tree retry ${tree.name}/${node.n}`;
  if (status === 'complete') return undefined;
  if (paused)
    return `it is paused${byWords(tree, lastAct(tree, node.n, 'pause')?.by)}: reprise tree resume ${tree.name}/${node.n}`;
  const above = ancestors(tree, node).find((one) => one.paused);
  if (above !== undefined) return `#${above.n} above it is paused: reprise tree resume ${tree.name}/${above.n}`;
  const waits =
    node.type === 'ask'
      ? waitsOf(tree).filter((wait) => wait.kind === 'question' && wait.ask === node.n)
      : (waitsByNode(tree).get(node.n) ?? []);
  if (waits.length > 0)
    return waits.map((wait) => wordsOfWait(tree, wait, (numbers) => named(tree, numbers))).join('; ');
  return status === 'pending' ? 'it is ready to begin' : undefined;
}

/** How a node ended: the act that ended it, or the node above it that ended, and how. */
function endWords(tree: TreeView, node: NodeView, code: string): string {
  const act = lastAct(tree, node.n, 'stop');
  const own = `${wordsOfCode(code)}${byWords(tree, node.stopped_by ?? act?.by)}`;
  if (code !== 'parent_ended') return code === 'stopped' && act !== undefined ? `${own}, frame ${act.frame}` : own;
  const above = ancestors(tree, node).find((one) => one.code !== null && one.code !== 'parent_ended');
  return above?.code == null ? own : `#${above.n} above it ended: ${endWords(tree, above, above.code)}`;
}

/** Who did it, where that is known. */
function byWords(tree: TreeView, by: Actor | undefined): string {
  return by === undefined ? '' : ` by ${escapeLine(wordsOfActor(tree, by))}`;
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
