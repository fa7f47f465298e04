/**
 * Programs of this repository that tests start as processes, made into one file of plain JavaScript each: Node starts
 * that in a third of the time of the sources, which have to be found, transformed and linked one by one.
 *
 * A program is made once for all test files, and made anew when anything that it consists of has changed.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, version } from 'esbuild';
import { nativeDriver, ONE_FILE } from '../../conformance/bundle.js';
import { ownAddress } from './own-address.js';
import { ROOT } from './root.mjs';

const CACHE = path.join(ROOT, 'node_modules/.cache/reprise-test/programs');

/**
 * Found from the file of a program as well: compilers and loaders, which are large and seldom used, and the libraries of the
 * protocol, which are imported at first use. In one file esbuild wraps all that such an import reaches, zod among it, and
 * leaves out the calls that initialize zod for others, since zod declares no side effects.
 */
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
  const file = (inputs: Inputs) => path.join(folder, `${nameOf(inputs)}.mjs`);
  if (known !== undefined && Object.entries(known).every(([input, digest]) => digestOf(input) === digest))
    return file(known);
  const { outputFiles, metafile } = await build({
    ...ONE_FILE,
    entryPoints: [entry],
    outfile: path.join(folder, 'program.mjs'),
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
  replace(file(inputs), outputFiles[0]?.text ?? '');
  replace(path.join(folder, 'inputs.json'), JSON.stringify(inputs));
  return file(inputs);
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

/** Writes a file for all at once: several processes of a test run may make the same program. */
function replace(file: string, text: string): void {
  const own = `${file}.${process.pid}`;
  writeFileSync(own, text);
  renameSync(own, file);
}
