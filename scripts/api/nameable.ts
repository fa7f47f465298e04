/**
 * What a program with `declaration: true` can export: the type of each value of an entry, and of what each function
 * returns. TypeScript writes such a type into the program's declarations by its names, so the entries of `reprise` have
 * to offer these names (TS2742, TS4023).
 */
import path from 'node:path';
import ts from 'typescript-5';
import type { Entry } from './entries.js';

/** Where the program stands: a folder that resolves `reprise` as an app does. It is never written. */
const HOME = 'examples/ladder/src';

/** A module of the workspaces in a declaration, and the name that is taken of it. The testkit is a package of its own. */
const WORKSPACE_NAME = /import\("(@reprise\/(?!testkit)[^"]+)"\)\.(\w+)/g;

/** The names that no entry offers, though the exports of a program would need them. */
export function unnameable(root: string, entries: readonly Entry[]): readonly string[] {
  const offered = new Set(entries.flatMap(({ offers }) => offers.map(({ name }) => name)));
  const programs = new Map(entries.map((entry) => [path.join(root, HOME, fileOf(entry)), programOf(entry)]));
  const found = new Set<string>();
  for (const text of emitted(root, programs, (problem) => found.add(problem)))
    for (const [, module, name = ''] of text.matchAll(WORKSPACE_NAME))
      if (!offered.has(name)) found.add(`${module} ${name}`);
  return [...found].sort();
}

function fileOf({ specifier }: Entry): string {
  return `exports-${specifier.replace(/\W/g, '-')}.ts`;
}

/** A program that exports what the functions of an entry return, and its other values. */
function programOf({ specifier, offers }: Entry): string {
  const lines = offers
    .filter(({ isValue, kind }) => isValue && kind !== 'class')
    .map(({ name, signature }) =>
      /^[<(]/.test(signature)
        ? `export const ${name} = call(entry.${name});\nexport const ${name}Awaited = await call(entry.${name});`
        : `export const ${name} = entry.${name};`,
    );
  return [
    `import * as entry from '${specifier}';`,
    'declare function call<R>(of: (...given: any[]) => R): R;',
    ...lines,
  ].join('\n');
}

/** The declarations of programs that exist in memory only. */
function emitted(
  root: string,
  programs: ReadonlyMap<string, string>,
  report: (problem: string) => void,
): readonly string[] {
  const { config } = ts.readConfigFile(path.join(root, 'tsconfig.base.json'), ts.sys.readFile);
  const { options: base } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root);
  const options: ts.CompilerOptions = {
    ...base,
    types: ['node'],
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    outDir: path.join(root, '.types'),
  };
  const host = ts.createCompilerHost(options);
  const { fileExists, getSourceFile, readFile } = host;
  host.fileExists = (file) => programs.has(file) || fileExists(file);
  host.readFile = (file) => programs.get(file) ?? readFile(file);
  host.getSourceFile = (file, target, ...rest) => {
    const text = programs.get(file);
    return text === undefined ? getSourceFile(file, target, ...rest) : ts.createSourceFile(file, text, target);
  };
  const program = ts.createProgram([...programs.keys()], options, host);
  const texts: string[] = [];
  for (const file of programs.keys()) {
    const source = program.getSourceFile(file);
    const { diagnostics } = program.emit(source, (_, text) => texts.push(text), undefined, true);
    for (const one of diagnostics) report(wordsOf(one));
  }
  return texts;
}

/** The code of a problem, and the name that it is about. */
function wordsOf({ code, messageText }: ts.Diagnostic): string {
  const text = ts.flattenDiagnosticMessageText(messageText, ' ');
  const [name = text] = /(?<=using name ')\w+|(?<=inferred type of ')\w+/.exec(text) ?? [];
  return `TS${code} ${name}`;
}
