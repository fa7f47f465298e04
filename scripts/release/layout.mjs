/**
 * Lays the published package out: `reprise` with every workspace as a folder below `dist/_`, each as it was built.
 * Nothing is bundled across workspaces: one of them in two copies would be two kernels in one process, and what a module
 * finds beside itself (threads, the bridge, texts of the sandbox) stays where it is.
 */
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ROOT } from '../lib/root.mjs';
import { nestedManifest, publishedManifest } from './manifest.mjs';
import { namesLeft, withRelativePaths } from './specifiers.mjs';

/** The workspace whose entries are the package. */
export const PUBLISHED = 'reprise';

const CODE = /\.(?:js|d\.ts)$/;
const MAP_NAME = /(?:^|\n)\/\/# sourceMappingURL=[^\n]*\s*$/;

/**
 * @param {{ name: string, folder: string, manifest: any, entries: { subpath: string, output: string }[] }[]} packages
 * @param {string} to an empty folder, or one that may be emptied
 * @returns {Promise<any>} the manifest that was written
 */
export async function layOut(packages, to) {
  const main = packages.find(({ name }) => name === PUBLISHED);
  const versions = new Set(packages.map(({ manifest }) => manifest.version));
  if (versions.size > 1) throw new Error(`the workspaces have several versions: ${[...versions].join(', ')}`);
  await rm(to, { recursive: true, force: true });
  await mkdir(to, { recursive: true });
  for (const one of packages) await copyBuilt(one, path.join(to, homeOf(one)));
  await rewrite(to, filesByName(packages));
  for (const file of ['README.md', 'LICENSE']) await cp(path.join(ROOT, main.folder, file), path.join(to, file));
  const manifest = publishedManifest(
    main.manifest,
    packages.map((one) => one.manifest),
  );
  await writeJson(path.join(to, 'package.json'), manifest);
  for (const one of packages.filter(({ name }) => name !== PUBLISHED))
    await writeJson(path.join(to, homeOf(one), 'package.json'), nestedManifest(one.manifest));
  return manifest;
}

/** The folder of a workspace in the package. */
const homeOf = ({ name }) => (name === PUBLISHED ? '' : `dist/_/${name.replace('@reprise/', '')}`);

/** Sources and maps of them stay at home: they are half of the bytes, and the tag of the release has them. */
async function copyBuilt({ folder }, to) {
  const filter = (file) => !file.endsWith('.map');
  await cp(path.join(ROOT, folder, 'dist'), path.join(to, 'dist'), { recursive: true, filter });
}

/** The file that each name of a workspace leads to, in the package. */
function filesByName(packages) {
  return new Map(
    packages
      .filter(({ name }) => name !== PUBLISHED)
      .flatMap((one) =>
        one.entries
          .filter(({ subpath }) => subpath.startsWith('.'))
          .map(({ subpath, output }) => [path.posix.join(one.name, subpath), path.posix.join(homeOf(one), output)]),
      ),
  );
}

async function rewrite(to, files) {
  const left = [];
  const built = (await readdir(to, { recursive: true })).map((name) => name.split(path.sep).join('/'));
  for (const name of built.filter((file) => CODE.test(file))) {
    const file = path.join(to, name);
    const text = await readFile(file, 'utf8');
    const made = withRelativePaths(name, text, files).replace(MAP_NAME, '');
    left.push(...namesLeft(name, made));
    if (made !== text) await writeFile(file, made);
  }
  if (left.length > 0) throw new Error(`names that only this repository knows:\n${left.join('\n')}`);
}

const writeJson = (file, value) => writeFile(file, `${JSON.stringify(value, null, 2)}\n`);
