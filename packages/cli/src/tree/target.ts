/** The trees and nodes that the user names. */
import { RepriseError } from '@reprise/contracts';
import type { NodeView, TreeFold, TreeView } from '@reprise/tree';

/** The world of `reprise tree`, when none is named. */
export const WORLD_DEFAULT = '.reprise/tree.db';

/** What an argument names: a tree, a node, or both. */
export interface TreeTarget {
  readonly tree?: string;
  readonly n?: number;
}

const TREE_NAME = /^[a-z0-9._-]{1,100}$/;
const NODE = /^(?:(?<tree>[a-z0-9._-]{1,100})\/?)?#(?<n>[1-9]\d{0,6})$/;
const BARE = /^(?:(?<tree>[a-z0-9._-]{1,100})\/)?(?<n>[1-9]\d{0,6})$/;

/**
 * Reads `#N`, `T/#N`, and both without the `#`, which a shell takes for a comment.
 *
 * @throws RepriseError `invalid_argument` for anything else
 */
export function parseNode(text: string): { readonly tree?: string; readonly n: number } {
  const found = (NODE.exec(text) ?? BARE.exec(text))?.groups;
  if (found === undefined)
    throw wrong('this is not the number of a node', "a number, as '#8' or 8, or with its tree, as 'survey/#8'", text);
  return { ...(found.tree === undefined ? {} : { tree: found.tree }), n: Number(found.n) };
}

/**
 * Reads `T`, `#N` or `T/#N`.
 *
 * @throws RepriseError `invalid_argument` for anything else
 */
export function parseTarget(text: string): TreeTarget {
  if (NODE.test(text) || /^\d+$/.test(text) || text.includes('/')) return parseNode(text);
  return { tree: parseTreeName(text) };
}

/**
 * Reads the name of a tree.
 *
 * @throws RepriseError `invalid_argument` for anything else
 */
export function parseTreeName(text: string): string {
  if (TREE_NAME.test(text)) return text;
  throw wrong('this cannot be the name of a tree', '1 to 100 of the characters a–z 0–9 . _ -', text);
}

/**
 * The tree with a name, or the newest one.
 *
 * @throws RepriseError `invalid_argument` when the world has no such tree
 */
export function treeNamed({ trees }: TreeFold, name: string | undefined): TreeView {
  const found = name === undefined ? [...trees.values()].at(-1) : trees.get(name);
  if (found !== undefined) return found;
  if (trees.size === 0)
    throw new RepriseError('invalid_argument', 'the world has no tree', {
      hint: 'Start one: reprise tree run "GOAL", or name another world: --world FILE.',
    });
  throw wrong('the world has no tree with this name', `one of ${listed([...trees.keys()])}`, name);
}

/**
 * The node with a number.
 *
 * @throws RepriseError `invalid_argument` when the tree has no such node
 */
export function nodeOf({ name, nodes }: TreeView, n: number): NodeView {
  const node = nodes.get(n);
  if (node !== undefined) return node;
  throw wrong('the tree has no such node', `a number from 1 to ${Math.max(0, ...nodes.keys())}`, `${name}/#${n}`);
}

const LISTED_MAX = 10;

function listed(names: readonly string[]): string {
  const shown = names.slice(-LISTED_MAX).join(', ');
  return names.length > LISTED_MAX ? `${shown} and ${names.length - LISTED_MAX} more` : shown;
}

function wrong(what: string, expected: string, actual: string | undefined): RepriseError {
  return new RepriseError('invalid_argument', what, { expected, ...(actual === undefined ? {} : { actual }) });
}
