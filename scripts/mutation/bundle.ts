/** Sources with all their mutants in them, and the tests that judge them, as one program. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { bundleEngine, childText } from '../../packages/sandbox/src/texts-from-sources.js';
import { ownAddress } from '../lib/own-address.js';

/** The top of the repository. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A change to the sources, as Stryker's instrumenter makes it. */
export interface Mutant {
  readonly id: string;
  readonly fileName: string;
  readonly mutatorName: string;
  readonly replacement: string;
  /** Why it is not to be tried. */
  readonly statusReason?: string;
  readonly location: { readonly start: Place; readonly end: Place };
}

interface Place {
  readonly line: number;
  readonly column: number;
}

/** Sources that hold their mutants. */
export interface Instrumented {
  readonly mutants: readonly Mutant[];
  readonly sources: ReadonlyMap<string, string>;
}

interface Instrumenter {
  instrument(
    files: readonly { name: string; content: string; mutate: true }[],
    options: object,
  ): Promise<{ files: readonly { name: string; content: string }[]; mutants: readonly Mutant[] }>;
}

interface Stryker {
  readonly Instrumenter: new (log: object, ...parts: unknown[]) => Instrumenter;
}

/**
 * Literals of text are left alone: most are names of closed unions, which the compiler refuses when they are changed,
 * or what an error says to people, which no promise is about.
 */
const LEFT_OUT = ['StringLiteral'];

/** Puts all mutants of some files into them, with the instrumenter that is installed in a folder. */
export async function instrument(folder: string, files: readonly string[]): Promise<Instrumented> {
  const home = path.join(folder, 'node_modules/@stryker-mutator/instrumenter/dist/src');
  const load = (name: string) => import(pathToFileURL(path.join(home, name)).href);
  const { Instrumenter } = (await load('index.js')) as Stryker;
  const { createParser } = await load('parsers/index.js');
  const { print } = await load('printers/index.js');
  const { transform } = await load('transformers/index.js');
  const silent = { debug() {}, info() {}, warn() {}, isDebugEnabled: () => false };
  const read = files.map(async (name) => ({ name, content: await readFile(name, 'utf8'), mutate: true as const }));
  const { files: written, mutants } = await new Instrumenter(silent, createParser, print, transform).instrument(
    await Promise.all(read),
    { plugins: null, ignorers: [], noHeader: false, excludedMutations: LEFT_OUT },
  );
  return {
    mutants: mutants.filter(({ statusReason }) => statusReason === undefined),
    sources: new Map(written.map(({ name, content }) => [name, content])),
  };
}

/** The same without counting the reached mutants: counting takes longer than the code itself. */
export function withoutCounting({ mutants, sources }: Instrumented): Instrumented {
  const quiet = [...sources].map(
    ([name, text]) => [name, text.replace('function cover() {', 'function cover() { return;')] as const,
  );
  return { mutants, sources: new Map(quiet) };
}

/** Code without mutants: evaluated once for a process, not for each mutant, where it would take most of the time. */
const SHARED = [
  'fast-check',
  'zod',
  'immer',
  '@noble/*',
  '@vitest/*',
  'chai',
  'esbuild',
  'typescript',
  'libsql',
  'ai',
  '@ai-sdk/*',
  '@copilotkit/aimock',
  'ajv',
  'ajv/*',
];

/** Writes the program: tests and sources in one file, with `test-host.ts` in the place of vitest. */
export async function bundleTests(
  instrumented: Instrumented,
  tests: readonly string[],
  outfile: string,
): Promise<void> {
  const host = path.join(ROOT, 'scripts/mutation/test-host.ts');
  const lines = tests.flatMap((test) => [`import 'enter:${path.relative(ROOT, test)}';`, `import '${test}';`]);
  await build({
    stdin: { contents: `${lines.join('\n')}\nexport { tests } from '${host}';`, resolveDir: ROOT, loader: 'ts' },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    ignoreAnnotations: true, // a test file is all side effects, whatever its package says of itself
    conditions: ['@reprise/source'],
    supported: { 'dynamic-import': false }, // it is evaluated as a script, which may only require
    external: SHARED,
    alias: { vitest: host },
    plugins: [entering(host), sandboxTexts(instrumented), ownAddress((file) => instrumented.sources.get(file))],
    logLevel: 'error',
  });
}

/** Announces before each test file that its tests follow. */
function entering(host: string): Plugin {
  return {
    name: 'entering',
    setup(on) {
      on.onResolve({ filter: /^enter:/ }, ({ path: file }) => ({
        path: file.slice('enter:'.length),
        namespace: 'enter',
      }));
      on.onLoad({ filter: /.*/, namespace: 'enter' }, ({ path: file }) => ({
        contents: `import { enterFile } from '${host}'; enterFile('${file}');`,
        resolveDir: ROOT,
      }));
    },
  };
}

/**
 * The code of a sandbox is a separate program, in a realm that this one cannot enter: it has the mutants, too, and
 * begins with the name of the active one. Mutants that are reached there are not counted.
 */
function sandboxTexts(instrumented: Instrumented): Plugin {
  const { sources } = withoutCounting(instrumented);
  return {
    name: 'sandbox-texts',
    setup(on) {
      on.onLoad({ filter: /sandbox[\\/]src[\\/]texts-from-sources\.ts$/ }, async () => {
        const engine = await bundleEngine([ownAddress((file) => sources.get(file))]);
        const active = "JSON.stringify({ activeMutant: globalThis.__stryker__.activeMutant ?? '' })";
        return {
          contents: `export const childText = ${JSON.stringify(childText)};
            const engine = ${JSON.stringify(engine)};
            export const engineText = 'globalThis.__stryker__ = ' + ${active} + ';' + engine;`,
        };
      });
    },
  };
}
