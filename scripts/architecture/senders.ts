/**
 * Who sends an event is declared beside its schema, and checked by the engine: `from(schema, by.…)`. No recipe compares
 * senders by hand. Tests: `scripts/test/architecture.test.ts`; mutants: `scripts/test/architecture-mutants.test.ts`.
 */
import ts from 'typescript-5';
import { RECIPES_WITH_A_SENDER } from './rules.js';
import { lineAt, type Problem, parse, type Tree } from './tree.js';

/** Sources with recipes. The kernel itself finds out who the sender is, the testkit plays it, and the command and its answers print it. */
const RECIPES = /^packages\/(?!kernel\/|contracts\/|testkit\/|cli\/|inspect\/|operators\/|ui\/)[^/]+\/src\/.+\.ts$/;

/** Recipes that read the sender though none of the exceptions names them, and comparisons of the caller. */
export function checkSenders(tree: Tree): readonly Problem[] {
  const files = [...tree.keys()].filter((file) => RECIPES.test(file)).sort();
  return [...files.flatMap((file) => problemsIn(tree, file)), ...unusedExceptions(tree)];
}

function problemsIn(tree: Tree, file: string): readonly Problem[] {
  const source = parse(tree, file);
  const problems: Problem[] = [];
  const visit = (node: ts.Node): void => {
    const what = judged(node, file);
    if (what !== undefined) {
      problems.push({
        file,
        line: lineAt(source.text, node.getStart()),
        what,
        use: 'from(schema, by.…) beside the schema of the event',
      });
    }
    node.forEachChild(visit);
  };
  visit(source);
  return problems;
}

function judged(node: ts.Node, file: string): string | undefined {
  if (ts.isIdentifier(node) && node.text === 'sender' && !Object.hasOwn(RECIPES_WITH_A_SENDER, file)) {
    return 'a recipe reads the sender of its event';
  }
  if (ts.isElementAccessExpression(node) && isCaller(node.expression)) return 'a recipe takes the caller apart';
  const isCompared = ts.isBinaryExpression(node) && isEquality(node.operatorToken.kind);
  if (isCompared && [node.left, node.right].some(isCaller) && ![node.left, node.right].some(isNull)) {
    return 'a recipe compares its caller';
  }
  return undefined;
}

function isCaller(node: ts.Expression): boolean {
  if (ts.isPropertyAccessExpression(node)) return node.name.text === 'caller';
  return ts.isIdentifier(node) && node.text === 'caller';
}

/** Whether there is a caller at all may be asked. */
function isNull(node: ts.Expression): boolean {
  return node.kind === ts.SyntaxKind.NullKeyword || (ts.isIdentifier(node) && node.text === 'undefined');
}

function isEquality(kind: ts.SyntaxKind): boolean {
  return kind === ts.SyntaxKind.EqualsEqualsEqualsToken || kind === ts.SyntaxKind.ExclamationEqualsEqualsToken;
}

/** An exception that no file needs any more would let the next one in unseen. */
function unusedExceptions(tree: Tree): readonly Problem[] {
  return Object.keys(RECIPES_WITH_A_SENDER)
    .filter((file) => tree.has('scripts/architecture/rules.ts') && !/\bsender\b/.test(tree.get(file) ?? ''))
    .map((file) => ({ file, line: 1, what: 'this file is an exception for reading the sender, and does not read it' }));
}
