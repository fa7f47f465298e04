/**
 * Programs of the examples print through `reprise/terminal`, which sends a terminal nothing that it would execute: what
 * they print, models and tools wrote. Tests: `scripts/test/architecture.test.ts`; mutants:
 * `scripts/test/architecture-mutants.test.ts`.
 */
import ts from 'typescript-5';
import { PRINTERS } from './rules.js';
import { type Problem, problemsAt, type Tree } from './tree.js';

const SOURCES = /^examples\/[^/]+\/(?!test\/|page\/|node_modules\/).+\.[cm]?[jt]sx?$/;
/** Modules by which a program reaches a terminal without naming `console` or a stream of the process. */
const MODULES = /^(?:node:)?(?:console|tty|process)$/;
/** What may be read of a stream: how its terminal is. */
const READ: readonly string[] = ['isTTY', 'columns', 'rows'];

/** Sources of examples that print by other means than `reprise/terminal`. */
export function checkPrinting(tree: Tree): readonly Problem[] {
  const files = [...tree.keys()].filter((file) => SOURCES.test(file) && PRINTERS[file] === undefined).sort();
  return files.flatMap((file) => problemsIn(tree, file));
}

function problemsIn(tree: Tree, file: string): readonly Problem[] {
  if (!/console|stdout|stderr|tty|process/.test(tree.get(file) ?? '')) return [];
  return problemsAt(tree, file, prints, {
    what: 'a text reaches a terminal as it is',
    use: '`print` or `printError` of reprise/terminal',
  });
}

function prints(node: ts.Node): boolean {
  if (ts.isIdentifier(node)) return node.text === 'console' && !isNameOfField(node) && !isTypeOnly(node);
  if (ts.isStringLiteral(node)) return isModule(node) || isKeyOfStream(node);
  return isStream(node);
}

/** `console` as a field of something else, or as the name of one: `{ console: … }`, `logs.console`. */
function isNameOfField({ parent, text }: ts.Identifier): boolean {
  if (ts.isPropertyAccessExpression(parent))
    return parent.name.text === text && parent.expression.getText() !== 'globalThis';
  return ts.isPropertyAssignment(parent) && parent.name.getText() === text && parent.initializer.getText() !== text;
}

function isTypeOnly(node: ts.Identifier): boolean {
  return ts.isTypeQueryNode(node.parent);
}

function isModule(node: ts.StringLiteral): boolean {
  const { parent } = node;
  const isImported = ts.isImportDeclaration(parent) || (ts.isCallExpression(parent) && parent.arguments[0] === node);
  return isImported && MODULES.test(node.text);
}

/** `process['stdout']` */
function isKeyOfStream(node: ts.StringLiteral): boolean {
  return ts.isElementAccessExpression(node.parent) && /^(?:stdout|stderr|console)$/.test(node.text);
}

/** A stream of the process: `process.stdout`, or `{ stdout } = process`. How its terminal is may be read. */
function isStream(node: ts.Node): boolean {
  if (ts.isBindingElement(node)) {
    const name = (node.propertyName ?? node.name).getText();
    const declared = node.parent.parent;
    return /^std(?:out|err)$/.test(name) && ts.isVariableDeclaration(declared) && isProcess(declared.initializer);
  }
  if (!ts.isPropertyAccessExpression(node) || !/^std(?:out|err)$/.test(node.name.text)) return false;
  if (!isProcess(node.expression)) return false;
  const { parent } = node;
  return !(ts.isPropertyAccessExpression(parent) && parent.expression === node && READ.includes(parent.name.text));
}

function isProcess(node: ts.Node | undefined): boolean {
  return node !== undefined && /^(?:globalThis\.)?process$/.test(node.getText());
}
