/**
 * The content of a society is read in few places: the effects that read stores are named by the content gate alone, and the
 * files that turn links into texts are listed with their reasons. Tests: `scripts/test/architecture.test.ts`; mutants:
 * `scripts/test/architecture-mutants.test.ts`.
 */
import ts from 'typescript-5';
import { CONTENT_GATE, CONTENT_READERS } from './rules.js';
import { lineAt, type Problem, parse, type Tree } from './tree.js';

const SOCIETY = /^packages\/society\/src\/.+\.ts$/;

/** The effects that read a store. */
const READS: readonly string[] = ['memoryRead', 'memorySearch', 'memoryWhy'];

/** What turns a link into its content. */
const TEXTS: readonly string[] = ['readItemText', 'getErasable', 'readText', 'getBytes', 'getValue', 'readLlmOutput'];

/** Files of a society that read content and are neither the gate nor listed, and listed ones that read none. */
export function checkContent(tree: Tree): readonly Problem[] {
  const files = [...tree.keys()].filter((file) => SOCIETY.test(file)).sort();
  return [...files.flatMap((file) => problemsIn(tree, file)), ...unused(tree)];
}

function problemsIn(tree: Tree, file: string): readonly Problem[] {
  const source = parse(tree, file);
  const problems: Problem[] = [];
  const name = (node: ts.Node, what: string, use: string): void => {
    problems.push({ file, line: lineAt(source.text, node.getStart()), what, use });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) && READS.includes(node.text) && file !== CONTENT_GATE)
      name(node, `${node.text} is named outside the content gate`, 'the functions of plans/content-gate.ts');
    if (ts.isIdentifier(node) && TEXTS.includes(node.text) && !Object.hasOwn(CONTENT_READERS, file))
      name(node, `${node.text} reads content in a file that is not listed`, 'what the content gate lets through');
    node.forEachChild(visit);
  };
  visit(source);
  return problems;
}

/** An entry that no file needs any more would let the next one in unseen. */
function unused(tree: Tree): readonly Problem[] {
  return Object.keys(CONTENT_READERS)
    .filter(
      (file) => tree.has('scripts/architecture/rules.ts') && !TEXTS.some((one) => (tree.get(file) ?? '').includes(one)),
    )
    .map((file) => ({ file, line: 1, what: 'this file is listed as a reader of content, and reads none' }));
}
