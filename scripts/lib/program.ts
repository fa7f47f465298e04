/**
 * Programs of this repository that tests start as processes, made into a few files of plain JavaScript each: Node starts
 * that in a fifth of the time of the sources, which have to be found, transformed and linked one by one. What a program
 * imports later is a file of its own: a command of 5 MB in one file takes three times as long to say its version.
 *
 * A program is made once for all test files, and made anew when anything that it consists of has changed.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, version } from 'esbuild';
import { nativeDriver, ONE_FILE } from '../../conformance/bundle.js';
import { ownAddress } from './own-address.js';
import { ROOT } from './root.mjs';

/** The file of a program that Node runs. */
const MAIN = 'program.mjs';
const CACHE = path.join(ROOT, 'node_modules/.cache/reprise-test/programs');

/** Found from the files of a program as well: compilers and loaders, and libraries that are large and seldom used. */
const SEPARATE = ['esbuild', 'typescript', 'tsx', 'tsx/*', '@modelcontextprotocol/*'];

/** Under which names packages are found does not stand in the sources. */
const ALWAYS = ['package-lock.json', 'scripts/lib/program.ts', 'scripts/lib/own-address.ts', 'conformance/bundle.ts'];

/** The digests of all files that a program was made from, by path from the top of the repository. */
type Inputs = Readonly<Record<string, string>>;

/**
 * The file that Node runs as this program; each of its modules keeps the address of its source.
 *
 * @param main the address of the first module
 */
export async function program(main: URL): Promise<string> {
  const entry = fileURLToPath(main);
  const from = path.relative(ROOT, entry);
  const folder = path.join(CACHE, from.replaceAll(path.sep, '-').replace(/\.ts$/, ''));
  const known = knownInputs(folder);
  const made = (inputs: Inputs) => path.join(folder, nameOf(inputs));
  if (known !== undefined && Object.entries(known).every(([input, digest]) => digestOf(input) === digest))
    return path.join(made(known), MAIN);
  const { outputFiles, metafile } = await build({
    ...ONE_FILE,
    entryPoints: [entry],
    // Named by its file: folders of the sources would stand in the place of the file else.
    entryNames: MAIN.replace(/\.mjs$/, ''),
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    splitting: true,
    // Names stay as they are, for stacks; texts of functions do not.
    minifyWhitespace: true,
    minifySyntax: true,
    absWorkingDir: ROOT,
    write: false,
    metafile: true,
    external: SEPARATE,
    logLevel: 'error',
    plugins: [nativeDriver, ownAddress()],
  });
  const inputs = Object.fromEntries(
    [...Object.keys(metafile.inputs), ...ALWAYS].map((input) => [input, digestOf(input)]),
  ) as Inputs;
  mkdirSync(folder, { recursive: true });
  publish(
    made(inputs),
    outputFiles.map(({ path: file, text }) => [path.relative(folder, file), text]),
  );
  replace(path.join(folder, 'inputs.json'), JSON.stringify(inputs));
  return path.join(made(inputs), MAIN);
}

function knownInputs(folder: string): Inputs | undefined {
  try {
    return JSON.parse(readFileSync(path.join(folder, 'inputs.json'), 'utf8')) as Inputs;
  } catch {
    return undefined; // it was never made
  }
}

function digestOf(input: string): string | undefined {
  try {
    return createHash('sha256')
      .update(readFileSync(path.join(ROOT, input)))
      .digest('hex');
  } catch {
    return undefined; // it was removed
  }
}

function nameOf(inputs: Inputs): string {
  return createHash('sha256')
    .update(JSON.stringify([version, inputs]))
    .digest('hex')
    .slice(0, 16);
}

/** Writes the files of a program for all at once: several processes of a test run may make the same program. */
function publish(folder: string, files: readonly (readonly [name: string, text: string])[]): void {
  const own = `${folder}.${process.pid}`;
  mkdirSync(own, { recursive: true });
  for (const [name, text] of files) writeFileSync(path.join(own, name), text);
  if (existsSync(folder)) return rmSync(own, { recursive: true });
  try {
    renameSync(own, folder);
  } catch (error) {
    rmSync(own, { recursive: true });
    // Another process has made it meanwhile.
    if (!existsSync(folder)) throw error;
  }
}

/** Writes a file for all at once. */
function replace(file: string, text: string): void {
  const own = `${file}.${process.pid}`;
  writeFileSync(own, text);
  renameSync(own, file);
}
