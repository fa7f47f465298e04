/** Docstrings by the number of their words: one of four words or less repeats the name, or could say more. */
import ts from 'typescript-5';
import { publicNames } from './public-names.js';
import { lineOf, type Problem, packageSources, parse, type Tree } from './tree.js';

/** The most words of a docstring that counts as short. */
export const SHORT_WORDS = 4;

/** One `/** … *\/` comment at a declaration, member or file head. */
export interface Docstring {
  readonly file: string;
  readonly line: number;
  readonly words: number;
  readonly text: string;
  /** Whether an entry of `packages/reprise` passes on the declaration that it stands at or in. */
  readonly isPublic: boolean;
}

/** Every docstring of the packages' sources. */
export function docstringsOf(tree: Tree): readonly Docstring[] {
  const names = publicNames(tree);
  return packageSources(tree).flatMap((file) => docstringsIn(tree, file, names.get(file) ?? new Set()));
}

/** Docstrings of {@link SHORT_WORDS} words or less. */
export function shortDocstrings(tree: Tree): readonly Docstring[] {
  return docstringsOf(tree).filter(({ words }) => words <= SHORT_WORDS);
}

/** No docstring is short. */
export function checkShortDocstrings(tree: Tree): readonly Problem[] {
  return shortDocstrings(tree).map(({ file, line, text }) => ({
    file,
    line,
    what: `the docstring "${text}" has ${SHORT_WORDS} words or less`,
    use: 'what the name does not say (unit, bound, when absent), no comment, or `// X1` for an invariant',
  }));
}

function docstringsIn(tree: Tree, file: string, names: ReadonlySet<string>): readonly Docstring[] {
  const found: Docstring[] = [];
  const seen = new Set<number>();
  const visit = (node: ts.Node, isPublic: boolean): void => {
    for (const doc of ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc)) {
      if (seen.has(doc.pos)) continue;
      seen.add(doc.pos);
      const text = wordsIn(doc.getText());
      found.push({ file, line: lineOf(doc), words: text.length, text: text.join(' '), isPublic });
    }
    ts.forEachChild(node, (child) => visit(child, isPublic && isReachable(child)));
  };
  for (const statement of parse(tree, file).statements) visit(statement, declares(statement, names));
  return found;
}

/** The words of a comment without its frame: a link, a tag and a code span are words like others. */
function wordsIn(comment: string): readonly string[] {
  return comment
    .replace(/^\/\*\*+|\*+\/$/g, ' ')
    .replace(/^\s*\*(?=\s|$)/gm, ' ')
    .replace(/\{@link(?:code|plain)?\s+([^}]*)\}/g, '$1')
    .split(/\s+/)
    .filter((word) => word !== '');
}

function declares(statement: ts.Statement, names: ReadonlySet<string>): boolean {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.some(({ name }) => names.has(name.getText()));
  const { name } = statement as { name?: ts.Node };
  return name !== undefined && names.has(name.getText());
}

/** A body and a private member are nobody's but their file's. */
function isReachable(node: ts.Node): boolean {
  if (ts.isBlock(node)) return false;
  const { name } = node as { name?: ts.Node };
  if (name !== undefined && ts.isPrivateIdentifier(name)) return false;
  const modifiers = ts.canHaveModifiers(node) ? (ts.getModifiers(node) ?? []) : [];
  return !modifiers.some(
    ({ kind }) => kind === ts.SyntaxKind.PrivateKeyword || kind === ts.SyntaxKind.ProtectedKeyword,
  );
}
