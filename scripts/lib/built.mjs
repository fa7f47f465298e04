/*
 * Whether the packages, and the examples that scripts start, are built from the sources as they are now. What runs in
 * the clone starts from built files then: compiling the sources takes four times as long as all the rest of a start.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './root.mjs';

/** The examples that a build bundles. */
export const BUILT_EXAMPLES = ['coding-agent', 'headless-world', 'review-team', 'swarm'];

const STAMP = 'node_modules/.cache/reprise-built.json';

/**
 * Notes that everything is built from the sources as they are now: the size and time of each file, and what each folder
 * has in it. To read 1,700 files at each start would take longer than it saves, and to list their folders as long.
 */
export function noteBuild(root = ROOT) {
  const homes = [...foldersOf(root, 'packages'), ...foldersOf(root, 'examples')];
  const folders = [...homes.map((home) => `${home}/src`), 'docs/errors'].flatMap((folder) => below(root, folder));
  const files = homes.map((home) => fileNote(root, `${home}/package.json`));
  for (const { path: folder, names } of folders)
    for (const name of names) {
      const note = fileNote(root, `${folder}/${name}`);
      if (!note.isFolder) files.push(note);
    }
  const note = { folders: [...['packages', 'examples'].map((above) => folderNote(root, above)), ...folders], files };
  mkdirSync(path.join(root, path.dirname(STAMP)), { recursive: true });
  writeFileSync(path.join(root, STAMP), JSON.stringify(note));
}

/**
 * Whether the build is current, older than the sources, or absent.
 *
 * @returns {'current' | 'stale' | 'absent'}
 */
export function buildState(root = ROOT) {
  const stamp = path.join(root, STAMP);
  const examples = BUILT_EXAMPLES.map((name) => `examples/${name}`).filter((home) => hasSources(root, home));
  const built = [...foldersOf(root, 'packages'), ...examples];
  if (!existsSync(stamp) || built.some((home) => !existsSync(path.join(root, home, 'dist')))) return 'absent';
  const { folders, files } = JSON.parse(readFileSync(stamp, 'utf8'));
  const isCurrent = folders.every((one) => isSameFolder(root, one)) && files.every((one) => isSameFile(root, one));
  return isCurrent ? 'current' : 'stale';
}

/** A folder and all below it. */
function below(root, folder) {
  if (!existsSync(path.join(root, folder))) return [];
  const inner = readdirSync(path.join(root, folder), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [folderNote(root, folder), ...inner.flatMap(({ name }) => below(root, `${folder}/${name}`))];
}

function fileNote(root, file) {
  const stats = statSync(path.join(root, file));
  return { path: file, size: stats.size, ms: stats.mtimeMs, ...(stats.isDirectory() ? { isFolder: true } : {}) };
}

function folderNote(root, folder) {
  return { path: folder, ms: statSync(path.join(root, folder)).mtimeMs, names: namesIn(root, folder) };
}

function isSameFile(root, { path: file, size, ms }) {
  const stats = statSync(path.join(root, file), { throwIfNoEntry: false });
  return stats?.size === size && stats.mtimeMs === ms;
}

/** Its time tells that nothing was added or removed; an editor that wrote and removed a file has changed it too. */
function isSameFolder(root, { path: folder, ms, names }) {
  const stats = statSync(path.join(root, folder), { throwIfNoEntry: false });
  if (stats === undefined) return false;
  return stats.mtimeMs === ms || namesIn(root, folder).join('\n') === names.join('\n');
}

function namesIn(root, folder) {
  return readdirSync(path.join(root, folder)).sort();
}

function foldersOf(root, above) {
  return namesIn(root, above)
    .map((name) => `${above}/${name}`)
    .filter((home) => hasSources(root, home));
}

function hasSources(root, home) {
  return existsSync(path.join(root, home, 'src'));
}
