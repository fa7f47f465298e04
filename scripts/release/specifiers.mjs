/**
 * The names of workspaces in built files. In the published package each workspace is a folder, so that a name of one
 * becomes a relative path, in JavaScript and in declarations alike.
 */
import path from 'node:path';
import ts from 'typescript-5';

/** The scope of the workspaces, which only this repository knows. */
const SCOPE = '@reprise/';

/** What imports a module or finds one at run time, also where the syntax tree does not show it. */
const NAMED = /\b(?:from|import|resolve|require)\s*\(?\s*['"`](@reprise\/[^'"`]*)['"`]/g;

/**
 * A file with relative paths in place of the names of workspaces.
 *
 * @param {string} file its path in the package, with `/`
 * @param {string} text
 * @param {ReadonlyMap<string, string>} files the path in the package that each name of a workspace leads to
 * @returns {string}
 */
export function withRelativePaths(file, text, files) {
  let made = '';
  let at = 0;
  for (const { name, from, to } of namesIn(text)) {
    const target = files.get(name);
    if (target === undefined) throw new Error(`${file} imports ${name}, which is no entry of a workspace`);
    made += `${text.slice(at, from)}${relative(file, target)}`;
    at = to;
  }
  return made + text.slice(at);
}

/** What would not be found where the package is installed. @returns {string[]} one line for each */
export function namesLeft(file, text) {
  return [...text.matchAll(NAMED)].map(([, name]) => `${file} still names ${name}`);
}

/** The names of workspaces that a file imports, in a statement, by `import()` or in a type, in order. */
function namesIn(text) {
  if (!text.includes(SCOPE)) return [];
  const found = [];
  const visit = (node) => {
    const name = importedBy(node);
    if (name?.text.startsWith(SCOPE)) found.push({ name: name.text, from: name.getStart() + 1, to: name.end - 1 });
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('module.ts', text, ts.ScriptTarget.ESNext, true));
  return found.sort((a, b) => a.from - b.from);
}

/** The literal that names what a node of the syntax tree imports. */
function importedBy(node) {
  const named = ts.isImportDeclaration(node) || ts.isExportDeclaration(node);
  const literal = named
    ? node.moduleSpecifier
    : ts.isModuleDeclaration(node)
      ? node.name
      : ts.isImportTypeNode(node)
        ? node.argument.literal
        : ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword
          ? node.arguments[0]
          : undefined;
  return literal !== undefined && ts.isStringLiteralLike(literal) ? literal : undefined;
}

function relative(file, target) {
  const found = path.posix.relative(path.posix.dirname(file), target);
  return found.startsWith('.') ? found : `./${found}`;
}
