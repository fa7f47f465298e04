/*
 * Builds every package into its `dist`: JavaScript with tsup, declarations with one tsc for the whole tree.
 * (tsup's own declarations start a compiler per package: minutes instead of seconds.) `--no-declarations` leaves
 * them out: what runs is the same.
 */
import './lib/node-version.mjs';
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { BUILT_EXAMPLES, noteBuild } from './lib/built.mjs';
import { workspacePackages } from './lib/packages.mjs';
import { ROOT } from './lib/root.mjs';
import { node, seconds } from './lib/run.mjs';
import { setup } from './setup.mjs';

await setup();
const { build: tsup } = await import('tsup');
const { build: esbuild } = await import('esbuild');
const packages = await workspacePackages();
const started = performance.now();

for (const { name, folder, entries } of packages) await buildJavaScript(name, folder, entries);
await buildSandboxTexts();
await buildInspectPage();
await cp(path.join(ROOT, 'docs/errors'), path.join(ROOT, 'packages/cli/dist/errors'), { recursive: true });
for (const name of BUILT_EXAMPLES) await buildExample(name);
noteBuild();
const javascript = performance.now();
if (!process.argv.includes('--no-declarations')) await buildDeclarations();
console.log(
  `build: ${packages.length} packages, JavaScript ${seconds(javascript - started)}, ` +
    `declarations ${seconds(performance.now() - javascript)}`,
);

