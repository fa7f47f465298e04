/**
 * Words of others reach a prompt through the helper that marks them: only the listed sources say of a text that it needs
 * no marks. Tests: `scripts/test/architecture.test.ts`; mutants: `scripts/test/architecture-mutants.test.ts`.
 */
import ts from 'typescript-5';
import { MARKED_BY_HAND } from './rules.js';
import { type Problem, problemsAt, type Tree } from './tree.js';

const SOURCES = /^packages\/[^/]+\/src\/.+\.ts$/;

/** Texts that are taken for marked though none of the exceptions names their file. */
export function checkMarks(tree: Tree): readonly Problem[] {
  const files = [...tree.keys()].filter((file) => SOURCES.test(file)).sort();
  return [...files.flatMap((file) => problemsIn(tree, file)), ...unusedExceptions(tree)];
}

function problemsIn(tree: Tree, file: string): readonly Problem[] {
  if (Object.hasOwn(MARKED_BY_HAND, file) || !mayMark(tree.get(file))) return [];
  return problemsAt(tree, file, isByHand, {
    what: 'a text is taken for marked',
    use: 'said, bare, own or party of @reprise/contracts',
  });
}

function isByHand(node: ts.Node): boolean {
  if (ts.isCallExpression(node)) return node.expression.getText() === 'authored';
  return ts.isAsExpression(node) && ['Marked', 'PartyName'].includes(node.type.getText());
}

function mayMark(text: string | undefined): boolean {
  return /\bauthored\(|\bas (?:Marked|PartyName)\b/.test(text ?? '');
}

/** An exception that no file needs any more would let the next one in unseen. */
function unusedExceptions(tree: Tree): readonly Problem[] {
  return Object.keys(MARKED_BY_HAND)
    .filter((file) => tree.has('scripts/architecture/rules.ts') && !mayMark(tree.get(file)))
    .map((file) => ({ file, line: 1, what: 'this file is an exception for texts without marks, and has none' }));
}
