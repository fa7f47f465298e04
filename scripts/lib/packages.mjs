import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { ROOT } from './root.mjs';

/**
 * The workspace packages, each with its manifest and its entries.
 *
 * @returns {Promise<{ name: string, folder: string, manifest: any, entries: Entry[] }[]>}
 * @typedef {{ subpath: string, source: string, output: string, types: string | undefined }} Entry
 */
export async function workspacePackages() {
  const folders = await readdir(path.join(ROOT, 'packages'), { withFileTypes: true });
  const found = [];
  for (const folder of folders
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()) {
    const manifest = JSON.parse(await readFile(path.join(ROOT, 'packages', folder, 'package.json'), 'utf8'));
    found.push({ name: manifest.name, folder: `packages/${folder}`, manifest, entries: entriesOf(manifest) });
  }
  return found;
}

/** The export subpaths and the commands of a package, each with the source it is built from. */
function entriesOf(manifest) {
  const entries = [];
  for (const [subpath, target] of Object.entries(manifest.exports)) {
    if (typeof target === 'string') continue;
    entries.push({ subpath, source: target['@reprise/source'], output: target.default, types: target.types });
  }
  for (const output of Object.values(manifest.bin ?? {})) {
    if (entries.some((entry) => path.normalize(entry.output) === path.normalize(output))) continue;
    const source = `./${path
      .normalize(output)
      .replace(/^dist\//, 'src/')
      .replace(/\.js$/, '.ts')}`;
    entries.push({ subpath: `bin ${output}`, source, output, types: undefined });
  }
  return entries;
}