/** Bundles a package's own files; everything that is imported by a package name stays an import. */
async function buildJavaScript(name, folder, entries) {
  const home = path.join(ROOT, folder);
  try {
    await tsup({
      entry: Object.fromEntries(
        entries.map(({ source, output }) => [
          path
            .normalize(output)
            .replace(/^dist\//, '')
            .replace(/\.js$/, ''),
          path.join(home, source),
        ]),
      ),
      outDir: path.join(home, 'dist'),
      tsconfig: path.join(ROOT, 'tsconfig.base.json'),
      config: false,
      format: ['esm'],
      target: 'node20',
      platform: 'node',
      external: [/^[^./]/],
      removeNodeProtocol: false,
      splitting: true,
      sourcemap: true,
      esbuildOptions: (options) => {
        options.sourcesContent = false; // the sources are in the package
      },
      clean: true,
      silent: true,
    });
    await dropBareImports(path.join(home, 'dist'));
  } catch (error) {
    console.error(`build: ${name} failed: ${error instanceof Error ? error.message : String(error)}`);
    process.exit(1);
  }
}

/**
 * Bundles an example with all that it imports, of packages only what it uses: a start then compiles nothing, and finds
 * a few files in place of two hundred. What it loads later stays a file of its own.
 */
async function buildExample(name) {
  const home = path.join(ROOT, 'examples', name);
  await rm(path.join(home, 'dist'), { recursive: true, force: true });
  const { metafile } = await esbuild({
    entryPoints: [path.join(home, 'src/main.ts')],
    outdir: path.join(home, 'dist'),
    absWorkingDir: ROOT,
    conditions: ['@reprise/source'],
    bundle: true,
    splitting: true,
    metafile: true,
    // Names stay as they are: a stack that an error prints can be read.
    minifyWhitespace: true,
    minifySyntax: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // CommonJS modules, such as those of `yaml`, ask for Node's own modules by `require`.
    banner: { js: "import{createRequire as requireOf}from'node:module';const require=requireOf(import.meta.url);" },
    plugins: [{ name: 'optional', setup: keepOptional }],
    logLevel: 'error',
  });
  await refuseNeighbours(name, Object.keys(metafile.inputs));
}

/** What may be absent, or is compiled for a machine, stays an import: it is looked for when it is needed. */
function keepOptional({ onResolve }) {
  onResolve({ filter: /^(libsql|pg|@modelcontextprotocol|ai|@ai-sdk|esbuild)(\/|$)/ }, ({ path: name }) => ({
    path: name,
    external: true,
  }));
}

/** A module that looks for a file beside itself, such as a thread or a program, would look for it beside the bundle. */
async function refuseNeighbours(example, inputs) {
  for (const file of inputs.filter((input) => input.startsWith('packages/'))) {
    const text = await readFile(path.join(ROOT, file), 'utf8');
    const rest = text.replaceAll('createRequire(import.meta.url)', 'createRequire()');
    if (!/import\.meta\.url|resolve\('#/.test(rest)) continue;
    console.error(`build: the bundle of ${example} would hold ${file}, which looks for files beside itself`);
    process.exit(1);
  }
}

/**
 * Removes imports of chunks for their effects alone: they have none, they load what is not used, and bundlers warn of
 * them. The line stays, for the source maps.
 */
async function dropBareImports(dist) {
  for (const name of (await readdir(dist, { recursive: true })).filter((file) => file.endsWith('.js'))) {
    const file = path.join(dist, name);
    const text = await readFile(file, 'utf8');
    const without = text.replace(/^import "\.{1,2}\/[^"]+";$/gm, '');
    if (without !== text) await writeFile(file, without);
  }
}

/** The scripts of a sandbox: one text each, with everything in it, since nothing can be loaded where they run. */
async function buildSandboxTexts() {
  const args = ['--conditions=@reprise/source', '--import', 'tsx', path.join(ROOT, 'scripts/sandbox-texts.ts')];
  const { code } = await node(args);
  if (code !== 0) process.exit(code);
}

/** The page of `reprise inspect`: its script, its style and its HTML as texts, so that no user bundles anything. */
async function buildInspectPage() {
  const args = ['--conditions=@reprise/source', '--import', 'tsx', path.join(ROOT, 'scripts/inspect-page.ts')];
  const { code } = await node(args);
  if (code !== 0) process.exit(code);
}

async function buildDeclarations() {
  const out = path.join(ROOT, '.types');
  await rm(out, { recursive: true, force: true });
  const tsc = path.join(ROOT, 'node_modules/typescript/bin/tsc');
  const { code } = await node([tsc, '-p', path.join(ROOT, 'tsconfig.types.json')]);
  if (code !== 0) process.exit(code);
  for (const { folder } of packages) {
    await cp(path.join(out, folder, 'src'), path.join(ROOT, folder, 'dist'), { recursive: true });
    await refuseForeignPaths(path.join(ROOT, folder, 'dist'));
    await pointMapsAtSources(path.join(ROOT, folder));
  }
}

/** Declaration maps were made elsewhere: in a package they lead to its own `src`, which is published too. */
async function pointMapsAtSources(home) {
  const dist = path.join(home, 'dist');
  for (const name of (await readdir(dist, { recursive: true })).filter((file) => file.endsWith('.d.ts.map'))) {
    const file = path.join(dist, name);
    const source = path.join(home, 'src', name.replace(/\.d\.ts\.map$/, '.ts'));
    const map = JSON.parse(await readFile(file, 'utf8'));
    const sources = [path.relative(path.dirname(file), source).replaceAll(path.sep, '/')];
    await writeFile(file, JSON.stringify({ ...map, sources, sourceRoot: '' }));
  }
}

/** A declaration that names another package by path would work here and nowhere else. */
async function refuseForeignPaths(dist) {
  const files = await readdir(dist, { recursive: true });
  for (const file of files.filter((name) => name.endsWith('.d.ts'))) {
    const text = await readFile(path.join(dist, file), 'utf8');
    const stray = /(?:from |import\()['"]([^'"]*(?:\/src\/|node_modules)[^'"]*)['"]/.exec(text);
    if (stray === null) continue;
    console.error(`build: ${path.relative(ROOT, path.join(dist, file))} imports ${stray[1]}`);
    console.error('build: name the exported type in the source, so that the declaration can import the package.');
    process.exit(1);
  }
}
