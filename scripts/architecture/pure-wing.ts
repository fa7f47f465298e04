/**
 * The pure wing is replayed: the same journal must give the same bytes on another engine, another day, another
 * machine. So it may not use what answers differently there. These are checks of syntax: they name what a newcomer
 * would write by habit. What slips through (a captured alias) is caught at run time by the guard.
 */
import ts from 'typescript-5';
import { BANNED_METHODS, BANNED_NAMES, DESCRIBERS, MATH_INSTEAD, PORTABLE_MATH, PURE_WING, WAIVERS } from './rules.js';
import { lineOf, type Problem, packageSources, parse, type Tree } from './tree.js';

type Report = (node: ts.Node, what: string, use: string) => void;

/** Every file of the pure wing uses only what replays. */
export function checkPureWing(tree: Tree): readonly Problem[] {
  const problems: Problem[] = [];
  const usedWaivers = new Set<number>();
  for (const file of packageSources(tree)) {
    if (!PURE_WING.some((folder) => file.startsWith(`${folder}/`))) continue;
    const source = parse(tree, file);
    const own = declaredNames(source);
    const report: Report = (node, what, use) => {
      const waived = WAIVERS.findIndex((waiver) => waiver.file === file && node.getText().includes(waiver.contains));
      if (waived >= 0) usedWaivers.add(waived);
      else problems.push({ file, line: lineOf(node), what: `${what} in replayed code`, use });
    };
    const visit = (node: ts.Node): void => {
      checkNode(node, own, report);
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return [...problems, ...staleWaivers(tree, usedWaivers)];
}

function checkNode(node: ts.Node, own: ReadonlySet<string>, report: Report): void {
  if (ts.isIdentifier(node)) checkName(node, own, report);
  else if (ts.isPropertyAccessExpression(node)) checkMember(node, report);
  else if (ts.isBinaryExpression(node)) checkOperator(node, report);
  else if (ts.isRegularExpressionLiteral(node)) checkPattern(node, node.text, report);
  else if (ts.isCallExpression(node) || ts.isNewExpression(node)) checkCall(node, report);
  else if (ts.isForInStatement(node)) {
    report(node.initializer, '`for..in`', '`for (const key of Object.keys(…))`: for..in also walks the prototype');
  } else if (ts.isAwaitExpression(node) || (ts.isForOfStatement(node) && node.awaitModifier !== undefined)) {
    report(node, '`await`', 'a plan: `yield* plan.awaitReceipt(handle)`');
  } else if (node.kind === ts.SyntaxKind.AsyncKeyword) {
    report(node, '`async`', 'a reducer, or a plan (a generator)');
  } else if (ts.isCatchClause(node) && !DESCRIBERS.includes(node.getSourceFile().fileName) && !raisesExhaustion(node)) {
    report(node, 'a `catch` that makes data of the end of the stack', '`raiseExhaustion(thrown)` first');
  }
}

/** Whether a `catch` throws on what it caught, or throws on at least the end of the stack. */
function raisesExhaustion({ variableDeclaration, block }: ts.CatchClause): boolean {
  const thrown = variableDeclaration?.name.getText();
  if (thrown === undefined) return false;
  let found = false;
  const visit = (node: ts.Node): void => {
    if (ts.isThrowStatement(node) && node.expression?.getText() === thrown) found = true;
    if (ts.isCallExpression(node) && node.getText() === `raiseExhaustion(${thrown})`) found = true;
    ts.forEachChild(node, visit);
  };
  visit(block);
  return found;
}

function checkName(node: ts.Identifier, own: ReadonlySet<string>, report: Report): void {
  if (!isReference(node)) return;
  if (node.text === 'Math' && !(ts.isPropertyAccessExpression(node.parent) && node.parent.expression === node)) {
    report(node, '`Math` as a value', 'the portable members by name');
  }
  const instead = Object.hasOwn(BANNED_NAMES, node.text) ? BANNED_NAMES[node.text] : undefined;
  if (instead !== undefined && !own.has(node.text)) report(node, `\`${node.text}\``, instead);
}

function checkMember(node: ts.PropertyAccessExpression, report: Report): void {
  const name = node.name.text;
  if (ts.isIdentifier(node.expression) && node.expression.text === 'Math') {
    if (!PORTABLE_MATH.includes(name)) report(node, `\`Math.${name}\``, MATH_INSTEAD[name] ?? MATH_INSTEAD['*'] ?? '');
    return;
  }
  const instead = Object.hasOwn(BANNED_METHODS, name) ? BANNED_METHODS[name] : undefined;
  if (instead !== undefined) report(node.name, `\`.${name}\``, instead);
}

function checkOperator(node: ts.BinaryExpression, report: Report): void {
  const { kind } = node.operatorToken;
  if (kind === ts.SyntaxKind.AsteriskAsteriskToken || kind === ts.SyntaxKind.AsteriskAsteriskEqualsToken) {
    report(node.operatorToken, '`**`', 'multiplication, or a table of powers: engines round it differently');
  }
}

function checkPattern(node: ts.Node, text: string, report: Report): void {
  const flags = text.slice(text.lastIndexOf('/') + 1);
  checkFlags(node, flags, report);
  if (/\\[pP]\{/.test(text)) {
    report(node, '`\\p{…}`', 'explicit ranges: its answer follows the Unicode version of the engine');
  }
}

function checkFlags(node: ts.Node, flags: string, report: Report): void {
  for (const flag of flags) {
    if (flag === 'i' || flag === 'u' || flag === 'v') {
      report(node, `regular expression flag \`${flag}\``, 'explicit ranges, for example `[A-Za-z]`');
    }
  }
}

function checkCall(node: ts.CallExpression | ts.NewExpression, report: Report): void {
  const callee = node.expression;
  if (callee.kind === ts.SyntaxKind.ImportKeyword) {
    report(node, '`import()`', 'a static import: a module may not arrive later in one run than in another');
  }
  if (ts.isIdentifier(callee) && callee.text === 'RegExp') checkRegExpCall(node, report);
  if (!ts.isPropertyAccessExpression(callee) || (node.arguments ?? []).length > 0) return;
  if ((callee.name.text === 'sort' || callee.name.text === 'toSorted') && !isListOfKeys(callee.expression)) {
    const use = 'a comparator: without one everything sorts as text, so 10 stands before 2 and all objects are equal';
    report(callee.name, `\`.${callee.name.text}()\` without a comparator`, use);
  }
}

/** `Object.keys(…)` and `[….keys()]`: known to be text, for which the order without a comparator is the meant one. */
function isListOfKeys(node: ts.Expression): boolean {
  return /^(Object\.keys\(.*\)|\[\.\.\.[\w.]+\.keys\(\)\])$/s.test(node.getText());
}

function checkRegExpCall(node: ts.CallExpression | ts.NewExpression, report: Report): void {
  const [pattern, flags] = node.arguments ?? [];
  if (pattern !== undefined && /\\[pP]\{/.test(pattern.getText())) checkPattern(pattern, pattern.getText(), report);
  if (flags === undefined) return;
  if (ts.isStringLiteralLike(flags)) checkFlags(flags, flags.text, report);
  else report(flags, 'computed flags of a regular expression', 'a literal');
}

/** Whether an identifier stands for a value or type, rather than for a member, a label or a declaration's own name. */
function isReference(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent) || ts.isMetaProperty(parent)) return parent.name !== node;
  if (ts.isQualifiedName(parent)) return parent.right !== node;
  if (ts.isBindingElement(parent) || ts.isImportSpecifier(parent) || ts.isExportSpecifier(parent)) {
    return parent.propertyName !== node;
  }
  if (ts.isPropertyAssignment(parent) || ts.isPropertySignature(parent) || ts.isPropertyDeclaration(parent)) {
    return parent.name !== node;
  }
  if (ts.isMethodDeclaration(parent) || ts.isMethodSignature(parent) || ts.isEnumMember(parent)) {
    return parent.name !== node;
  }
  if (ts.isGetAccessor(parent) || ts.isSetAccessor(parent) || ts.isNamedTupleMember(parent))
    return parent.name !== node;
  return !ts.isJSDoc(parent) && !ts.isLabeledStatement(parent);
}

/** Names that the file itself declares: using those is using its own. */
function declaredNames(source: ts.SourceFile): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (node: ts.Node): void => {
    const name = 'name' in node ? (node as { name?: ts.Node }).name : undefined;
    const declares =
      ts.isVariableDeclaration(node) ||
      ts.isParameter(node) ||
      ts.isFunctionDeclaration(node) ||
      ts.isClassDeclaration(node) ||
      ts.isInterfaceDeclaration(node) ||
      ts.isTypeAliasDeclaration(node) ||
      ts.isBindingElement(node) ||
      ts.isImportSpecifier(node) ||
      ts.isImportClause(node) ||
      ts.isNamespaceImport(node);
    if (declares && name !== undefined && ts.isIdentifier(name)) names.add(name.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return names;
}

function staleWaivers(tree: Tree, used: ReadonlySet<number>): readonly Problem[] {
  return WAIVERS.flatMap((waiver, index) =>
    used.has(index) || !tree.has(waiver.file)
      ? []
      : [{ file: waiver.file, line: 1, what: `nothing needs the waiver for ${waiver.contains} any more` }],
  );
}
