/** What a tree waits for, in words, and what a person can do about it. */
import { remedyOf, WAIT_NOUNS } from '@reprise/operators/words';
import { endsFromOutside, type TreeView, waitsOf } from '@reprise/tree';

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
