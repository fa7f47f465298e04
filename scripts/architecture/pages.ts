import path from 'node:path';
import ts from 'typescript-5';
import { lineAt, lineOf, type Problem, parse, type Tree } from './tree.js';

const CODES = 'packages/contracts/src/errors/error-codes.ts';
const INDEX = 'docs/errors/README.md';
const SECTIONS = ['## What happened', '## Why', '## What to do'];

/** Every error code has its page, every page its code, and every page answers the same three questions. */
export function checkErrorPages(tree: Tree): readonly Problem[] {
  const codes = errorCodes(tree);
  const problems: Problem[] = [];
  for (const [code, line] of codes) {
    const page = `docs/errors/${code}.md`;
    const text = tree.get(page);
    if (text === undefined) {
      problems.push({ file: CODES, line, what: `error code ${code} has no page`, use: page });
      continue;
    }
    if (!tree.get(INDEX)?.includes(`[${code}](${code}.md)`)) {
      problems.push({ file: INDEX, line: 1, what: `${code} is not listed` });
    }
    if (!text.startsWith(`# ${code}\n`)) problems.push({ file: page, line: 1, what: `the title is not ${code}` });
    for (const section of SECTIONS) {
      if (!text.includes(`\n${section}\n`)) problems.push({ file: page, line: 1, what: `there is no "${section}"` });
    }
  }
  for (const page of tree.keys()) {
    const code = /^docs\/errors\/([^/]+)\.md$/.exec(page)?.[1];
    if (code === undefined || code === 'README' || codes.has(code)) continue;
    problems.push({ file: page, line: 1, what: `${code} is not in the closed list`, use: CODES });
  }
  return problems;
}

/** The closed list, with the line of each code. */
export function errorCodes(tree: Tree): ReadonlyMap<string, number> {
  const codes = new Map<string, number>();
  const visit = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) && node.name.getText() === 'ERROR_CODES') {
      node.forEachChild(function strings(child): void {
        if (ts.isStringLiteral(child)) codes.set(child.text, lineOf(child));
        child.forEachChild(strings);
      });
    } else node.forEachChild(visit);
  };
  visit(parse(tree, CODES));
  return codes;
}

/** Links between the documents lead somewhere. */
export function checkLinks(tree: Tree): readonly Problem[] {
  const folders = new Set<string>();
  for (const file of tree.keys()) {
    for (let folder = path.posix.dirname(file); folder !== '.'; folder = path.posix.dirname(folder))
      folders.add(folder);
  }
  const problems: Problem[] = [];
  for (const [file, text] of tree) {
    if (!file.endsWith('.md')) continue;
    const prose = text.replace(/^```[\s\S]*?^```/gm, (block) => block.replace(/[^\n]/g, ' '));
    for (const match of prose.matchAll(/\]\(([^)\s]+)\)/g)) {
      const target = match[1] ?? '';
      if (/^(https?:|#)/.test(target)) continue;
      const found = path.posix.join(path.posix.dirname(file), target.replace(/#.*$/, '')).replace(/\/$/, '');
      if (tree.has(found) || folders.has(found)) continue;
      problems.push({ file, line: lineAt(text, match.index), what: `the link to ${target} leads nowhere` });
    }
  }
  return problems;
}
