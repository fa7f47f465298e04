import { mkdir, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { ROOT } from '../../lib/root.mjs';

/** Bundles lie here, so that they find the installed packages that are not bundled. */
const BUNDLES = path.join(ROOT, 'node_modules/.cache/reprise-bench');

const SOURCE = '@reprise/source';

/**
 * Bundles a program with the sources of a tree.
 *
 * The workspace's packages are found in the tree itself, and everything else among our own installed packages: so an
 * older commit runs with the same libraries, and the comparison is of our code alone.
 *
 * @param {string} tree the top folder of a checked-out commit
 * @param {string} name the bundle's name
 * @param {URL} program the program: the workload of a turn, unless another is given
 * @returns {Promise<string>} the bundle's file
 */
export async function bundleTree(tree, name, program = new URL('./workload.mjs', import.meta.url)) {
  await mkdir(BUNDLES, { recursive: true });
  const outfile = path.join(BUNDLES, `${name}.mjs`);
  await build({
    entryPoints: [fileURLToPath(program)],
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    nodePaths: [path.join(ROOT, 'node_modules')],
    conditions: [SOURCE, 'module', 'node', 'import', 'default'],
    external: ['libsql', 'ai', '@modelcontextprotocol/*'],
    plugins: [await workspaceOf(tree)],
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
    outfile,
  });
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
