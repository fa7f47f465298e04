import { readFileSync } from 'node:fs';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';
import { ROOT } from '../../lib/root.mjs';

/** Bundles lie here, so that they find the installed packages that are not bundled. */
const BUNDLES = path.join(ROOT, 'node_modules/.cache/reprise-bench');

const SOURCE = '@reprise/source';

/**
 * Bundles the workload with the sources of a tree.
 *
 * The workspace's packages are found in the tree itself, and everything else among our own installed packages: so an
 * older commit runs with the same libraries, and the comparison is of our code alone.
 *
 * @param {string} tree the top folder of a checked-out commit
 * @param {string} name the bundle's name
 * @returns {Promise<string>} the bundle's file
 */
export async function bundleTree(tree, name) {
  await mkdir(BUNDLES, { recursive: true });
  const outfile = path.join(BUNDLES, `${name}.mjs`);
  await build({
    stdin: { contents: readFileSync(new URL('./workload.mjs', import.meta.url), 'utf8'), resolveDir: tree },
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
