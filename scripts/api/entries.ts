/** The public names of the packages: every export of every entry, read from the sources with the TypeScript checker. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript-5';

/** One exported name. */
export interface Offer {
  readonly name: string;
  readonly kind: 'function' | 'class' | 'const' | 'interface' | 'type';
  /** Whether it exists at run time. A class that is exported as a type only does not. */
  readonly isValue: boolean;
  readonly signature: string;
  /** The first sentence of its docstring. */
  readonly summary: string;
  /** The place of its declaration: two names of one place are one thing. */
  readonly declared: string;
}

/** One specifier that a user can import. */
export interface Entry {
  readonly specifier: string;
  readonly offers: readonly Offer[];
}

/** Longest signature in full; of a longer one the beginning and a digest, so that every change shows. */
const SIGNATURE_MAX = 200;

const FORMAT = ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.UseSingleQuotesForStringLiteralType;

/** The entries of all packages, in the order of their manifests. */
export function readEntries(root: string): readonly Entry[] {
  const sources = sourcesOf(root);
  const { config } = ts.readConfigFile(path.join(root, 'tsconfig.base.json'), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root);
  const program = ts.createProgram(Object.values(sources), { ...options, types: ['node'] });
  const reader = new EntryReader(root, program.getTypeChecker());
  return Object.entries(sources).map(([specifier, file]) => {
    const source = program.getSourceFile(file);
    if (source === undefined) throw new Error(`${specifier} has no source ${file}`);
    return { specifier, offers: reader.offersOf(source) };
  });
}

/** The source file of every specifier. */
function sourcesOf(root: string): Record<string, string> {
  const sources: Record<string, string> = {};
  for (const folder of readdirSync(path.join(root, 'packages')).sort()) {
    const { name, exports } = JSON.parse(readFileSync(path.join(root, 'packages', folder, 'package.json'), 'utf8'));
    for (const [subpath, target] of Object.entries<{ readonly '@reprise/source'?: string }>(exports)) {
      const source = target['@reprise/source'];
      if (source !== undefined) sources[path.posix.join(name, subpath)] = path.join(root, 'packages', folder, source);
    }
  }
  return sources;
}

class EntryReader {
  constructor(
    private readonly root: string,
    private readonly checker: ts.TypeChecker,
  ) {}

  offersOf(source: ts.SourceFile): readonly Offer[] {
    const entry = this.checker.getSymbolAtLocation(source);
    if (entry === undefined) return [];
    const offers = this.checker.getExportsOfModule(entry).map((symbol) => this.#offerOf(symbol));
    return offers.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  #offerOf(symbol: ts.Symbol): Offer {
    const target = symbol.flags & ts.SymbolFlags.Alias ? this.checker.getAliasedSymbol(symbol) : symbol;
    const declaration = target.declarations?.[0];
    if (declaration === undefined) throw new Error(`${symbol.name} is declared nowhere`);
    const kind = kindOf(target);
    const text = oneLine(this.#signatureOf(target, declaration, kind));
    return {
      name: symbol.name,
      kind,
      isValue: (target.flags & ts.SymbolFlags.Value) !== 0 && !isTypeOnly(symbol, this.checker),
      signature: text.length <= SIGNATURE_MAX ? text : `${text.slice(0, SIGNATURE_MAX)}… #${digestOf(text)}`,
      summary: firstSentence(ts.displayPartsToString(target.getDocumentationComment(this.checker))),
      declared: `${path.relative(this.root, declaration.getSourceFile().fileName)}#${target.name}`,
    };
  }

  #signatureOf(symbol: ts.Symbol, declaration: ts.Declaration, kind: Offer['kind']): string {
    if (kind === 'class' || kind === 'interface') return this.#membersOf(symbol);
    if (ts.isTypeAliasDeclaration(declaration)) return withoutComments(declaration.type);
    const type = this.checker.getTypeOfSymbolAtLocation(symbol, declaration);
    const [call, ...more] = type.getCallSignatures();
    if (call === undefined) return this.checker.typeToString(type, declaration, FORMAT);
    const first = this.checker.signatureToString(call, declaration, FORMAT);
    return more.length === 0 ? first : `${first} (and ${more.length} more)`;
  }

  /** The names of its members, a mark at optional ones; without private ones. */
  #membersOf(symbol: ts.Symbol): string {
    const type = this.checker.getDeclaredTypeOfSymbol(symbol);
    const members = type.getProperties().filter((member) => isPublic(member) && !/^(?:__|#)/.test(member.name));
    return `{ ${members.map(({ name, flags }) => (flags & ts.SymbolFlags.Optional ? `${name}?` : name)).join('; ')} }`;
  }
}

function kindOf({ flags }: ts.Symbol): Offer['kind'] {
  if (flags & ts.SymbolFlags.Function) return 'function';
  if (flags & ts.SymbolFlags.Class) return 'class';
  if (flags & ts.SymbolFlags.Variable) return 'const';
  return flags & ts.SymbolFlags.Interface ? 'interface' : 'type';
}

/** Whether a name passes an `export type` on its way. */
function isTypeOnly(symbol: ts.Symbol, checker: ts.TypeChecker): boolean {
  for (let at: ts.Symbol | undefined = symbol; at !== undefined && at.flags & ts.SymbolFlags.Alias; ) {
    if (at.declarations?.some((node) => ts.isExportSpecifier(node) && ts.isTypeOnlyExportDeclaration(node)))
      return true;
    at = checker.getImmediateAliasedSymbol(at);
  }
  return false;
}

function isPublic({ declarations = [] }: ts.Symbol): boolean {
  const hidden = ts.ModifierFlags.Private | ts.ModifierFlags.Protected;
  return declarations.every((node) => (ts.getCombinedModifierFlags(node) & hidden) === 0);
}

function withoutComments(node: ts.Node): string {
  const printer = ts.createPrinter({ removeComments: true });
  return printer.printNode(ts.EmitHint.Unspecified, node, node.getSourceFile());
}

/** On one line, and without the paths that the checker puts before names that are not in scope. */
function oneLine(text: string): string {
  return text
    .replace(/import\("[^"]*"\)\./g, '')
    .replace(/\s+/g, ' ')
    .trim();
}

function firstSentence(text: string): string {
  const [paragraph = ''] = text.split(/\n\s*\n/);
  return /^.*?[.!?](?=\s|$)/.exec(oneLine(paragraph))?.[0] ?? oneLine(paragraph);
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}
