/** Compiles the TypeScript of the pages against the sources, all of it in one program and nothing of it on disk. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript-5';
import { type Page, programsOf } from './docs-pages.js';

/** Sources by path, as the compiler shall see them. Each page has a folder that does not exist. */
export function sourcesOf(root: string, pages: readonly Page[]): Map<string, string> {
  const sources = new Map<string, string>();
  for (const page of pages) {
    const folder = path.join(root, page.file.replace(/\.md$/, ''));
    for (const { does, block, ...role } of page.actions) {
      if (does === 'module') sources.set(path.join(folder, `line-${block.line}.ts`), asModule(block.text));
      if ('file' in role && role.file.endsWith('.ts')) sources.set(path.join(folder, role.file), asModule(block.text));
    }
    for (const [name, parts] of programsOf(page)) {
      sources.set(path.join(folder, `${name}.ts`), asModule(parts.map(({ block }) => block.text).join('')));
    }
  }
  return sources;
}

/** A file without an import would be a script, and share its names with all others. */
function asModule(text: string): string {
  return /^(import|export)\b/m.test(text) ? text : `${text}\nexport {};\n`;
}

/** The errors of the compiler for some sources, one line each. */
export function typeProblems(root: string, sources: ReadonlyMap<string, string>): string[] {
  const options = optionsOf(root);
  const host = hostOf(options, sources);
  const program = ts.createProgram([...sources.keys()], options, host);
  return [...sources.keys()].flatMap((file) => {
    const source = program.getSourceFile(file);
    const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    return found.map((diagnostic) => lineOf(root, diagnostic));
  });
}

function optionsOf(root: string): ts.CompilerOptions {
  const read = ts.readConfigFile(path.join(root, 'tsconfig.base.json'), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(read.config.compilerOptions, root);
  return { ...options, types: ['node'], noUnusedLocals: true, paths: packagesIn(root) };
}

/** The packages by their import names, so that a new one is found before it is installed. */
function packagesIn(root: string): Record<string, string[]> {
  const paths: Record<string, string[]> = {};
  for (const folder of readdirSync(path.join(root, 'packages'))) {
    const { name, exports } = JSON.parse(readFileSync(path.join(root, 'packages', folder, 'package.json'), 'utf8'));
    for (const [entry, target] of Object.entries<{ readonly '@reprise/source'?: string }>(exports)) {
      const source = target['@reprise/source'];
      if (source !== undefined) paths[path.posix.join(name, entry)] = [path.join(root, 'packages', folder, source)];
    }
  }
  return paths;
}

function hostOf(options: ts.CompilerOptions, sources: ReadonlyMap<string, string>): ts.CompilerHost {
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  const folders = new Set([...sources.keys()].map((file) => path.dirname(file)));
  host.directoryExists = (folder) => folders.has(folder) || ts.sys.directoryExists(folder);
  host.fileExists = (file) => sources.has(file) || fileExists(file);
  host.readFile = (file) => sources.get(file) ?? readFile(file);
  host.getSourceFile = (file, version, ...rest) => {
    const text = sources.get(file);
    return text === undefined ? getSourceFile(file, version, ...rest) : ts.createSourceFile(file, text, version, true);
  };
  return host;
}

function lineOf(root: string, { file, start, messageText }: ts.Diagnostic): string {
  const message = ts.flattenDiagnosticMessageText(messageText, '\n');
  if (file === undefined) return message;
  const { line } = file.getLineAndCharacterOfPosition(start ?? 0);
  const text = file.text.split('\n')[line]?.trim() ?? '';
  return `${path.relative(root, file.fileName)}:${line + 1} (${text}): ${message}`;
}
