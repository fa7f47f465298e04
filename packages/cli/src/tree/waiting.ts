/** What a tree waits for, in words, and what a person can do about it. */
import { endsFromOutside, type TreeView, type TreeWait, waitsOf } from '@reprise/tree';
import { WAIT_NOUNS } from '../process/wait-nouns.js';

/**
 * What a tree that stands still waits for, with the command or the act that ends each wait.
 *
 * @param options whether the command leaves the tree, since nobody is there
 */
export function howToGoOn(tree: TreeView, { leaves }: { readonly leaves: boolean } = { leaves: true }): string {
  const waits = waitsOf(tree).filter((wait) => endsFromOutside(wait) || wait.kind === 'budget');
  const outside = [...new Set(waits.filter(endsFromOutside).map(({ kind }) => WAIT_NOUNS[kind]))];
  const head =
    outside.length === 0 ? 'Nothing of the tree goes on by itself' : `The tree waits for ${outside.join(' and ')}`;
  const lines = waits.map((wait) => `  ${remedyOf(tree.name, wait)}\n`);
  if (!leaves) return `${head}. To go on, in another terminal:\n${lines.join('')}`;
  return `${head}, and there is no terminal. To go on:\n${lines.join('')}  reprise tree continue ${tree.name}\n`;
}

/** The command that ends a wait, or what it waits for. */
function remedyOf(tree: string, wait: TreeWait): string {
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
