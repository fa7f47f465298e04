/**
 * A range of a table gives a page of its entries at most. A recipe that reads all of them walks them by `allRows`; one that
 * reads a page says how large it is. So no entry behind the first page is forgotten. Tests: `scripts/test/architecture.test.ts`;
 * mutants: `scripts/test/architecture-mutants.test.ts`.
 */
import ts from 'typescript-5';
import { lineAt, type Problem, parse, type Tree } from './tree.js';

/** Sources with recipes. The kernel declares the walk itself. */
const RECIPES = /^packages\/(?!kernel\/|contracts\/|testkit\/|cli\/|ui\/)[^/]+\/src\/.+\.ts$/;

/** Recipes that read a range of a table and do not say how many entries. */
export function checkRanges(tree: Tree): readonly Problem[] {
  return [...tree.keys()].filter((file) => RECIPES.test(file)).flatMap((file) => problemsIn(tree, file));
}

function problemsIn(tree: Tree, file: string): readonly Problem[] {
  if (!(tree.get(file) ?? '').includes('.range(')) return [];
  const source = parse(tree, file);
  const problems: Problem[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && isUnlimited(node)) {
      const line = lineAt(source.text, node.expression.getEnd());
      problems.push({
        file,
        line,
        what: 'a recipe reads a table and does not say how many entries',
        use: 'allRows(table) for all of them, or a limit for a page',
      });
    }
    node.forEachChild(visit);
  };
  visit(source);
  return problems;
}

function isUnlimited({ expression, arguments: [range] }: ts.CallExpression): boolean {
  if (!ts.isPropertyAccessExpression(expression) || expression.name.text !== 'range') return false;
  if (range === undefined || !ts.isObjectLiteralExpression(range)) return true;
  return !range.properties.some(
    (one) => one.name !== undefined && ts.isIdentifier(one.name) && one.name.text === 'limit',
  );
}
