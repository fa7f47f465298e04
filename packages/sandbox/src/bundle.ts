/** Makes pure code: a module that defines an app, with its imports, as one text without imports. */
import { existsSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { basename, dirname, resolve } from 'node:path';
import { aList, isFilled, RepriseError, requireArgument, requireKnownOptions } from '@reprise/contracts';
import { SUPPLIED_MODULES } from '@reprise/kernel/sandbox';
import type { BuildFailure, BuildResult, Metafile, Plugin } from 'esbuild';
import { CODE_MARK, readCode } from './code-text.js';
import { SuppliedFiles } from './supplied-files.js';

/** By which conditions the bundler resolves packages. */
interface BundleOptions {
  /** Conditions by which packages choose their exports, besides the usual ones. */
  readonly conditions?: readonly string[];
}

/** Marks a question of ours to the bundler, which would otherwise be put to us. */
const ASKED = Symbol('asked');

const given = new Set<string>(SUPPLIED_MODULES);
const builtin = new Set(builtinModules);

/**
 * Bundles the app of a module: its default export, or its export `app`. Code that the app does not need is left out;
 * the rest may import nothing of a host. Needs the package `esbuild`, which is not installed with this one.
 *
 * @param module the path of a JavaScript or TypeScript module
 * @returns the bytes to record: `openWorld({ code: pureCode(bytes) })`
 * @throws RepriseError `invalid_argument` when the module does not exist, cannot be bundled, or its pure part imports
 *   modules of a host; `runtime_unsupported` without esbuild; `code_failed` when it imports while it runs
 */
export async function bundlePureCode(module: string, options: BundleOptions = {}): Promise<Uint8Array> {
  requireArgument(isFilled(module), 'bundlePureCode(module)', 'the path of a module', module);
  requireKnownOptions(options, { conditions: aList }, 'bundlePureCode');
  const file = resolve(module);
  if (!existsSync(file)) throw unusable('the module does not exist', module, 'Pass the path of the module of the app.');
  const { outputFiles = [], metafile } = await bundled(file, module, options.conditions ?? []);
  requirePure(metafile, module);
  const code = new TextEncoder().encode(`${CODE_MARK}\n${outputFiles[0]?.text ?? ''}`);
  readCode(code);
  return code;
}

async function bundled(file: string, module: string, conditions: readonly string[]) {
  const { build } = await esbuild();
  const from = JSON.stringify(`./${basename(file)}`);
  try {
    return (await build({
      stdin: {
        contents: `import * as all from ${from};\nexport default all.default;\nexport const app = all.app;\n`,
        resolveDir: dirname(file),
        sourcefile: 'pure-code',
      },
      absWorkingDir: dirname(file),
      bundle: true,
      write: false,
      metafile: true,
      format: 'cjs',
      platform: 'neutral',
      mainFields: ['module', 'main'],
      conditions: ['module', 'import', ...conditions],
      target: 'es2022',
      charset: 'utf8',
      define: { 'process.env.NODE_ENV': '"production"' },
      logLevel: 'silent',
      plugins: [leftOutside],
    })) as BuildResult<{ write: false; metafile: true }>;
  } catch (error) {
    const [first] = (error as Partial<BuildFailure>).errors ?? [];
    const { location } = first ?? {};
    throw unusable('this module cannot be bundled', module, 'Fix it, or name another module.', {
      actual: first?.text ?? String(error),
      ...(location == null ? {} : { thrown_at: `${location.file}:${location.line}:${location.column}` }),
    });
  }
}

/**
 * Modules that a sandbox supplies stay imports; so do modules of hosts, until it is known whether the app needs them.
 */
const leftOutside: Plugin = {
  name: 'left-outside',
  setup({ onResolve, resolve: found }) {
    const supplied = new SuppliedFiles();
    onResolve({ filter: /^\./ }, async ({ path, importer, pluginData, ...where }) => {
      if (pluginData === ASKED || importer === '') return undefined;
      const file = await found(path, { ...where, importer, pluginData: ASKED });
      const name = supplied.nameOf(file.path, importer);
      return name === undefined ? file : { path: name, external: true };
    });
    onResolve({ filter: /^[^./]/ }, ({ path }) => {
      if (given.has(path)) return { path, external: true };
      if (path.startsWith('node:') || builtin.has(path)) return { path, external: true, sideEffects: false };
      return undefined;
    });
  },
};

/** Refuses a bundle that still imports a module of a host, and names the importing modules. */
function requirePure({ inputs, outputs }: Metafile, module: string): void {
  const kept = Object.values(outputs).flatMap((output) => Object.keys(output.inputs));
  const outside = Object.values(outputs).flatMap(({ imports }) => imports.map(({ path }) => path));
  const foreign = outside.find((path) => !given.has(path));
  if (foreign === undefined) return;
  const importers = kept.filter((name) => inputs[name]?.imports.some(({ path }) => path === foreign));
  throw unusable(
    'the pure part of this module imports a module of a host',
    module,
    'Move the definition of the app into a module that imports no adapters.',
    {
      expected: `imports of ${SUPPLIED_MODULES.join(', ')}, and of modules that can be bundled`,
      actual: `${foreign}, imported by ${importers.join(', ')}`,
    },
  );
}

async function esbuild(): Promise<typeof import('esbuild')> {
  try {
    return await import('esbuild');
  } catch (cause) {
    throw new RepriseError('runtime_unsupported', 'bundling pure code needs the package esbuild', {
      hint: 'Install it beside this one: npm install --save-dev esbuild.',
      cause,
    });
  }
}

function unusable(what: string, where: string, hint: string, facts: Record<string, unknown> = {}): RepriseError {
  return new RepriseError('invalid_argument', what, { where, hint, ...facts });
}
