/**
 * One file parses JSON: `JSON.parse` rounds large integers and makes Infinity of 1e999, without a word. Tests:
 * `scripts/test/architecture.test.ts`; mutants: `scripts/test/architecture-mutants.test.ts`.
 */
import ts from 'typescript-5';
import { JSON_PARSERS } from './rules.js';
import { type Problem, problemsAt, type Tree } from './tree.js';

const SOURCES = /^packages\/[^/]+\/src\/.+\.tsx?$/;

/** Sources that parse JSON by other means than the one parser. */
export function checkJson(tree: Tree): readonly Problem[] {
  const files = [...tree.keys()].filter((file) => SOURCES.test(file) && !JSON_PARSERS.includes(file)).sort();
  return files.flatMap((file) => problemsIn(tree, file));
}

function problemsIn(tree: Tree, file: string): readonly Problem[] {
  if (!/\bJSON\b|\.json\(/.test(tree.get(file) ?? '')) return [];
  return problemsAt(tree, file, parses, {
    what: 'JSON is parsed past the one parser',
    use: 'parseJson of @reprise/contracts/json',
  });
}

function parses(node: ts.Node): boolean {
  return isJsonObject(node) ? !isWriter(writtenAs(node).parent) : readsBody(node);
}

/** The platform's `JSON`, and not a field or a type of that name. */
function isJsonObject(node: ts.Node): node is ts.Identifier {
  if (!ts.isIdentifier(node) || node.text !== 'JSON') return false;
  const { parent } = node;
  return (
    !ts.isPropertyAccessExpression(parent) || parent.expression === node || parent.expression.getText() === 'globalThis'
  );
}

/** `JSON`, or `globalThis.JSON`. */
function writtenAs(node: ts.Identifier): ts.Node {
  const { parent } = node;
  return ts.isPropertyAccessExpression(parent) && parent.name === node ? parent : node;
}

function isWriter(parent: ts.Node): boolean {
  return ts.isPropertyAccessExpression(parent) && parent.name.text === 'stringify';
}

/** `response.json()` parses as `JSON.parse` does. */
function readsBody(node: ts.Node): boolean {
  if (!ts.isCallExpression(node) || node.arguments.length > 0) return false;
  return ts.isPropertyAccessExpression(node.expression) && node.expression.name.text === 'json';
}
