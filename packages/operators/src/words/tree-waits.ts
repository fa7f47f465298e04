/** What nodes of trees wait for, in words. */
import type { TreeView, TreeWait } from '@reprise/tree';
import { WAIT_NOUNS } from './wait-nouns.js';

/** The command that ends a wait, or what it waits for. */
export function remedyOf(tree: string, wait: TreeWait): string {
  if (wait.kind === 'question') return `reprise tree answer ${tree}/${wait.ask} VALUE`;
  if (wait.kind === 'pause') return `reprise tree resume ${tree}/${wait.node}`;
  if (wait.kind === 'budget')
    return `#${wait.node} needs budget that waiting runs have set aside; to give more: reprise tree continue ${tree} --tree-budget USD`;
  return `#${wait.node} waits for ${WAIT_NOUNS[wait.kind]}${'session' in wait ? ` in session ${wait.session}: in the program that runs the tree` : ''}`;
}

/** A wait of a node in words. */
export function wordsOfWait(tree: TreeView, wait: TreeWait, named: (numbers: readonly number[]) => string): string {
  switch (wait.kind) {
    case 'question':
      if (wait.of.length > 0) return `its question #${wait.ask} waits for ${named(wait.of)}`;
      return `question #${wait.ask} waits for you: ${remedyOf(tree.name, wait)}`;
    case 'dependency':
      return `it needs ${named(wait.on)}`;
    case 'children':
      return `it waits for ${named(wait.on)}`;
    case 'slot':
      return `it is ready, and begins when one of the ${tree.limits.parallel} slots is free`;
    case 'budget':
      return 'it is ready, and begins when there is budget again: what is left is set aside for runs that have not ended';
    default:
      return `it waits for ${WAIT_NOUNS[wait.kind]}${'session' in wait ? ` in session ${wait.session}` : ''}`;
  }
}
