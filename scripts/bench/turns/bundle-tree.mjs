import { mkdir, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { ROOT } from '../../lib/root.mjs';

/** Bundles lie here, so that they find the installed packages that are not bundled. */
const BUNDLES = path.join(ROOT, 'node_modules/.cache/reprise-bench');

const SOURCE = '@reprise/source';

/** What is measured, unless another program is given. */
const WORKLOAD = new URL('./workload.mjs', import.meta.url);

/**
 * Bundles a program with the sources of a tree.
 *
 * The workspace's packages are found in the tree itself, and everything else among our own installed packages: so an
 * older commit runs with the same libraries, and the comparison is of our code alone.
 *
 * @param {string} tree the top folder of a checked-out commit
 * @param {string} name the bundle's name
 * @param {URL} program the program: the workload of a turn, unless another is given
 * @param {{ counted?: boolean, inputs?: string[] }} options `counted`: its codec counts its bytes in `globalThis.codecBytes`;
 *   `inputs`: takes the paths of the files that it consists of
 * @returns {Promise<string>} the bundle's file
 */
export async function bundleTree(tree, name, program = WORKLOAD, { counted = false, inputs } = {}) {
  await mkdir(BUNDLES, { recursive: true });
  const outfile = path.join(BUNDLES, `${name}.mjs`);
  const { metafile } = await build({
    absWorkingDir: ROOT,
    metafile: true,
    entryPoints: [fileURLToPath(program)],
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    nodePaths: [path.join(ROOT, 'node_modules')],
    conditions: [SOURCE, 'module', 'node', 'import', 'default'],
    external: ['libsql', 'pg', 'ai', '@modelcontextprotocol/*'],
    plugins: [await workspaceOf(tree), ...(counted ? [countedCodec] : [])],
    banner: {
      js: `import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);
globalThis.codecBytes = { encoded: 0, decoded: 0 };`,
    },
    outfile,
  });
  inputs?.push(...Object.keys(metafile.inputs).sort());
  return outfile;
}

/** Resolves the names of a tree's packages to their sources in that tree. */
async function workspaceOf(tree) {
  const entries = new Map();
  for (const folder of await readdir(path.join(tree, 'packages'))) {
    const home = path.join(tree, 'packages', folder);
    const { name, exports = {} } = JSON.parse(await readFile(path.join(home, 'package.json'), 'utf8'));
    for (const [subpath, target] of Object.entries(exports))
      if (target[SOURCE] !== undefined) entries.set(path.posix.join(name, subpath), path.join(home, target[SOURCE]));
  }
  return {
    name: 'workspace',
    setup(plugin) {
      plugin.onResolve({ filter: /^(@reprise\/|reprise($|\/))/ }, ({ path: name }) => {
        const file = entries.get(name);
        return file === undefined ? { errors: [{ text: `${tree} has no ${name}` }] } : { path: file };
      });
    },
  };
}

/** The lines at which the codec has written, or is about to read. */
const COUNTED = {
  encode: ['return this.bytes.slice(0, this.pos);', 'globalThis.codecBytes.encoded += this.pos;'],
  decode: ['this.bytes = bytes;', 'globalThis.codecBytes.decoded += bytes.length;'],
};

/** Lets the codec of a tree count the bytes that it writes and reads. What is read in part counts as a whole. */
const countedCodec = {
  name: 'counted codec',
  setup(plugin) {
    plugin.onLoad({ filter: /\/codec\/(encode|decode)\.ts$/ }, async ({ path: file }) => {
      const source = await readFile(file, 'utf8');
      const [line, count] = COUNTED[path.basename(file, '.ts')];
      if (source.split(line).length !== 2) throw new Error(`${file} does not have the line ${line} once`);
      return { contents: source.replace(line, `${count} ${line}`), loader: 'ts' };
    });
  },
};
